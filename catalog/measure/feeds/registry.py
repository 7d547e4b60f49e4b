"""Registries of images: their lists of tags, and the configuration of one image.

Docker Hub has a list of its own that tells processors too; other registries have the list of the registry protocol. Both
hand out configurations to whoever asks for a token that lets anybody pull.
"""

import json

TOKENS = {
    "registry-1.docker.io": "https://auth.docker.io/token?service=registry.docker.io&scope=repository:{name}:pull",
    "nvcr.io": "https://nvcr.io/proxy_auth?scope=repository:{name}:pull",
}
MANIFESTS = ", ".join(
    (
        "application/vnd.oci.image.index.v1+json",
        "application/vnd.docker.distribution.manifest.list.v2+json",
        "application/vnd.oci.image.manifest.v1+json",
        "application/vnd.docker.distribution.manifest.v2+json",
    )
)
ARCHES = {"amd64": "x86_64", "arm64": "aarch64"}
# No list of tags has more pages.
PAGES = 200


class Registry:
    """A repository by the registry protocol."""

    def __init__(self, feed, host, name):
        self.feed, self.host, self.name = feed, host, name
        self.token = None
        self.refused = False

    def tags(self):
        """Every tag; its processors are not told."""
        url, found = f"https://{self.host}/v2/{self.name}/tags/list?n=1000", {}
        for _ in range(PAGES):
            answer = self.feed.answer(url, self.headers())
            found |= {tag: [] for tag in json.loads(answer["text"])["tags"] or ()}
            if not answer["next"]:
                return found
            url = answer["next"] if "://" in answer["next"] else f"https://{self.host}{answer['next']}"
        raise ValueError(f"the list of tags of {self.name} does not end")

    def headers(self):
        """Those that a request needs: a token that is handed out to anybody."""
        if self.token is None:
            said = self.feed.passing(TOKENS[self.host].format(name=self.name))
            self.token = said.get("token") or said.get("access_token") or ""
        return {"Authorization": f"Bearer {self.token}"}

    def inside(self, tag):
        """Environment and labels of an image for each processor; nothing where the registry does not hand them out."""
        if self.refused:
            return {}
        try:
            return self._inside(tag)
        except OSError:
            # The registry has had enough of us: the other tags are left to the next run.
            self.refused = True
            return {}

    def _inside(self, tag):
        top = self._manifest(tag, kept=None)
        if "manifests" not in top:
            said = self._configuration(top)
            return {ARCHES.get(said["architecture"], said["architecture"]): said}
        found = {}
        for one in top["manifests"]:
            arch = ARCHES.get(one["platform"]["architecture"])
            if arch and one["platform"]["os"] == "linux":
                found[arch] = self._configuration(self._manifest(one["digest"], kept=one["digest"]))
        return found

    def _manifest(self, reference, kept):
        url = f"https://{self.host}/v2/{self.name}/manifests/{reference}"
        return self.feed.json(url, self.headers() | {"Accept": MANIFESTS}, kept)

    def _configuration(self, manifest):
        digest = manifest["config"]["digest"]
        said = self.feed.json(f"https://{self.host}/v2/{self.name}/blobs/{digest}", self.headers(), kept=digest)
        pairs = (one.partition("=") for one in said["config"].get("Env") or ())
        environment = {name: value for name, _, value in pairs}
        return {"architecture": said["architecture"], "environment": environment, "labels": said["config"].get("Labels") or {}}


class Hub(Registry):
    """A repository of Docker Hub."""

    def __init__(self, feed, name):
        super().__init__(feed, "registry-1.docker.io", name)

    def tags(self):
        """Every tag with its processors."""
        url, found = f"https://hub.docker.com/v2/repositories/{self.name}/tags?page_size=100", {}
        for _ in range(PAGES):
            page = self.feed.json(url)
            for one in page["results"]:
                built = [ARCHES.get(image["architecture"]) for image in one.get("images") or () if image.get("os") == "linux"]
                found[one["name"]] = sorted({arch for arch in built if arch}, reverse=True)
            if not page.get("next"):
                return found
            url = page["next"]
        raise ValueError(f"the list of tags of {self.name} does not end")
