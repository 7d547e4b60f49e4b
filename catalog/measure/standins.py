"""Wheels that hold nothing but METADATA, for files that lie on no index that is read here.

What stands in their METADATA was published; nothing is taken from the catalog's facts:

- From torch 2.2 on, a variant that is the release's default: all lines of that release's wheel on the package index,
  of which it is another copy under a label: lock files hold the same pins for it, 209 of 209 (`test_resolve.py --index`).
- Another variant of torch: the libraries that public lock files hold for that very build (`PINS`), and of the default
  wheel the lines that variants share, which are those that ask for no library of CUDA and no triton. From 2.11 on the
  libraries are extras of cuda-toolkit: its version is that of the lock file, the names of the extras are the default's.
  `cuda-bindings` is left out, because the lock files were not read for it. A CPU build has the shared lines only.
- torchvision, torchaudio and others that lie on the PyTorch index under a label, and vllm's wheels of single variants:
  the lines of the same release on the package index. Variants share them: pip prints that "torchvision 0.23.0+cu128
  requires torch==2.8.0". Where the release asks for parts of another CUDA major, they do not: vllm's setup.py changes
  them, and nothing that it wrote is at hand.
- What comes as source: PKG-INFO and requires.txt of the source distribution, or METADATA of a wheel of that release for
  another Python.

Python and platform tags are those of files seen published, by the names with their sha256 in `catalog/wheels`; where
only others of that build were seen, those of the default wheel. Of a build of which no file was seen there is none.
"""

import re
import zipfile
from pathlib import Path

from catalog import ROOT, numbers
from remote import Requirement, Version, applies, canonicalize_name, parse_wheel_filename, pinned
from wheels import recorded

PINS = ROOT / "tests" / "data" / "variant_pins.tsv"
# What is for one CUDA in a requirement of torch.
OF_CUDA = re.compile(r"nvidia-|triton$|cuda-toolkit$|cuda-bindings$|pytorch-triton")
# Without these among its pins, a lock file did not show all of them.
TELLING = ("cudnn", "nccl", "triton")


class Unpublished(Exception):
    """No METADATA that was published is at hand; says why."""


class StandIns:
    """Makes wheels in folders; `index` is the package index."""

    def __init__(self, catalog, index, pins=PINS):
        self.index = index
        self.pins = {}
        for line in pins.read_text().splitlines():
            if not line.startswith("#"):
                version, variant, *cells = line.split("\t")
                self.pins.setdefault((version, variant), []).append(cells)
        self.files = {}
        for row in recorded(catalog):
            # A file that lies in another folder of that index has other bytes under the same name, not other METADATA.
            if not row["pypi"] and row["file"].endswith(".whl"):
                self.files.setdefault(canonicalize_name(row["package"]), []).append(row["file"])

    def seen(self, package, label):
        """Releases with that label of which a file was seen."""
        versions = {parse_wheel_filename(file)[1] for file in self.files.get(package, [])}
        return sorted(version for version in versions if version.local == label)

    def make(self, folder, package, version, python, arch):
        """Puts the wheel of a labelled release into a folder."""
        version = Version(version)
        tag = self.tag(package, version, python, arch)
        if package == "torch":
            lines, requires_python = self.torch(version, python, arch)
        else:
            lines, requires_python = self.shared(package, version, arch)
        write(folder, package, version, tag, lines, requires_python)

    def make_url(self, folder, package, address, arch):
        """The same for a file that is asked for by its address."""
        version = parse_wheel_filename(address.split("#")[0].rsplit("/", 1)[-1].replace("%2B", "+"))[1]
        tag = address.split("#")[0].rsplit("/", 1)[-1].removesuffix(".whl").split("-", 2)[-1]
        write(folder, package, version, tag, *self.shared(package, version, arch))
        return version

    def shared(self, package, version, arch):
        """What variants of a release ask for alike, by the one on the package index; its Pythons."""
        metadata = self.default(package, version.public, arch)
        lines = metadata.get_all("Requires-Dist") or []
        label = re.match(r"cu(1[0-9])", version.local or "")
        always = " ".join(line.split(";")[0] for line in lines if "extra ==" not in line)
        majors = set(re.findall(r"(?:-cu|\[cu)(1[0-9])(?!\d)", always))
        if majors - {label and label[1]}:
            parts = f"parts of CUDA {' and '.join(sorted(majors))}"
            raise Unpublished(f"{package} {version.public} asks for {parts}, and what +{version.local} asks for is not told")
        return lines, metadata["Requires-Python"]

    def make_source(self, folder, package, version):
        """The same for a source distribution."""
        source = self.index.source(package, version)
        if source is None:
            raise Unpublished(f"{package} {version} has no source distribution on the package index")
        try:
            metadata, lines = self.index.described(source)
        except KeyError:
            raise Unpublished(f"{source.name} has no PKG-INFO") from None
        write(folder, package, Version(str(version)), "py3-none-any", dict.fromkeys(lines), source.requires_python)

    def make_like(self, folder, package, version):
        """The same for a release whose wheels are for other Pythons, so that this one takes its source."""
        wheel = next(one for one in self.index.wheels(package) if one.version == version and one.arch)
        metadata = self.index.metadata(wheel)
        lines = metadata.get_all("Requires-Dist") or []
        write(folder, package, version, "py3-none-any", lines, metadata["Requires-Python"])

    def tag(self, package, version, python, arch):
        """The tags of a file seen published that this Python installs on this processor."""
        named = f"cp{python.replace('.', '')}"
        for file in self.files.get(package, []):
            _, made, _, tags = parse_wheel_filename(file)
            for tag in tags if made == version else ():
                fits = tag.interpreter in (named, "py3") and not tag.abi.endswith("t") or tag.abi == "abi3"
                if fits and (tag.platform.endswith(arch) or tag.platform == "any"):
                    return f"{tag.interpreter}-{tag.abi}-{tag.platform}"
        if not any(parse_wheel_filename(file)[1] == version for file in self.files.get(package, [])):
            raise Unpublished(f"no file of {package} {version} was seen")
        # Of other files of that build only: variants are built for the same Pythons and platforms as the default.
        for wheel in self.index.linux(package, version.public, arch):
            if named in wheel.pythons or "abi3" in wheel.pythons or "py3" in wheel.pythons:
                return wheel.name.removesuffix(".whl").split("-", 2)[2]
        raise Unpublished(f"no file of {package} {version} for Python {python} on {arch} was seen")

    def default(self, package, version, arch):
        """METADATA of the same release on the package index."""
        wheels = self.index.linux(package, version, arch) or self.index.linux(package, version, "x86_64")
        if not wheels:
            raise Unpublished(f"{package} {version} has no wheel on the package index")
        return self.index.metadata(wheels[-1])

    def torch(self, version, python, arch):
        wheels = [one for one in self.index.linux("torch", version.public, arch) if one.arch == arch]
        if not wheels:
            raise Unpublished(f"torch {version.public} has no wheel for {arch} on the package index")
        metadata = self.index.metadata(wheels[-1])
        lines = metadata.get_all("Requires-Dist") or []
        return self.of_variant(version, python, arch, lines), metadata["Requires-Python"]

    def of_variant(self, version, python, arch, lines):
        asked = [Requirement(line) for line in lines]
        plain = [one for one in asked if "extra" not in str(one.marker or "")]
        shared = [str(one) for one in asked if not OF_CUDA.match(canonicalize_name(one.name))]
        libraries = [one for one in plain if OF_CUDA.match(canonicalize_name(one.name))]
        if version.local == "cpu":
            return shared
        if not libraries and numbers(version.public) < (1, 13):
            # Before 1.13 every wheel held all of CUDA, and none asked for a library.
            return shared
        # Before 2.2 what lay on the PyTorch index under the label held all of CUDA, too, and the default did not.
        default = any(applies(one.marker, arch) for one in libraries) and version.local == line_of(libraries)
        if default and numbers(version.public) >= (2, 2):
            return lines
        rows = [row for row in self.pins.get((version.public, version.local), []) if row[2] in ("any", arch)]
        pins = {canonicalize_name(package): (pin, marker) for package, pin, _, marker, _ in rows}
        if not pins:
            raise Unpublished(f"no public lock file tells what torch {version} asks for on {arch}")
        bundled = any(pin == "none required" for pin, _ in pins.values())
        stems = {re.sub(r"^nvidia-|-cu\d+$", "", name) for name in pins}
        lacking = [] if bundled else [one for one in TELLING if one not in stems]
        lacking += [] if bundled or stems & {"cuda-runtime", "cuda-toolkit"} else ["cuda-runtime"]
        if lacking:
            raise Unpublished(f"public lock files do not show what torch {version} asks for of {', '.join(lacking)}")
        toolkit = next((one for one in libraries if one.name == "cuda-toolkit"), None)
        for name, (pin, marker) in pins.items():
            if pin == "none required":
                continue
            if "cuda-toolkit" in pins and name != "cuda-toolkit" and not name.endswith(OWN) and name != "triton":
                # What the extras of cuda-toolkit bring: a lock file holds what was resolved, not what was asked for.
                continue
            extras = f"[{','.join(sorted(toolkit.extras))}]" if name == "cuda-toolkit" and toolkit else ""
            # For which Pythons there is a triton does not hang on the CUDA.
            default = next((one for one in libraries if one.name == name == "triton"), None)
            if default and not applies(default.marker, "x86_64", python=python):
                continue
            when = f"; {marker}" if marker else ""
            shared.append(f"{name}{extras}=={pin}{when}")
        return shared


# Libraries that torch itself asks for beside cuda-toolkit.
OWN = tuple(f"{one}-cu{major}" for one in ("cudnn", "cusparselt", "nccl", "nvshmem") for major in (11, 12, 13, 14))


def line_of(libraries):
    """`cu128`: the variant that a wheel is by the CUDA it asks for."""
    for one in libraries:
        if re.fullmatch(r"nvidia-cuda-runtime(-cu\d+)?|cuda-toolkit", one.name) and pinned(one.specifier):
            return "cu" + "".join(map(str, numbers(pinned(one.specifier))[:2]))
    return None


def write(folder, package, version, tag, lines, requires_python):
    """A wheel with METADATA alone."""
    name = canonicalize_name(package).replace("-", "_")
    info = f"{name}-{version}.dist-info"
    metadata = [f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}"]
    metadata += [f"Requires-Python: {requires_python}"] if requires_python else []
    extras = {one for line in lines for one in re.findall(r"""extra\s*==\s*['"]([^'"]+)""", line)}
    metadata += [f"Provides-Extra: {one}" for one in sorted(extras)]
    metadata += [f"Requires-Dist: {line}" for line in lines]
    Path(folder).mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(Path(folder) / f"{name}-{version}-{tag}.whl", "w") as wheel:
        wheel.writestr(f"{info}/METADATA", "\n".join(metadata) + "\n")
        wheel.writestr(f"{info}/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n")
        wheel.writestr(f"{info}/RECORD", "")
