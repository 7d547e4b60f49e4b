"""Reads listings, metadata and libraries made up for it: python3 catalog/measure/test_reading.py"""

import datetime
import sys
from email.message import Message
from pathlib import Path

import binary
import feeds
import linked
import remote
import ordinary
from catalog import ROOT, day
from checks import Checker
from companions import is_found, requires
from refresh import NOT_READ, Refresh, as_needs
from remote import Source, Version, Wheel, parse_sdist_filename, parse_wheel_filename


class Catalog:
    """Rows by their kind."""

    sources = {}

    def __init__(self, **rows):
        self.told = rows

    def rows(self, kind):
        return self.told.get(kind, [])

    def builds(self, package):
        return [row for row in self.rows("build") if row["package"] == package]

    def reread(self):
        return self

    unreleased = {"early"}


class Index:
    """Files by their names, each with the lines of its metadata."""

    def __init__(self, **files):
        self.files = files
        self.session = None

    def all(self, package):
        for name in self.files.get(package.replace("-", "_"), {}):
            told = dict(name=name, package=package, url="", sha256=None, requires_python=None, yanked=False, uploaded=None)
            if name.endswith(".whl"):
                _, version, _, tags = parse_wheel_filename(name)
                yield Wheel(version=version, tags=tuple(sorted(tags, key=str)), **told)
            else:
                yield Source(version=parse_sdist_filename(name)[1], **told)

    def links(self, package):
        return [{"name": name} for name in self.files.get(package, {})]

    def wheels(self, package):
        return [one for one in self.all(package) if isinstance(one, Wheel)]

    def sources(self, package):
        return [one for one in self.all(package) if isinstance(one, Source)]

    releases = remote.Index.releases

    def linux(self, package, version, arch):
        return [one for one in self.wheels(package) if one.version == Version(str(version)) and one.arch in (arch, "any")]

    def source(self, package, version):
        return next((one for one in self.sources(package) if one.version == Version(str(version))), None)

    def metadata(self, wheel):
        message = Message()
        for line in self.files[wheel.package.replace("-", "_")][wheel.name]:
            message["Requires-Dist"] = line
        return message

    needs = metadata

    def imported(self, wheel):
        return self.files[wheel.package.replace("-", "_")][wheel.name]

    exported = imported


def flags():
    """The list stands behind another string, and a zero stands before it, or none."""
    for before in (b"\0", b"std::string ipc_h"):
        yield "flags", binary.arch_flags(before + b"sm_70 sm_75 sm_120\0x"), ["sm_70", "sm_75", "sm_120"]
    yield "flags", binary.arch_flags(b"std::string\0"), None


def listings():
    """An older release that comes as source alone is a release; an empty 0.0.0 and a pre-release are none."""
    for older, first in (("a-0.9.0.tar.gz", False), ("a-0.9.0.dev1-py3-none-any.whl", True), ("a-0.0.0.tar.gz", True), ("a-0.9.0rc1.tar.gz", True)):
        index = Index(a={older: [], "a-1.0.0-py3-none-any.whl": []})
        catalog = Catalog(listing=[{"package": "a", "index": "pypi", "from": "1.0.0", "reading": "whole", "first": first}])
        yield f"first beside {older}", [one.verdict for one in Checker(catalog, index).listings() if one.field == "first"], ["agrees"]


def tags():
    """Another index may have wheels for more Pythons; what the package index has is told."""
    index = Index(torch={"torch-2.13.0-cp314-cp314-manylinux_2_28_x86_64.whl": []})
    row = {"package": "torch", "version": "2.13.0", "variant": "cu130", "arch": "x86_64"}
    for of, lines, verdict in (
        (["pypi", "pytorch"], ["3.14", "3.15"], "agrees"),
        (["pypi"], ["3.14", "3.15"], "DIFFERS"),
        (["pypi", "pytorch"], ["3.15"], "DIFFERS"),
    ):
        catalog = Catalog(build=[row | {"index": of, "pythons": lines}])
        yield f"pythons {lines} of {of}", [one.verdict for one in Checker(catalog, index).tags() if one.field == "pythons"], [verdict]


ROWS = Catalog(
    build=[{"package": "torch", "version": "2.9.0", "triton": "3.5.0", "index": ["pypi"]}],
    companion=[{"package": one, "version": "1", "framework": "torch", "needs": "*"} for one in ("triton", "torchvision")],
)


def requirements():
    """What torch pins, it pins; other packages beside it count without a range, too. NVIDIA's libraries count where no
    framework brings them."""
    asks = ["triton", "torchvision", "torch", "nvidia-nccl-cu12; platform_machine != 'aarch64'"]
    index = Index(a={"a-1.0-py3-none-manylinux_2_28_x86_64.whl": asks, "a-1.0-py3-none-manylinux_2_28_aarch64.whl": asks})
    row = {"package": "a", "version": "1.0", "framework": "torch"}
    yield "requires beside torch", requires(ROWS, index, row), ["torchvision"]
    yield "requires beside CUDA", requires(ROWS, index, row | {"framework": "cuda"}), ["nvidia-nccl-cu12; x86_64"]
    index = Index(a={"a-1.0-py3-none-any.whl": ["triton>=3"]})
    yield "requires with a range", requires(ROWS, index, row), ["triton>=3"]
    index = Index(a={"a-1.0-py3-none-any.whl": ["triton<4.0a0,>=3", "torchvision==0.29.0rc1"]})
    yield "requires up to a pre-release", requires(ROWS, index, row), ["torchvision==0.29.0rc1", "triton<4.0,>=3"]
    rows = Catalog(build=ROWS.told["build"], companion=[*ROWS.told["companion"], row | {"package": "early", "version": "4.0b1"}])
    index = Index(a={"a-1.0-py3-none-any.whl": ["early>=4.0b1"]})
    yield "requires what has pre-releases alone", requires(rows, index, row), ["early>=4.0b1"]
    index = Index(sglang={"sglang-1.0-py3-none-any.whl": ["x", 'torch==2; extra == "srt"', 'sglang[base_one]; extra == "srt"', "y; extra == 'base-one'", 'z; extra == "dev"']})
    asked = remote.asked_by(index.metadata(index.wheels("sglang")[0]), "sglang")
    yield "of an extra", [f"{name}{spec}{marker or ''}" for name, spec, marker in asked], ["x", "torch==2", "sglang", "y"]


def symbols():
    """A wheel that imports nothing of torch says nothing of it."""
    torch = {f"torch-{one}-cp311-cp311-manylinux_2_28_x86_64.whl": ["_ZN3c101aE", *more] for one, more in (("2.8.0", []), ("2.9.0", ["_ZN3c101bE"]))}
    index = Index(torch=torch, a={"a-1-py3-none-any.whl": ["_ZN3c101bE"], "a-2-py3-none-any.whl": ["malloc"]})
    for release, lines in (("1", ["2.9"]), ("2", [])):
        yield f"symbols of a {release}", linked.lines(index, index.linux("a", release, "x86_64")[0]), lines


def neighbours():
    """What rows beside a release say, and nothing that was read, is told."""
    row = {"package": "a", "version": "1.1", "framework": "torch", "needs": ">=2", "requires": [], "python": None, "source": "companion-metadata"}
    before = row | {"version": "1.0", "kernels_with": "<2.14", "kernels_source": "x", "requires": ["b==1"], "python": ">=3.9"}
    after = row | {"version": "1.2", "needs": ">=2,<2.5", "source": "a-docs", "requires": ["c"]}
    run = Refresh(Catalog(companion=[before, after]), Index())
    for like in (before, after):
        yield f"carried from {like['version']}", "jit" in run.carried(dict(row), like | {"jit": True}, []), like is before
    extra = before | {"requires": ["d<2; extra"]}
    for name, rows, carried in (("open", [extra], ["d<2; extra"]), ("ended", [extra, after], [])):
        yield f"an extra, {name}", run.carried(dict(row), extra, rows)["requires"], carried
    run.notes.clear()
    run.untold("a 1.1", row, [before, after])
    yield "neighbours", run.notes, [
        "a 1.1: not read: kernels_with, python, of which the row of 1.0 tells",
        "a 1.1: not read: needs, requires, of which the row of 1.2 tells",
    ]


def sources_beside():
    """The source of a release that has wheels for one processor asks for what somebody read of these."""
    wheel = {"package": "a", "framework": "torch", "arches": ["x86_64"], "requires": ["b==1", "d<2; extra"]}
    source = wheel | {"arches": ["aarch64"], "sdist": True}
    run = Refresh(Catalog(companion=[wheel | {"version": "1.0"}, source | {"version": "1.0"}, wheel | {"version": "1.1"}]), Index())
    run.released_sources = lambda package: [Version("1.0"), Version("1.1")]
    run.source_row = lambda package, version, like: {"version": str(version), "requires": ["b==1"]}
    added = []
    run.adds = lambda file, row: added.append(row)
    run.sources_beside("a")
    yield "a source beside wheels", added, [{"version": "1.1", "requires": ["b==1", "d<2; extra"]}]


def judged():
    """What somebody found beside the metadata of the release before holds where the one after goes with no more; else there is
    no row."""
    row = {"package": "a", "version": "1.1", "framework": "torch", "needs": ">=2", "source": "companion-metadata"}
    like = row | {"version": "1.0", "needs": ">=2,<2.2", "source": "a-symbols"}
    after = row | {"version": "1.2", "needs": "2.0.1"}
    builds = [{"package": "torch", "version": one, "index": ["pypi"]} for one in ("2.0.1", "2.2.0", "2.3.0")]
    for what, row, like, rows, needs in (
        ("of the newest", row, like, [like], None),
        ("in between", row, like, [like, after], (">=2,<2.2", "a-symbols")),
        ("before one that goes with more", row, like, [like, after | {"needs": "2.3"}], None),
        ("that narrows itself", row | {"needs": ">=2,<2.2"}, like, [like], (">=2,<2.2", "companion-metadata")),
        ("pinned", row | {"needs": "2.3.0"}, like, [like], ("2.3.0", "companion-metadata")),
        ("after its metadata", row, like | {"source": "companion-metadata"}, [like], (">=2", "companion-metadata")),
        ("whose names were read", row | {"source": "torch-names"}, like, [like], (">=2", "torch-names")),
    ):
        run = Refresh(Catalog(companion=rows, build=builds), Index())
        read = run.judged(dict(row), like, rows)
        yield f"a row {what}", read and (read["needs"], read["source"]), needs
        yield f"a row {what}: told", bool(run.notes), needs in (None, (">=2,<2.2", "a-symbols"))
    run = Refresh(Catalog(companion=[], build=builds), Index())
    both = {"abi_variants": ["cpu"], "abi_source": "abi"}
    for what, rows, kept in (("alike", [like | both, after | both], both), ("unlike", [like | both, after], {})):
        read = run.between(dict(row), like | both, rows)
        yield f"neighbours that are {what}", {key: read[key] for key in both if key in read}, kept


def read_rows():
    """What new metadata tells is a row, whatever the one before rests on; a pin that setup.py makes up is none; CUDA 9.0.176 is
    of the line 9.0."""
    builds = [{"package": "torch", "version": "2.12.0", "index": ["pypi"]}]
    for asked, needs in (("torch>=2.11", ">=2.11"), ("torch", None)):
        index = Index(a={"a-2.11.1-py3-none-any.whl": [asked]})
        like = {"package": "a", "version": "2.11.0", "framework": "torch", "needs": ">=2.11", "source": "a-unpinned"}
        row = Refresh(Catalog(companion=[like], build=builds), index).companion_row("a", Version("2.11.1"), like)
        yield f"a row of {asked}", row and (row["needs"], row["source"]), needs and (needs, "companion-metadata")
    source = Source("a", Version("1"), "a-1.tar.gz", "", None, None, False, None)
    index.members = lambda _: {"setup.py": 'te_core = f"transformer_engine_cu{major()}=={version}"'}
    index.described = lambda _: (Message(), [])
    index.source = lambda *_: source
    for name, found in (("transformer-engine-cu12", True), ("transformer-engine-jax", False), ("nvidia-nccl-cu12", False)):
        yield f"a pin of {name}", is_found(index, source, name), found
    run = Refresh(Catalog(), index)
    yield "a stub that asks for nothing", run.stub_row("tensorrt-llm", Version("1")), None
    yield "a stub that asks for nothing: told", run.notes, ["tensorrt-llm 1: its PKG-INFO asks for nothing, so neither its framework nor its CUDA is known: no row"]
    for said, variant in (("cuda = '9.0.176'", "cu90"), ("cuda: Optional[str] = '13.0'", "cu130"), ("cuda = None", "cpu")):
        index.text, index.flags = lambda *_: said, lambda *_: ([], None)
        run.torch_pins = lambda *_: {}
        wheels = list(Index(torch={"torch-1.1.0-cp37-cp37m-manylinux1_x86_64.whl": []}).wheels("torch"))
        yield f"torch of {said}", run.torch_row(Version("1.1.0"), "x86_64", wheels)["variant"], variant


def held():
    """Wheels for another Python that a release got later."""
    index = Index(a={f"a-1.0-cp{one}-cp{one}-manylinux1_x86_64.whl": [] for one in ("39", "310", "312")})
    row = {"package": "a", "version": "1.0", "framework": "torch", "needs": "*", "source": "companion-metadata"}
    for told, says in (("3.9 || 3.10", "3.9 || 3.10 || 3.12"), ("3.8 || 3.9 || 3.10 || 3.12", None), (">=3.9", None)):
        run, changed = Refresh(Catalog(companion=[row]), index), []
        run.amends = lambda file, row, field, value: changed.append((field, value))
        run.pythons_held(row | {"python": told})
        yield f"Pythons of {told}", changed, [("python", says)] if says else []


def whole():
    """A listing is whole as far as each release has a row."""
    listing = {"package": "a", "index": "pypi", "from": "1.0", "reading": "whole", "first": True, "source": "package-index"}
    index = Index(a={f"a-{one}-py3-none-any.whl": [] for one in ("1.0", "1.1", "1.2", "1.3")})
    seen, again = {key: value for key, value in listing.items() if key != "first"} | {"reading": "seen"}, {}
    again = seen | {"reading": "whole"}
    for held, rows, put, removed in (
        (("1.0", "1.1", "1.2", "1.3"), [listing], [], []),
        (("1.0", "1.1"), [listing], [seen | {"from": "1.2"}], []),
        (("1.0", "1.3"), [listing], [seen | {"from": "1.1"}, again | {"from": "1.3"}], []),
        (("1.0", "1.1"), [listing, seen | {"from": "1.2"}], [], []),
        (("1.0", "1.1", "1.2", "1.3"), [listing, seen | {"from": "1.2"}], [], [seen | {"from": "1.2"}]),
    ):
        held = [{"package": "a", "version": one, "framework": "torch"} for one in held]
        catalog = Catalog(listing=rows, companion=held)
        changed, gone = [], []
        catalog.put, catalog.remove = lambda _, row, after: changed.append(row), lambda _, row: gone.append(row)
        Refresh(catalog, index).listings()
        yield f"listings of {len(held)} rows", (changed, gone), (put, removed)
        if len(rows) > 1 and put == removed:
            lacking = [one.read for one in Checker(catalog, index).listings() if one.field == "lacking"]
            yield "what is only seen is not lacking", lacking, [[]]


def not_read():
    """Each file of the catalog is read, or named as one that is not."""
    named = " ".join((*NOT_READ, *(module.FILES for module in feeds.FEEDS.values())))
    read = ("asks.toml", "catalog.toml", "cudnn.toml", "companions.toml", "image_requires.toml", "libraries.toml", "nccl.toml", "toolkits.toml", "torch.toml")
    there = [path.name for path in sorted((ROOT / "catalog").glob("*.toml"))]
    yield "files of which nothing is said", [one for one in there if one not in named and one not in read], []


def sources():
    """The day of a source is that on which it was read: what is written down here, or carried over, keeps its day."""
    run = Refresh(Catalog(), Index())
    run.uses({"source": "torchao-table", "arch_source": "companion-code", "wsl2_source": "vllm-wsl2"})
    run.uses({"source": "torch-names", "pins_source": None})
    yield "sources that were read", run.used, {"companion-code"}
    path = Path("sources/a.toml")
    run.catalog.changed = {path: '  { id = "companion-code", at = "x", seen = "2020-01-01" },\n  { id = "torchao-table", at = "y", seen = "2020-01-01" },\n'}
    run.stamp()
    today = datetime.date.today().isoformat()
    yield "days that are told", run.stamped, [f"companion-code: seen was 2020-01-01, is {today}"]
    yield "days that are written", run.catalog.changed[path].count("2020-01-01"), 1
    row = {"package": "a", "version": "1.1", "source": "companion-metadata", "arch_source": None}
    run.untold("a 1.1", row, [row | {"version": "1.0", "arch_source": "companion-code"}])
    yield "a source that is lacking", run.notes, ["a 1.1: not read: arch_source, of which the row of 1.0 tells"]


def missing():
    """A first release that comes otherwise than the newest is missing; of what has pre-releases alone those are."""
    index = Index(tensorrt={"tensorrt-1.0.tar.gz": [], "tensorrt-1.1-py3-none-any.whl": []}, b={"b-4.0b1-py3-none-any.whl": []})
    listing = {"package": "tensorrt", "index": "pypi", "from": "1.0", "reading": "whole"}
    stub = {"package": "tensorrt", "version": "1.2", "framework": "cuda", "source": "companion-stub"}
    run = Refresh(Catalog(listing=[listing], companion=[stub | {"version": "1.1"}]), index)
    asked = []
    run.companion = lambda read, rows, version: asked.append(str(version))
    run.other_kind("tensorrt", [stub], False, [])
    yield "first release", asked, ["1.0"]
    run.new("b")
    yield "pre-releases", run.notes, ["b 4.0b1: its metadata names no framework: no row"]
    listed = Refresh(Catalog(listing=[listing | {"from": "1.1"}], companion=[stub | {"version": "1.1"}]), index).not_listed()
    index = Index(a={"a-0.3.1.dev1-py3-none-any.whl": [], "a-0.3.1.tar.gz": []})
    yield "releases of what comes as source", index.releases("a"), []
    yield "older releases", [one for one, _ in listed], ["tensorrt 1.0"]


def asks():
    """Whether the rows say what new releases ask for."""
    rows = [{"package": "a", "range": "<2", "of": "numpy", "needs": "<2", "found_in": "metadata", "source": "ordinary-metadata"}]
    held = [{"package": "a", "version": one, "framework": "torch"} for one in ("1.5", "2.0")]
    catalog = Catalog(asks=rows, companion=held)
    index = Index(a={"a-1.5-py3-none-any.whl": ["numpy<2"], "a-2.0-py3-none-any.whl": ["numpy>=2"]})
    for release, late in (("1.5", False), ("2.0", True)):
        yield f"asks of {release}", ordinary.behind(catalog, index, "a", {Version(release)}), late
    by_hand = rows[0] | {"id": "a", "source": "companion-sdist"}
    for read, same in (("1.5", True), ("2.0", False)):
        yield f"said by hand of {read}", ordinary.says_so(by_hand, rows[0] | {"read": read}), same


def told():
    """What a wheel asks for on every Python, and on some."""
    name = "a-1.0-py3-none-any.whl"
    late, before = ("numpy", "on >=3.12"), ("numpy", "on <3.12")
    everywhere = ("numpy", "metadata")
    cases = [
        ({everywhere: ">=1.25", late: ">=1.26.0"}, ["numpy>=1.25", "numpy>=1.26.0; python_version >= '3.12'"]),
        ({everywhere: ">=1.22,<2"}, ["numpy>=1.22,<2"]),
        ({late: ">=1.26"}, ["numpy>=1.26; python_version >= '3.12'"]),
        ({late: "==2.1", before: "==1.26"}, ["numpy==2.1; python_version > '3.11'", "numpy==1.26; python_version < '3.12'"]),
        ({before: ">=1", ("numpy", "on >=3.13"): "<3"}, ["numpy>=1; python_version < '3.12'", "numpy<3; python_version >= '3.13'"]),
        ({("numpy", "on >=3.11,<3.12"): "<2"}, ["numpy<2; python_version == '3.11'"]),
        # As TensorFlow bounds protobuf: a pre-release without a number.
        ({everywhere: ">=3.20.3,!=4.21.0,<5.0.0"}, ["numpy!=4.21.0,<5.0.0dev,>=3.20.3"]),
        ({everywhere: "<3"}, ["numpy<3.dev0"]),
    ]
    for says, lines in cases:
        index = Index(a={name: lines})
        yield f"told {lines}", ordinary.told(index, index.wheels("a")[0], {"numpy"}), says
    # Of torch 2.5, which takes Python 3.8 by its metadata, there are no wheels for it.
    files = {f"a-1.0-cp{line}-cp{line}-manylinux_2_17_x86_64.whl": ["numpy==1.13.1; python_version >= '3.9'"] for line in ("39", "310")}
    wheels = Index(a=files).wheels("a")
    yield "told on the Pythons of its wheels", ordinary.told(Index(a=files), wheels[-1], {"numpy"}, None, wheels), {everywhere: "==1.13.1"}
    row = ordinary.one_row("a", late, (">=1.26", None), [Version("1.0")], 0, 1)
    yield "row of some Pythons", (row["id"], row["found_in"], row["python"], row["source"]), ("a-1.0-numpy-3.12", "metadata", ">=3.12", "ordinary-metadata")
    row = ordinary.one_row("a", ("numpy", "on >=3.10,<3.12"), (">=1.26", None), [Version("1.0")], 0, 1)
    yield "name of one", row["id"], "a-1.0-numpy-3.10-before-3.12"
    held = [{"package": "a", "version": "1.0", "framework": "torch"}]
    rows = [{"package": "a", "range": "*", "of": "numpy", "needs": ">=1.26", "found_in": "metadata", "python": ">=3.12", "source": "ordinary-metadata"}]
    for lines, late in ((["numpy>=1.26; python_version >= '3.12'"], False), (["numpy>=1.26"], True)):
        index = Index(a={name: lines})
        yield f"asks of {lines}", ordinary.behind(Catalog(asks=rows, companion=held), index, "a", {Version("1.0")}), late
    for says, line in {"*": "numpy", None: "numpy; python_version >= '3.12'"}.items():
        index = Index(a={name: [line]})
        yield f"told of {line}", ordinary.told(index, index.wheels("a")[0], {"numpy"}, "*").get(everywhere), says
    held = [{"package": "xformers", "version": "0.0.30", "framework": "torch"}, {"package": "torchvision", "version": "0.20.0", "framework": "torch"}]
    catalog = Catalog(asks=[], companion=held, build=[{"package": "torch", "version": "2.5.0"}])
    for of, needs, is_told in (("xformers", "*", True), ("xformers", ">=0.0.20", True), ("torchvision", "*", False), ("torch", "*", False), ("transformers", "*", True)):
        yield f"tells {of} {needs}", ordinary.tells(catalog, {"package": "a", "of": of, "needs": needs}), is_told


def extras():
    """What an extra alone asks for, and what newer pips refuse."""
    name = "a-1.0-py3-none-any.whl"
    lines = ["torch>=2", "torch>=2; extra == 'same'", "torch<2.5,>=2.2; extra == 'torch'", "jax; extra == 'flax'", "numpy; extra == 'torch'"]
    index = Index(a={name: lines})
    wheel = index.wheels("a")[0]
    for extra, says in {"torch": {"torch": ">=2.2,<2.5"}, "same": {}, "flax": {}, "other": {}}.items():
        yield f"extra {extra}", ordinary.of_extra(index, wheel, {"torch", "jax"}, extra), says
    for line, refused in {"torch (>=1.9.*)": True, "torch ~=1.9.*": True, "torch!=1.9.*,==1.*": False, "torch>=1.9; python_version >= '3.*'": False}.items():
        index = Index(a={name: [line]})
        yield f"pip of {line}", ordinary.is_refused(index, index.wheels("a")[0]), refused
    row = ordinary.one_row("a", ("torch", f"{ordinary.EXTRA}gpu"), (">=2", None), [Version("1.0")], 0, 1)
    yield "row of an extra", (row["id"], row["found_in"], row["extra"], row["source"]), ("a-1.0-torch-gpu", "metadata", "gpu", "ordinary-metadata")
    row = ordinary.one_row("a", ("pip", "metadata"), ("<24.1", None), [Version("1.0")], 0, 1)
    yield "row of pip", (row["range"], row["extra"], row["source"]), ("<=1.0", None, "ordinary-pip")
    row = ordinary.one_row("a", ("python", "metadata"), (">=3.11", None), [Version("1.0"), Version("1.1")], 1, 2)
    yield "row of Python, which ends with what was read", row["range"], ">=1.1,<=1.1"
    row = ordinary.one_row("a", ("torch", "metadata"), (">=2", None), [Version("1.0"), Version("1.1")], 1, 2)
    yield "row without an end", row["range"], ">=1.1"


def only_wheels():
    """What binds where there is nothing but wheels: their Pythons, processors and glibc."""
    lines = [f"cp{line[0]}{line[2:]}" for line in ordinary.LINES]
    wheel = lambda python, place: f"a-1.0-{python}-{'none' if python == 'py3' else python}-{place}.whl"
    both = ("manylinux_2_17_x86_64", "manylinux_2_17_aarch64")
    cases = {
        "some Pythons": ([wheel(lines[-4], both[0]), wheel(lines[-3], both[1])], (f">={ordinary.LINES[-4]},<{ordinary.LINES[-2]}", None, None, None, None)),
        "a processor": ([wheel("py3", both[0])], ("*", None, ["x86_64"], None, None)),
        "a glibc": ([wheel("py3", "manylinux_2_28_x86_64"), wheel("py3", "manylinux_2_28_aarch64")], ("*", None, None, "2.28", None)),
        "a glibc each": ([wheel("py3", "manylinux_2_28_x86_64"), wheel("py3", "manylinux_2_34_aarch64")], ("*", None, None, "2.28", "2.34")),
        "an old glibc on aarch64": ([wheel("py3", "manylinux_2_28_x86_64"), wheel("py3", both[1])], ("*", None, None, "2.28", "2.17")),
        "a new glibc on aarch64": ([wheel("py3", both[0]), wheel("py3", "manylinux_2_28_aarch64")], ("*", None, None, None, "2.28")),
        "anywhere": ([wheel("py3", both[0]), wheel("py3", both[1])], None),
        "pure": ([wheel("py3", both[0]), wheel("py3", "any")], None),
        "musl beside": ([wheel("py3", "manylinux_2_28_x86_64"), wheel(lines[-1], "musllinux_1_2_aarch64")], ("*", None, ["x86_64"], "2.28", None)),
        "a source": ([wheel("py3", both[0]), "a-1.0.tar.gz"], None),
    }
    for case, (files, says) in cases.items():
        found = ordinary.of_ordinary(Catalog(), Index(a={name: [] for name in files}), "a", set())[Version("1.0")]
        yield f"only wheels, {case}", found.get(("python", "only-wheels")), says
    row = ordinary.one_row("a", ("python", "only-wheels"), ("*", None, ["x86_64"], None, None), [Version("1.0")], 0, 1)
    line = ordinary.inline(ordinary.spare("asks", row))
    yield "the line of a row", line, '{ package = "a", range = "<=1.0", of = "python", needs = "*", found_in = "only-wheels", arches = ["x86_64"], read = "1.0", source = "ordinary-wheels" }'
    yield "the row of a line", ordinary.whole(ordinary.row_of(line))["id"], "a-1.0-python-only-wheels"


def unread():
    """What came as source only after the first wheel, and does not say what it asks for, is no part of the range before it."""
    index = Index(axolotl={"axolotl-0.9.tar.gz": [], "axolotl-1.0-py3-none-any.whl": ["torch==2.3.1"], "axolotl-1.1.tar.gz": [], "axolotl-2.0-py3-none-any.whl": ["torch==2.9.1"]})
    for what, metadata, lines, says in (
        ("nothing is told", {}, [], ["<1.1", ">=2.0,<=2.0"]),
        ("its build tells", {"Dynamic": "Requires-Dist"}, ["torch==2.3.1"], ["<1.1", ">=2.0,<=2.0"]),
        ("it is told", {}, ["torch==2.3.1"], ["<2.0", ">=2.0,<=2.0"]),
    ):
        message = Message()
        for key, value in metadata.items():
            message[key] = value
        index.described = lambda source, read=(message, lines): read
        found = ordinary.of_ordinary(Catalog(), index, "axolotl", {"torch"})
        yield f"ranges where {what}", [row["range"] for row in ordinary.ranges("axolotl", found) if row["of"] == "torch"], says


def ranges():
    yield "days", [str(day(text)) for text in ("2026-11-20", "2025-12", "2026")], ["2026-11-20", "2025-12-01", "2026-01-01"]
    yield "range", as_needs("<2.14,>=1.12"), ">=1.12,<2.14"


def main():
    cases = (flags, listings, tags, requirements, symbols, neighbours, sources_beside, judged, read_rows, held, whole, not_read, sources, missing, asks, told, extras, only_wheels, unread, ranges)
    wrong = [f"{what}: {read}, not {says}" for case in cases for what, read, says in case() if read != says]
    print("\n".join(wrong) or "as they should be")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
