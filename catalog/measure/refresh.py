"""Finds releases that the catalog lacks and proposes their rows. What cannot be read is left out, never guessed."""

import datetime
import re
import sys

import feeds
import linked
import ordinary
import scripts
import wheels
from catalog import inline, numbers
from checks import CUDA_MAJORS, LIBRARIES, TOOLKIT, Checker, spelled
from companions import admits, asked_of_source, beside_wheels, glibcs, is_by_hand, line_of_wheels, lines, newer_glibc, normal, of_releases, requires, unisolated, whole
from documented import NAMES_SOURCE, PINNED_BY, WRITTEN_DOWN, by_names, documented, is_of_source
from kernels import KERNELS, LOADS, PINNED_KERNELS, TAGGED_TOO_LOW
from overlay import overlay, writable
from remote import EXTRAS, Version, asked_by, extra_of, parsed, reading, requirements

# Where each kind of row lives, and the packages that are asked for releases.
COMPANION_FILE = "companions.toml"
LISTINGS = "listings.toml"
TRITON_SOURCE = "triton-pins"
FRAMEWORKS = ("torch", "tensorflow", "jax")
# What may be named and follows no framework.
NO_COMPANIONS = {*FRAMEWORKS, TOOLKIT, *(stem + cuda for stem in LIBRARIES.values() for cuda in CUDA_MAJORS)}
# What runs beside any framework of its CUDA major, and alone: its name or its metadata says which.
CUDA_ONLY = "cuda"
OF_CUDA_ONLY = (
    "ctranslate2",
    "cuda-bindings",
    "cuda-python",
    "cudf",
    "cugraph",
    "cuml",
    "cupy-cuda",
    "faiss-gpu",
    "numba-cuda",
    "nvidia-dali-cuda",
    "onnxruntime-gpu",
    "open3d",
    "paddlepaddle-gpu",
    "rmm-cu",
    "tensorrt",
    "transformer-engine-cu",
    "xgboost",
)
# Whose releases carry the number of the CUDA they bind.
NUMBERED_AFTER_CUDA = ("cuda-bindings", "cuda-python")
# Where a package says for which CUDA it was built, if its libraries do not.
SAYS_CUDA = {"paddlepaddle-gpu": ("paddle/version/__init__.py", r"(?m)^cuda_version\s*=\s*'([\d.]+)'")}
# Source distributions that hold nothing: they fetch a wheel from NVIDIA's index, or bring packages that do.
STUBS = (
    *("cugraph-cu12", "cugraph-cu13", "cuml-cu12", "nvidia-dali-cuda110", "nvidia-dali-cuda120", "nvidia-dali-cuda130"),
    *("tensorrt", "tensorrt-cu12", "tensorrt-cu13", "tensorrt-llm"),
)
# What links its CUDA runtime in, or takes whichever there is, or tells its CUDA in its code alone: no metadata names one.
OF_ANY_CUDA = ("faiss-gpu", "numba-cuda", "open3d", "paddlepaddle-gpu", "xgboost")
# What runs on a GPU without its kernels, and faster with them.
RUNS_WITHOUT = ("torchao", "torchcodec")
# Of these what loads its libraries, and CUDA's with them, whatever it does.
ALWAYS_LOADED = ("torchcodec",)
# What holds the code of a framework that is not read here, and the rows that it makes. The one wheel of TensorFlow has
# CUDA on one processor only.
FRAMEWORKS_READ_BY_HAND = (
    ("tensorflow", "tensorflow", lambda row: row["variant"] != "cpu" or row["arch"] != "x86_64"),
    ("tensorflow", "tensorflow-cpu", lambda row: row["variant"] == "cpu" and row["arch"] == "x86_64"),
    ("jax", "jaxlib", lambda row: row["variant"] == "cpu"),
    ("jax", "jax-cuda12-plugin", lambda row: row["variant"] == "cu12"),
    ("jax", "jax-cuda13-plugin", lambda row: row["variant"] == "cu13"),
)
# What stands at the end of a row, for it got the fields later.
LATE = ("ptx_isa", "arm_glibc")
# What no index tells of a release: it is as in the release before until somebody has looked.
UNTOLD = ("system_cuda", "finds_cuda", "borrows", "cpu_only", "jit", "loads", "unreached", "extra", "glibc", "nvjitlink", "pools", "wsl2", "wsl2_source", "headers_from", "headers_source")


# What was read of the releases before and after one, and holds of that where they are alike.
BETWEEN = ("abi_variants", "kernels_with", "cudnn_headers")
# What says itself which framework a release goes with. Whatever else a row rests on was read by somebody beside that.
OF_METADATA = ("companion-metadata", "companion-sdist", "companion-stub")


# Sources of what a row carries over from another: no run reads them.
CARRIED_SOURCES = ("abi_source", "headers_source", "holds_source", "kernels_source", "wsl2_source")


# What a release seldom lacks that others of its package have: where nothing tells it, that is said.
SELDOM_LACKING = ("cuda", "cudnn", "glibc", "python", "pythons", "sass", "toolkit")


# What no index lists, by the files of the catalog that hold it.
NOT_READ = {
    "listings.toml": "from which release on, and whether one is the first, is written by hand; how far one is whole is kept",
    "shared_modules.toml": "written by hand, from what the wheels hold",
    "drivers.toml, branches.toml": "what no driver for data centres has, and ends of support, stand on NVIDIA's pages only",
    "images.toml of l4t-jetpack": "a tag says the L4T alone, the rest is written by hand",
    "gpus.toml, jetson.toml, rules.toml, diagnoses.toml": "written by hand, from what their sources say",
    "torch.toml, companions.toml with a variant": "the PyTorch index and GitHub's releases are not read here",
    "tensorflow.toml, jax.toml": "what only build files say is written by hand; releases without a row stand above",
    "other_builds.toml": "builds for Windows and for single systems are written by hand",
    "os.toml, compat.toml, windows_drivers.toml, services.toml": "what a system or a service holds is written by hand",
    "extensions.toml, source_builds.toml, finished_wheels.toml, wheels/releases.toml": "what is built from source, and wheels that lie beside a release, are written by hand",
    "wheels/pytorch.toml": "the PyTorch index is not read here",
    "asks.toml of ordinary packages": "`ordinary` reads it, every week",
    "clues.toml, laws.toml, modules.toml, ngc.toml, other sources": "written by hand",
    "ptx_isa.toml, ptxas.toml before a toolkit that is read, pythons.toml": "written by hand",
    "practices.toml, tests/data/beside_torch.tsv": "`practices` and `beside` count and read them",
    "toolkits.toml before 11.8, cudnn.toml and nccl.toml before their first wheel": "no index has them",
}


class Refresh:
    """One run: the catalog as it becomes, and what people have to do themselves."""

    def __init__(self, catalog, index, only=()):
        self.catalog, self.index, self.only = catalog, index, only
        self.checker = Checker(catalog, index)
        self.notes, self.added, self.changes, self.gone = [], [], [], []
        # What could not be read, and why: files of feeds, and packages of the index.
        self.unread, self.unanswered = [], {}
        self.used, self.fresh, self.new_releases, self.passed = set(), [], {}, []
        self.stamped, self.judgements = [], set()

    def propose(self):
        # Each reads what the ones before it have put in.
        of = {self.toolkits: TOOLKIT, self.torch: "torch", self.triton: "triton"}
        for step in (self.toolkits, self.torch, self.triton, self.libraries, self.companions, self.by_hand, self.pins):
            with self.reading(of.get(step, "the index")):
                step()
            self.catalog = self.checker.catalog = self.catalog.reread()
        self.asks()
        self.listings()
        self.unread = feeds.read_all(self)
        self.stamp()
        self.wheels()

    def reading(self, package):
        """What is read of one package: where the index does not answer its rows stay, the others are read, and that is told."""
        return reading(self.unanswered, package)

    def asked(self, package):
        return not self.only or package in self.only

    def note(self, text):
        self.notes.append(text)

    def adds(self, file, row):
        """A row that the catalog lacks."""
        self.catalog.place(file, row)
        self.uses(row)
        if file == COMPANION_FILE or "pythons" in row:
            self.new_releases.setdefault(row["package"], set()).add(Version(row["version"]))
        named = (row.get(key) for key in ("package", "version", "variant", "cuda", "arch"))
        self.added.append(f"{file}: {' '.join(filter(None, named))}")

    def amends(self, file, row, field, value):
        """What a listing says otherwise than a row: changed, and told."""
        if row.get(field) != value and self.catalog.amend(file, row, field, value):
            # What the row says otherwise was not read again.
            self.uses({"source": row["source"]})
            self.changes.append(f"{row['package']} {row['version']}: {field} was {row.get(field)}, is {value}")
            return row | {field: value}
        return row

    def missing(self, package, known, first=None):
        """The releases that a listing has and the catalog lacks, from the first on that the catalog covers."""
        held = {Version(one.split("+")[0]) for one in known}
        listed = [row["from"] for row in self.catalog.rows("listing") if row["package"] == package and row["index"] == "pypi"]
        first = first or Version(min(listed or known, key=Version)) if listed or known else Version("0")
        return [version for version in self.index.releases(package) if version >= first and version not in held]

    def not_listed(self):
        """The releases that the index has and the catalog lacks, where only later ones are looked for."""
        for listing in self.catalog.rows("listing"):
            package, first = listing["package"], Version(listing["from"])
            same = [row for row in self.catalog.rows("listing") if (row["package"], row["index"]) == (package, listing["index"])]
            if "releases" in listing or first > min(Version(row["from"]) for row in same):
                continue
            rows = self.catalog.rows("companion") + self.catalog.rows("build")
            held = {Version(row["version"].split("+")[0]) for row in rows if row["package"] == package}
            there = set()
            with self.reading(package):
                there = {*self.index.releases(package), *self.released_sources(package)} if listing["index"] == "pypi" else there
            older = sorted(one for one in there - held if Version("0.0.0") < one < first)
            if older:
                named = ", ".join(map(str, older))
                yield f"{package} {named}", f"releases before {listing['from']} are not looked for (listings.toml)"

    def withdrawn(self, package, version):
        """Says so where every file of a release was withdrawn, or none is listed any more."""
        release = Version(version)
        files = [one for one in (*self.index.wheels(package), *self.index.sources(package)) if one.version == release]
        if not files:
            self.gone.append(f"{package} {version}: the index lists no file of it any more")
        elif all(one.yanked for one in files):
            self.gone.append(f"{package} {version}: its publisher has withdrawn (yanked) every file of it")

    # ---- what each release says ----------------------------------------------------------------------------------

    def toolkits(self):
        if not self.asked(TOOLKIT):
            return
        known = [row["version"] for row in self.catalog.rows("toolkit") if not row.get("components_only")]
        listed = {".".join(map(str, version.release[:3])) for version in self.index.releases(TOOLKIT)}
        for version in sorted(listed - set(known), key=Version):
            row = {"version": version}
            if self.published(row["version"]):
                continue
            version = Version(version)
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
            self.untold(f"cuda-toolkit {version}", row, self.catalog.rows("toolkit"))
            self.put_toolkit(row["version"], "\n".join(lines) + "\n")
            self.uses(row)
            self.added.append(f"toolkits.toml: {row['version']}")
            if row["ptx_isa"] not in [isa["isa"] for isa in self.catalog.rows("ptx_isa")]:
                isa = {"isa": row["ptx_isa"], "source": "ptx-isa-measured"}
                self.catalog.insert("ptx_isa.toml", inline(isa), lambda text: True)
            self.note(
                f"cuda-toolkit {version}: the driver it asks for stands in its release notes only, and whether its compilers build for Jetson and servers alike: add `driver`, `tegra_unified`; `released` where cuda-redist was not read"
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

    def put_toolkit(self, version, text):
        path = self.catalog.root / "catalog" / "toolkits.toml"
        head, *blocks = self.catalog.changed[path].rstrip("\n").split("\n[[toolkit]]\n")
        blocks.append(text)
        blocks.sort(key=lambda block: Version(re.search(r'^version = "([^"]+)"', block, re.M)[1]))
        self.catalog.changed[path] = "\n[[toolkit]]\n".join([head, *(block.rstrip("\n") + "\n" for block in blocks)])

    def torch(self):
        if not self.asked("torch"):
            return
        of_index = [row for row in self.catalog.builds("torch") if "pypi" in row["index"]]
        held = {(Version(row["version"]), row["arch"]): row for row in of_index}
        first = min(version for version, _ in held)
        for version in (one for one in self.index.releases("torch") if one >= first):
            for arch in ("x86_64", "aarch64"):
                wheels = [wheel for wheel in self.index.linux("torch", version, arch) if wheel.arch == arch]
                row = held.get((version, arch))
                if wheels and row is None:
                    row = self.torch_row(version, arch, wheels)
                    like = nearest([one for (_, of), one in held.items() if of == arch], version)
                    row = self.after(row, like)
                    self.adds("torch.toml", row)
                    alike = [one for (_, of), one in held.items() if of == arch and (one["variant"] == "cpu") == (row["variant"] == "cpu")]
                    self.untold(f"torch {version} {arch}", row, alike)
                    self.note(f"torch {version} {arch}: variants beside the default, other indexes with the pythons they alone have, and whether PyTorch calls the release experimental have no listing here: add what was seen")
                elif wheels and set(pythons(wheels)) - set(row["pythons"]):
                    # The PyTorch index may have more of them, so none is taken away.
                    lines = sorted({*pythons(wheels), *row["pythons"]}, key=numbers)
                    self.amends("torch.toml", row, "pythons", lines)
        for version in sorted({str(version) for version, _ in held}, key=Version):
            self.withdrawn("torch", version)

    @staticmethod
    def after(row, like):
        """A build of torch after another one: its libraries ask for the same C library or a newer one, whatever the tag
        of its wheel promises, and patch releases of a line have one status."""
        row["glibc"] = max(filter(None, (row["glibc"], like.get("glibc"))), key=numbers, default=None)
        if Version(row["version"]).release[:2] == Version(like["version"]).release[:2]:
            row["status"] = like["status"]
        return row

    def triton(self):
        """Releases that a default torch pins: which, their Pythons and platforms."""
        rows = [row for row in self.catalog.rows("companion") if row["package"] == "triton" and "variant" not in row]
        if not self.asked("triton") or not rows:
            return
        pinned = {}
        for build in self.catalog.builds("torch"):
            if "pypi" in build["index"] and build.get("triton"):
                pinned.setdefault(Version(build["triton"]), set()).add(build["version"])
        held = {Version(row["version"]): row for row in rows if row["source"] == TRITON_SOURCE}
        for version in self.index.releases("triton"):
            asked = " || ".join(sorted(pinned.get(version, ()), key=Version))
            if not asked:
                if version not in held:
                    self.note(f"triton {version}: no torch that is known pins it: no row")
                continue
            if version in held:
                old = held[version]
                if set(asked.split(" || ")) - set(old["needs"].split(" || ")) and self.of_versions(old["needs"]):
                    self.amends(COMPANION_FILE, old, "needs", asked)
                continue
            wheels = self.index.linux("triton", version, "x86_64")
            row = {"package": "triton", "version": str(version), "framework": "torch", "needs": asked}
            row["python"] = accepted(wheels, wheels[-1].requires_python)
            row["arches"] = self.platforms("triton", version)
            self.adds(COMPANION_FILE, row | {"source": TRITON_SOURCE})

    @staticmethod
    def of_versions(needs):
        """Whether a range is a list of releases."""
        return all(re.fullmatch(r"[\d.]+", one) for one in needs.split(" || "))

    def torch_row(self, version, arch, wheels):
        text = self.index.text(wheels[0], "torch/version.py")
        # `9.0.176` is of the line that its wheels are called after.
        cuda = re.search(r"cuda[^=\n]*=\s*'(\d+\.\d+)[\d.]*'", text)
        variant = "cu" + cuda[1].replace(".", "") if cuda else "cpu"
        row = {"package": "torch", "version": str(version), "variant": variant, "arch": arch, "default": True}
        row |= {"status": "stable", "index": ["pypi"], "pythons": pythons(wheels)}
        if cuda:
            flags, asked = self.index.flags(wheels[0])
            row["sass"] = [spelled(flag[3:]) for flag in flags if flag.startswith("sm_")]
            row["ptx"] = [spelled(flag[8:]) for flag in flags if flag.startswith("compute_")]
        floors = [wheel.glibc for wheel in wheels if wheel.glibc]
        row["glibc"] = min(floors, key=numbers) if floors else None
        if cuda and asked:
            row["glibc"] = max(filter(None, (row["glibc"], asked)), key=numbers)
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
            "pins": "exact" if find("nvidia-.*") else None,
            # Several toolkit releases may share a runtime: then it is not known which one is meant.
            "toolkit": find("cuda-toolkit") or (named[0] if len(named) == 1 else None),
            "cudnn": find(r"nvidia-cudnn(-cu\d+)?"),
            "nccl": find(r"nvidia-nccl(-cu\d+)?"),
            "triton": find("triton"),
            "triton_python": self.triton_python(wheel),
        }

    def triton_python(self, wheel):
        """The Pythons for which a wheel asks for its triton; none where it does for all."""
        for name, _, marker in requirements(self.index.metadata(wheel)):
            below = re.search(r'python_version\s*<\s*"([\d.]+)"', str(marker or ""))
            if name == "triton" and below:
                return f"<{below[1]}"
        return None

    def libraries(self):
        for kind, stem in LIBRARIES.items():
            for cuda in CUDA_MAJORS:
                if self.asked(stem + cuda):
                    with self.reading(stem + cuda):
                        self.library(kind, stem, cuda)

    def library(self, kind, stem, cuda):
        """The releases of cuDNN or NCCL for a CUDA major."""
        known = [row["version"] for row in self.catalog.rows(kind) if row["cuda"] == cuda]
        # A post-release packs the same library again.
        missing = [one for one in self.missing(stem + cuda, known, Version("0")) if not one.is_postrelease]
        for version in missing:
            source = f"{kind}-cu{cuda}"
            if source not in self.catalog.sources:
                self.note(f"{stem}{cuda} {version}: there is no source `{source}` yet: add one, then run again")
                break
            sass, ptx, built_with, _ = self.checker.library_code(kind, version, cuda)
            row = {"version": str(version), "cuda": cuda, "built_with": built_with if kind == "nccl" else None}
            row |= {"date": self.uploaded(stem + cuda, version), "sass": sass, "ptx": ptx}
            row["glibc"] = glibcs(self.index, stem + cuda, version)["glibc"]
            row |= {"source": source, "arch_source": f"{kind}-code" if sass else None}
            self.adds(f"{kind}.toml", row)
            alike = [one for one in self.catalog.rows(kind) if one["cuda"] == cuda]
            self.untold(f"{stem}{cuda} {version}", row, alike)

    def uploaded(self, package, version):
        """The day on which the first file of a release was uploaded, where the index tells."""
        return min((one.uploaded for one in self.index.wheels(package) if one.version == version and one.uploaded), default=None)

    def companions(self):
        rows = self.catalog.rows("companion")
        known = {row["package"] for row in rows}
        self.fresh = sorted(set(self.only) - known - NO_COMPANIONS - feeds.FEEDS.keys())
        for package in self.fresh:
            with self.reading(package):
                self.new(package)
        if self.fresh:
            self.catalog = self.checker.catalog = self.catalog.reread()
        for package in sorted(known - {"triton"}):
            if not self.asked(package):
                continue
            of_package = [row for row in rows if row["package"] == package and "variant" not in row and not beside_wheels(row)]
            with self.reading(package):
                self.of_package(package, of_package)

    def of_package(self, package, rows):
        """What the index says of a package: releases without a row, and those that have one."""
        known = [row["version"] for row in rows]
        as_source = is_of_source(rows[-1])
        missing, read = (self.missing_source, self.source_row) if as_source else (self.missing, self.companion_row)
        if rows[-1]["framework"] == CUDA_ONLY:
            read = self.cuda_row
        if package in STUBS and rows[-1]["source"].endswith("-stub"):
            missing, read = self.missing_source, self.stub_row
        new = missing(package, known)
        for version in new:
            self.companion(read, rows, version)
        self.other_kind(package, rows, as_source, new)
        self.sources_beside(package)
        for row in rows:
            self.held(row)

    def untold(self, named, row, rows):
        """Says what the releases before and after one have that is not read here, or that its publisher tells elsewhere."""
        version = Version(row["version"])
        before = [one for one in rows if Version(one["version"].split("+")[0]) < version]
        after = [one for one in rows if Version(one["version"].split("+")[0]) > version]
        key = lambda one: Version(one["version"].split("+")[0])
        fields = {}
        for one in [*sorted(before, key=key)[-1:], *sorted(after, key=key)[:1]]:
            is_told = lambda field: field in SELDOM_LACKING or field.endswith("_source")
            lacks = [field for field in one if field not in row or is_told(field) and not row[field]]
            # What is asked for in whatever release may stand in no metadata; a pin is that of its own release.
            if not row.get("requires") and any("==" not in asked for asked in one.get("requires", ())):
                lacks.append("requires")
            if one["source"] != row["source"] and one.get("needs") != row.get("needs"):
                lacks.append("needs")
            if one.get("python") and row.get("python") and one["python"] != self.python_listed(one):
                lacks.append("python")
            for field in lacks:
                fields.setdefault(field, one["version"])
        stem = lambda field: field.split("_")[0]
        stems = {stem(field) for field in fields if not field.endswith("_source")}
        by_release = {}
        for field, of in fields.items():
            # The source of a field that is named goes with it: `kernels_source` with `kernels_with`.
            if field != "source" and not (field.endswith("_source") and stem(field) in stems):
                by_release.setdefault(of, []).append(field)
        for of, lacking in by_release.items():
            self.note(f"{named}: not read: {', '.join(sorted(lacking))}, of which the row of {of} tells")

    def python_listed(self, row):
        """The Pythons of a release that has a row, as its listing tells them."""
        files = self.index.linux(row["package"], row["version"], "x86_64")
        source = self.index.source(row["package"], row["version"])
        if files:
            return accepted(files, files[-1].requires_python)
        return ",".join(lines(source.requires_python)) if source else None

    def carried(self, row, like, rows):
        """A row with what no index tells of its release, as the release before has it: somebody has to look."""
        if Version(like["version"]) > Version(row["version"]):
            # What holds from some release on is not known to hold before.
            return row
        kept = {field: like[field] for field in UNTOLD if field in like and field not in row}
        if kept.get("cpu_only"):
            kept["cpu_only"] = [arch for arch in kept["cpu_only"] if arch in row.get("arches", ())]
        # A pin of what an extra asks for is that of its own release; and what the next one is not said to ask for has ended.
        after = [one for one in rows if Version(one["version"]) > Version(row["version"]) and one.get("variant") == row.get("variant")]
        after = min(after, key=lambda one: Version(one["version"]), default=like)
        asked = set(like.get("requires", ())) & set(after.get("requires", ()))
        beside = [one for one in asked if is_by_hand(one) and "==" not in one]
        if beside:
            kept["requires"] = sorted({*row.get("requires", ()), *beside})
        kept = {field: value for field, value in kept.items() if value}
        if kept:
            self.note(f"{row['package']} {row['version']}: {', '.join(kept)} as of {like['version']}: no index tells it, see whether it still holds")
        # What the row rests on stands last.
        is_source = lambda field: field == "source" or field.endswith("_source")
        head = {field: value for field, value in (row | kept).items() if not is_source(field) and field not in LATE}
        return head | row | kept

    def companion(self, read, rows, version):
        """A release that is missing, after the nearest one of those that come as it does."""
        like = nearest(rows, version)
        with self.reading(like["package"]):
            row = read(like["package"], version, like)
            if row and (row := self.judged(row, like, rows)):
                row = self.between(self.carried(row, like, rows), like, rows)
                self.adds(COMPANION_FILE, row)
                self.untold(f"{row['package']} {version}", row, rows)

    def judged(self, row, like, rows):
        """A row that admits no framework of which somebody found that the release before does not go with it, whatever its
        metadata says: if the one after goes with none of these either, this one does not; else nobody has looked, and there
        is no row."""
        by_metadata = like["source"] in OF_METADATA or like["source"].endswith("-stub")
        if by_metadata or row["framework"] == CUDA_ONLY or row["source"] not in (*OF_METADATA, NAMES_SOURCE) or Version(like["version"]) > Version(row["version"]):
            return row
        if all(re.fullmatch(r"[\d.]+", one) for one in row["needs"].split(" || ")):
            return row
        builds = {one["version"].split("+")[0] for one in self.catalog.builds(row["framework"])}
        beyond = [one for one in builds if admits(row["needs"], one) and not admits(like["needs"], one)]
        after = [one for one in rows if Version(one["version"]) > Version(row["version"])]
        after = min(after, key=lambda one: Version(one["version"]), default=None)
        named = f"{row['package']} {row['version']}"
        if beyond and after and not any(admits(after["needs"], one) for one in beyond):
            self.note(f"{named}: needs, source as of {like['version']}: its metadata says {row['needs']}, see whether it still holds")
            self.judgements.add(like["source"])
            return row | {"needs": like["needs"], "source": like["source"]}
        if beyond and row["source"] != NAMES_SOURCE:
            self.note(f"{named}: its metadata admits {row['framework']} {row['needs']}, and {like['version']} goes with {like['needs']} alone (`{like['source']}`): see which it goes with (documented.py): no row")
            return None
        return row

    def between(self, row, like, rows):
        """A row with what was read of the releases before and after it, where these are alike."""
        after = [one for one in rows if Version(one["version"]) > Version(row["version"])]
        after = min(after, key=lambda one: Version(one["version"]), default={})
        alike = [field for field in BETWEEN if field not in row and field in like and like[field] == after.get(field)]
        if not alike or Version(like["version"]) > Version(row["version"]):
            return row
        self.note(f"{row['package']} {row['version']}: {', '.join(alike)} as of {like['version']} and {after['version']}: see whether it holds in between")
        kept = {one: like[one] for field in alike for one in (field, f"{field.split('_')[0]}_source") if one in like}
        return row | kept

    def sources_beside(self, package):
        """The sources of releases that have wheels for x86_64 alone, of a package of which older ones are known."""
        if not any(row["package"] == package and beside_wheels(row) for row in self.catalog.rows("companion")):
            return
        of_package = [row for row in self.catalog.reread().rows("companion") if row["package"] == package and "variant" not in row]
        known = [row for row in of_package if beside_wheels(row)]
        held = {row["version"] for row in known}
        there = self.released_sources(package)
        for wheel in (row for row in of_package if row.get("arches") == ["x86_64"] and row["version"] not in held):
            version = Version(wheel["version"])
            if version in there and version < min(Version(one) for one in held):
                self.passed.append((f"{package} {version} for aarch64", "its source is older than the first that has a row"))
            elif version in there and (row := self.source_row(package, version, nearest(known, version))):
                # Of what one release asks for beside its metadata the rows of its wheels tell too.
                row["requires"] = sorted({*row["requires"], *filter(is_by_hand, wheel.get("requires", ()))})
                self.adds(COMPANION_FILE, row)

    def other_kind(self, package, rows, as_source, read_now):
        """Releases that come in another form than the package's newest: as source alone, or as wheels. They are read as the
        others that come so; where none does, nobody has said how."""
        held = {Version(row["version"]) for row in self.catalog.rows("companion") if row["package"] == package} | set(read_now)
        wheels, sources = set(self.index.releases(package)), set(self.released_sources(package))
        listed = [row["from"] for row in self.catalog.rows("listing") if row["package"] == package and row["index"] == "pypi"]
        first = min(Version(min(listed, key=Version)) if listed else min(held), min(held))
        of_stubs = [row for row in rows if row["source"].endswith("-stub")]
        of_sources = [row for row in rows if is_of_source(row)]
        of_wheels = [row for row in rows if row not in of_stubs and row not in of_sources]
        if as_source:
            like, read = of_wheels, self.companion_row
        else:
            like, read = (of_stubs or of_wheels, self.stub_row) if package in STUBS else (of_sources, self.source_row)
        for version in sorted((wheels - sources if as_source else sources - wheels) - held):
            if version >= first and like:
                self.companion(read, like, version)
            elif version >= first:
                self.note(f"{package} {version}: comes {'as wheels' if as_source else 'as source'} alone, unlike the others: no row")

    def new(self, package):
        """Every release of a package that the catalog does not have at all, as far as its metadata names a framework."""
        versions = self.index.releases(package)
        if not versions and not self.released_sources(package):
            files = [*self.index.wheels(package), *self.index.sources(package)]
            why = f"all of its {len(files)} files are of pre-releases, or withdrawn" if files else "the index has no release of it: is the name right?"
            self.note(f"{package}: {why}")
        for version in [] if versions or package in STUBS else self.released_sources(package):
            framework = next((one for one in FRAMEWORKS if asked_of_source(self.index, package, version, one)), None)
            if framework and (row := self.source_row(package, version, {"framework": framework})):
                self.adds(COMPANION_FILE, row)
            elif not framework:
                self.note(f"{package} {version}: its metadata names no framework: no row")
        for version in versions if package.startswith(OF_CUDA_ONLY) else ():
            if row := self.cuda_row(package, version):
                self.adds(COMPANION_FILE, row)
        for version in self.released_sources(package) if package in STUBS else ():
            if version not in versions and (row := self.stub_row(package, version)):
                self.adds(COMPANION_FILE, row)
        for version in () if package.startswith(OF_CUDA_ONLY) else versions:
            wheels = self.index.linux(package, version, "x86_64")
            asked = {name for name, _, marker in requirements(self.index.metadata(wheels[-1])) if "extra" not in str(marker)} if wheels else set()
            framework = next((one for one in FRAMEWORKS if one in asked), None)
            if framework is None and documented(self.index, package, version):
                framework = "torch"
            if framework is None:
                self.note(f"{package} {version}: its metadata names no framework: no row")
                continue
            like = {"framework": framework, "needs": "*", "source": "companion-metadata"}
            like["gpu_code"] = package in KERNELS and package not in RUNS_WITHOUT
            if row := self.companion_row(package, version, like):
                self.adds(COMPANION_FILE, row)

    def held(self, row):
        """What the listing says of a row's own release: platforms, and whether it is still there."""
        if "url" in row or "index_url" in row:
            return
        self.withdrawn(row["package"], row["version"])
        there = self.platforms(row["package"], Version(row["version"]))
        if row.get("arches") and there and not row.get("sdist"):
            row = self.amends(COMPANION_FILE, row, "arches", there)
        row = self.pythons_held(row)
        # A package that the catalog did not know before may be asked for by one that it did, and that was named beside it.
        if self.fresh and row["source"] != "companion-stub" and not is_of_source(row) and "variant" not in row and self.index.linux(row["package"], row["version"], "x86_64"):
            asked = requires(self.catalog, self.index, row)
            if asked != sorted(row.get("requires", [])):
                # A wheel for a variant asks for the same.
                of_release = [one for one in self.catalog.rows("companion") if one["package"] == row["package"] and one["version"] == row["version"]]
                for one in of_release:
                    self.amends(COMPANION_FILE, row if "variant" not in one else one, "requires", asked)

    def pythons_held(self, row):
        """A row with the Pythons for which its release has got wheels since; none is taken away."""
        wheels = [] if row.get("sdist") else self.index.linux(row["package"], row["version"], "x86_64")
        told, there = row.get("python", "").split(" || "), pythons(wheels)
        are_lines = all(re.fullmatch(r"\d+\.\d+", one) for one in told)
        if are_lines and accepted(wheels, None) and set(there) - set(told):
            return self.amends(COMPANION_FILE, row, "python", " || ".join(sorted({*told, *there}, key=numbers)))
        return row

    def platforms(self, package, version):
        arches = {wheel.arch for wheel in self.index.wheels(package) if wheel.version == version and wheel.arch}
        return sorted(arches - {"any"})

    def missing_source(self, package, known):
        """The final releases with a source distribution that the catalog lacks."""
        held = {Version(one) for one in known}
        listed = [row["from"] for row in self.catalog.rows("listing") if row["package"] == package and row["index"] == "pypi"]
        first = Version(min(listed or known, key=Version))
        return [one for one in self.released_sources(package) if one >= first and one not in held]

    def released_sources(self, package):
        """The final releases with a source distribution that was not withdrawn."""
        sources = [one for one in self.index.sources(package) if not one.yanked and not one.version.is_prerelease]
        return [one.version for one in sources]

    def source_row(self, package, version, like):
        source = self.index.source(package, version)
        metadata, _ = self.index.described(source)
        asked = asked_of_source(self.index, package, version, like["framework"])
        if asked is None:
            self.note(f"{package} {version}: its metadata names no {like['framework']}: no row")
            return None
        row = {"package": package, "version": str(version), "framework": like["framework"]}
        row |= {"needs": as_needs(asked) or "*", "python": ",".join(lines(source.requires_python)) or None}
        row |= {"sdist": True, "arches": like["arches"] if beside_wheels(like) else None}
        if beside_wheels(like):
            row["needs"] = line_of_wheels(self.index, package, version, like["framework"]) or row["needs"]
        row["requires"] = requires(self.catalog, self.index, row)
        row["gone"] = self.pins_gone(package, parsed(self.index.described(source)[1]))
        beside = unisolated(metadata, package) or scripts.imports_framework(self.index.members(source))
        if beside and not self.catalog.source_build(package, version):
            self.note(f"{package} {version} is to be built without isolation: source_builds.toml does not say how")
        return row | {"source": "companion-sdist"} | by_names(package, version)

    def companion_row(self, package, version, like):
        wheels = self.index.linux(package, version, "x86_64")
        metadata = self.index.metadata(wheels[-1]) if wheels else None
        needs = (
            {name: spec for name, spec, marker in asked_by(metadata, package) if "extra" not in str(marker)}
            if metadata
            else {}
        )
        framework, source = like["framework"], "companion-metadata"
        if told := metadata and documented(self.index, package, version):
            asked, source = told
        elif (like.get("source") == linked.SOURCE or package in PINNED_BY) and (of := linked.lines(self.index, wheels[-1])):
            asked, source = " || ".join(of), linked.SOURCE
        elif framework not in needs or not (str(needs[framework]) or like["needs"] == "*" or by_names(package, version)):
            self.note(f"{package} {version}: its metadata names no {framework} version: no row")
            return None
        else:
            asked = as_needs(str(needs[framework])) or "*"
        row = {"package": package, "version": str(version), "framework": framework, "needs": asked}
        row["python"] = accepted(wheels, metadata["Requires-Python"])
        row["requires"] = requires(self.catalog, self.index, row)
        row["gone"] = self.pins_gone(package, asked_by(metadata, package))
        if package in EXTRAS:
            row["extra"] = extra_of(package, metadata)
        if like.get("gpu_code"):
            row |= self.own_code(package, version, wheels)
        elif package in KERNELS:
            row["sass"], row["ptx"], _ = self.index.code(wheels[-1], package)
            row["cuda"] = self.only_major(package, asked, wheels[-1])
        elif package in LOADS:
            cuda = self.index.code(wheels[-1], package)[2]
            row |= {"arches": self.platforms(package, version), **self.glibcs(package, version)}
            row["cuda"] = cuda and cuda.split(".")[0]
        if package in RUNS_WITHOUT and all(wheel.arch != "any" for wheel in wheels):
            own = self.own_code(package, version, wheels)
            row |= {key: own.get(key) for key in ("arches", "glibc", "arm_glibc", "cuda") if key != "cuda" or package in ALWAYS_LOADED}
        if "arches" not in row and all(wheel.arch != "any" for wheel in wheels) and len(on := self.platforms(package, version)) == 1:
            row["arches"] = on
        read = row.get("sass") or row.get("ptx") or row.get("cuda")
        code = "sglang-kernels" if package in PINNED_KERNELS else "companion-code"
        late = {key: row.pop(key) for key in LATE if key in row}
        return row | {"source": source, "arch_source": code if read else None} | late | by_names(package, version)

    def only_major(self, package, asked, wheel):
        """The CUDA major of what goes with any later torch (torchvision), where the torch with which it was published, that of the
        package index for the CUDA in its version, is for one major alone."""
        label = re.fullmatch(r">=[\d.]+", asked) and re.search(r"\+(cu\d+)", self.index.text(wheel, f"{package}/version.py") or "")
        if not label:
            return None
        builds = [one for one in self.catalog.rows("build") if one["package"] == "torch" and one["variant"].startswith("cu")]
        beside = {one["version"] for one in builds if one["variant"] == label[1] and "pypi" in one["index"]}
        majors = {one["variant"][2:-1] for one in builds if one["version"] in beside}
        return majors.pop() if len(majors) == 1 else None

    def pins_gone(self, package, asked):
        """What is pinned to a release that the index no longer has a file of, or whose own pin is gone."""
        gone = {(row["package"], row["version"]): row["gone"] for row in self.catalog.rows("companion") if "gone" in row}
        for name, specifier, marker in asked:
            pins = [one.version for one in specifier if one.operator == "==" and "*" not in one.version]
            if not pins or "extra" in str(marker):
                continue
            if not self.index.lists(name, pins[0], package):
                return f"{name}=={pins[0]}"
            if (name, pins[0]) in gone:
                return gone[name, pins[0]]
        return None

    def cuda_row(self, package, version, _=None):
        """A release that follows no framework, if its name or its metadata tells its CUDA major."""
        wheels = self.index.linux(package, version, "x86_64")
        metadata = self.index.metadata(wheels[-1]) if wheels else None
        major = metadata and cuda_major(package, version, requirements(metadata))
        own = self.own_code(package, version, wheels) if wheels and package in KERNELS else {}
        if package in SAYS_CUDA and wheels:
            said = re.search(SAYS_CUDA[package][1], self.index.text(wheels[-1], SAYS_CUDA[package][0]) or "")
            # Libraries of CUDA 10.2 and before go with no other line of their major.
            major = said and (said[1] if numbers(said[1]) < (11,) else said[1].split(".")[0])
        # Of xgboost it is the NCCL inside that says for which CUDA it was built.
        elif package != "xgboost":
            # What its libraries load counts for more than its name.
            major = own.get("cuda") or major
        row = {"package": package, "version": str(version), "framework": CUDA_ONLY, "needs": "*", "cuda": major}
        row["python"] = metadata and accepted(wheels, metadata["Requires-Python"])
        row["requires"] = requires(self.catalog, self.index, row)
        placeholder = version < Version("0.0.2")
        # What holds no library takes whichever CUDA is there.
        plain = wheels and all(wheel.arch == "any" for wheel in wheels)
        if placeholder or not major and (package not in OF_ANY_CUDA or not own.get("sass") and not row["requires"] and not plain):
            self.note(f"{package} {version}: nothing says for which CUDA it is: no row")
            return None
        row["arches"] = self.platforms(package, version)
        row |= self.glibcs(package, version) | own | {"cuda": major}
        if not row.get("sass"):
            row.pop("gpu_code", None)
        for second in wheels if row.get("sass") else ():
            # A second wheel for the same Python and older systems, that holds no code for GPUs.
            if second.pythons == wheels[-1].pythons and second.glibc != wheels[-1].glibc and self.index.code(second, package)[0] is None:
                row["cpu_glibc"] = second.glibc
        read = "companion-code" if row.get("sass") else "companion-metadata" if major else None
        late = {key: row.pop(key) for key in LATE if key in row}
        return row | {"source": "companion-metadata", "arch_source": read} | late

    def stub_row(self, package, version, like=None):
        """A release that is a source distribution without anything to compile, by what its metadata brings."""
        source = self.index.source(package, version)
        asked = list(parsed(self.index.described(source)[1]))
        needs = {name: spec for name, spec, marker in asked if "extra" not in str(marker)}
        if not asked:
            self.note(f"{package} {version}: its PKG-INFO asks for nothing, so neither its framework nor its CUDA is known: no row")
            return None
        major = cuda_major(package, version, asked) or next((name[-2:] for name in needs if name.startswith("tensorrt-cu")), None)
        row = {"package": package, "version": str(version)}
        if "torch" in needs:
            # The catalog has final releases: up to an alpha of one is below it.
            torch = re.sub(r"<=([\d.]+)a\d+", r"<\1", re.sub(r"(>=[\d.]+)a\d+", r"\1", str(needs["torch"])))
            label = re.search(r"\+cu(\d\d)", torch)
            major = major or label and label[1]
            row |= {"framework": "torch", "needs": as_needs(torch) or "*"}
        elif major:
            row |= {"framework": CUDA_ONLY, "needs": "*"}
        else:
            self.note(f"{package} {version}: nothing says for which CUDA it is: no row")
            return None
        row["python"] = ",".join(lines(source.requires_python)) or None
        # TensorRT's bindings lie on the package index, for each Python.
        bindings = f"tensorrt-cu{major}-bindings"
        if package.startswith("tensorrt") and row["framework"] == CUDA_ONLY and (found := self.index.linux(bindings, version, "x86_64")):
            row["python"] = " || ".join(pythons(found))
            row |= glibcs(self.index, bindings, version)
        known = {one["package"] for one in self.catalog.rows("companion")} - {package}
        beside = {one["package"] for one in self.catalog.rows("companion") if one["framework"] == row["framework"] != CUDA_ONLY}
        everywhere = {name: spec for name, spec, marker in asked if marker is None and name in known and "dev" not in str(spec)}
        row["requires"] = sorted(f"{name}{whole(of_releases(spec))}" for name, spec in everywhere.items() if str(spec) or name in beside)
        row["gone"] = self.pins_gone(package, asked)
        row["gpu_code"] = package in KERNELS or (like or {}).get("gpu_code", False)
        source = (like or {}).get("source", "")
        row |= {"cuda": major, "source": source if source.endswith("-stub") else "companion-stub", "arch_source": "companion-stub" if major else None}
        return row | ({"arm_glibc": row.pop("arm_glibc")} if "arm_glibc" in row else {})

    def own_code(self, package, version, wheels):
        """Platforms, glibc, and the GPU code of a package that holds its own."""
        row = {"arches": self.platforms(package, version), **self.glibcs(package, version), "gpu_code": True}
        held = self.index.kernels(package, version, "x86_64")
        if package in KERNELS and held:
            sass, ptx, cuda = self.index.code(held, package)
            row |= {"cuda": cuda and cuda.split(".")[0], "sass": sass, "ptx": ptx}
            row["ptx_isa"] = self.index.ptx_version(held, package) if ptx else None
            arm = self.index.kernels(package, version, "aarch64")
            row["arm_sass"] = self.index.code(arm, package)[0] if arm and arm.arch == "aarch64" else None
            row["arches"] = row["arches"] or sorted(one.arch for one in (held, arm) if one)
        return row

    def glibcs(self, package, version):
        return glibcs(self.index, package, version)

    def by_hand(self):
        for framework, package, is_its in FRAMEWORKS_READ_BY_HAND:
            if not self.asked(framework):
                continue
            builds = self.catalog.builds(framework)
            first = min(Version(row["version"]) for row in builds)
            held = {(Version(row["version"]), row["arch"]) for row in builds if is_its(row)}
            listed = set()
            with self.reading(package):
                listed = {(wheel.version, wheel.arch) for wheel in self.index.wheels(package) if wheel.arch in ("x86_64", "aarch64")}
            for version, arch in sorted(one for one in listed - held if one[0] >= first and not one[0].is_prerelease):
                self.note(f"{framework} {version} {arch} has no row for {package}: it needs what only build files say (docs/catalog.md)")

    def pins(self):
        """The libraries of every default torch and of every toolkit's metapackage that have no row yet."""
        known = {(row["package"], row["version"], row.get("arch")) for row in self.catalog.rows("libraries")}
        asked = [("cuda-toolkit", row["version"], None) for row in self.catalog.rows("toolkit")]
        asked += [("torch", row["version"], row["arch"]) for row in self.catalog.builds("torch") if "pypi" in row["index"]]
        asked = [one for one in asked if self.asked(one[0])]
        for package, version, arch in sorted(
            set(asked) - known, key=lambda one: (one[0], numbers(one[1]), one[2] or "")
        ):
            read = None
            with self.reading(package):
                read = self.checker.torch_libraries(version, arch) if arch else self.checker.toolkit_libraries(version)
                newer = newer_glibc(self.index, read) if read and not arch else []
            if read:
                source = "torch-metadata" if arch else "cuda-metapackage"
                row = {"package": package, "version": version, "arch": arch, "pins": " ".join(read)}
                row |= {"newer_glibc": newer, "source": source}
                self.adds("libraries.toml", row)
        self.of_libraries()
        self.extras()

    def of_libraries(self):
        """What the libraries that some row pins ask for of each other, of those that have a row already."""
        rows = self.catalog.rows("libraries")
        held = {(row["package"], row["version"]) for row in rows}
        ask = {package for package, _ in held}
        pinned = {tuple(one.split("==")) for row in rows for one in row["pins"].split() if "==" in one}
        missing = {one for one in pinned - held if one[0] in ask}
        for package, version in sorted(missing, key=lambda one: (one[0], numbers(one[1]))):
            read = None
            with self.reading(package):
                read = package.startswith("nvidia-") and self.asked(package) and self.checker.of_library(package, version)
            if read:
                row = {"package": package, "version": version, "pins": " ".join(read), "source": "library-metadata"}
                self.adds("libraries.toml", row)

    def extras(self):
        """What the extras of jax and TensorFlow ask for, where no row says it yet."""
        known = {(row["package"], row["version"], row.get("variant")) for row in self.catalog.rows("libraries")}
        for package, source in (("jax", "jax-plugin"), ("tensorflow", "tensorflow-and-cuda")):
            if not self.asked(package):
                continue
            builds = {(one["version"], one["variant"]) for one in self.catalog.builds(package) if "pins" in one}
            for version, variant in sorted(builds, key=lambda one: (numbers(one[0]), one[1])):
                if (package, version, variant) in known:
                    continue
                read = None
                with self.reading(package):
                    read = self.checker.extra_libraries(package, version, variant)
                if read:
                    row = {"package": package, "version": version, "variant": variant}
                    row |= {"pins": " ".join(read), "source": source}
                    self.adds("libraries.toml", row)

    def asks(self):
        """What packages with new releases ask for of ordinary ones, where these ask for something else than those before."""
        late = []
        for package, versions in self.new_releases.items():
            with self.reading(package):
                late += [package] if ordinary.behind(self.catalog, self.index, package, versions) else []
        if not late:
            return
        before = {row["id"]: row for row in self.catalog.rows("asks")}
        ordinary.renew(self.catalog, self.index, late, self.unanswered)
        self.catalog = self.checker.catalog = self.catalog.reread()
        after = {row["id"]: row for row in self.catalog.rows("asks")}
        for id, row in after.items():
            if id not in before:
                self.uses(row)
                self.added.append(f"{ordinary.FILE}: {id}")
            elif row != before[id]:
                self.uses(row)
                fields = (f"{field} was {before[id].get(field)}, is {value}" for field, value in row.items() if before[id].get(field) != value)
                self.changes.append(f"{ordinary.FILE} {id}: {'; '.join(fields)}")
        self.changes += [f"{ordinary.FILE} {id}: no release asks for it any more" for id in before.keys() - after.keys()]

    def listings(self):
        """A listing is whole as far as each release has a row: from the first on that has none it was only seen, up to the
        next that has one."""
        rows = [row for row in self.catalog.rows("listing") if row["index"] == "pypi"]
        for package in sorted({row["package"] for row in rows if row["reading"] == "whole" and self.asked(row["package"])}):
            with self.reading(package):
                of_package = [row for row in rows if row["package"] == package]
                lacking, held = self.checker.covered(package, min((row["from"] for row in of_package), key=Version))
                self.seen(package, of_package, lacking, held)

    def seen(self, package, rows, lacking, held):
        """Keeps which part of one listing was only seen."""
        begins = [one for at, one in enumerate(lacking) if not at or any(lacking[at - 1] < other < one for other in held)]
        told = {row["from"]: row for row in rows if row["reading"] == "seen"}
        for one in (told[first] for first in told if Version(first) not in begins):
            self.catalog.remove(LISTINGS, one)
            self.changes.append(f"{LISTINGS}: {package} from {one['from']} on is read whole, each release has a row now")
        for first in (one for one in begins if str(one) not in told):
            after = min((one for one in held if one > first), default=None)
            for begin, how in ((first, "seen"), (after, "whole")):
                if begin is None or how == "whole" and any(Version(row["from"]) == begin for row in rows):
                    continue
                like = max((row for row in rows if Version(row["from"]) <= begin), key=lambda row: Version(row["from"]))
                row = {key: value for key, value in like.items() if key not in ("first", "yanked", "lacks")} | {"from": str(begin), "reading": how}
                of_same = lambda other: (other["package"], other["index"]) == (package, "pypi") and Version(other["from"]) <= begin
                self.catalog.put(LISTINGS, row, of_same)
                self.added.append(f"{LISTINGS}: {package} from {begin} on was {how}" + (": it has no row" if how == "seen" else " again"))

    def wheels(self):
        """The listed sha256 of everything that can be locked, releases proposed just now included."""
        again = self.catalog.reread()
        if count := wheels.add(again, self.index, self.only, self.unanswered):
            self.note(f"{count} wheels have their sha256 now")
        self.catalog.changed = again.changed

    # ---- bookkeeping ---------------------------------------------------------------------------------------------

    def uses(self, row):
        """Notes the sources that were read for a row: those of what was only carried over or written down keep their day."""
        is_read = lambda key: key == "source" or key.endswith("_source") and key not in CARRIED_SOURCES
        self.used |= {value for key, value in row.items() if value and is_read(key)} - WRITTEN_DOWN

    def stamp(self):
        """The day on every source that was read again, and on the catalog; what had another day is told."""
        if not (self.used or self.added or self.changes):
            return
        today = datetime.date.today().isoformat()
        for path, text in self.catalog.changed.items():
            for source in sorted(self.used - self.judgements):
                day = re.search(rf'\{{ id = "{re.escape(source)}", .*?seen = "([\d-]+)"', text)
                if day and day[1] != today:
                    text = text[: day.start(1)] + today + text[day.end(1) :]
                    self.stamped.append(f"{source}: seen was {day[1]}, is {today}")
            if path.name == "catalog.toml":
                text = re.sub(r'version = "[\d.]+"', f'version = "{today.replace("-", ".")}"', text)
            self.catalog.changed[path] = text


def nearest(rows, version):
    """The row of the release before one; the first, where there is none before it."""
    before = [row for row in rows if Version(row["version"]) <= version]
    return max(before or rows[:1], key=lambda row: Version(row["version"]))


def cuda_major(package, version, asked):
    """`12` of cupy-cuda12x, cudf-cu12 and nvidia-dali-cuda120, and of a release that is numbered after its CUDA; else that
    of the libraries of NVIDIA's that extras or the release ask for."""
    if named := re.search(r"-cu(?:da)?(\d\d)[0x]?$", package):
        return named[1]
    if package in NUMBERED_AFTER_CUDA:
        return str(version.major)
    if package in OF_ANY_CUDA:
        return None
    told = {found[1] for name, _, _ in asked if (found := re.match(r"nvidia-[\w-]+-cu(\d\d)$", name))}
    return told.pop() if len(told) == 1 else None


def as_needs(specifier):
    """A range of a framework as rows have it: `>=` before `<`."""
    return ",".join(sorted(normal(specifier), key=lambda part: (part[0] == "<", part[0] == "!", part)))


def accepted(wheels, requires):
    """The Pythons of wheels made for some of them; else those that the metadata asks for."""
    tags = {tag for wheel in wheels for tag in wheel.pythons}
    if any(tag == "abi3" or tag.startswith("py3") for tag in tags):
        return ",".join(lines(requires)) or None
    return " || ".join(pythons(wheels)) or None


def pythons(wheels):
    tags = {tag for wheel in wheels for tag in wheel.pythons if re.fullmatch(r"cp[23]\d+", tag)}
    return [f"{tag[2]}.{tag[3:]}" for tag in sorted(tags, key=lambda tag: (tag[2], int(tag[3:])))]


def refresh(catalog, index, write, only=(), into=None):
    """Prints the patch, or applies it, or writes an overlay; what was added, what changed and what is left to people goes to
    stderr. What could not be read makes the run fail; what was read is written all the same."""
    if into:
        writable(into)
    run = Refresh(catalog, index, only)
    run.propose()
    before = catalog.files
    if into:
        text, rows = overlay(catalog, run.catalog.reread(), datetime.date.today().isoformat())
        into.write_text(text)
        print(f"# {into}: {rows} rows; `gpuenv catalog check {into}` checks them, `[catalog] overlays` names the file", file=sys.stderr)
    elif write:
        run.catalog.write(before)
    else:
        print(run.catalog.patch(before), end="")
    for head, texts in (("added", run.added), ("CHANGED", run.changes), ("read again", run.stamped), ("withdrawn", run.gone), ("to do", run.notes)):
        for text in texts:
            print(f"# {head}: {text}", file=sys.stderr)
    if not only:
        for files, why in (*NOT_READ.items(), *run.not_listed(), *run.passed):
            print(f"# not read: {files}: {why}", file=sys.stderr)
    for files, why in (*run.unanswered.items(), *run.unread):
        print(f"# could not be read: {files}: {why}", file=sys.stderr)
    print(f"# {len(run.added)} rows added, {len(run.changes)} changed, {len(run.notes)} to do", file=sys.stderr)
    return 1 if run.unanswered or run.unread else 0
