"""Toolkits by NVIDIA's redistributable JSON: the month, nvcc, and the driver that the installer carries."""

import re

from catalog import numbers

NAME = "cuda-redist"
FILES = "toolkits.toml"
LISTING = "https://developer.download.nvidia.com/compute/cuda/redist/"


def read(feed):
    """Every release of the listing: what it says of a row that is there, and that there is none."""
    # One that was stopped by its publisher stays on the listing under its number.
    listed = sorted(set(re.findall(r"redistrib_(\d+\.\d+\.\d+)\.json", feed.text(LISTING))), key=numbers)
    if not listed:
        raise ValueError("it lists no release")
    rows = {row["version"]: row for row in feed.rows("toolkit")}
    for version in listed:
        # What was published for a release is not changed any more.
        said = feed.json(f"{LISTING}redistrib_{version}.json", kept=version)
        if version in rows:
            compare(feed, rows[version], said)
        elif numbers(version) >= numbers("11.4.0"):
            feed.note(f"cuda-redist lists CUDA {version}, which has no row: its wheels are not on the package index yet")


def compare(feed, row, said):
    """A row's month, nvcc and runfile: the first is filled in, the others too where nobody knew them."""
    told = {
        "released": said.get("release_date", "")[:7] or None,
        "nvcc": said.get("cuda_nvcc", {}).get("version"),
        "runfile": said.get("nvidia_driver", {}).get("version"),
    }
    for field, value in told.items():
        if not value or row.get(field) == value:
            continue
        if field not in row and not row.get("components_only"):
            put(feed, row, field, value)
        elif field in row:
            feed.differs(f"toolkit {row['version']}: {field} is {row[field]}, the JSON has {value}")


# Where a field stands in a toolkit's block: before the first of these that it has.
BEHIND = {
    "runfile": ("nvcc", "ptx_isa"),
    "nvcc": ("ptx_isa",),
    "released": ("source",),
}


def put(feed, row, field, value):
    """Fills a field of a toolkit in; what its installer carries stands in the list of published drivers too."""
    catalog = feed.catalog
    path = catalog.root / "catalog" / FILES
    blocks = catalog.changed[path].split("\n[[toolkit]]\n")
    for at, block in enumerate(blocks):
        if f'version = "{row["version"]}"\n' in block:
            before = next(name for name in BEHIND[field] if re.search(rf"^{name} = ", block, re.M))
            blocks[at] = re.sub(rf"^(?={before} = )", f'{field} = "{value}"\n', block, count=1, flags=re.M)
    catalog.changed[path] = "\n[[toolkit]]\n".join(blocks)
    feed.run.changes.append(f"{FILES}: {row['version']}: {field} was None, is {value}")
    if field == "runfile":
        published(catalog, row["version"], value)


def published(catalog, cuda, runfile):
    """The line of a toolkit in the list that the tests hold the catalog to."""

    def change(lines):
        for at, line in enumerate(lines):
            cells = line.rstrip("\n").split("\t")
            if cells[0] == cuda:
                lines[at] = "\t".join([*cells[:3], runfile]) + "\n"
                return
        places = [at for at, line in enumerate(lines) if "." in line.split("\t")[0] and line[0] != "#" and numbers(line.split("\t")[0]) < numbers(cuda)]
        lines.insert(places[-1] + 1 if places else len(lines), f"{cuda}\t-\t-\t{runfile}\n")

    catalog.relist("toolkit_drivers.tsv", change)
