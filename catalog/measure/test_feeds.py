"""Has the feeds read recorded answers, through the code that reads the network: what is taken out comes back.

    python3 catalog/measure/test_feeds.py [SEED]           test
    python3 catalog/measure/test_feeds.py overlay FILE     write an overlay of what is made up below, for the program to check

tests/data/feeds holds the answers and says where they are from. Registries answer with what the catalog holds, in their form.
"""

import contextlib
import io
import json
import random
import re
import sys
import tempfile
import tomllib
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import parse_qs, urlparse

from catalog import ROOT, Catalog, inline, row_of
from feeds import FEEDS, said, support
from feeds.images import CARRIED
from refresh import Refresh, refresh
from remote import Index

RECORDED = ROOT / "tests" / "data" / "feeds"
LISTS = ("driver_releases.tsv", "toolkit_drivers.tsv")


class Publishers:
    """In place of the session: what publishers answer."""

    def __init__(self, catalog):
        self.images = [row for row in catalog.rows("image") if not row.get("withdrawn")]
        self.requires = {row["id"]: row["require"] for row in catalog.rows("image_require")}
        self.asked, self.broken, self.cut = [], {}, None

    def get(self, url, headers=None, timeout=None):
        self.asked.append(url)
        for part, said in self.broken.items():
            if part in url:
                return said
        place = urlparse(url)
        if place.netloc == "hub.docker.com":
            return self.hub(place)
        if place.netloc in ("auth.docker.io", "nvcr.io") and "scope" in place.query:
            return answer({"token": "for anybody"})
        if place.path.startswith("/v2/"):
            assert headers["Authorization"] == "Bearer for anybody"
            return self.registry(place)
        file = RECORDED / place.path.rsplit("/", 1)[-1]
        if url.endswith("/redist/"):
            file = RECORDED / "redist.html"
        return answer(file.read_text()) if file.exists() else answer("", status=404)

    def hub(self, place):
        """A page of a hundred tags, the newest first, and the address of the next."""
        repository = re.fullmatch(r"/v2/repositories/(.+)/tags", place.path)[1]
        tags = [row for row in self.images if row["repository"] == repository][::-1][self.cut :]
        page = int(parse_qs(place.query).get("page", ["1"])[0])
        of_page = tags[100 * (page - 1) : 100 * page]
        following = f"https://hub.docker.com{place.path}?page={page + 1}&page_size=100"
        results = [{"name": row["tag"], "images": [image(arch) for arch in row["arches"]]} for row in of_page]
        # Names of no system, and what is built for Windows.
        results.append({"name": "latest", "images": [image("x86_64")]})
        results.append({"name": "windows", "images": [{"architecture": "amd64", "os": "windows"}]})
        return answer({"count": len(tags), "next": following if 100 * page < len(tags) else None, "previous": None, "results": results})

    def registry(self, place):
        name, kind, reference = re.fullmatch(r"/v2/(.+)/(tags|manifests|blobs)/(.+)", place.path).groups()
        host = "" if place.netloc == "registry-1.docker.io" else f"{place.netloc}/"
        rows = [row for row in self.images if row["repository"] == host + name]
        if kind == "tags":
            tags = [row["tag"] for row in rows]
            last = parse_qs(place.query).get("last")
            if last:
                return answer({"name": name, "tags": tags[tags.index(last[0]) + 1 :]})
            half = tags[: len(tags) // 2]
            link = {"link": f'</v2/{name}/tags/list?last={half[-1]}&n=1000>; rel="next"'}
            return answer({"name": name, "tags": [*half, "25.10-py3-igpu"]}, headers=link)
        if kind == "manifests" and not reference.startswith("sha256:"):
            row = next(one for one in rows if one["tag"] == reference)
            one = lambda arch: {"digest": f"sha256:{reference}@{arch}", "platform": {"os": "linux", "architecture": SPELLED[arch]}}
            return answer({"schemaVersion": 2, "manifests": [one(arch) for arch in row["arches"]]})
        tag, arch = reference.removeprefix("sha256:").split("@")[:2]
        if kind == "manifests":
            return answer({"schemaVersion": 2, "config": {"digest": f"{reference}@config"}, "layers": []})
        return answer(self.configuration(next(one for one in rows if one["tag"] == tag), arch))

    def configuration(self, row, arch):
        """What images of each repository set, as public copies of their environment print it."""
        build = ".006" if row["repository"].startswith("nvcr.io") and row["cuda"].count(".") == 2 else ""
        environment = ["PATH=/usr/bin"]
        # Those that start from plain Ubuntu set none.
        if row.get("require") != "pytorch":
            environment.append(f"CUDA_VERSION={row['cuda']}{build}")
        of_nvidia = row["repository"].startswith("nvcr.io")
        if row.get("cudnn", "0") != "0":
            environment.append(f"{'' if of_nvidia else 'NV_'}CUDNN_VERSION={row['cudnn']}{'' if of_nvidia else '-1'}")
        if "torch" in row and of_nvidia:
            environment += [f"PYTORCH_BUILD_VERSION={row['torch']}", f"PYTORCH_VERSION={row['torch']}"]
        if require := self.requires.get(f"{row.get('require')}@{arch}"):
            environment.append(f"NVIDIA_REQUIRE_CUDA={require}")
        system = re.fullmatch(r"([a-z]+)([\d.]+)", row["os"])
        labels = {"org.opencontainers.image.ref.name": system[1], "org.opencontainers.image.version": system[2]}
        return {"architecture": SPELLED[arch], "os": "linux", "config": {"Env": environment, "Labels": labels}}


SPELLED = {"x86_64": "amd64", "aarch64": "arm64"}


def image(arch):
    return {"architecture": SPELLED[arch], "os": "linux", "status": "active"}


def answer(content, status=200, headers=None):
    text = content if isinstance(content, str) else json.dumps(content)
    return SimpleNamespace(status_code=status, text=text, headers=headers or {})


def copied(folder):
    """A copy of the catalog, and of the lists that tests hold it to."""
    for path in [*ROOT.glob("catalog/**/*.toml"), *(ROOT / "tests" / "data" / name for name in LISTS)]:
        copy = folder / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(path.read_text())
    return folder


def run(root, publishers, *only):
    """One run that writes."""
    index = Index()
    index.session = publishers
    catalog = Catalog(root)
    one = Refresh(catalog, index, only or FEEDS.keys())
    one.propose()
    one.catalog.write(catalog.files)
    return one


def without(root, file, rows):
    """Takes rows out of a file."""
    path = root / "catalog" / file
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if not (line.startswith("  {") and row_of(line) in rows)))


def emptied(root, file, row, field):
    """Takes a field out of a row."""
    path = root / "catalog" / file
    lines = path.read_text().splitlines(keepends=True)
    less = {key: value for key, value in row.items() if key != field}
    path.write_text("".join(f"  {inline(less)},\n" if line.startswith("  {") and row_of(line) == row else line for line in lines))


# ---- the tests -------------------------------------------------------------------------------------------------------


def nothing_is_new(root, publishers, draw):
    """A run over a catalog that has everything changes nothing but what a test says that it would."""
    first = run(root, publishers)
    again = run(root, publishers)
    yield from (f"a second run adds {text}" for text in (*again.added, *again.changes))
    yield from (f"{what} could not be read: {why}" for what, why in first.unread)
    yield from (f"nothing was taken out, and a run adds {text}" for text in (*first.added, *first.changes))


def images_come_back(root, publishers, draw):
    """Tags of each repository, every one of which the registry has, with all that their configuration tells."""
    # What an image requires that nobody has read, nobody can answer here.
    whole = [row for row in publishers.images if "require" in row and row["arches"]]
    of = lambda name, count: draw.sample([row for row in whole if row["repository"] == name], count)
    taken = of("nvidia/cuda", 15) + of("pytorch/pytorch", 3) + of("nvcr.io/nvidia/pytorch", 2)
    without(root, "images.toml", taken)
    one = run(root, publishers, "image-tags")
    yield from (f"could not be read: {why}" for _, why in one.unread)
    rows = {(row["repository"], row["tag"]): row for row in Catalog(root).rows("image")}
    for row in taken:
        back = rows.get((row["repository"], row["tag"]), {})
        differ = {key for key in row.keys() | back.keys() if row.get(key) != back.get(key)}
        # Several names stand for one requirement.
        asked = lambda one: [publishers.requires.get(f"{one.get('require')}@{arch}") for arch in row["arches"]]
        differ -= {"require"} if asked(row) == asked(back) else set()
        # Of a cuDNN that nobody has read nothing is set here.
        differ -= {"cudnn"} if row.get("cudnn") == "0" else set()
        said = " ".join(note for note in one.notes if f":{row['tag']}:" in note)
        # What no registry tells is carried over or left open, and the run says so.
        carried = re.search(r": ([a-z_, ]+) as of ", said)
        may = {key for key in CARRIED if carried and key in carried[1].split(", ") or key not in back}
        may |= {"cuda"} if "nothing tells the release" in said and row["cuda"].startswith(back.get("cuda", "-")) else set()
        if differ - {"source"} - may:
            yield f"{row}\n  came back as {back}"
    before = (root / "catalog" / "images.toml").read_text()
    again = run(root, publishers, "image-tags")
    yield from (f"a second run adds {text}" for text in (*again.added, *again.changes))
    if before != (root / "catalog" / "images.toml").read_text():
        yield "a second run changes images.toml"


def tags_that_are_gone_are_told(root, publishers, draw):
    """A few tags that the registry no longer has are withdrawn, and told; a listing that lost many is not believed."""
    gone = publishers.images.pop(draw.randrange(1000))
    one = run(root, publishers, "image-tags")
    name = f"{gone['repository']}:{gone['tag']}"
    if one.changes != [f"images.toml: {name}: withdrawn was None, is True"]:
        yield f"{name} is gone, and told is {one.changes}"
    publishers.cut = 900
    one = run(root, publishers, "image-tags")
    if one.changes or not any("the listing was not believed" in note for note in one.notes):
        yield f"a listing that was cut off is believed: {one.changes[:3]}"


def a_registry_that_has_had_enough(root, publishers, draw):
    """A tag whose image cannot be looked into gets no half of a row: it is told, and has its row after the next run."""
    taken = [row for row in publishers.images if row["tag"] == "13.0.1-cudnn-devel-ubuntu24.04"]
    without(root, "images.toml", taken)
    publishers.broken["/manifests/"] = answer("", status=429)
    one = run(root, publishers, "image-tags")
    if one.added or not any("left to the next run: 13.0.1-cudnn-devel-ubuntu24.04" in note for note in one.notes):
        yield f"added is {one.added}, told is {one.notes}"
    publishers.broken.clear()
    one = run(root, publishers, "image-tags")
    if one.added != ["images.toml: nvidia/cuda:13.0.1-cudnn-devel-ubuntu24.04"]:
        yield f"the next run adds {one.added}"


def drivers_come_back(root, publishers, draw):
    """Drivers that the list of drivers for data centres has, with the day that is told first and who tells it."""
    listed = re.findall(r'"release_version": "([^"]+)"', (RECORDED / "releases.json").read_text())
    taken = [row for row in Catalog(root).rows("driver") if row["version"] in listed]
    without(root, "drivers.toml", taken)
    branch = next(row for row in Catalog(root).rows("branch") if row["branch"] == "595")
    emptied(root, "branches.toml", branch, "kind")
    lists = {name: (root / "tests" / "data" / name).read_text() for name in LISTS}
    run(root, publishers, "driver-releases")
    rows = Catalog(root).rows("driver")
    yield from (f"{row} came back as {[one for one in rows if one['version'] == row['version']]}" for row in taken if row not in rows)
    if branch not in Catalog(root).rows("branch"):
        yield "the kind of a branch did not come back"
    yield from (f"{name} changed" for name, text in lists.items() if text != (root / "tests" / "data" / name).read_text())


def a_new_branch(root, publishers, draw):
    """A branch and its driver that nobody knew, in the catalog and in the list that tests hold it to."""
    news(publishers)
    one = run(root, publishers, "driver-releases")
    if one.added != ["branches.toml: 620", "drivers.toml: 620.10.01"]:
        yield f"a new branch is told as {one.added}"
    if not any("branch 620" in note for note in one.notes):
        yield "that nobody told which CUDA it shows is not said"
    if "620.10.01\t\treleases=2026-12-01\n" not in (root / "tests" / "data" / LISTS[0]).read_text():
        yield "the list of drivers lacks it"


def toolkits_are_filled_in(root, publishers, draw):
    """Month and runfile of toolkits, where nobody wrote them down; what a row says otherwise is told and kept."""
    path = root / "catalog" / "toolkits.toml"
    whole = path.read_text()
    less = whole.replace('runfile = "580.126.20"\n', "").replace('released = "2024-11"\n', "", 1)
    path.write_text(less.replace('nvcc = "13.4.59"', 'nvcc = "13.4.49"'))
    lists = root / "tests" / "data" / LISTS[1]
    before = lists.read_text()
    one = run(root, publishers, "cuda-redist")
    if path.read_text() != whole.replace('nvcc = "13.4.59"', 'nvcc = "13.4.49"'):
        yield "toolkits.toml is another one"
    if [text.split(":")[1] for text in one.changes] != [" 12.6.3", " 13.0.3"]:
        yield f"filled in is {one.changes}"
    if one.notes != ["cuda-redist says otherwise: toolkit 13.4.1: nvcc is 13.4.49, the JSON has 13.4.59"]:
        yield f"told is {one.notes}"
    if lists.read_text() != before:
        yield "the list of toolkits' drivers is another one"


def ends_of_support_come_back(root, publishers, draw):
    """Days on which support ends, of every family; a distribution's own data is not overruled."""
    rows = [row for row in Catalog(root).rows("os") if "eol" in row and row["id"].startswith(tuple(support.PRODUCTS))]
    differ = {"ubuntu16.04", "ubuntu20.04", "ubuntu25.04", "ubuntu25.10"}
    # The recorded answer has no release between those with long support before 24.10.
    unheard = {f"ubuntu{release}" for release in ("20.10", "21.04", "21.10", "22.10", "23.04", "23.10")}
    taken = draw.sample([row for row in rows if row["id"] not in differ | unheard], 12)
    for row in taken:
        emptied(root, "os.toml", row, "eol")
    one = run(root, publishers, "endoflife")
    after = {row["id"]: row for row in Catalog(root).rows("os")}
    yield from (f"{row['id']} came back as {after[row['id']]}" for row in taken if after[row["id"]] != row)
    said = {note.split(": ")[1] for note in one.notes if "says otherwise" in note}
    if said != differ:
        yield f"told as differing are {sorted(said)}"


def a_feed_that_does_not_answer(root, publishers, draw):
    """One that refuses, one that answers something else: told, and the others are read."""
    publishers.broken["releases.json"] = answer("<html>moved</html>")
    publishers.broken["endoflife.date"] = answer("", status=503)
    publishers.broken["hub.docker.com"] = answer({"detail": "no"})
    emptied(root, "branches.toml", next(row for row in Catalog(root).rows("branch") if row["branch"] == "595"), "kind")
    one = run(root, publishers)
    if sorted(files for files, _ in one.unread) != ["drivers.toml, branches.toml", "images.toml", "os.toml"]:
        yield f"could not be read is told of {one.unread}"
    if one.added or one.changes:
        yield f"something was changed: {one.added} {one.changes}"


def news(publishers):
    """What could have been published since: a branch with a driver, another end of support, an image."""
    said = json.loads((RECORDED / "releases.json").read_text())
    said["620"] = {"type": "production branch", "driver_info": [{"release_version": "620.10.01", "release_date": "2026-12-01"}]}
    publishers.broken["releases.json"] = answer(said)
    ends = json.loads((RECORDED / "fedora.json").read_text())
    publishers.broken["fedora.json"] = answer([one | {"eol": "2026-12-16"} if one["cycle"] == "43" else one for one in ends])
    like = next(row for row in publishers.images if row["tag"] == "13.0.2-cudnn-devel-ubuntu24.04")
    publishers.images.append(like | {"tag": "13.0.3-cudnn-devel-ubuntu26.04", "cuda": "13.0.3", "os": "ubuntu26.04", "cudnn": "9.20.0.48"})


def an_overlay_holds_what_a_run_would_write(root, publishers, draw):
    """Rows that are new, and those that are others with `replace`; a new source with them, and nothing else."""
    news(publishers)
    file = root / "overlay.toml"
    before = Catalog(root)
    with contextlib.redirect_stderr(io.StringIO()):
        write_overlay(root, publishers, file)
    if Catalog(root).files != before.files:
        yield "the catalog was changed"
    laid = tomllib.loads(file.read_text())
    run(root, publishers)
    for kind, rows in laid.items():
        held = Catalog(root).rows(kind)
        plain = [{key: value for key, value in row.items() if key != "replace"} for row in rows]
        yield from (f"{kind} {row} is not what a run writes" for row in plain if row not in held)
    names = {kind: [said(row) + " replaced" * row.get("replace", False) for row in rows] for kind, rows in laid.items()}
    wanted = {
        "branch": ["620"],
        "driver": ["620.10.01"],
        "image": ["nvidia/cuda:13.0.3-cudnn-devel-ubuntu26.04"],
        "os": ["fedora43 replaced"],
        "source": ["cuda-images-listed"],
    }
    if names != wanted:
        yield f"the overlay holds {names}"


def write_overlay(root, publishers, file):
    index = Index()
    index.session = publishers
    refresh(Catalog(root), index, False, FEEDS.keys(), file)


TESTS = (
    an_overlay_holds_what_a_run_would_write,
    nothing_is_new,
    images_come_back,
    tags_that_are_gone_are_told,
    a_registry_that_has_had_enough,
    drivers_come_back,
    a_new_branch,
    toolkits_are_filled_in,
    ends_of_support_come_back,
    a_feed_that_does_not_answer,
)


def main():
    if sys.argv[1:2] == ["overlay"]:
        publishers = Publishers(Catalog(ROOT))
        news(publishers)
        write_overlay(ROOT, publishers, Path(sys.argv[2]))
        return 0
    seed = sys.argv[1] if len(sys.argv) > 1 else "1"
    wrong = 0
    for test in TESTS:
        with tempfile.TemporaryDirectory(prefix="feeds-") as folder:
            root = copied(Path(folder))
            for text in test(root, Publishers(Catalog(root)), random.Random(f"{seed} {test.__name__}")):
                wrong += 1
                print(f"{test.__name__}: {text}")
    print(f"{wrong} wrong" if wrong else "every feed is read as recorded")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
