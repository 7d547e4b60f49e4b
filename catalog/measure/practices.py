"""Counts what publishers always do over the rows of builds: `practices.toml` holds what is counted here."""

import re
import sys

from catalog import numbers

FILE = "practices.toml"


def practices(catalog, write):
    """Each practice with its count; with `write` the numbers of the file become these."""
    path = catalog.root / "catalog" / FILE
    different = 0
    for row in catalog.rows("practice"):
        groups = counted(catalog, row)
        broken = sorted(group for group, values in groups.items() if len(set(values)) > 1)
        holds = len(groups) - len(broken)
        agrees = (row["holds"], row["of"], row.get("exceptions", [])) == (holds, len(groups), broken)
        different += not agrees
        print(f"{'agrees ' if agrees else 'DIFFERS'}  {row['id']}: {holds} of {len(groups)}" + ", but ".join(["", *broken]))
        said = ", ".join(f'"{one}"' for one in broken)
        catalog.changed[path] = re.sub(
            rf'(id = "{row["id"]}".*?)holds = \d+, of = \d+, exceptions = \[[^\]]*\]',
            rf"\g<1>holds = {holds}, of = {len(groups)}, exceptions = [{said}]",
            catalog.changed[path],
        )
    if write:
        catalog.write()
        print(f"# {different} written", file=sys.stderr)
        return 0
    return 1 if different else 0


def counted(catalog, practice):
    """Group → the values of the builds in it; only groups with two builds or more of which the value is known."""
    groups = {}
    for build in catalog.builds(practice["package"]):
        value = told(build, practice["property"])
        if value is not None:
            groups.setdefault(group(build, practice["among"]), []).append(value)
    return {group: values for group, values in groups.items() if len(values) > 1}


def told(build, field):
    """What a build is known to have; a list of Pythons that is not whole tells nothing."""
    if field == "pythons":
        return None if build.get("pythons_partial") else tuple(build["pythons"])
    return None if build["variant"] == "cpu" else build.get(field)


def group(build, among):
    version, variant, arch = build["version"], build["variant"], build["arch"]
    minor = ".".join(map(str, numbers(version)[:2]))
    return {
        "variants": f"{version} {arch}",
        "processors": f"{version} {variant}",
        "patches": f"{minor} {variant} {arch}",
    }[among]
