"""An overlay with the rows that a run would add or change: for those who need a few of them before a catalog has them."""

from catalog import inline
from store import Unusable

# What tells rows of a table apart.
NAMES = ("package", "repository", "tag", "id", "file", "branch", "isa", "version", "variant", "cuda", "arch", "systems", "framework", "index", "from")
# What an overlay cannot bring, or has no use for: the day on which a source was seen, counts over the whole catalog.
LEFT = ("source", "practice", "listing")
HEAD = """\
# Rows that the catalog {version} lacks, or has otherwise, as `refresh` read them on {day}.
# Take them out again once a catalog has them: gpuenv says so, because a row that exists is an error.
"""


def overlay(before, after, day):
    """The text of the file, and how many rows it has."""
    parts = [HEAD.format(version=version(before), day=day)]
    count, sources = 0, set()
    for kind, rows in after.tables.items():
        if kind in LEFT:
            continue
        old = before.tables.get(kind, [])
        named = [name_of(row) for row in old]
        new = [row for row in rows if row not in old]
        told = [row | {"replace": True} if name_of(row) in named else row for row in new]
        parts += table(kind, told)
        count += len(new)
        sources |= {value for row in new for key, value in row.items() if key == "source" or key.endswith("_source")}
    fresh = [row for row in after.tables["source"] if row["id"] in sources - before.sources.keys()]
    return "\n".join(parts + table("source", fresh)), count


def writable(path):
    """Says before anything is read that the file cannot be written; one that is not there yet is not made."""
    is_new = not path.exists()
    try:
        path.open("a").close()
    except OSError as error:
        raise Unusable(f"{path} cannot be written ({error.strerror}): name another file with --overlay") from None
    if is_new:
        path.unlink()


def table(kind, rows):
    return [f"{kind} = [\n" + "".join(f"  {inline(row)},\n" for row in rows) + "]\n"] if rows else []


def name_of(row):
    return tuple((name, str(row[name])) for name in NAMES if name in row)


def version(catalog):
    text = next(text for path, text in catalog.files.items() if path.name == "catalog.toml")
    return text.split('"')[1]
