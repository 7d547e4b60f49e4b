"""Drivers and the kinds of their branches, by NVIDIA's releases.json of drivers for data centres."""

import re

from catalog import numbers

NAME = "driver-releases"
FILES = "drivers.toml, branches.toml"
ADDRESS = "https://docs.nvidia.com/datacenter/tesla/drivers/releases.json"
SOURCE = "nvidia-driver-releases"
LIST = "driver_releases.tsv"
SOURCES = {
    SOURCE: (
        "nvidia.toml",
        {"at": ADDRESS, "kind": "vendor", "seen": "2026-11-25", "note": "NVIDIA's list of its drivers for data centres, as data."},
    )
}
# Who tells of drivers, best first, as in tests/common/published.rs: of equal days the best teller counts.
TELLERS = {
    "nvidia-open-module-tags": "modules",
    "nvidia-driver-tags": "settings",
    "debian-driver-changelog": "debian",
    SOURCE: "releases",
    "endoflife-nvidia-releases": "endoflife",
    "cuda-release-notes": "notes",
    "cuda-8-notes-copy": "notes-8",
    "flathub-nvidia": "flathub",
    "nvidia-smi-quoted": "quoted",
}
KINDS = {"production branch": "PB", "new feature branch": "NFB", "lts branch": "LTSB", "long term support branch": "LTSB"}


def read(feed):
    branches = {row["branch"]: row for row in feed.rows("branch")}
    for branch, said in sorted(feed.json(ADDRESS).items(), key=lambda one: numbers(one[0])):
        if not re.fullmatch(r"\d{3,4}", branch):
            continue
        kind = KINDS.get(said.get("type", "").strip().lower())
        if kind is None:
            feed.note(f"{NAME}: branch {branch} is called {said.get('type')!r}, a kind that is not known here")
        of_branch(feed, branches.get(branch), branch, kind)
        for release in said["driver_info"]:
            version = release["release_version"].strip()
            if version.split(".")[0] == branch and re.fullmatch(r"\d+(\.\d+)+", version):
                of_driver(feed, version, release.get("release_date") or None)


def of_branch(feed, row, branch, kind):
    if row is None:
        row = {"branch": branch, "kind": kind, "source": SOURCE}
        feed.adds("branches.toml", row, lambda other: numbers(other["branch"]) < numbers(branch))
        feed.note(f"branch {branch}: which CUDA nvidia-smi shows and when its support ends stand on NVIDIA's pages only: add `cuda`, `eol`")
    elif kind and "kind" not in row:
        # What tells the end of support is not this list.
        feed.amends("branches.toml", row, {"kind": kind} | ({} if "eol" in row else {"source": SOURCE}))
    elif kind and row["kind"] != kind:
        feed.differs(f"branch {branch} is {row['kind']}, the JSON has {kind}")


def of_driver(feed, version, day):
    """A driver's day is the first that anybody tells, its source who does."""
    row = next((one for one in feed.rows("driver") if one["version"] == version), None)
    known = [(row.get("date"), row["source"])] if row else []
    list_it(feed.catalog, version, f"{TELLERS[SOURCE]}={day}" if day else TELLERS[SOURCE])
    told = [*known, *listed(feed.catalog, version), (day, SOURCE)]
    rank = list(TELLERS).index
    day, source = min(told, key=lambda one: (one[0] is None, one[0] or "", rank(one[1])))
    if row is None:
        row = {"version": version, "date": day, "source": source}
        feed.adds("drivers.toml", {key: value for key, value in row.items() if value}, lambda other: numbers(other["version"]) < numbers(version))
    elif (day, source) != known[0]:
        feed.amends("drivers.toml", row, {"date": day, "source": source})


def listed(catalog, version):
    """(day, source) of everybody who tells of a driver, by the list that the tests hold the catalog to."""
    by_name = {name: source for source, name in TELLERS.items()}
    places = [line.split("\t")[2] for line in catalog.listed(LIST) if line.startswith(f"{version}\t")]
    told = (place.partition("=") for line in places for place in line.split())
    return [(day or None, by_name[name]) for name, _, day in told]


def list_it(catalog, version, place):
    """Puts into that list that a driver is told of."""

    def change(lines):
        for at, line in enumerate(lines):
            name, kind, places = line.rstrip("\n").split("\t") if line[0] != "#" else ("", "", "")
            if name == version:
                told = [one for one in places.split(" ") if one.split("=")[0] != TELLERS[SOURCE]]
                lines[at] = f"{name}\t{kind}\t{' '.join([*told, place])}\n"
                return
        before = [at for at, line in enumerate(lines) if line[0] == "#" or numbers(line.split("\t")[0]) < numbers(version)]
        lines.insert(before[-1] + 1 if before else 0, f"{version}\t\t{place}\n")

    catalog.relist(LIST, change)
