"""What publishers say elsewhere of packages that are built beside one torch and whose metadata names none."""

import re
from functools import lru_cache

from remote import SpecifierSet, Version, requirements

# Releases, the torch they go with, and the source that says so. The first line that holds a release counts.
TABLES = {
    "fbgemm-gpu": [
        *((f"=={one}.*", torch, "fbgemm-releases") for one, torch in (
            ("0.4", "2.0"), ("0.5", "2.1"), ("0.6", "2.2"), ("0.7", "2.3"), ("0.8", "2.4"), ("1.0", "2.5"), ("1.1", "2.6"),
            ("1.2", "2.7"), ("1.3", "2.8"), ("1.4", "2.9"), ("1.5", "2.10"), ("1.6", "2.11"),
        )),
        *((f"=={one}.*", torch, "fbgemm-symbols") for one, torch in (("1.7", "2.12"), ("1.8", "2.13"), ("1.9", "2.14"))),
    ],
    "torchao": [
        ("==0.12.*", ">=2.5,<2.8", "torchao-table"),
        ("==0.13.*", ">=2.6,<2.9", "torchao-table"),
        ("==0.14.0", ">=2.7,<2.9", "torchao-code"),
        ("==0.14.1", ">=2.7,<2.10", "torchao-table"),
        ("==0.15.*", ">=2.7,<2.10", "torchao-table"),
        ("==0.16.*", ">=2.8,<2.11", "torchao-table"),
        ("==0.17.*", ">=2.9", "torchao-table"),
        ("==0.18.*", ">=2.9", "torchao-table"),
        # Nothing is said of these, in their metadata or elsewhere.
        (">=0.3.1,<0.12", "*", "companion-metadata"),
    ],
    "torchcodec": [
        *((f"=={one}.*", torch, "torchcodec-table") for one, torch in (
            ("0.1", "2.5"), ("0.2", "2.6"), ("0.3", "2.7"), ("0.4", "2.7"), ("0.5", "2.7"), ("0.6", "2.8"), ("0.7", "2.8"),
            ("0.8", "2.9"), ("0.9", "2.9"), ("0.10", "2.10"), ("0.11", "2.11"), ("0.12", ">=2.11"), ("0.13", ">=2.11"),
            ("0.14", ">=2.11"), ("0.15", ">=2.11"), ("0.16", ">=2.11"),
        )),
        ("==0.0.3", "2.4", "torchcodec-table"),
        ("==0.17.*", ">=2.11", "torchcodec-symbols"),
    ],
}
# TorchRec is released with the FBGEMM of its number, for the same torch.
TABLES["torchrec"] = [
    (releases, torch, "torchrec-docs") for releases, torch, _ in TABLES["fbgemm-gpu"]
]
# What releases read of torch when they are imported, which their metadata does not say: the first and the last, and the torch
# that has those names. Read by hand: the source `torch-names` says where.
NAMES = {
    "bitsandbytes": [("0.45.0", "0.45.0", ">=1.10")],
    "causal-conv1d": [("1.5.1", "1.7.0", ">=2.4,<2.14")],
    "deepspeed": [
        ("0.3.1", "0.5.3", ">=1.2,<2.0"), ("0.5.4", "0.8.1", "<2.0"), ("0.8.2", "0.14.3", "<2.4"), ("0.18.7", "0.19.7", ">=2.4"),
    ],
    "flashinfer-python": [
        ("0.2.0.post1", "0.2.5", ">=2.3,<2.14"), ("0.2.6", "0.2.8", ">=2.3"), ("0.2.9", "0.7.0.post1", ">=2.4"),
        ("0.7.1", "0.7.4", ">=2.7"),
    ],
    "mamba-ssm": [
        ("1.0.1", "2.2.2", ">=1.9,<2.14"), ("2.2.3.post2", "2.3.2", ">=1.12,<2.14"), ("2.3.2.post1", "2.3.2.post1", ">=2.3,<2.14"),
    ],
    "torchao": [("0.0.3", "0.2.0", ">=2.2"), ("0.4.0", "0.9.0", ">=2.2"), ("0.10.0", "0.11.0", ">=2.3")],
    "transformer-engine": [
        ("1.9.0.post1", "1.13.0", ">=2.1,<2.9"), ("2.1.0", "2.3.0", ">=2.1"), ("2.10.0", "2.20.2", ">=2.6"),
    ],
    "transformer-engine-torch": [
        ("1.9.0", "1.13.0", ">=2.1,<2.9"), ("2.1.0", "2.3.0", ">=2.1"), ("2.10.0", "2.20.2", ">=2.6"),
    ],
}
NAMES_SOURCE = "torch-names"
# What this file holds was read by whoever wrote it down, on the day that the source tells, and by no run.
WRITTEN_DOWN = {source for rows in TABLES.values() for _, _, source in rows} - {"companion-metadata"} | {NAMES_SOURCE}
# A package that pins another one exactly and torch too: both are made for that torch.
PINNED_BY = {"sgl-kernel": "sglang", "sglang-kernel": "sglang"}


def by_names(package, version):
    """The torch that has the names which a release reads, with the source that says so; nothing where nobody looked."""
    for first, last, torch in NAMES.get(package, ()):
        if Version(first) <= Version(str(version)) <= Version(last):
            return {"needs": torch, "source": NAMES_SOURCE}
    return {}


def is_of_source(row):
    """Whether a row was read in a source distribution."""
    return row["source"] == "companion-sdist" or row["source"] == NAMES_SOURCE and row.get("sdist", False)


def documented(index, package, version):
    """(torch, source) of a release; nothing where its own metadata says it, or nobody does."""
    for releases, torch, source in TABLES.get(package, ()):
        if SpecifierSet(releases).contains(str(version)):
            return torch, source
    pinned = pairs(index, PINNED_BY[package]).get((package, Version(str(version)))) if package in PINNED_BY else None
    return pinned and (" || ".join(sorted(pinned, key=Version)), f"{PINNED_BY[package]}-pins")


@lru_cache(maxsize=None)
def pairs(index, package):
    """(package, version) pinned by a release of this one → every torch pinned beside it."""
    found = {}
    for version in index.releases(package):
        wheels = index.linux(package, version, "x86_64")
        if not wheels:
            continue
        pins = {}
        for name, spec, marker in requirements(index.needs(wheels[-1])):
            exact = re.fullmatch(r"==([\d.]+(?:\.?post\d+)?)", str(spec))
            # Up to 0.5.2 what runs on a GPU stands in the extra `srt`.
            if exact and (not marker or re.fullmatch(r"""extra == ['"]srt['"]""", str(marker)) or "extra" not in str(marker)):
                pins.setdefault(name, exact[1])
        for name in pins:
            if PINNED_BY.get(name) == package and "torch" in pins:
                found.setdefault((name, Version(pins[name])), set()).add(pins["torch"])
    return found
