"""The check of packages that follow a framework: what they ask for, and the GPU code inside those that hold some."""

import re

import linked
import scripts
from catalog import numbers
from documented import by_names, is_of_source
from finding import Finding
from kernels import A_LIBRARY_EACH, TAGGED_TOO_LOW
from remote import SpecifierSet, Version, applies, asked_by, parsed, requirements


# What the C library of every system is at the least for which anything of CUDA was published.
EVERY_GLIBC = "2.17"
# Libraries of NVIDIA that are for one CUDA major: those of a framework are brought by it.
OF_NVIDIA = r"nvidia-(cudnn|nccl)-cu\d+"


def companions(checker):
    """What packages that follow a framework ask for, and the GPU code inside those that hold their own."""
    for row in checker.catalog.rows("companion"):
        if checker.asked(row["package"], row["version"]):
            yield from companion(checker, row, f"{row['package']}-{row['version']}")


def companion(checker, row, label):
    """One release."""
    wheels = checker.index.linux(row["package"], row["version"], "x86_64")
    if is_of_source(row):
        yield from source_distribution(checker, row, label)
    if row.get("sdist"):
        yield from isolation(checker, row, label, wheels)
    if wheels and row.get("brings"):
        # The wheel of the package index is of the same release, and asks for the same.
        needs = {f"{name}{spec}" for name, spec, marker in requirements(checker.index.metadata(wheels[-1])) if applies(marker, "x86_64")}
        yield Finding(label, "brings", sorted(row["brings"]), sorted(needs & set(row["brings"])), wheels[-1].purl)
    if wheels and "variant" not in row and row["source"] != "companion-stub" and not is_of_source(row):
        read = requires(checker.catalog, checker.index, row)
        yield Finding(label, "requires", sorted(row.get("requires", [])), read, wheels[-1].purl)
    if wheels and checker.catalog.sources[row["source"]]["at"].startswith("pkg:pypi"):
        yield from described(checker.index, row, label, wheels)
        if row.get("arch_source") in ("companion-code", "sglang-kernels"):
            yield from kernels(checker.index, row, label)
            yield from kernels_on_arm(checker.index, row, label)
        if row["source"] == linked.SOURCE:
            yield Finding(label, row["framework"], row["needs"].split(" || "), linked.lines(checker.index, wheels[-1]), wheels[-1].purl)
        if row["package"] in A_LIBRARY_EACH:
            yield from library_lines(checker, row, label, wheels[-1])


def described(index, row, label, wheels):
    """What a wheel's metadata and tags say."""
    metadata, purl, release = index.metadata(wheels[-1]), wheels[-1].purl, (row["package"], row["version"])
    needs = {name: spec for name, spec, marker in asked_by(metadata, row["package"]) if applies(marker, "x86_64")}
    if row["source"] == "companion-metadata" and row["framework"] in needs:
        said = normal(row["needs"].split("+")[0].removeprefix("*"))
        yield Finding(label, row["framework"], said, normal(str(needs[row["framework"]])), purl)
    if row.get("python") and not re.fullmatch(r"\d+\.\d+( \|\| \d+\.\d+)*", row["python"]):
        yield Finding(label, "python", lines(row["python"]), lines(metadata["Requires-Python"]), purl)
    elif row.get("python"):
        tags = {tag for wheel in wheels for tag in wheel.pythons if re.fullmatch(r"cp[23]\d+", tag)}
        read = sorted(f"{tag[2]}.{tag[3:]}" for tag in tags)
        yield Finding(label, "python", sorted(row["python"].split(" || ")), read, purl)
    if row.get("glibc") and not row.get("sdist"):
        said = {key: row.get(key) for key in ("glibc", "arm_glibc")}
        yield Finding(label, "glibc", said, glibcs(index, *release), purl)


def glibcs(index, package, version):
    """The C library that a release needs on x86_64, or where it has wheels, and on aarch64 where that is another: what its
    tags promise; what its libraries ask for where that is known to be more."""

    def of(arch):
        wheels = index.linux(package, version, arch)
        if not wheels:
            return None
        asked = index.asked_glibc(wheels[-1]) if package in TAGGED_TOO_LOW else None
        return max(filter(None, (wheels[-1].glibc, asked)), key=numbers, default=None)

    glibc, arm = of("x86_64"), of("aarch64")
    return {"glibc": glibc or arm, "arm_glibc": arm if glibc and arm != glibc else None}


def newer_glibc(index, pins):
    """`nvidia-cublas-cu12 2.27`, …: those of some pinned components whose wheels admit no glibc as old as every system has, and
    the processor where it is one."""
    found = []
    for package, version in (pin.split("==") for pin in pins if "==" in pin):
        floors = {arch: [wheel.glibc for wheel in index.linux(package, version, arch) if wheel.glibc] for arch in ("x86_64", "aarch64")}
        least = {arch: min(of, key=numbers) for arch, of in floors.items() if of}
        newer = {arch: glibc for arch, glibc in least.items() if numbers(glibc) > numbers(EVERY_GLIBC)}
        alike = len(newer) == 2 and len(set(newer.values())) == 1
        found += [f"{package} {newer['x86_64']}"] if alike else [f"{package} {glibc} {arch}" for arch, glibc in newer.items()]
    return found


def requires(catalog, index, row):
    """`torchvision==0.29.0`: what a release asks for of other packages that the catalog has, its framework aside;
    `xformers==0.0.28; x86_64` where it does so on one processor only. Without a range what follows the same framework: an
    installer takes the newest of that, which may be for another release. What a row says of an extra was written by hand, and
    stays."""
    packages = {one["package"] for one in catalog.rows("companion") + catalog.rows("build")}
    packages -= {row["package"], row["framework"]}
    beside = {one["package"] for one in catalog.rows("companion") if one["framework"] == row["framework"] != "cuda"}
    # Which release of what the framework pins is there says the framework.
    beside -= {field for build in catalog.builds(row["framework"]) for field in build}
    asked, there = {}, []
    for arch in row["arches"] if beside_wheels(row) else ("x86_64", "aarch64"):
        told = stated(index, row, arch)
        there += [arch] if told is not None else []
        for name, spec, marker in told or []:
            # The catalog has final releases only: a pin of another says that none of them will do, a range says nothing here.
            spec = spec if name in catalog.unreleased else of_releases(spec)
            early = [one for one in spec if Version(one.version.removesuffix(".*")).is_prerelease]
            final = name in catalog.unreleased or not early or [one.operator for one in spec] == ["=="]
            asks = name in packages and (str(spec) or name in beside)
            asks = asks or row["framework"] == "cuda" and re.fullmatch(OF_NVIDIA, name)
            if asks and final and "extra" not in str(marker or "") and on_some_python(marker, arch):
                asked.setdefault(f"{name}{whole(spec)}", {})[arch] = True
    said = (text if list(of) == there else f"{text}; {next(iter(of))}" for text, of in asked.items())
    return sorted({*said, *filter(is_by_hand, row.get("requires", ()))})


def is_by_hand(asked):
    """Whether what is asked for stands in an extra or in code: installers are not told, so somebody has read it."""
    return asked.endswith(("; extra", "; code"))


def stated(index, row, arch):
    """What a release asks for on a processor: by its wheel, by its source distribution where the row tells of that or no
    processor has a wheel; none where there is nothing for this one."""
    package, version = row["package"], row["version"]
    if wheels := index.linux(package, version, arch):
        return list(asked_by(index.metadata(wheels[-1]), package))
    has_wheels = any(one.version == Version(version) for one in index.wheels(package))
    source = None if has_wheels and not beside_wheels(row) else index.source(package, version)
    asked = list(parsed(index.described(source)[1])) if source else None
    return asked and [one for one in asked if not is_found(index, source, one[0])]


def is_found(index, source, name):
    """Whether the setup.py of a source distribution asks for a package for the CUDA that it finds: its metadata names that of
    whoever packed it."""
    stem = re.fullmatch(r"(.+)-cu\d\d", name)
    script = index.members(source).get("setup.py", "") if stem else ""
    return bool(stem and re.search(rf"{stem[1].replace('-', '[-_]')}[-_]cu\{{", script))


def on_some_python(marker, arch):
    return any(applies(marker, arch, "", python) for python in ("3.8", "3.10", "3.12", "3.13"))


def of_releases(spec):
    """A range as final releases see it: `<13.0a0` leaves out what `<13.0` does."""
    return SpecifierSet(re.sub(r"(<|>=)([\d.]*\d)\.?(?:a|b|rc|dev)\d+", r"\1\2", str(spec)))


def whole(spec):
    """`==0.16` means 0.16.0 and no other; the catalog reads a shorter version as a prefix."""
    return re.sub(r"(==\d+\.\d+)(?=,|$)", r"\1.0", str(spec))


def kernels(index, row, label):
    """The GPU code inside a wheel for x86_64, and the CUDA whose runtime it loads, where it cannot do without."""
    wheel = index.kernels(row["package"], row["version"], "x86_64")
    if wheel is None:
        return
    sass, ptx, cuda = index.code(wheel, row["package"])
    yield Finding(label, "sass", row.get("sass", []), sass, wheel.purl)
    yield Finding(label, "ptx", row.get("ptx", []), ptx, wheel.purl)
    if "ptx_isa" in row:
        yield Finding(label, "ptx_isa", row["ptx_isa"], index.ptx_version(wheel, row["package"]), wheel.purl)
    if row.get("gpu_code"):
        # libcudart.so.11.0 is that of every 11.
        yield Finding(label, "cuda", row.get("cuda"), cuda and cuda.split(".")[0], wheel.purl)


def kernels_on_arm(index, row, label):
    """The machine code inside the wheel for aarch64 of a package that cannot do without."""
    wheel = index.kernels(row["package"], row["version"], "aarch64")
    if wheel and wheel.arch == "aarch64" and row.get("gpu_code"):
        sass = index.code(wheel, row["package"])[0]
        yield Finding(label, "arm_sass", row.get("arm_sass", []), sass, wheel.purl)


def library_lines(checker, row, label, wheel):
    """Of a package that loads the library of torch's CUDA line: whether rules admit just those it has one for."""
    rules = [rule for rule in checker.catalog.rows("rule") if rule.get("package") == row["package"]]
    needs = [one["needs"] for one in rules if one["object"] == "cuda" and admits(one["range"], row["version"])]
    accepted = [build for build in checker.catalog.builds("torch") if admits(row["needs"], build["version"])]
    lines = {f"{one['variant'][2:-1]}.{one['variant'][-1]}" for one in accepted if one["variant"].startswith("cu")}
    # What there is for CUDA 10.2 in old ones asks for the cuBLAS of CUDA 11, or serves no Turing.
    named = re.findall(r"_cuda(1[1-9]\d)(?:_nocublaslt)?\.so", " ".join(checker.index.open(wheel).names))
    has = {f"{line[:-1]}.{line[-1]}" for line in named}
    if needs:
        said = sorted((line for line in lines if all(admits(need, line) for need in needs)), key=numbers)
        yield Finding(label, "CUDA lines", said, sorted(lines & has, key=numbers), wheel.purl)


def admits(constraint, version):
    """Whether a constraint of the catalog admits a version: `11.0 || >=11.7,<12.4`."""
    parts = [part.strip() for part in constraint.split("||")]
    spelled = [f"=={part}.*" if part[0].isdigit() else part.replace("*", "") for part in parts]
    return any(SpecifierSet(part).contains(version, prereleases=True) for part in spelled)


def source_distribution(checker, row, label):
    """What a source distribution asks for: the framework, or what its description says of it, and Pythons."""
    source = checker.index.source(row["package"], row["version"])
    if source is None:
        yield Finding(label, "source", True, None, f"pkg:pypi/{row['package']}@{row['version']}")
        return
    asked = asked_of_source(checker.index, row["package"], row["version"], row["framework"])
    if beside_wheels(row):
        asked = line_of_wheels(checker.index, row["package"], row["version"], row["framework"]) or asked
    asked = by_names(row["package"], row["version"]).get("needs", asked)
    yield Finding(label, row["framework"], normal(row["needs"]), normal(asked), source.purl)
    if row.get("python"):
        yield Finding(label, "python", lines(row["python"]), lines(source.requires_python), source.purl)


def isolation(checker, row, label, wheels):
    """Whether a release that comes as source must be built without isolation, by its description or because its setup.py
    imports the framework, and with what."""
    source = checker.index.source(row["package"], row["version"])
    if source is None and not wheels:
        return
    metadata = checker.index.described(source)[0] if source else checker.index.metadata(wheels[-1])
    compiled = source or next(filter(None, (checker.index.source(*pin) for pin in pins(row))), None)
    members = checker.index.members(compiled) if compiled else {}
    built = compiled and checker.catalog.source_build(compiled.package, compiled.version)
    read = unisolated(metadata, row["package"]) or scripts.imports_framework(members)
    yield Finding(label, "unisolated", built is not None, read, (compiled or wheels[-1]).purl)
    if built:
        asked = scripts.required(checker.index.described(compiled)[1], compiled.version)
        yield Finding(label, "tools", built["tools"], scripts.tools(members), compiled.purl)
        yield Finding(label, "requires once built", built["requires"], asked, compiled.purl)
        yield Finding(label, "archs", built.get("archs"), scripts.archs(members), compiled.purl)
        yield Finding(label, "switch", built.get("switch"), scripts.switch(members), compiled.purl)


def beside_wheels(row):
    """Whether a row tells of the source of a release that has wheels for the other processor."""
    return bool(row.get("sdist")) and row.get("arches") == ["aarch64"]


def line_of_wheels(index, package, version, framework):
    """The line of a framework that the wheels of a release were compiled beside, `2.7`; none where they take several."""
    wheels = index.linux(package, version, "x86_64")
    asked = [str(spec) for name, spec, _ in requirements(index.metadata(wheels[-1])) if name == framework] if wheels else []
    pinned = re.fullmatch(r"==(\d+\.\d+)\.\d+", asked[0]) if asked else None
    return pinned and pinned[1]


def pins(row):
    """The packages that a row requires in one release, with it."""
    found = (re.fullmatch(r"([\w.-]+)==([^,*;]+)", one) for one in row.get("requires", []))
    return [(one[1], one[2]) for one in found if one]


def asked_of_source(index, package, version, framework):
    """What a source distribution asks for of a framework: any release where only its setup.py imports it."""
    source = index.source(package, version)
    asked, script = accepted_framework(*index.described(source), framework), index.members(source).get("setup.py", "")
    if asked is None and re.search(rf"(?m)^\s*(?:import|from) {framework}\b", script):
        asked = "*"
    if asked and framework == "torch" and re.search(r"\"-std=c\+\+1\d\"", script):
        # Headers of torch take nothing older than C++20 from 2.14 on, whatever its builder of extensions would say.
        return ",".join(one for one in (asked.replace("*", ""), "<2.14") if one)
    return asked


def accepted_framework(metadata, lines, framework):
    """The versions of a framework that a source distribution asks for; `*` for any, nothing where it names none."""
    asked = next((spec for name, spec, marker in parsed(lines) if name == framework and "extra" not in str(marker)), None)
    described = re.search(r"PyTorch ([\d.]+) and above", metadata.get_payload() or "")
    if asked is not None and not str(asked) and described and framework == "torch":
        return f">={described[1]}"
    return asked if asked is None else str(asked) or "*"


def unisolated(metadata, package):
    """Whether a description tells to install the package itself with --no-build-isolation."""
    lines = (metadata.get_payload() or metadata["Description"] or "").replace("_", "-").splitlines()
    return any("install" in line and "--no-build-isolation" in line and package in line for line in lines)


def normal(specifier):
    """A specifier without order, blanks, `==` and local labels; without the single patch releases of Python that some
    packages exclude, because the catalog knows Python by its lines."""
    parts = [part.strip().removeprefix("==").removesuffix(".*").split("+")[0] for part in (specifier or "").split(",")]
    return sorted(part for part in parts if part and not re.fullmatch(r"!=\d+\.\d+\.\d+", part))


def lines(specifier):
    """What a specifier of Pythons says of their lines: `>=3.10.0` means `>=3.10`."""
    return [re.sub(r"(\d+\.\d+)\.0$", r"\1", part) for part in normal(specifier)]
