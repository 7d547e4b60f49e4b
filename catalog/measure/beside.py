"""What people install beside torch, and where gpuenv takes it: `tests/data/beside_torch.tsv`.

The names and in how many of the projects of `tests/data/beside_torch_projects.tsv` a requirement file has them were counted
once; what the newest wheel of each holds and asks for is read here.
"""

import re
import sys

import binary
from ordinary import asked_by
from remote import Version, applies

FILE = "tests/data/beside_torch.tsv"
FRAMEWORKS = ("torch", "tensorflow", "jax")
HEAD = "# package\tprojects\twhere\twheel\tevidence\n"


def beside(catalog, index, write):
    """Every row anew, by what the index has today; other rows than in the file exit 1."""
    path = catalog.root / FILE
    before = path.read_text()
    rows = [line.split("\t") for line in before.splitlines() if not line.startswith("#")]
    solved = {row["package"] for row in catalog.rows("build") + catalog.rows("companion")}
    lines = []
    for package, projects, *_ in rows:
        where, wheel, evidence = judged(catalog, index, package, solved)
        lines.append(f"{package}\t{projects}\t{where}\t{wheel}\t{evidence}\n")
    notes = [line + "\n" for line in before.splitlines() if line.startswith("#") and line + "\n" != HEAD]
    after = "".join([*notes, HEAD, *lines])
    if write:
        path.write_text(after)
        return 0
    sys.stdout.write(after)
    return 1 if after != before else 0


def judged(catalog, index, package, solved):
    """(`stack` or `packages`, the file that was read, what it says)."""
    releases = index.releases(package)
    if not releases:
        source = next(reversed([one for one in index.sources(package) if not one.yanked]), None)
        kind = "stack" if package in solved else "packages"
        early = [one for one in index.wheels(package) if one.arch in ("x86_64", "any") and not one.yanked]
        if source is None and early:
            held = None if early[-1].arch == "any" else index.kept(early[-1], "holds", lambda: holds(index, early[-1]))
            return kind, early[-1].purl, "; ".join(filter(None, ["pre-releases alone", held, *pins(catalog, asked_by(index, early[-1]))]))
        if source is None:
            return kind, "-", "not on the package index"
        return kind, source.purl, "; ".join(["source only", *pins(catalog, asked_by(index, source))])
    wheel = index.linux(package, releases[-1], "x86_64")[-1] if index.linux(package, releases[-1], "x86_64") else None
    if wheel is None:
        return "packages", f"pkg:pypi/{package}@{releases[-1]}", "no wheel for x86_64"
    found = pins(catalog, asked_by(index, wheel))
    if code := None if wheel.arch == "any" else index.kept(wheel, "holds", lambda: holds(index, wheel)):
        found.append(code)
    if not found and package in solved:
        found.append("its older releases, or the documentation of its publisher (companions.toml)")
    where = "stack" if found else "packages"
    return where, wheel.purl, "; ".join(found) or "no CUDA code, pins no framework and no CUDA library of NVIDIA"


def pins(catalog, asked):
    """What the metadata asks for that leaves out newer releases of a framework, and NVIDIA's packages."""
    found = []
    for name, spec, marker in asked:
        if "extra" in str(marker or "") or not applies(marker, "x86_64"):
            continue
        known = [Version(row["version"].split("+")[0]) for row in catalog.builds(name)] if name in FRAMEWORKS else []
        taken = [one for one in known if spec.contains(str(one))]
        if taken and max(taken) < max(known):
            found.append(f"asks for {name}{spec}")
        if re.match(r"nvidia-(cublas|cuda|cudnn|cufft|cufile|curand|cusolver|cusparse|nccl|nvjitlink|nvshmem)", name):
            found.append(f"asks for {name}{spec}")
    return found


def holds(index, wheel):
    """Machine code for GPUs inside the shared libraries of a wheel, or the one CUDA runtime that they load."""
    archive = index.open(wheel)
    loaded = {}
    for member in sorted((one for one in archive.names if re.search(r"\.so(\.[\d.]+)?$", one)), key=archive.size, reverse=True):
        if not archive.size(member):
            continue
        with archive.spool(member) as file:
            data = binary.mapped(file)
            archs = sorted({arch for code in binary.fatbins(data) for kind in code for arch in kind})
            runtime = binary.runtime(data)
            data.close()
        if archs:
            return f"{member} holds code for {', '.join(binary.capability(*one) for one in archs)}"
        if runtime:
            loaded.setdefault(runtime, member)
    # With a library for each CUDA, one of them fits.
    return f"{[*loaded.values()][0]} loads libcudart.so.{[*loaded][0]}" if len(loaded) == 1 else None
