"""Finds releases that the catalog lacks and proposes their rows. What cannot be read is left out, never guessed."""

import datetime
import re
import sys

import binary
import wheels
from catalog import inline, numbers
from checks import CUDA_MAJORS, LIBRARIES, TOOLKIT, Checker, spelled
from companions import accepted_framework, lines, normal, requires, unisolated
from kernels import KERNELS, code_of
from remote import Version, requirements

# Where each kind of row lives, and the packages that are asked for releases.
COMPANION_FILE = "companions.toml"
FRAMEWORKS_READ_BY_HAND = {"tensorflow": "tensorflow", "jax": "jax-cuda13-plugin"}


class Refresh:
    """One run: the catalog as it becomes, and what people have to do themselves."""

    def __init__(self, catalog, index):
        self.catalog, self.index = catalog, index
        self.checker = Checker(catalog, index)
        self.notes = []
        self.used = set()

    def propose(self):
        self.toolkits()
        self.torch()
        self.libraries()
        self.companions()
        self.by_hand()
        self.pins()
        self.stamp()
        self.wheels()

    def note(self, text):
        self.notes.append(text)

    def newer(self, package, known):
        """The releases of a package beyond the newest the catalog holds."""
        newest = max(map(numbers, known), default=())
        newest += (0,) * (4 - len(newest))
        return [
            version
            for version in self.index.releases(package)
            if numbers(version) > newest and not version.is_postrelease
        ]

    # ---- what each release says ----------------------------------------------------------------------------------

    def toolkits(self):
        known = [row["version"] for row in self.catalog.rows("toolkit") if not row.get("components_only")]
        for version in self.newer(TOOLKIT, known):
            row = {"version": ".".join(map(str, version.release[:3]))}
            if self.published(row["version"]):
                continue
            pins = self.checker.toolkit_pins(version)
            row["nvcc"] = pins.get("nvidia-cuda-nvcc") or pins.get(f"nvidia-cuda-nvcc-cu{version.major}")
            wheel = self.checker.component(row, "nvrtc")
            if wheel is None:
                self.note(f"cuda-toolkit {version}: its NVRTC has no wheel, so its architectures are unknown: no row")
                continue
            said = self.checker.compiled(wheel)
            row |= {
                "ptx_isa": said["ptx_isa"],
                "sass": [spelled(one) for one in said["sass"]],
                "ptx": [spelled(one) for one in said["ptx"]],
            }
            for finding in self.limits(row):
                row[finding.field] = finding.read
            row |= {"source": "cuda-metapackage", "arch_source": f"nvrtc-{version.major}"}
            if "gcc_max" in row:
                row["host_source"] = "nvcc-host-header"
            lines = [f"{key} = {inline({'v': value})[6:-2]}" for key, value in row.items() if value]
            self.append("toolkits.toml", "\n[[toolkit]]\n" + "\n".join(lines) + "\n")
            self.uses(row)
            if row["ptx_isa"] not in [isa["isa"] for isa in self.catalog.rows("ptx_isa")]:
                isa = {"isa": row["ptx_isa"], "source": "ptx-isa-measured"}
                self.catalog.insert("ptx_isa.toml", inline(isa), lambda text: True)
            self.note(
                f"cuda-toolkit {version}: the driver it asks for and the month stand in its release notes only, and whether its compilers build for Jetson and servers alike: add `driver`, `released`, `tegra_unified`"
            )

    def published(self, version):
        """Whether only the components of a toolkit were known, which has its metapackage now."""
        path = self.catalog.root / "catalog" / "toolkits.toml"
        blocks = self.catalog.changed[path].split("\n[[toolkit]]\n")
        for at, block in enumerate(blocks):
            if f'version = "{version}"\n' in block and "components_only = true\n" in block:
                block = block.replace("components_only = true\n", "")
                blocks[at] = re.sub(r'^source = "[^"]*"', 'source = "cuda-metapackage"', block, flags=re.M)
                self.catalog.changed[path] = "\n[[toolkit]]\n".join(blocks)
                self.uses({"source": "cuda-metapackage"})
                return True
        return False

    def limits(self, row):
        header = self.checker.host_config(row)
        return self.checker.limits(row, *header) if header else []

    def append(self, file, text):
        path = self.catalog.root / "catalog" / file
        self.catalog.changed[path] = self.catalog.changed[path].rstrip("\n") + "\n" + text

    def torch(self):
        for version in self.newer("torch", [row["version"] for row in self.catalog.builds("torch")]):
            for arch in ("x86_64", "aarch64"):
                wheels = [wheel for wheel in self.index.linux("torch", version, arch) if wheel.arch == arch]
                if wheels:
                    row = self.torch_row(version, arch, wheels)
                    self.catalog.insert("torch.toml", inline(row), lambda text: '"torch"' in text)
                    self.uses(row)
            self.note(
                f"torch {version}: other variants than the default have no listing here; add them when seen published"
            )

    def torch_row(self, version, arch, wheels):
        archive = self.index.open(wheels[0])
        text = archive.read("torch/version.py").decode()
        cuda = re.search(r"cuda[^=\n]*=\s*'([\d.]+)'", text)
        variant = "cu" + cuda[1].replace(".", "") if cuda else "cpu"
        row = {"package": "torch", "version": str(version), "variant": variant, "arch": arch, "default": True}
        row |= {"status": "stable", "index": ["pypi"], "pythons": pythons(wheels)}
        if cuda:
            with archive.spool("torch/lib/libtorch_python.so") as file:
                data = binary.mapped(file)
                flags = binary.arch_flags(data) or []
                data.close()
            row["sass"] = [spelled(flag[3:]) for flag in flags if flag.startswith("sm_")]
            row["ptx"] = [spelled(flag[8:]) for flag in flags if flag.startswith("compute_")]
        floors = [wheel.glibc for wheel in wheels if wheel.glibc]
        row["glibc"] = min(floors, key=numbers) if floors else None
        if cuda:
            row |= self.torch_pins(wheels[0], arch)
        row["source"] = "torch-pypi"
        row["arch_source"] = "torch-wheel" if row.get("sass") else None
        row["pins_source"] = "torch-metadata" if row.get("cudnn") else None
        return row

    def torch_pins(self, wheel, arch):
        needs = self.checker.needs(wheel, arch)
        find = lambda package: next((v for one, v in needs.items() if re.fullmatch(package, one)), None)
        runtime = find(r"nvidia-cuda-runtime(-cu\d+)?")
        named = [release for release, of in self.checker.runtimes().items() if of == runtime]
        return {
            "pins": "exact",
            # Several toolkit releases may share a runtime: then it is not known which one is meant.
            "toolkit": find("cuda-toolkit") or (named[0] if len(named) == 1 else None),
            "cudnn": find(r"nvidia-cudnn(-cu\d+)?"),
            "nccl": find(r"nvidia-nccl(-cu\d+)?"),
            "triton": find("triton"),
        }

    def libraries(self):
        for kind, stem in LIBRARIES.items():
            for cuda in CUDA_MAJORS:
                known = [row["version"] for row in self.catalog.rows(kind) if row["cuda"] == cuda]
                for version in self.newer(stem + cuda, known):
                    source = f"{kind}-cu{cuda}"
                    if source not in self.catalog.sources:
                        self.note(f"{stem}{cuda} {version}: there is no source `{source}` yet: add one, then run again")
                        break
                    sass, ptx, built_with, _ = self.checker.library_code(kind, version, cuda)
                    row = {"version": str(version), "cuda": cuda, "built_with": built_with, "sass": sass, "ptx": ptx}
                    row |= {"source": source, "arch_source": f"{kind}-code" if sass else None}
                    self.catalog.insert(f"{kind}.toml", inline(row), lambda text: True)
                    self.uses(row)

    def companions(self):
        rows = self.catalog.rows("companion")
        for package in sorted({row["package"] for row in rows}):
            of_package = [row for row in rows if row["package"] == package and "variant" not in row]
            known = [row["version"] for row in of_package]
            as_source = of_package[-1]["source"] == "companion-sdist"
            newer, read = (self.newer_source, self.source_row) if as_source else (self.newer, self.companion_row)
            for version in newer(package, known):
                row = read(package, version, of_package[-1])
                if row:
                    self.catalog.insert(
                        COMPANION_FILE, inline(row), lambda text, package=package: f'"{package}"' in text
                    )
                    self.uses(row)

    def newer_source(self, package, known):
        """The final releases beyond the newest known that have a source distribution."""
        newest = max(map(Version, known))
        sources = [one for one in self.index.sources(package) if not one.yanked and not one.version.is_prerelease]
        return [one.version for one in sources if one.version > newest]

    def source_row(self, package, version, like):
        source = self.index.source(package, version)
        metadata, needs = self.index.described(source)
        asked = accepted_framework(metadata, needs, like["framework"])
        if asked is None:
            self.note(f"{package} {version}: its metadata names no {like['framework']}: no row")
            return None
        row = {"package": package, "version": str(version), "framework": like["framework"]}
        row |= {"needs": ",".join(normal(asked)) or "*", "python": ",".join(lines(source.requires_python)) or None}
        if unisolated(metadata, package) and not self.catalog.source_build(package, version):
            self.note(f"{package} {version} is to be built without isolation: source_builds.toml does not say how")
        return row | {"sdist": True, "source": "companion-sdist"}

    def companion_row(self, package, version, like):
        wheels = self.index.linux(package, version, "x86_64")
        metadata = self.index.metadata(wheels[-1]) if wheels else None
        needs = (
            {name: spec for name, spec, marker in requirements(metadata) if "extra" not in str(marker)}
            if metadata
            else {}
        )
        framework = like["framework"]
        if framework not in needs or not (str(needs[framework]) or like["needs"] == "*"):
            self.note(f"{package} {version}: its metadata names no {framework} version: no row")
            return None
        asked = ",".join(normal(str(needs[framework]))) or "*"
        row = {"package": package, "version": str(version), "framework": framework, "needs": asked}
        row["python"] = accepted(wheels, metadata["Requires-Python"])
        row["requires"] = requires(self.catalog, self.index, row)
        if like.get("gpu_code"):
            row |= self.own_code(package, version, wheels)
        elif like.get("source") != "companion-metadata":
            self.note(f"{package} {version}: its rows rest on `{like['source']}`, which is not read here: no row")
            return None
        elif package in KERNELS:
            row["sass"], row["ptx"], _ = code_of(self.index.open(wheels[-1]), package)
        return row | {"source": "companion-metadata", "arch_source": "companion-code" if row.get("sass") else None}

    def own_code(self, package, version, wheels):
        """Platforms, glibc, and the GPU code of a package that holds its own."""
        arches = {wheel.arch for wheel in self.index.wheels(package) if wheel.version == version and wheel.arch}
        row = {"arches": sorted(arches - {"any"}), "glibc": wheels[-1].glibc, "gpu_code": True}
        if package in KERNELS:
            sass, ptx, cuda = code_of(self.index.open(wheels[-1]), package)
            row |= {"cuda": cuda and cuda.split(".")[0], "sass": sass, "ptx": ptx}
            arm = [wheel for wheel in self.index.linux(package, version, "aarch64") if wheel.arch == "aarch64"]
            row["arm_sass"] = code_of(self.index.open(arm[-1]), package)[0] if arm else None
        return row

    def by_hand(self):
        for framework, package in FRAMEWORKS_READ_BY_HAND.items():
            for version in self.newer(package, [row["version"] for row in self.catalog.builds(framework)]):
                self.note(
                    f"{framework} {version} is new: its row needs what only its build files say (docs/catalog.md)"
                )

    def pins(self):
        """The libraries of every default torch and of every toolkit's metapackage that have no row yet."""
        again = self.catalog.reread()
        known = {(row["package"], row["version"], row.get("arch")) for row in again.rows("libraries")}
        asked = [("cuda-toolkit", row["version"], None) for row in again.rows("toolkit")]
        asked += [("torch", row["version"], row["arch"]) for row in again.builds("torch") if "pypi" in row["index"]]
        for package, version, arch in sorted(
            set(asked) - known, key=lambda one: (one[0], numbers(one[1]), one[2] or "")
        ):
            read = self.checker.torch_libraries(version, arch) if arch else self.checker.toolkit_libraries(version)
            if read:
                source = "torch-metadata" if arch else "cuda-metapackage"
                row = {"package": package, "version": version, "arch": arch, "pins": " ".join(read), "source": source}
                self.catalog.insert("libraries.toml", inline(row), lambda text, package=package: f'"{package}"' in text)
                self.uses(row)
        self.extras(again)

    def extras(self, again):
        """What the extras of jax and TensorFlow ask for, where no row says it yet."""
        known = {(row["package"], row["version"], row.get("variant")) for row in again.rows("libraries")}
        for package, source in (("jax", "jax-plugin"), ("tensorflow", "tensorflow-and-cuda")):
            builds = {(one["version"], one["variant"]) for one in again.builds(package) if "pins" in one}
            for version, variant in sorted(builds, key=lambda one: (numbers(one[0]), one[1])):
                if (package, version, variant) in known:
                    continue
                if read := self.checker.extra_libraries(package, version, variant):
                    row = {"package": package, "version": version, "variant": variant}
                    row |= {"pins": " ".join(read), "source": source}
                    self.catalog.insert(
                        "libraries.toml", inline(row), lambda text, package=package: f'"{package}"' in text
                    )
                    self.uses(row)

    def wheels(self):
        """The listed sha256 of everything that can be locked, releases proposed just now included."""
        again = self.catalog.reread()
        if count := wheels.add(again, self.index):
            self.note(f"{count} wheels have their sha256 now")
        self.catalog.changed = again.changed

    # ---- bookkeeping ---------------------------------------------------------------------------------------------

    def uses(self, row):
        self.used |= {value for key, value in row.items() if value and (key == "source" or key.endswith("_source"))}

    def stamp(self):
        """The day on every source that was read again, and on the catalog."""
        if not self.used:
            return
        today = datetime.date.today().isoformat()
        for path, text in self.catalog.changed.items():
            for source in self.used:
                text = re.sub(rf'(\{{ id = "{re.escape(source)}", .*?seen = ")[\d-]+"', rf'\g<1>{today}"', text)
            if path.name == "catalog.toml":
                text = re.sub(r'version = "[\d.]+"', f'version = "{today.replace("-", ".")}"', text)
            self.catalog.changed[path] = text


def accepted(wheels, requires):
    """The Pythons of wheels made for some of them; else those that the metadata asks for."""
    tags = {tag for wheel in wheels for tag in wheel.pythons}
    if any(tag == "abi3" or tag.startswith("py3") for tag in tags):
        return ",".join(lines(requires)) or None
    return " || ".join(pythons(wheels)) or None


def pythons(wheels):
    tags = {tag for wheel in wheels for tag in wheel.pythons if re.fullmatch(r"cp3\d+", tag)}
    return [f"3.{minor}" for minor in sorted(int(tag[3:]) for tag in tags)]


def refresh(catalog, index, write):
    """Prints the patch, or applies it; what is left to people goes to stderr."""
    run = Refresh(catalog, index)
    run.propose()
    if write:
        catalog.write()
    else:
        print(run.catalog.patch(), end="")
    for text in run.notes:
        print(f"# {text}", file=sys.stderr)
    print(
        "# nothing is newer than the catalog" if not run.used else f"# {len(run.used)} sources read again",
        file=sys.stderr,
    )
    return 0
