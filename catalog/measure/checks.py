"""The checks: each reads artifacts and says, fact by fact, what the catalog holds and what was read."""

import json
import os
import re
import subprocess
import sys
import tempfile
from functools import lru_cache
from pathlib import Path

import binary
from catalog import numbers
from companions import companions, glibcs, newer_glibc
from finding import Finding
from patches import patches
from remote import Requirement, Version, applies, pinned, requirements

# Every architecture that a compiler of CUDA 8 to 14 may know; what is not one is refused and costs nothing.
NUMBERS = "20 21 30 32 35 37 50 52 53 60 61 62 70 72 75 80 86 87 88 89 90 100 101 103 107 110 120 121".split()
SUFFIXES = {one: "af" for one in NUMBERS[NUMBERS.index("90") :]}
# The GPUs of Jetson before CUDA 11.
INTEGRATED = ("3.2", "5.3", "6.2", "7.2")
# Wheels that bring along the NVRTC of a toolkit line which has none.
BUNDLED = {
    "9.0": ("torch", "1.0.0"),
    "10.0": ("torch", "1.2.0"),
    "10.1": ("torch", "1.4.0"),
    "10.2": ("torch", "1.12.1"),
    "11.3": ("warp-lang", "0.2.0"),
    "11.4": ("cumm-cu114", "0.8.2"),
    "11.5": ("warp-lang", "0.6.1"),
    "11.6": ("cumm-cu116", "0.5.3"),
}
TOOLKIT = "cuda-toolkit"
# Releases whose metapackage pins the components of the one before: of nvcc the release notes tell.
MISPINNED = ("12.5.1",)
# What the packages of cuDNN and NCCL are called, before the CUDA major.
LIBRARIES = {"cudnn": "nvidia-cudnn-cu", "nccl": "nvidia-nccl-cu"}
CUDA_MAJORS = ("11", "12", "13", "14")


class Checker:
    """What the checks share: the catalog, the index, and which rows are asked for."""

    def __init__(self, catalog, index, wanted=None):
        self.catalog, self.index, self.wanted = catalog, index, wanted

    def asked(self, package, version):
        return self.wanted is None or any(named(one, package, str(version)) for one in self.wanted)

    @lru_cache(maxsize=None)
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

    # ---- listings ------------------------------------------------------------------------------------------------

    def listings(self):
        """Every final release on the package index from the first one of a listing read whole has a row."""
        for row in self.catalog.rows("listing"):
            package = row["package"]
            if row["index"] != "pypi" or row["reading"] != "whole" or not self.asked(package, ""):
                continue
            first = Version(row["from"])
            # What follows it may be read less whole.
            later = [Version(one["from"]) for one in self.catalog.rows("listing") if (one["package"], one["index"]) == (package, "pypi")]
            end = min((one for one in later if one > first), default=None)
            lacking = [str(one) for one in self.covered(package, first)[0] if end is None or one < end]
            yield Finding(f"listing {package} {row['from']} pypi", "lacking", [], lacking, f"pkg:pypi/{package}")
            # What comes as source alone is a release, too, and so is what was withdrawn: who names it gets it.
            files = [one for one in self.index.wheels(package) if one.arch] + self.index.sources(package)
            # A name is held by an empty 0.0.0, or by a 0.0.1 that is withdrawn.
            older = [one for one in files if Version("0.0.1" if one.yanked else "0.0.0") < one.version < first and not one.version.is_prerelease]
            told = row.get("first", False)
            yield Finding(f"listing {package} {row['from']} pypi", "first", told, not older, f"pkg:pypi/{package}")

    def covered(self, package, first):
        """Of the releases of a package on the index from one on those without a row, and those with one, oldest first."""
        rows = self.catalog.builds(package)
        rows = rows + [one for one in self.catalog.rows("companion") if one["package"] == package and "variant" not in one]
        for kind, stem in LIBRARIES.items():
            rows = rows + [one for one in self.catalog.rows(kind) if package == stem + one["cuda"].split(".")[0]]
        held = {numbers(one["version"]) for one in rows}
        if package == TOOLKIT:
            # A fourth number is a build of the metapackage.
            held = {numbers(one["version"]) + more for one in self.catalog.rows("toolkit") for more in ((), (0,))}
        there = [one for one in self.index.releases(package) if one >= Version(str(first))]
        if any(package.startswith(stem) for stem in LIBRARIES.values()):
            # A post-release packs the same library again.
            there = [one for one in there if not one.is_postrelease]
        return [one for one in there if numbers(one) not in held], [one for one in there if numbers(one) in held]

    # ---- toolkits ------------------------------------------------------------------------------------------------

    def nvrtc(self):
        """Architectures: what NVRTC lists, and what it really compiles to PTX and to machine code; the PTX version."""
        for row in self.catalog.rows("toolkit"):
            wheel = self.component(row, "nvrtc") or self.bundled(row) if self.asked(TOOLKIT, row["version"]) else None
            if wheel is None:
                continue
            said = self.compiled(wheel)
            yield Finding(f"toolkit {row['version']}", "ptx_isa", row["ptx_isa"], said["ptx_isa"], wheel.purl)
            for field in ("sass", "ptx"):
                if field == "sass" and not said["sass"]:
                    continue
                read = [spelled(one) for one in said[field]]
                # Before 11 NVRTC for servers takes no integrated GPUs, though nvcc does.
                told = [one for one in row[field] if one in read or one not in INTEGRATED]
                yield Finding(f"toolkit {row['version']}", field, told, read, wheel.purl)
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
                # Before 11.8 there is no metapackage. The releases of a line are alike: its last wheel speaks for all.
                line = [str(one) for one in self.index.releases(package) if one.release[:2] == numbers(cuda)[:2]]
                version = row.get("nvcc", line[-1]) if line else None
            if version and (wheels := self.index.linux(package, version, "x86_64")):
                return wheels[0]
        return None

    def bundled(self, row):
        """A wheel that brings along the NVRTC of a toolkit which has no wheel of its own."""
        package, version = BUNDLED.get(".".join(row["version"].split(".")[:2]), (None, None))
        return self.index.linux(package, version, "x86_64")[0] if package else None

    def compiled(self, wheel):
        """What the NVRTC in a wheel says and does."""
        return self.index.kept(wheel, "nvrtc", lambda: self._compiled(wheel))

    def _compiled(self, wheel):
        archive = self.index.open(wheel)
        with tempfile.TemporaryDirectory(prefix="measure-") as folder:
            for name in archive.names:
                if re.search(r"/(libnvrtc(-builtins)?(-\w+)?|warp)\.so[.\d]*$", name):
                    with archive.spool(name) as file:
                        # NVRTC asks for its other half by the name that it had before it was bundled.
                        own = re.sub(r"(builtins)-[0-9a-f]{8}(\.so\.\d+\.\d+).*", r"\1\2", Path(name).name)
                        Path(folder, own).write_bytes(Path(file.name).read_bytes())
            library = min(str(path) for path in Path(folder).iterdir() if "builtins" not in path.name)
            candidates = [one + suffix for one in NUMBERS for suffix in ("", *SUFFIXES.get(one, ""))]
            child = [sys.executable, str(Path(__file__).with_name("nvrtc.py")), library, *candidates]
            # The library of 13.0 does not look beside itself for its other half.
            beside = os.environ | {"LD_LIBRARY_PATH": folder}
            out = subprocess.run(child, capture_output=True, text=True, timeout=300, check=True, env=beside)
        return json.loads(out.stdout)

    def compilers(self):
        """The newest gcc and clang that nvcc's host_config.h lets through."""
        for row in self.catalog.rows("toolkit"):
            header = self.host_config(row) if self.asked(TOOLKIT, row["version"]) else None
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
            text = self.index.kept(wheel, "host_config.h", lambda: self.header(wheel)) if wheel else None
            if text:
                return text, wheel.purl
        return None

    def header(self, wheel):
        """The lines of host_config.h that name a compiler's version, where a wheel has the file."""
        archive = self.index.open(wheel)
        member = next((one for one in archive.names if one.endswith("crt/host_config.h")), None)
        lines = archive.read(member).decode().splitlines() if member else []
        return "\n".join(line for line in lines if "__GNUC__" in line or "__clang_major__" in line)

    def toolkits(self):
        """nvcc's own version, as the metapackage pins it, and the libraries of `[[libraries]]` rows."""
        for row in self.catalog.rows("toolkit"):
            if row["version"] in MISPINNED:
                continue
            if self.asked(TOOLKIT, row["version"]) and (pins := self.toolkit_pins(row["version"])):
                nvcc = pins.get(f"nvidia-cuda-nvcc-cu{row['version'].split('.')[0]}") or pins.get("nvidia-cuda-nvcc")
                purl = f"pkg:pypi/cuda-toolkit@{row['version']}"
                yield Finding(f"toolkit {row['version']}", "nvcc", row.get("nvcc"), nvcc, purl)
        for row in self.catalog.rows("libraries"):
            if row["package"] == TOOLKIT and self.asked(TOOLKIT, row["version"]):
                purl = f"pkg:pypi/cuda-toolkit@{row['version']}"
                read = self.toolkit_libraries(row["version"])
                yield Finding(f"libraries cuda-toolkit {row['version']}", "pins", row["pins"].split(), read, purl)
                newer = newer_glibc(self.index, read or [])
                yield Finding(f"libraries cuda-toolkit {row['version']}", "newer_glibc", row.get("newer_glibc", []), newer, purl)
            elif row["package"].startswith("nvidia-") and self.asked(row["package"], row["version"]):
                read = self.of_library(row["package"], row["version"])
                label, purl = f"libraries {row['package']} {row['version']}", f"pkg:pypi/{row['package']}@{row['version']}"
                yield Finding(label, "pins", row["pins"].split(), read, purl)

    def of_library(self, package, version):
        """`nvidia-nvjitlink`, …: the libraries that one of NVIDIA's asks for on Linux x86_64."""
        wheels = self.index.linux(package, version, "x86_64")
        if not wheels:
            return None
        asked = requirements(self.index.metadata(wheels[-1]))
        return sorted(f"{name}{spec}" for name, spec, marker in asked if name.startswith("nvidia-") and not marker)

    def toolkit_libraries(self, version):
        """`nvidia-cublas-cu12==12.4.5.8`, …: everything that the metapackage asks for on Linux x86_64."""
        wheels = self.metapackage(version)
        if not wheels:
            return None
        found = {asked_of(name, spec) for name, spec, _ in requirements(self.index.metadata(wheels[0])) if pinned(spec)}
        return sorted(one for one in found if not one.startswith("cuda-toolkit"))

    # ---- frameworks ----------------------------------------------------------------------------------------------

    def published(self, package):
        """Rows of a framework that the package index serves, each with its wheels."""
        for row in self.catalog.builds(package):
            if "pypi" in row["index"] and self.asked(package, row["version"]):
                wheels = self.index.linux(self.wheel_package(row), self.wheel_version(row), row["arch"])
                yield row, name(row), [wheel for wheel in wheels if wheel.arch != "any"]

    def wheel_version(self, row):
        """The version of the wheels: of JAX the newest that it accepts, because not every release brings new ones."""
        package = self.wheel_package(row)
        made = [str(version) for version in self.index.releases(package)]
        if row["package"] != "jax" or row["version"] in made:
            return row["version"]
        needs = requirements(self.index.metadata(self.index.linux("jax", row["version"], row["arch"])[0]))
        accepts = next((spec for name, spec, _ in needs if name == package), ())
        return max((version for version in made if version in accepts), key=numbers, default=row["version"])

    def wheel_package(self, row):
        if row["package"] == "jax":
            return f"jax-{row['extra']}-plugin" if row["variant"] != "cpu" else "jaxlib"
        return row["package"]

    def tags(self):
        """Python and platform tags of every framework build on the package index."""
        yield from self.tags_of_windows()
        for package in ("torch", "tensorflow", "jax"):
            for row, label, wheels in self.published(package):
                artifact = f"pkg:pypi/{self.wheel_package(row)}@{self.wheel_version(row)}"
                said, read = row["pythons"], tagged(wheels)
                if read and row.get("pythons_partial"):
                    read = [one for one in read if one in said]
                if read and row["index"] != ["pypi"]:
                    # Another index may have wheels for more of them.
                    said = [one for one in said if one in read]
                yield Finding(label, "pythons", said, read or None, artifact)
                floors = [wheel.glibc for wheel in wheels if wheel.glibc]
                if floors and row.get("glibc"):
                    yield Finding(
                        label, "tag's glibc", True, numbers(row["glibc"]) >= numbers(min(floors, key=numbers)), artifact
                    )

    def tags_of_windows(self):
        """Pythons of the wheels for Windows that the package index serves."""
        for row in self.catalog.rows("other_build"):
            if not row.get("default") or row["os"] != "windows" or not self.asked(row["package"], row["version"]):
                continue
            package, version = self.wheel_package(row), self.wheel_version(row)
            wheels = [one for one in self.index.wheels(package) if str(one.version) == version]
            wheels = [one for one in wheels if one.name.endswith("-win_amd64.whl")]
            artifact = f"pkg:pypi/{package}@{version}"
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
            if row["package"] == "torch" and self.asked("torch", row["version"]):
                read = self.torch_libraries(row["version"], row["arch"])
                label = f"libraries torch {row['version']} {row['arch']}"
                yield Finding(label, "pins", row["pins"].split(), read, f"pkg:pypi/torch@{row['version']}")
            elif "variant" in row and self.asked(row["package"], row["version"]):
                read = self.extra_libraries(row["package"], row["version"], row["variant"])
                label = f"libraries {row['package']} {row['version']} {row['variant']}"
                yield Finding(label, "pins", row["pins"].split(), read, f"pkg:pypi/{row['package']}@{row['version']}")

    def torch_libraries(self, version, arch):
        """The exact libraries of a default torch: its own pins, and those behind the extras of cuda-toolkit it names, and that."""
        wheels = [wheel for wheel in self.index.linux("torch", version, arch) if wheel.arch == arch]
        if not wheels:
            return None
        found = set()
        for line in self.index.metadata(wheels[-1]).get_all("Requires-Dist") or []:
            one = Requirement(line)
            if not applies(one.marker, arch) or "extra" in str(one.marker or ""):
                continue
            if one.name == "cuda-toolkit" and pinned(one.specifier):
                found |= {f"cuda-toolkit{one.specifier}"} | self.extras(pinned(one.specifier), one.extras, arch)
            elif one.name.startswith(("nvidia-", "triton", "cuda-bindings")) and pinned(one.specifier):
                found.add(f"{one.name}{one.specifier}")
        named = {re.split("[=<>~!]", one)[0] for one in found if not exact(one)}
        # A range beside the pin of the toolkit's extra for the same library: what torch itself asks for tells more.
        return sorted(one for one in found if not exact(one) or re.split("=", one)[0] not in named)

    def extra_libraries(self, package, version, variant):
        """What the extra of a variant asks for: directly, or through the plugin that it names; both processors alike."""
        extra = {"jax": f"cuda{variant[2:]}", "tensorflow": "and-cuda"}[package]
        both = []
        for arch in ("x86_64", "aarch64"):
            wheels = self.index.linux(package, version, arch)
            asked = {}
            for name, spec, marker in requirements(self.index.metadata(wheels[0])) if wheels else []:
                if "extra" not in str(marker or "") or not applies(marker, arch, extra):
                    continue
                if re.fullmatch(r"jax-cuda\d+-plugin", name) and pinned(spec):
                    plugin = self.index.linux(name, pinned(spec), arch)
                    for one, range, when in requirements(self.index.metadata(plugin[0])) if plugin else []:
                        if one.startswith("nvidia-") and "extra" in str(when) and self.of_plugin(when, arch):
                            asked[one] = str(range)
                elif name.startswith("nvidia-"):
                    asked[name] = str(spec)
            both.append(asked)
        # Where a wheel for one processor is missing, the other tells.
        return sorted(f"{name}{spec}" for name, spec in (both[0] or both[1]).items())

    @staticmethod
    def of_plugin(marker, arch):
        """The plugin's own extra is spelled in two ways."""
        return any(applies(marker, arch, extra) for extra in ("with_cuda", "with-cuda"))

    def extras(self, version, extras, arch):
        wheel = self.metapackage(version)[0]
        found = set()
        for extra in extras:
            for name, spec, marker in requirements(self.index.metadata(wheel)):
                if marker and "extra" in str(marker) and applies(marker, arch, extra) and pinned(spec):
                    found.add(asked_of(name, spec))
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
            if row.get("arch_source") == "torch-wheel":
                for field, prefix in (("sass", "sm_"), ("ptx", "compute_")):
                    read = flags and [spelled(flag.removeprefix(prefix)) for flag in flags if flag.startswith(prefix)]
                    yield Finding(label, field, row.get(field, []), read, wheels[0].purl)
            if row.get("glibc") and symbols:
                enough = numbers(row["glibc"]) >= numbers(symbols)
                yield Finding(label, f"glibc covers {symbols}", True, enough, wheels[0].purl)

    def tensorflow(self):
        """Capabilities, CUDA and cuDNN that TensorFlow's build_info.py names."""
        for row, label, wheels in self.published("tensorflow"):
            if not wheels or row["variant"] == "cpu":
                continue
            if row.get("extra"):
                read = self.extra_pythons(row, wheels[-1])
                yield Finding(label, "extra_pythons", row.get("extra_pythons", []), read, wheels[-1].purl)
            archive = self.index.open(wheels[-1])
            info = [one for one in archive.names if one.endswith("tensorflow/python/platform/build_info.py")]
            text = archive.read(info[0]).decode() if info else ""
            if match := re.search(r"cuda_compute_capabilities['\"]?\s*[:,]\s*\[([^\]]*)\]", text):
                words = re.findall(r"(sm|compute)_(\d+[af]?)", match[1])
                if row.get("arch_source") == "tensorflow-build-info":
                    # Up to 2.7 the last entry was machine code, too.
                    alone = numbers(row["version"]) >= (2, 8)
                    sass = [spelled(one) for kind, one in words if kind == "sm" or not alone]
                    ptx = [spelled(one) for kind, one in words if kind == "compute"]
                    yield Finding(label, "sass", sorted(row.get("sass", [])), sorted(set(sass)), wheels[-1].purl)
                    yield Finding(label, "ptx", sorted(row.get("ptx", [])), sorted(set(ptx)), wheels[-1].purl)

    def extra_pythons(self, row, wheel):
        """Of the Pythons of a row those for which all that its extra pins has wheels; nothing where that is all of them."""
        left = list(row["pythons"])
        for name, spec, marker in requirements(self.index.metadata(wheel)):
            pin = "extra" in str(marker or "") and applies(marker, row["arch"], row["extra"]) and pinned(spec)
            files = self.index.linux(name, pin, row["arch"]) if pin else []
            tags = {tag for one in files for tag in one.pythons}
            if files and not self.index.source(name, pin) and tags.isdisjoint({"py3", "abi3"}):
                left = [line for line in left if f"cp{line.replace('.', '')}" in tags]
        return [] if left == row["pythons"] else left

    def jax(self):
        """The kernels that JAX's CUDA plugins bring along."""
        for row, label, wheels in self.published("jax"):
            if wheels and row.get("arch_source") == "jax-wheel":
                sass, ptx, _ = self.index.code(wheels[-1], "jax")
                yield Finding(label, "sass", row.get("sass", []), sass, wheels[-1].purl)
                yield Finding(label, "ptx", row.get("ptx", []), ptx, wheels[-1].purl)

    # ---- libraries -----------------------------------------------------------------------------------------------

    def libraries(self):
        """That every cuDNN and NCCL release with a package exists, and that none is missing."""
        for kind, stem in LIBRARIES.items():
            rows = {(row["cuda"], row["version"]): row for row in self.catalog.rows(kind)}
            for cuda in CUDA_MAJORS:
                listed = set(map(str, self.index.releases(stem + cuda)))
                for version in sorted(version for version in listed if self.asked(kind, version)):
                    # A post-release packs the same library again.
                    if "post" not in version:
                        said, purl = (cuda, version) in rows, f"pkg:pypi/{stem}{cuda}@{version}"
                        yield Finding(f"{kind} {version} cuda{cuda}", "published", said, True, purl)
                for (major, version), row in rows.items():
                    if major == cuda and self.asked(kind, version) and row["source"] == f"{kind}-cu{cuda}":
                        label, purl = f"{kind} {version} cuda{cuda}", f"pkg:pypi/{stem}{cuda}@{version}"
                        yield Finding(label, "on the index", True, version in listed, purl)
                        yield Finding(label, "glibc", row.get("glibc"), glibcs(self.index, stem + major, version)["glibc"], purl)

    def code(self):
        """The machine code and PTX of cuDNN and NCCL, and the CUDA that NCCL was built with."""
        for kind in LIBRARIES:
            for row in self.catalog.rows(kind):
                if row.get("arch_source") != f"{kind}-code" or not self.asked(kind, row["version"]):
                    continue
                label = f"{kind} {row['version']} cuda{row['cuda']}"
                sass, ptx, cuda, purl = self.library_code(kind, row["version"], row["cuda"])
                yield Finding(label, "sass", row.get("sass", []), sass, purl)
                yield Finding(label, "ptx", row.get("ptx", []), ptx, purl)
                if kind == "nccl":
                    yield Finding(label, "built_with", row.get("built_with"), cuda, purl)

    def library_code(self, kind, version, cuda):
        """(SASS, PTX, CUDA, purl) of a release of cuDNN or NCCL."""
        package = LIBRARIES[kind] + cuda
        wheels = self.index.linux(package, version, "x86_64")
        code = self.index.code(wheels[-1], kind) if wheels else (None, None, None)
        return *code, f"pkg:pypi/{package}@{version}"

    def wheels(self):
        """The sha256 of every wheel the catalog knows, as the index lists it."""
        from wheels import recorded

        for row in recorded(self.catalog):
            files = [*self.index.wheels(row["package"]), *self.index.sources(row["package"])] if row["pypi"] else []
            listed = {file.name: file.sha256 for file in files}
            if row["file"] in listed and self.asked(row["package"], row["version"]):
                yield Finding(
                    f"wheel {row['file']}",
                    "sha256",
                    row["sha256"],
                    listed[row["file"]],
                    f"pkg:pypi/{row['package']}@{row['version']}",
                )


def named(wanted, package, version):
    """Whether `--only` names a release: `2.7` and what begins with it, `vllm`, or both as `vllm==0.11`."""
    name, _, begin = ("", "", wanted) if wanted[:1].isdigit() else wanted.partition("==")
    return name in ("", package) and (not begin or f"{version}.".startswith(f"{begin}."))


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


def asked_of(name, spec):
    """`nvidia-cublas==13.1.0.3`; a range as it is written, `nvidia-nvjitlink<14,>=13.0.88`."""
    is_pin = len(spec) == 1 and next(iter(spec)).operator == "=="
    return f"{name}=={pinned(spec)}" if is_pin else f"{name}{spec}"


def exact(asked):
    return re.search("[=<>~!]+", asked)[0] == "==" and "*" not in asked and "," not in asked


CHECKS = {
    "nvrtc": Checker.nvrtc,
    "compilers": Checker.compilers,
    "toolkits": Checker.toolkits,
    "listings": Checker.listings,
    "tags": Checker.tags,
    "pins": Checker.pins,
    "flags": Checker.flags,
    "tensorflow": Checker.tensorflow,
    "jax": Checker.jax,
    "libraries": Checker.libraries,
    "code": Checker.code,
    "companions": companions,
    "patches": patches,
    "wheels": Checker.wheels,
}
