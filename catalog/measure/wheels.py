"""The sha256 of wheels: what `catalog/wheels/*.toml` records, and what the index lists for the releases it knows."""

from catalog import parsed
from documented import is_of_source
from remote import Version, canonicalize_name, parse_sdist_filename, parse_wheel_filename, reading

# Where a package's releases stand in the catalog, and the source that its listing is.
SOURCES = {"torch": "torch-pypi", "tensorflow": "tensorflow-pypi", "jax": "jax-plugin"}
COMPANION_SOURCE = "companion-metadata"
STUB = "companion-stub"
FILE = "wheels/pypi.toml"


def recorded(catalog):
    """The rows of wheels, with what their file names say."""
    for row in catalog.rows("wheel"):
        package, version = released(row["file"])
        yield {**row, "package": package, "version": version, "pypi": "index" not in row}


def wanted(catalog):
    """(package, version, source) of everything that a lock can install from the package index."""
    found = {
        (row["package"], row["version"], SOURCES[row["package"]])
        for row in catalog.rows("build")
        if "pypi" in row["index"]
    }
    companions = [row for row in catalog.rows("companion") if "variant" not in row]
    found |= {(row["package"], row["version"], COMPANION_SOURCE) for row in companions}
    return sorted(found)


def missing(catalog, index, only=(), unread=None):
    """Rows for the listed wheels that the catalog has no sha256 of; `only` those of these packages, if any are named. Which
    packages were not read is put into `unread`."""
    unread = {} if unread is None else unread
    known = {row["file"] for row in catalog.rows("wheel") if "index" not in row}
    for package, version, source in wanted(catalog):
        if only and package not in only:
            continue
        with reading(unread, package):
            for wheel in [wheel for arch in ("x86_64", "aarch64") for wheel in index.linux(package, version, arch)]:
                if wheel.sha256 and wheel.pythons and wheel.name not in known:
                    known.add(wheel.name)
                    yield {"file": wheel.name, "sha256": wheel.sha256, "source": source}
    for row in catalog.rows("companion"):
        if only and row["package"] not in only:
            continue
        source = STUB if row["source"].endswith("-stub") else row["source"]
        found = None
        with reading(unread, row["package"]):
            found = index.source(row["package"], row["version"]) if source == STUB or is_of_source(row) else None
        if found and found.sha256 and found.name not in known:
            yield {"file": found.name, "sha256": found.sha256, "source": source if source == STUB else "companion-sdist"}


def released(file):
    """Package and version that a file is named for."""
    parse = parse_sdist_filename if file.endswith(".tar.gz") else parse_wheel_filename
    name, version = parse(file)[:2]
    return str(name), str(version)


def order(file):
    """Files by package, then by version as numbers."""
    name, version = released(file)
    return canonicalize_name(name), Version(version), file


def add(catalog, index, only=(), unread=None):
    """Writes the missing rows into the file, in order; how many there were."""
    path = catalog.root / "catalog" / FILE
    rows = list(missing(catalog, index, only, unread))
    text = catalog.changed[path]
    head = "".join(line for line in text.splitlines(keepends=True) if line.startswith("#"))
    files = {source: dict(files) for source, files in parsed(text)["sha256"].items()}
    for row in rows:
        files.setdefault(row["source"], {})[row["file"]] = row["sha256"]
    body = (f'\n[sha256.{source}]\n' + "".join(f'"{file}" = "{told[file]}"\n' for file in sorted(told, key=order)) for source, told in files.items())
    catalog.changed[path] = head + "".join(body)
    return len(rows)
