"""The files of `catalog/`, read as data and changed as text, so that a proposal is a patch of single lines."""

import datetime
import difflib
import re
import tomllib
from functools import cached_property, lru_cache
from pathlib import Path

from pip._vendor.packaging.version import Version

ROOT = Path(__file__).resolve().parents[2]
# Lists of what others saw published, which tests hold the catalog to: who tells of a driver adds to both.
LISTS = ("driver_releases.tsv", "toolkit_drivers.tsv")


def day(text):
    """A date as sources have it: of a copy that somebody else made the month or
    the year may be all that is known, which counts as its first day."""
    return datetime.date.fromisoformat(f"{text}-01-01"[:10])


class Catalog:
    """Every row of every file."""

    def __init__(self, root=ROOT):
        self.root = root
        lists = [root / "tests" / "data" / name for name in LISTS]
        paths = [*sorted(root.glob("catalog/**/*.toml")), *(path for path in lists if path.exists())]
        self.files = {path: path.read_text() for path in paths}
        self.changed = dict(self.files)

    @cached_property
    def tables(self):
        tables = {}
        for path, text in self.files.items():
            for kind, rows in parsed(text).items() if path.suffix == ".toml" else ():
                if isinstance(rows, list):
                    tables.setdefault(kind, []).extend(rows)
                if kind == "sha256":
                    tables.setdefault("wheel", []).extend(files_of(rows))
        if "asks" in tables:
            tables["asks"] = [filled("asks", row) for row in tables["asks"]]
        return tables

    def rows(self, kind):
        """Every row of a kind, but for those of single systems: their files lie on no index that is read here."""
        return [row for row in self.tables.get(kind, []) if "systems" not in row]

    @cached_property
    def sources(self):
        return {row["id"]: row for row in self.rows("source")}

    @cached_property
    def unreleased(self):
        """The packages of which all rows precede the first release: installers take those."""
        rows = self.rows("companion")
        released = {row["package"] for row in rows if not re.search(r"\d(a|b|rc)\d|\.dev\d", row["version"])}
        return {row["package"] for row in rows} - released

    @cached_property
    def indexed(self):
        """The packages that the package index is known to have files of: rows rest on these."""
        companions = (row for row in self.rows("companion") if not {"variant", "url", "index_url"} & row.keys())
        found = {row["package"] for row in companions} | {row["package"] for row in self.rows("libraries")}
        found |= {row["package"] for row in self.rows("build") if "pypi" in row["index"]}
        found |= {row["package"] for row in self.rows("asks") if row["source"].startswith("ordinary-")}
        of_libraries = (row for kind in ("cudnn", "nccl") for row in self.rows(kind))
        return found | {f"nvidia-{row['source']}" for row in of_libraries if re.fullmatch(r"(cudnn|nccl)-cu\d+", row["source"])}

    def builds(self, package):
        return [row for row in self.rows("build") if row["package"] == package]

    def source_build(self, package, version):
        """The row that says how a release is compiled; nothing where none does."""
        rows = [row for row in self.rows("source_build") if row["package"] == package]
        return max(
            (row for row in rows if Version(row["from"]) <= Version(str(version))),
            key=lambda row: Version(row["from"]),
            default=None,
        )

    def reread(self):
        """A catalog in which what was proposed so far is a row like others."""
        again = Catalog.__new__(Catalog)
        again.root, again.files, again.changed = self.root, self.changed, dict(self.changed)
        return again

    def insert(self, file, line, before_version):
        """Puts an inline row behind the last row of its file for which `before_version` holds, or before the end."""
        path = self.root / "catalog" / file
        lines = self.changed[path].splitlines(keepends=True)
        places = [at for at, text in enumerate(lines) if text.startswith("  {") and before_version(text)]
        at = places[-1] + 1 if places else max(at for at, text in enumerate(lines) if text.startswith("]"))
        lines.insert(at, f"  {line},\n")
        self.changed[path] = "".join(lines)

    def place(self, file, row):
        """Puts a row where it belongs: behind the last row of its package that is not greater, or of another CUDA line."""
        path = self.root / "catalog" / file
        lines = self.changed[path].splitlines(keepends=True)
        at, first = None, None
        for number, text in enumerate(lines):
            if not text.startswith("  {"):
                continue
            other = row_of(text)
            if other.get("package") != row.get("package") or "systems" in other:
                continue
            first = number if first is None else first
            if order(other) <= order(row):
                at = number + 1
        if at is None:
            at = first if first is not None else max(n for n, text in enumerate(lines) if text.startswith("]"))
        lines.insert(at, f"  {inline(row)},\n")
        self.changed[path] = "".join(lines)

    def put(self, file, row, after):
        """Puts a row behind the last one of its file for which `after` holds, or before the end."""
        self.insert(file, inline(row), lambda text: after(row_of(text)))

    def retell(self, file, row, fields):
        """Changes fields of the row that says all of this, each where it stands, new ones before the sources."""
        head = {key: value for key, value in row.items() if key != "source" and not key.endswith("_source")}
        told = head | {key: value for key, value in fields.items() if key not in row} | row | fields
        path = self.root / "catalog" / file
        lines = self.changed[path].splitlines(keepends=True)
        for number, text in enumerate(lines):
            if text.startswith("  {") and row_of(text) == row:
                lines[number] = f"  {inline(told)},\n"
        self.changed[path] = "".join(lines)

    def listed(self, name):
        """The lines of a list that tests hold the catalog to; none where it is not there."""
        return self.changed.get(self.root / "tests" / "data" / name, "").splitlines()

    def relist(self, name, change):
        """Changes the lines of a list that tests hold the catalog to, where it is there."""
        path = self.root / "tests" / "data" / name
        if path in self.changed:
            lines = self.changed[path].splitlines(keepends=True)
            change(lines)
            self.changed[path] = "".join(lines)

    def amend(self, file, row, field, value):
        """Changes one field of the row that says all of this; whether there is one such row."""
        path = self.root / "catalog" / file
        lines = self.changed[path].splitlines(keepends=True)
        for number, text in enumerate(lines):
            if text.startswith("  {") and row_of(text) == row:
                lines[number] = f"  {inline(in_order(row | {field: value}))},\n"
                self.changed[path] = "".join(lines)
                return True
        return False

    def remove(self, file, row):
        """Takes out the row that says all of this."""
        path = self.root / "catalog" / file
        lines = self.changed[path].splitlines(keepends=True)
        self.changed[path] = "".join(text for text in lines if not (text.startswith("  {") and row_of(text) == row))

    def patch(self, files=None):
        """What changed, as a patch that `git apply` takes."""
        parts = []
        for path, before in (files or self.files).items():
            after = self.changed[path]
            name = path.relative_to(self.root)
            old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
            parts.extend(difflib.unified_diff(old, new, f"a/{name}", f"b/{name}"))
        return "".join(parts)

    def write(self, files=None):
        for path, text in self.changed.items():
            if text != (files or self.files)[path]:
                path.write_text(text)


def files_of(read):
    """Rows of files: they stand below the source of their sha256, and below their folder where an index has some."""
    for source, files in read.items():
        for name, told in files.items():
            if isinstance(told, dict):
                yield from ({"file": file, "index": name, "sha256": sha256, "source": source} for file, sha256 in told.items())
            else:
                yield {"file": name, "sha256": told, "source": source}


# What stands behind a field that a row got later.
BEHIND_REQUIRES = "brings gone extra wheel url sdist jit arches glibc cuda gpu_code sass ptx arm_sass source".split()


def in_order(row):
    """A row whose `requires` stands where others have it."""
    head = {key: value for key, value in row.items() if key not in (*BEHIND_REQUIRES, "requires") and not key.endswith("_source")}
    asked = {"requires": row["requires"]} if "requires" in row else {}
    return head | asked | {key: value for key, value in row.items() if key not in head}


# What rows leave out that nearly all of a kind would say: gpuenv fills it in, too (`asks_from`, `FoundIn`).
USUAL = {"asks": {"source": "ordinary-metadata", "found_in": "metadata"}}


def filled(kind, row):
    """A row with what its line leaves out: the usual fields of its kind, and the name that follows from the others."""
    row = {**USUAL[kind], **row}
    return row if "id" in row else {"id": asks_id(row), **row}


def spare(kind, row):
    """A row as its line has it."""
    left = {"id"} if "read" in row and str(row.get("id")) == asks_id(row) else set()
    left |= {key for key, value in USUAL[kind].items() if row.get(key) == value}
    return {key: value for key, value in row.items() if key not in left}


def asks_id(row):
    """The name of a row whose releases were read: `torch-2.9.0-sympy`."""
    how = "" if row["found_in"] == "metadata" else f"-{row['found_in']}"
    extra = f"-{row['extra']}" if row.get("extra") else ""
    on = f"-{row['python'].replace('<', 'before-').replace(',', '-').replace('>=', '')}" if row.get("python") else ""
    return f"{row['package']}-{row['read']}-{row['of']}{how}{extra}{on}"


def inline(fields):
    """A row as the catalog writes it: one line, fields in the order given, what is not known left out."""

    def value(one):
        if isinstance(one, bool):
            return "true" if one else "false"
        if isinstance(one, (list, tuple)):
            return "[" + ", ".join(value(item) for item in one) + "]"
        return '"' + str(one).replace("\\", "\\\\").replace('"', '\\"') + '"'

    # Of an image no processors are told as such: nobody knows them.
    written = lambda key, one: one not in (None, False, []) or key == "arches" and "tag" in fields
    said = [f"{key} = {value(one)}" for key, one in fields.items() if written(key, one)]
    return "{ " + ", ".join(said) + " }"


@lru_cache(maxsize=256)
def parsed(text):
    """A file as data: most are read again and again as they were. Nobody changes the rows."""
    return tomllib.loads(text)


@lru_cache(maxsize=None)
def row_of(line):
    """A line of a file as the row it holds."""
    return tomllib.loads(f"row = {line.strip().rstrip(',')}")["row"]


def order(row):
    """Rows of one file by version, variant or CUDA line, platform."""
    version = Version(row["version"].split("+")[0])
    arch = ("", "x86_64", "aarch64").index(row.get("arch") or "")
    return version, numbers(row.get("cuda", "")), row.get("variant") or "", arch


def numbers(version):
    """A version as numbers, to compare by."""
    return tuple(int(part) for part in re.findall(r"\d+", str(version).split("+")[0]))
