"""The files of `catalog/`, read as data and changed as text, so that a proposal is a patch of single lines."""

import difflib
import re
import tomllib
from functools import cached_property
from pathlib import Path

from pip._vendor.packaging.version import Version

ROOT = Path(__file__).resolve().parents[2]


class Catalog:
    """Every row of every file."""

    def __init__(self, root=ROOT):
        self.root = root
        self.files = {path: path.read_text() for path in sorted(root.glob("catalog/**/*.toml"))}
        self.changed = dict(self.files)

    @cached_property
    def tables(self):
        tables = {}
        for text in self.files.values():
            for kind, rows in tomllib.loads(text).items():
                if isinstance(rows, list):
                    tables.setdefault(kind, []).extend(rows)
        return tables

    def rows(self, kind):
        """Every row of a kind, but for those of single systems: their files lie on no index that is read here."""
        return [row for row in self.tables.get(kind, []) if "systems" not in row]

    @cached_property
    def sources(self):
        return {row["id"]: row for row in self.rows("source")}

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

    def patch(self):
        """What changed, as a patch that `git apply` takes."""
        parts = []
        for path, before in self.files.items():
            after = self.changed[path]
            name = path.relative_to(self.root)
            old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
            parts.extend(difflib.unified_diff(old, new, f"a/{name}", f"b/{name}"))
        return "".join(parts)

    def write(self):
        for path, text in self.changed.items():
            if text != self.files[path]:
                path.write_text(text)


def inline(fields):
    """A row as the catalog writes it: one line, fields in the order given, what is not known left out."""

    def value(one):
        if isinstance(one, bool):
            return "true" if one else "false"
        if isinstance(one, (list, tuple)):
            return "[" + ", ".join(value(item) for item in one) + "]"
        return '"' + str(one).replace("\\", "\\\\").replace('"', '\\"') + '"'

    said = [f"{key} = {value(one)}" for key, one in fields.items() if one not in (None, False, [])]
    return "{ " + ", ".join(said) + " }"


def numbers(version):
    """A version as numbers, to compare by."""
    return tuple(int(part) for part in re.findall(r"\d+", str(version).split("+")[0]))
