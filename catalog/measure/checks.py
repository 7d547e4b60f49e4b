"""The checks: each reads artifacts and says, fact by fact, what the catalog holds and what was read."""

import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import binary
from catalog import numbers
from remote import Requirement, applies, parsed, pinned, requirements

# Every architecture that a compiler of CUDA 8 to 14 may know; what is not one is refused and costs nothing.
NUMBERS = "20 21 30 32 35 37 50 52 53 60 61 62 70 72 75 80 86 87 88 89 90 100 101 103 107 110 120 121".split()
SUFFIXES = {one: "af" for one in NUMBERS[NUMBERS.index("90") :]}


@dataclass(frozen=True)
class Finding:
    """One fact compared: `read` is what the artifact says, or nothing where it says nothing."""

    row: str
    field: str
    said: object
    read: object
    artifact: str

    @property
    def verdict(self):
        if self.said == self.read:
            return "agrees"
        return "unread" if self.read is None else "DIFFERS"


class Checker:
    """What the checks share: the catalog, the index, and which rows are asked for."""

    def __init__(self, catalog, index, wanted=None, every_python=False):
        self.catalog, self.index, self.every_python = catalog, index, every_python
        self.wanted = wanted

    def asked(self, version):
        return self.wanted is None or any(str(version).startswith(one) for one in self.wanted)

    def toolkit_pins(self, version):
        """Component → its version, as the cuda-toolkit metapackage of a release pins them; nothing without one."""
        found = self.metapackage(version)
        if not found:
            return {}
        return {name: pinned(spec) for name, spec, _ in requirements(self.index.metadata(found[0])) if pinned(spec)}

    def metapackage(self, version):
        """The wheels of a cuda-toolkit release; a fourth number, which some carry, is a build of the metapackage."""
        return [
            wheel for wheel in self.index.wheels("cuda-toolkit") if numbers(wheel.version)[:3] == numbers(version)[:3]
        ]

    # ---- toolkits ------------------------------------------------------------------------------------------------

    def nvrtc(self):
        """Architectures: what NVRTC lists, and what it really compiles to PTX and to machine code; the PTX version."""
        for row in self.catalog.rows("toolkit"):
            wheel = self.component(row, "nvrtc") if self.asked(row["version"]) else None
            if wheel is None:
                continue
            said = self.compiled(wheel)
            yield Finding(f"toolkit {row['version']}", "ptx_isa", row["ptx_isa"], said["ptx_isa"], wheel.purl)
            for field in ("sass", "ptx"):
                if field == "sass" and not said["sass"]:
                    continue
                yield Finding(
                    f"toolkit {row['version']}", field, row[field], [spelled(one) for one in said[field]], wheel.purl
                )
            if said["listed"]:
                plain = [spelled(one) for one in said["sass"] or said["ptx"] if one.isdigit()]
                listed = [spelled(str(one)) for one in said["listed"]]
                yield Finding(f"toolkit {row['version']}", "nvrtcGetSupportedArchs", plain, listed, wheel.purl)

    def component(self, row, name):
        """The wheel of a toolkit's component: as the metapackage pins it, else of the same release line and build."""
        cuda = row["version"].split(".")
        names = [f"nvidia-cuda-{name}-cu{cuda[0]}", f"nvidia-cuda-{name}"]
        pins = self.toolkit_pins(row["version"])
        for package in names:
            version = pins.get(package)
            if version is None and row.get("components_only"):
                version = row.get("nvcc")
            if version is None and not pins and package.endswith(f"cu{cuda[0]}"):
                # Before 11.8 there is no metapackage: the last wheel of the line belongs to its last update.
                line = [v for v in self.index.releases(package) if list(numbers(v)[:2]) == list(map(int, cuda[:2]))]
                version = row.get("nvcc") if row.get("nvcc") in map(str, line) else None
            if version and (wheels := self.index.linux(package, version, "x86_64")):
                return wheels[0]
        return None

    def compiled(self, wheel):
        archive = self.index.open(wheel)
        with tempfile.TemporaryDirectory(prefix="measure-") as folder:
            for name in archive.names:
                if re.search(r"/libnvrtc(-builtins)?\.so[.\d]*$", name):
                    with archive.spool(name) as file:
                        Path(folder, Path(name).name).write_bytes(Path(file.name).read_bytes())
            library = next(str(path) for path in Path(folder).iterdir() if "builtins" not in path.name)
            candidates = [one + suffix for one in NUMBERS for suffix in ("", *SUFFIXES.get(one, ""))]
            child = [sys.executable, str(Path(__file__).with_name("nvrtc.py")), library, *candidates]
            # The library of 13.0 does not look beside itself for its other half.
            beside = os.environ | {"LD_LIBRARY_PATH": folder}
            out = subprocess.run(child, capture_output=True, text=True, timeout=300, check=True, env=beside)
        return json.loads(out.stdout)

    def compilers(self):
        """The newest gcc and clang that nvcc's host_config.h lets through."""
        for row in self.catalog.rows("toolkit"):
            header = self.host_config(row) if self.asked(row["version"]) else None
            if header is None:
                continue
            yield from self.limits(row, *header)

    def limits(self, row, text, purl):
        gcc = re.search(r"__GNUC__ > (\d+)", text)
        # A stricter limit for another system's clang stands before the one for all.
        clang = max(map(int, re.findall(r"__clang_major__ >= (\d+)", text)), default=None)
        yield Finding(f"toolkit {row['version']}", "gcc_max", row.get("gcc_max"), gcc and gcc[1], purl)
        last = clang and str(clang - 1)
        yield Finding(f"toolkit {row['version']}", "clang_max", row.get("clang_max"), last, purl)

    def host_config(self, row):
        for name in ("crt", "nvcc"):
            wheel = self.component(row, name)
            archive = self.index.open(wheel) if wheel else None
            for member in archive.names if archive else []:
                if member.endswith("crt/host_config.h"):
                    return archive.read(member).decode(), wheel.purl
        return None

    def toolkits(self):
        """nvcc's own version, as the metapackage pins it, and the libraries of `[[libraries]]` rows."""
        for row in self.catalog.rows("toolkit"):
            if self.asked(row["version"]) and (pins := self.toolkit_pins(row["version"])):
                nvcc = pins.get(f"nvidia-cuda-nvcc-cu{row['version'].split('.')[0]}") or pins.get("nvidia-cuda-nvcc")
                purl = f"pkg:pypi/cuda-toolkit@{row['version']}"
                yield Finding(f"toolkit {row['version']}", "nvcc", row.get("nvcc"), nvcc, purl)
        for row in self.catalog.rows("libraries"):
            if row["package"] == "cuda-toolkit" and self.asked(row["version"]):
                purl = f"pkg:pypi/cuda-toolkit@{row['version']}"
                read = self.toolkit_libraries(row["version"])
                yield Finding(f"libraries cuda-toolkit {row['version']}", "pins", row["pins"].split(), read, purl)

    def toolkit_libraries(self, version):
        """`nvidia-cublas-cu12==12.4.5.8`, …: everything that the metapackage pins on Linux x86_64."""
        wheels = self.metapackage(version)
        if not wheels:
            return None
        found = {
            f"{name}=={pinned(spec)}" for name, spec, _ in requirements(self.index.metadata(wheels[0])) if pinned(spec)
        }
        return sorted(one for one in found if not one.startswith("cuda-toolkit"))

    # ---- frameworks ----------------------------------------------------------------------------------------------

    def published(self, package):
        """Rows of a framework that the package index serves, each with its wheels."""
        for row in self.catalog.builds(package):
            if "pypi" in row["index"] and self.asked(row["version"]):
                wheels = self.index.linux(self.wheel_package(row), row["version"], row["arch"])
                yield row, name(row), [wheel for wheel in wheels if wheel.arch != "any"]

    def wheel_package(self, row):
        if row["package"] == "jax":
            return f"jax-{row['extra']}-plugin" if row["variant"] != "cpu" else "jaxlib"
        return row["package"]

    def tags(self):
        """Python and platform tags of every framework build on the package index."""
        yield from self.tags_of_windows()
        for package in ("torch", "tensorflow", "jax"):
            for row, label, wheels in self.published(package):
                artifact = f"pkg:pypi/{self.wheel_package(row)}@{row['version']}"
                said, read = row["pythons"], tagged(wheels)
                if row.get("pythons_partial"):
                    read = [one for one in read if one in said] if read else read
                yield Finding(label, "pythons", said, read or None, artifact)
                floors = [wheel.glibc for wheel in wheels if wheel.glibc]
                if floors and row.get("glibc"):
                    yield Finding(
                        label, "tag's glibc", True, numbers(row["glibc"]) >= numbers(min(floors, key=numbers)), artifact
                    )

    def tags_of_windows(self):
        """Pythons of the wheels for Windows that the package index serves."""
        for row in self.catalog.rows("other_build"):
            if not row.get("default") or row["os"] != "windows" or not self.asked(row["version"]):
                continue
            package = "jaxlib" if row["package"] == "jax" else row["package"]
            wheels = [one for one in self.index.wheels(package) if str(one.version) == row["version"]]
            wheels = [one for one in wheels if one.name.endswith("-win_amd64.whl")]
            artifact = f"pkg:pypi/{package}@{row['version']}"
            label = f"{row['package']}-{row['version']}-{row['variant']}-windows-{row['arch']}"
            yield Finding(label, "pythons", row["pythons"], tagged(wheels) or None, artifact)

    def pins(self):
        """cuDNN, NCCL, triton and the CUDA release, as torch's METADATA pins them on each platform."""
        runtimes = self.runtimes()
        for row, label, wheels in self.published("torch"):
            if not wheels or row["variant"] == "cpu":
                continue
            needs = self.needs(wheels[0], row["arch"])
            artifact = wheels[0].purl
            for field, package in (
                ("cudnn", r"nvidia-cudnn(-cu\d+)?"),
                ("nccl", r"nvidia-nccl(-cu\d+)?"),
                ("triton", "triton"),
            ):
                read = next((version for one, version in needs.items() if re.fullmatch(package, one)), None)
                if row.get("pins_source") == "torch-metadata" or (field == "triton" and row.get("triton")):
                    yield Finding(label, field, row.get(field), read, artifact)
            runtime = next((v for one, v in needs.items() if re.fullmatch(r"nvidia-cuda-runtime(-cu\d+)?", one)), None)
            runtime = runtime or (needs.get("cuda-toolkit") and runtimes.get(needs["cuda-toolkit"]))
            if runtime and row.get("toolkit") in runtimes:
                yield Finding(label, "runtime of its toolkit", runtimes[row["toolkit"]], runtime, artifact)
        for row in self.catalog.rows("libraries"):
            if row["package"] == "torch" and self.asked(row["version"]):
                read = self.torch_libraries(row["version"], row["arch"])
                label = f"libraries torch {row['version']} {row['arch']}"
                yield Finding(label, "pins", row["pins"].split(), read, f"pkg:pypi/torch@{row['version']}")

    def torch_libraries(self, version, arch):
        """The exact libraries of a default torch: its own pins, and those behind the extras of cuda-toolkit it names."""
        wheels = [wheel for wheel in self.index.linux("torch", version, arch) if wheel.arch == arch]
        if not wheels:
            return None
        found = set()
        for line in self.index.metadata(wheels[-1]).get_all("Requires-Dist") or []:
            one = Requirement(line)
            if not applies(one.marker, arch) or "extra" in str(one.marker or ""):
                continue
            if one.name == "cuda-toolkit" and pinned(one.specifier):
                found |= self.extras(pinned(one.specifier), one.extras, arch)
            elif one.name.startswith(("nvidia-", "triton", "cuda-bindings")) and pinned(one.specifier):
                found.add(f"{one.name}=={pinned(one.specifier)}")
        return sorted(found)

    def extras(self, version, extras, arch):
        wheel = self.metapackage(version)[0]
        found = set()
        for extra in extras:
            for name, spec, marker in requirements(self.index.metadata(wheel)):
                if marker and "extra" in str(marker) and applies(marker, arch, extra) and pinned(spec):
                    found.add(f"{name}=={pinned(spec)}")
        return found

    def runtimes(self):
        found = {}
        for row in self.catalog.rows("toolkit"):
            pins = self.toolkit_pins(row["version"])
            runtime = next((v for one, v in pins.items() if re.fullmatch(r"nvidia-cuda-runtime(-cu\d+)?", one)), None)
            if runtime:
                found[row["version"]] = runtime
        return found

    def needs(self, wheel, arch):
        python = next((f"{tag[2]}.{tag[3:]}" for tag in wheel.pythons if re.fullmatch(r"cp3\d+", tag)), "3.11")
        return {
            name: pinned(spec)
            for name, spec, marker in requirements(self.index.metadata(wheel))
            if applies(marker, arch, python=python) and pinned(spec)
        }

    def flags(self):
        """Architecture flags and C library symbols of torch's libtorch_python.so."""
        for row, label, wheels in self.published("torch"):
            if not wheels or numbers(row["version"]) < (1, 8):
                continue
            archive = self.index.open(wheels[0])
            member = "torch/lib/libtorch_python.so"
            with archive.spool(member) as file:
                data = binary.mapped(file)
                flags, symbols = binary.arch_flags(data), binary.glibc(data)
                data.close()
            if flags is not None and row.get("arch_source") == "torch-wheel":
                for field, prefix in (("sass", "sm_"), ("ptx", "compute_")):
                    read = [spelled(flag.removeprefix(prefix)) for flag in flags if flag.startswith(prefix)]
                    yield Finding(label, field, row.get(field, []), read, wheels[0].purl)
            if row.get("glibc") and symbols:
                enough = numbers(row["glibc"]) >= numbers(symbols)
                yield Finding(label, f"glibc covers {symbols}", True, enough, wheels[0].purl)

    def tensorflow(self):
        """Capabilities, CUDA and cuDNN that TensorFlow's build_info.py names."""
        for row, label, wheels in self.published("tensorflow"):
            if not wheels or row["variant"] == "cpu":
                continue
            archive = self.index.open(wheels[-1])
            info = [one for one in archive.names if one.endswith("tensorflow/python/platform/build_info.py")]
            text = archive.read(info[0]).decode() if info else ""
            if match := re.search(r"cuda_compute_capabilities['\"]?\s*[:,]\s*\[([^\]]*)\]", text):
                words = re.findall(r"(sm|compute)_(\d+[af]?)", match[1])
                if row.get("arch_source") == "tensorflow-build-info":
                    sass = [spelled(one) for _, one in words]
                    ptx = [spelled(one) for kind, one in words if kind == "compute"]
                    yield Finding(label, "sass", sorted(row.get("sass", [])), sorted(set(sass)), wheels[-1].purl)
                    yield Finding(label, "ptx", sorted(row.get("ptx", [])), sorted(set(ptx)), wheels[-1].purl)

    # ---- libraries -----------------------------------------------------------------------------------------------

    def libraries(self):
        """That every cuDNN and NCCL release with a package exists, and that none is missing."""
        for kind, stem in (("cudnn", "nvidia-cudnn-cu"), ("nccl", "nvidia-nccl-cu")):
            rows = {(row["cuda"], row["version"]) for row in self.catalog.rows(kind)}
            for cuda in ("11", "12", "13"):
                for version in self.index.releases(stem + cuda):
                    # A post-release packs the same library again.
                    if self.asked(version) and not version.is_postrelease:
                        said = (cuda, str(version)) in rows
                        yield Finding(
                            f"{kind} {version} cuda{cuda}", "published", said, True, f"pkg:pypi/{stem}{cuda}@{version}"
                        )
                known = set(map(str, self.index.releases(stem + cuda)))
                for row in self.catalog.rows(kind):
                    if row["cuda"] == cuda and self.asked(row["version"]) and row["source"].endswith(f"-cu{cuda}"):
                        label = f"{kind} {row['version']} cuda{cuda}"
                        yield Finding(
                            label,
                            "on the index",
                            True,
                            row["version"] in known,
                            f"pkg:pypi/{stem}{cuda}@{row['version']}",
                        )

    def companions(self):
        """What packages that follow a framework ask for, and the GPU code inside those that hold their own."""
        for row in self.catalog.rows("companion"):
            if not self.asked(row["version"]):
                continue
            wheels = self.index.linux(row["package"], row["version"], "x86_64")
            label = f"{row['package']}-{row['version']}"
            source = self.catalog.sources[row["source"]]
            if row["source"] == "companion-sdist":
                yield from self.source_distribution(row, label)
            if row.get("sdist"):
                yield from self.isolation(row, label, wheels)
            if not wheels or not source["at"].startswith("pkg:pypi"):
                continue
            needs = {
                one: spec
                for one, spec, marker in requirements(self.index.metadata(wheels[-1]))
                if applies(marker, "x86_64")
            }
            if row["source"] == "companion-metadata" and row["framework"] in needs:
                yield Finding(
                    label,
                    row["framework"],
                    normal(row["needs"].split("+")[0].removeprefix("*")),
                    normal(str(needs[row["framework"]])),
                    wheels[-1].purl,
                )
            if row.get("python") and "||" not in row["python"]:
                asked = self.index.metadata(wheels[-1])["Requires-Python"]
                yield Finding(label, "python", lines(row["python"]), lines(asked), wheels[-1].purl)
            elif row.get("python"):
                tags = {tag for wheel in wheels for tag in wheel.pythons if re.fullmatch(r"cp[23]\d+", tag)}
                read = sorted(f"{tag[2]}.{tag[3:]}" for tag in tags)
                yield Finding(label, "python", sorted(row["python"].split(" || ")), read, wheels[-1].purl)
            if row.get("glibc") and not row.get("sdist"):
                yield Finding(label, "glibc", row["glibc"], wheels[-1].glibc, wheels[-1].purl)
            if row.get("lines"):
                read = self.lines_of(wheels[-1])
                # From the release on that loads another of the same major, the majors are told.
                majors = all("." not in line for line in row["lines"])
                read = sorted({line.split(".")[0] for line in read}) if majors else read
                yield Finding(label, "lines", sorted(row["lines"]), sorted(read), wheels[-1].purl)
            if row.get("arch_source") == "companion-code":
                sass, ptx, cuda, purl = self.code_of(row["package"], row["version"])
                yield Finding(label, "sass", row.get("sass", []), sass, purl)
                yield Finding(label, "ptx", row.get("ptx", []), ptx, purl)
                yield Finding(label, "cuda", row.get("cuda"), cuda, purl)

    def source_distribution(self, row, label):
        """What a source distribution asks for: the framework, or what its description says of it, and Pythons."""
        source = self.index.source(row["package"], row["version"])
        if source is None:
            yield Finding(label, "source", True, None, f"pkg:pypi/{row['package']}@{row['version']}")
            return
        asked = accepted_framework(*self.index.described(source), row["framework"])
        yield Finding(label, row["framework"], normal(row["needs"]), normal(asked), source.purl)
        if row.get("python"):
            yield Finding(label, "python", lines(row["python"]), lines(source.requires_python), source.purl)

    def isolation(self, row, label, wheels):
        """Whether a release that comes as source is documented to be built without isolation."""
        source = self.index.source(row["package"], row["version"])
        if source is None and not wheels:
            return
        metadata = self.index.described(source)[0] if source else self.index.metadata(wheels[-1])
        read = unisolated(metadata, row["package"])
        yield Finding(label, "unisolated", "unisolated" in row, read, (source or wheels[-1]).purl)

    def lines_of(self, wheel):
        """The CUDA lines of the libraries that a wheel has one of for each, `12.4` of `libbitsandbytes_cuda124.so`."""
        found = [re.search(r"_cuda(\d+)(\d)\.so$", name) for name in self.index.open(wheel).names]
        return [f"{one[1]}.{one[2]}" for one in found if one]

    def code_of(self, package, version, members=None):
        """(SASS, PTX, CUDA major, purl) of the libraries that hold a package's kernels, on all platforms together."""
        sass, ptx, cuda = set(), set(), None
        wheels = [self.index.linux(package, version, arch)[-1:] for arch in ("x86_64", "aarch64")]
        for wheel in dict.fromkeys(wheel for found in wheels for wheel in found):
            archive, per_file = self.index.open(wheel), {}
            for member in archive.names:
                if re.search(members or KERNELS[package], member) and archive.size(member):
                    with archive.spool(member) as file:
                        data = binary.mapped(file)
                        per_file[member] = binary.fatbins(data)
                        cuda = cuda or binary.runtime(data)
                        data.close()
            of_platform = main_code(per_file)
            sass |= set(of_platform[0] or [])
            ptx |= set(of_platform[1] or [])
        if not any(wheels):
            return None, None, None, f"pkg:pypi/{package}@{version}"
        ordered = lambda found: sorted(found, key=lambda one: [int(part) for part in one.split(".")])
        # libcudart.so.11.0 is that of every 11.
        return ordered(sass), ordered(ptx), cuda and cuda.split(".")[0], f"pkg:pypi/{package}@{version}"

    def wheels(self):
        """The sha256 of every wheel the catalog knows, as the index lists it."""
        from wheels import recorded

        for row in recorded(self.catalog):
            files = [*self.index.wheels(row["package"]), *self.index.sources(row["package"])] if row["pypi"] else []
            listed = {file.name: file.sha256 for file in files}
            if row["file"] in listed and self.asked(row["version"]):
                yield Finding(
                    f"wheel {row['file']}",
                    "sha256",
                    row["sha256"],
                    listed[row["file"]],
                    f"pkg:pypi/{row['package']}@{row['version']}",
                )


# The libraries that hold a package's own kernels; what else lies in its wheels is another's, or for one GPU only.
KERNELS = {"vllm": r"^vllm/_C[^/]*\.so$", "xformers": r"^xformers/_C[^/]*\.so$"}


def main_code(per_file):
    """The architectures of the greatest library's kernels: machine code that a quarter of them have, PTX that half have.

    A few kernels are often built for more, and many are not built for the oldest one.
    """
    if not per_file:
        return None, None
    weight = lambda pair: sum(pair[0].values()) + sum(pair[1].values())
    sass, ptx = max(per_file.values(), key=weight)
    most = max([*sass.values(), *ptx.values()])
    common = lambda counts, share: [binary.capability(one) for one in sorted(counts) if share * counts[one] >= most]
    return common(sass, 4), common(ptx, 2)


def tagged(wheels):
    """The Pythons of wheels, oldest first."""
    tags = {python for wheel in wheels for python in wheel.pythons if re.fullmatch(r"cp[23]\d+", python)}
    return [f"{tag[2]}.{tag[3:]}" for tag in sorted(tags, key=lambda tag: (tag[2], int(tag[3:])))]


def spelled(number):
    """`90a` → `9.0a`"""
    digits = number.rstrip("af")
    return binary.capability(int(digits)) + number[len(digits) :]


def name(row):
    return f"{row['package']}-{row['version']}-{row['variant']}-linux-{row['arch']}"


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


CHECKS = {
    "nvrtc": Checker.nvrtc,
    "compilers": Checker.compilers,
    "toolkits": Checker.toolkits,
    "tags": Checker.tags,
    "pins": Checker.pins,
    "flags": Checker.flags,
    "tensorflow": Checker.tensorflow,
    "libraries": Checker.libraries,
    "companions": Checker.companions,
    "wheels": Checker.wheels,
}
