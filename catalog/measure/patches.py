"""The check of the patch releases of Python that packages need."""

from finding import Finding
from remote import SpecifierSet, requirements


def patches(checker):
    """What a release asks for of a line of Python, itself or by every release of what it requires."""
    for row in checker.catalog.rows("python_patch"):
        if checker.asked(row["package"], row["from"]):
            tag = "cp" + "".join(row["python"].split(".")[:2])
            wheels = checker.index.linux(row["package"], row["from"], "x86_64")
            wheel = next((one for one in wheels if tag in one.pythons), wheels[-1])
            read = oldest(checker.index, wheel, row)
            yield Finding(f"{row['package']}-{row['from']}", "python patch", row["python"], read, wheel.purl)


def oldest(index, wheel, row):
    """The first patch release of the row's line that an installer of a wheel gets along with."""
    line = ".".join(row["python"].split(".")[:2])
    asked = {wheel.requires_python or ""}
    if by := row.get("by"):
        ranges = [spec for name, spec, marker in requirements(index.metadata(wheel)) if name == by and "extra" not in str(marker)]
        files = [*index.wheels(by), *index.sources(by)]
        asked = {one.requires_python or "" for one in files if not one.yanked and all(spec.contains(one.version) for spec in ranges)}
    sets = [SpecifierSet(text) for text in asked]
    return next((f"{line}.{patch}" for patch in range(40) if any(one.contains(f"{line}.{patch}") for one in sets)), None)
