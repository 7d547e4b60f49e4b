"""Images by the listings of their registries; what is inside by the configuration that each image carries.

A listing tells tags and, on Docker Hub, processors. The configuration of an image, a few kilobytes beside its layers, is read
for tags that have no row: its environment names CUDA, cuDNN, torch and what it requires of the driver.
"""

import re

from catalog import numbers
from feeds.registry import Hub, Registry

NAME = "image-tags"
FILES = "images.toml"
REQUIRES = "image_requires.toml"
# A listing that lacks more of the tags that could be pulled is no listing.
GONE_AT_MOST = 0.1
# What the configuration does not tell, and a later image has from the one before it.
CARRIED = ("python", "holds", "holds_source", "least_gpu", "least_gpu_source")


def read(feed):
    repositories = (
        ("nvidia/cuda", Hub(feed, "nvidia/cuda"), cuda),
        ("pytorch/pytorch", Hub(feed, "pytorch/pytorch"), pytorch),
        ("nvcr.io/nvidia/pytorch", Registry(feed, "nvcr.io", "nvidia/pytorch"), ngc),
    )
    for repository, registry, parse in repositories:
        listed = registry.tags()
        rows = {row["tag"]: row for row in feed.rows("image") if row["repository"] == repository}
        if not believed(feed, repository, rows, listed):
            continue
        missing = sorted((tag for tag in listed.keys() - rows.keys() if parse(tag)), key=lambda tag: (numbers(tag), tag))
        left = [tag for tag in missing if not new(feed, repository, registry, tag, listed[tag], parse(tag))]
        if left:
            feed.note(f"{repository}: the registry did not hand out what is inside, so these tags are left to the next run: {', '.join(left)}")
        for tag, row in rows.items():
            held(feed, row, tag in listed)


def believed(feed, repository, rows, listed):
    """Whether a listing is whole: one that lost a tenth of its tags at once was cut off."""
    there = [tag for tag, row in rows.items() if not row.get("withdrawn")]
    gone = [tag for tag in there if tag not in listed]
    if len(gone) <= max(1, GONE_AT_MOST * len(there)):
        return True
    feed.note(f"{repository}: {len(gone)} of {len(there)} tags are not listed any more: the listing was not believed, no row was changed")
    return False


def held(feed, row, is_listed):
    """A tag that has a row: whether it can still be pulled."""
    if is_listed == bool(row.get("withdrawn")):
        feed.amends(FILES, row, {"withdrawn": not is_listed})


def new(feed, repository, registry, tag, arches, row):
    """A row for a tag that has none, as far as the tag and the image's configuration tell; false where that was not to be
    had: a row that is there is not read again."""
    inside = registry.inside(tag)
    if not inside:
        return False
    row = {"repository": repository, "tag": tag} | row
    row["arches"] = [arch for arch in ("x86_64", "aarch64") if arch in (arches or inside)]
    of_environment(row, inside)
    if lacking := [field for field in ("cuda", "os") if not row.get(field)]:
        feed.note(f"{repository}:{tag}: nothing tells its {' and '.join(lacking)}: no row")
        return True
    before = [one for one in feed.rows("image") if one["repository"] == repository and comes_before(one, row)]
    like = [one for one in before if one["flavour"] == row["flavour"] and not one.get("withdrawn")][-1:]
    carried = {field: one[field] for one in like for field in CARRIED if field in one and "torch" in row}
    if carried:
        feed.note(f"{repository}:{tag}: {', '.join(carried)} as of {like[0]['tag']}: no registry tells it, see whether it still holds")
    if row["cuda"].count(".") == 1 and numbers(row["cuda"]) >= (11,):
        feed.note(f"{repository}:{tag}: of its CUDA {row['cuda']} nothing tells the release")
    row["require"] = required(feed, row, inside)
    row |= carried
    lacking = [field for one in like for field in one if field not in row and field != "source"]
    if lacking:
        feed.note(f"{repository}:{tag}: not read: {', '.join(lacking)}, of which the row of {like[0]['tag']} tells")
    kept = {field: row[field] for field in ORDER if row.get(field) not in (None, "")} | {"source": LISTED[repository]}
    kept |= {field: row[field] for field in CARRIED[1:] if field in row}
    feed.adds(FILES, kept, lambda other: other["repository"] == repository and comes_before(other, kept))
    return True


# What rows of each repository rest on.
LISTED = {
    "nvidia/cuda": "cuda-images-listed",
    "pytorch/pytorch": "pytorch-images-listed",
    "nvcr.io/nvidia/pytorch": "ngc-pytorch-listed",
}
PLACES = ("https://hub.docker.com/r/nvidia/cuda", "https://hub.docker.com/r/pytorch/pytorch", "https://catalog.ngc.nvidia.com/orgs/nvidia/containers/pytorch")
SOURCES = {
    id: ("frameworks.toml", {"at": at, "kind": "package", "seen": "2026-11-25", "note": "The registry's list of tags, and the configuration of each image."})
    for id, at in zip(LISTED.values(), PLACES)
}
ORDER = ("repository", "tag", "cuda", "flavour", "cudnn", "os", "arches", "torch", "python", "require")


def comes_before(other, row):
    """Rows of a repository stand by CUDA release, system, flavour; those with torch by torch, tag."""
    return place(other) <= place(row)


def place(row):
    if "torch" in row:
        return numbers(row["tag"].split("-")[0]), numbers(row["cuda"]), row["tag"]
    flavours = ("base", "runtime", "devel")
    return numbers(row["cuda"]), row["os"], flavours.index(row["flavour"]), "cudnn" in row


# ---- what a tag says -------------------------------------------------------------------------------------------------


def cuda(tag):
    """`12.4.1-cudnn-devel-ubuntu22.04`; those that name no system are other names of such."""
    found = re.fullmatch(r"(\d+\.\d+(?:\.\d+)?)(-cudnn\d*)?-(base|runtime|devel)-([a-z]+\d+(?:\.\d+)*)", tag)
    if found is None:
        return None
    row = {"cuda": found[1], "flavour": found[3], "os": found[4]}
    return row | {"cudnn": "0"} if found[2] else row


def pytorch(tag):
    """`2.8.0-cuda12.9-cudnn9-devel`."""
    found = re.fullmatch(r"(\d+\.\d+\.\d+)-cuda(\d+\.\d+)-cudnn\d+-(runtime|devel)", tag)
    return found and {"cuda": found[2], "flavour": found[3], "torch": found[1]}


def ngc(tag):
    """`25.10-py3`: the month, and nothing of what is inside."""
    return {"flavour": "devel", "cudnn": "0", "torch": None} if re.fullmatch(r"\d\d\.\d\d-py3", tag) else None


# ---- what an image says ----------------------------------------------------------------------------------------------


def of_environment(row, inside):
    """What the configuration tells: of CUDA what the tag leaves open, cuDNN, torch, the system."""
    said = inside.get("x86_64") or next(iter(inside.values()))
    environment, labels = said["environment"], said["labels"]
    # 13.0.2.006 is a build of 13.0.2. A tag of a CUDA line leaves the release open.
    release = ".".join(environment.get("CUDA_VERSION", "").split(".")[:3])
    if release.startswith(row.get("cuda", "")) and release:
        row["cuda"] = release
    cudnn = environment.get("NV_CUDNN_VERSION") or environment.get("CUDNN_VERSION")
    if "cudnn" in row and cudnn:
        row["cudnn"] = cudnn.split("-")[0]
    if "torch" in row and row["torch"] is None:
        # The build is what torch prints: 2.9.0a0+145a3a7bda.
        row["torch"] = environment.get("PYTORCH_BUILD_VERSION") or environment.get("PYTORCH_VERSION")
    name, version = (labels.get(f"org.opencontainers.image.{key}") for key in ("ref.name", "version"))
    if not row.get("os") and name and version:
        row["os"] = name + version


def required(feed, row, inside):
    """The id of what the images of these processors require, a new one where no row says the same."""
    said = {arch: inside[arch]["environment"].get("NVIDIA_REQUIRE_CUDA", "") for arch in row["arches"] if arch in inside}
    if not said or set(said) != set(row["arches"]):
        return None
    if row["repository"] == "nvidia/cuda" and not all(said.values()):
        feed.note(f"{row['repository']}:{row['tag']}: it requires nothing of the driver, unlike others: left open")
        return None
    known = {one["id"]: one["require"] for one in feed.rows("image_require")}
    likely = (row["cuda"], f"{row['cuda']}-{row['os']}")
    own = row["repository"].rpartition("/")[2]
    names = sorted({one.split("@")[0] for one in known}, key=lambda name: (name not in likely, not name.endswith(own), name))
    for name in names:
        if all(known.get(f"{name}@{arch}") == value for arch, value in said.items()):
            return name
    if "torch" in row:
        feed.note(f"{row['repository']}:{row['tag']}: it requires {said}, which no row of {REQUIRES} says")
        return None
    name = row["cuda"] if not any(f"{row['cuda']}@{arch}" in known for arch in said) else f"{row['cuda']}-{row['os']}"
    for arch, value in said.items():
        one = {"id": f"{name}@{arch}", "require": value, "source": LISTED["nvidia/cuda"]}
        feed.adds(REQUIRES, one, lambda other: other["id"][0].isdigit() and numbers(other["id"].split("@")[0]) <= numbers(row["cuda"]))
    feed.run.catalog = feed.run.catalog.reread()
    return name
