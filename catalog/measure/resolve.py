"""The wheels decide: random locks, each given to uv as the requirements that gpuenv exports for it.

Each must resolve for its Python and platform, and what uv would install must be what the lock says: the wheels that it
names, torch and what follows it, triton, cuDNN, NCCL, the CUDA runtime. Files that lie on no index that is read here are
stand-ins (standins.py says whence their METADATA); where none was published that is at hand, a lock is not checked.
"""

import json
import random
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from catalog import numbers
from checks import MISPINNED
from remote import Requirement, SpecifierSet, Version, canonicalize_name, pinned, requirements
from specs import Specs
from standins import OF_CUDA, StandIns, Unpublished

# How exports name the PyTorch index: a page of one package, or all of a variant.
PAGE = re.compile(r"--find-links https://download\.pytorch\.org/whl/(\w+)/([\w-]+)/")
WHOLE = re.compile(r"--(?:extra-)?index-url https://download\.pytorch\.org/whl/(\w+)")
# The platforms that uv knows, by their glibc.
GLIBCS = ("2.17", "2.28", "2.31", "2.32", "2.33", "2.34", "2.35", "2.36", "2.37", "2.38", "2.39", "2.40")
# What uv says where only building would tell.
UNBUILT = re.compile(r"Wheels are required for `([\w.-]+)`")
# What uv says where an index does not answer.
UNREAD = re.compile(r"Failed to fetch:? .*|Request failed .*|error sending request .*")
# The exit codes of a conflict and of what cannot be determined.
NO_ANSWER = (1, 3)
# Of so many releases the source is looked at where uv names a range of them.
LATEST = 12
NOT_PACKAGES = ("python", "cuda", "cudnn", "nccl")


class Resolve:
    """The check; `gpuenv` and `uv` are programs."""

    def __init__(self, catalog, index, gpuenv, uv):
        self.catalog, self.index, self.gpuenv, self.uv = catalog, index, gpuenv, uv
        self.standins = StandIns(catalog, index)
        self.glibcs = {row["id"]: row.get("glibc") for row in catalog.rows("os")}

    def run(self, count, seed, details=None):
        """Takes that many locks; 1 where one differs or nothing was checked."""
        print(f"# seed {seed}: {count} locks of catalog {self.catalog_day()}", flush=True)
        specs = Specs(self.catalog, random.Random(seed))
        counts, reasons, drawn, number, started = {}, {}, 0, 0, time.monotonic()
        while number < count:
            drawn += 1
            with tempfile.TemporaryDirectory(prefix="measure-") as folder:
                text = specs.draw()
                lock = self.lock(Path(folder), text)
                if lock is None:
                    continue
                number += 1
                verdict, said = self.judge(Path(folder), lock)
                if details:
                    for before in Path(details).glob(f"{seed}-{number}-*"):
                        shutil.rmtree(before)
                    kept = Path(details) / f"{seed}-{number}-{verdict.replace(' ', '-')}"
                    shutil.copytree(folder, kept)
                    (kept / "said.txt").write_text("\n".join(said) + "\n")
            counts[verdict] = counts.get(verdict, 0) + 1
            print(f"{verdict:<12} {seed}-{number} {short(text)}: {named(lock)}", flush=True)
            for line in said:
                print(f"    {line}", flush=True)
            if verdict == "not checked":
                reasons[said[0]] = reasons.get(said[0], 0) + 1
        print(f"# {number} locks of {drawn} specs in {time.monotonic() - started:.0f} s")
        for reason, times in sorted(reasons.items(), key=lambda one: -one[1]):
            print(f"# {times} not checked: {reason}")
        print("# " + ", ".join(f"{times} {verdict}" for verdict, times in sorted(counts.items())))
        return 1 if counts.get("DIFFERS") or not counts.get("agrees") else 0

    def catalog_day(self):
        said = subprocess.run([self.gpuenv, "--version"], capture_output=True, text=True, check=True).stdout
        return said.strip()

    def lock(self, folder, text):
        """The lock of a spec, or nothing where it has no answer."""
        (folder / "gpuenv.toml").write_text(text)
        ran = self.told(folder, "lock", "--format", "json")
        # A name that two GPUs bear is asked back.
        if ran.returncode not in (0, *NO_ANSWER) and '"ambiguous-gpu"' not in ran.stdout:
            raise SystemExit(f"gpuenv lock ended with {ran.returncode}:\n{text}\n{ran.stdout}{ran.stderr}")
        return json.loads(ran.stdout) if ran.returncode == 0 else None

    def told(self, folder, *words):
        return subprocess.run([self.gpuenv, *words], cwd=folder, capture_output=True, text=True, timeout=120)

    def judge(self, folder, lock):
        """`agrees`, `DIFFERS` or `not checked`, and why; the targets one after the other."""
        known = {}
        for name, target in lock["targets"].items():
            exported = self.told(folder, "export", "requirements", "--target", name)
            text = exported.stdout
            if "error[ambiguous-index]" in exported.stderr:
                # pip cannot be told which of two indexes it is, so there is no such file: each wheel by itself.
                text = "".join(line + "\n" for line in plainly(lock, name))
            elif exported.returncode != 0:
                return "DIFFERS", [f"no requirements for target {name}: {exported.stderr.strip()}"]
            key = (text, target["arch"], target["os"])
            if key not in known:
                try:
                    known[key] = self.differences(folder / name, lock, name, text)
                except Unpublished as reason:
                    return "not checked", [str(reason)]
        said = [line for lines in known.values() for line in lines]
        return ("DIFFERS" if said else "agrees"), said

    def differences(self, folder, lock, name, requirements_txt):
        """What uv says otherwise than the lock for one target."""
        target = lock["targets"][name]
        stack = lock["stack"] | target.get("stack", {})
        wheels = [wheel for wheel in lock["wheels"] if name in wheel["targets"]]
        if not wheels:
            raise Unpublished("nothing to install: an image brings the framework")
        python, arch = stack["python"], target["arch"]
        folder.mkdir(exist_ok=True)
        text = self.stand_in(folder, wheels, requirements_txt, python, arch)
        (folder / "requirements.txt").write_text(text)
        resolved, error = self.compile(folder, python, self.platform(target, arch))
        if error and UNREAD.search(error):
            raise Unpublished(f"uv could not read an index: {UNREAD.search(error)[0].strip()}")
        if error and UNBUILT.search(error):
            raise Unpublished(f"{UNBUILT.search(error)[1]} comes as source that says nothing before it is built")
        if error:
            return [line for line in error.splitlines() if line.strip()][:40]
        return list(self.compared(stack, wheels, resolved, self.is_whole(wheels, python, arch)))

    def is_whole(self, wheels, python, arch):
        """Whether torch holds its libraries itself: those that others bring are none of its."""
        for wheel in wheels:
            if wheel["package"] == "torch" and "+" in wheel["version"]:
                lines, _ = self.standins.torch(Version(wheel["version"]), python, arch)
                return not any(OF_CUDA.match(Requirement(line).name) for line in lines)
        return False

    def platform(self, target, arch):
        """The newest platform that uv knows and the target's C library has."""
        glibc = self.glibcs.get(target["os"] or "") or GLIBCS[-1]
        fits = [one for one in GLIBCS if numbers(one) <= numbers(glibc)]
        return f"{arch}-manylinux_{(fits or GLIBCS)[-1 if fits else 0].replace('.', '_')}"

    def stand_in(self, folder, wheels, text, python, arch):
        """The requirements with a folder of stand-ins in the place of what is read nowhere."""
        beside = folder / "wheels"
        for wheel in wheels:
            if wheel["package"] == "torch" and wheel.get("index") and "+" not in wheel["version"]:
                where = f"torch {wheel['version']} of {wheel['index']}"
                raise Unpublished(f"{where} has no label, and the package index another file of that name")
        pages = PAGE.findall(text)
        pages += [(variant, package) for variant in WHOLE.findall(text) for package in self.standins.files]
        for variant, package in pages:
            locked = {wheel["version"] for wheel in wheels if canonicalize_name(wheel["package"]) == package}
            # What others may bring in is asked for too, be it that nobody has seen its file.
            held = {line.split("==")[1] for line in text.split() if line.startswith(f"{package}==")}
            versions = {str(one) for one in self.standins.seen(package, variant)} | {v for v in locked | held if "+" in v}
            # Of torch, only what is asked for: a pin takes no other.
            for version in locked & versions if package == "torch" else versions:
                try:
                    self.standins.make(beside, package, version, python, arch)
                except Unpublished:
                    # Another release of the page may do; what the lock asks for may not be missing.
                    if f"{package}=={version}" in text.split():
                        raise
        for wheel in wheels:
            if wheel.get("sdist") and not self.index.linux(canonicalize_name(wheel["package"]), wheel["version"], arch):
                self.standins.make_source(beside, canonicalize_name(wheel["package"]), wheel["version"])
        lines = []
        for line in text.splitlines():
            package, at, address = line.partition("@")
            if at and address.strip().startswith("http"):
                address = address.split(";")[0].strip()
                version = self.standins.make_url(beside, canonicalize_name(package.strip()), address, arch)
                line = f"{package.strip()}=={version}"
            if not PAGE.match(line) and not WHOLE.match(line):
                lines.append(line)
        return "\n".join(lines) + "\n"

    def compile(self, folder, python, platform):
        """Name → version as uv resolves, or what it says instead."""
        command = [self.uv, "pip", "compile", "--quiet", "--no-header", "--no-annotate", "--no-build", "--no-config"]
        command += ["--no-python-downloads", "--python-version", python, "--python-platform", platform]
        command += ["--find-links", "wheels", "requirements.txt"]
        (folder / "wheels").mkdir(exist_ok=True)
        while True:
            ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
            if ran.returncode == 0:
                (folder / "resolved.txt").write_text(ran.stdout)
                return dict(resolved(ran.stdout)), None
            if not self.sources(folder, ran.stderr):
                (folder / "error.txt").write_text(ran.stderr)
                return None, ran.stderr

    def sources(self, folder, said):
        """Puts stand-ins beside for what uv would have to build to see what it asks for; whether there are more now."""
        made, said = False, re.sub(r"\{[^}]*\}", "", said)
        for package in map(canonicalize_name, UNBUILT.findall(said)):
            wheels = {wheel.version for wheel in self.index.wheels(package) if wheel.arch}
            releases = {source.version for source in self.index.sources(package)}
            ranges = re.findall(rf"(?<![\w-]){package}((?:,?[<>=!~]=?[\w.]+)+)", said.replace("_", "-"))
            # One release that is named, or else what lies below a bound.
            ranges = [one for one in ranges if "==" in one] or [one for one in ranges if "<" in one]
            meant = [one for one in sorted(releases) if any(SpecifierSet(range).contains(one, True) for range in ranges)]
            for version in meant[-LATEST:] or sorted(releases - wheels)[-LATEST:]:
                name = f"{package.replace('-', '_')}-{version}-py3-none-any.whl"
                if (folder / "wheels" / name).exists():
                    continue
                try:
                    if version in wheels:
                        self.standins.make_like(folder / "wheels", package, version)
                    else:
                        self.standins.make_source(folder / "wheels", package, version)
                    made = True
                except Unpublished:
                    continue
        return made

    def compared(self, stack, wheels, resolved, is_whole=False):
        """A sentence for each difference. Libraries inside of torch are not uv's to choose."""
        for wheel in wheels:
            name, version = canonicalize_name(wheel["package"]), wheel["version"]
            has = Version(resolved.get(name, version))
            # A pin without a label takes a file with one.
            if (has if "+" in version else Version(has.public)) != Version(version):
                yield f"{name} is {version} in the lock, and {resolved[name]} for uv"
        for name, version in stack.items():
            name = canonicalize_name(name)
            if name in NOT_PACKAGES:
                continue
            release, has = Version(version.split("+")[0]), resolved.get(name)
            if has is None:
                yield f"{name} is {version} in the lock, and uv does not install it"
            elif Version(Version(has).public) != release:
                yield f"{name} is {version} in the lock, and {has} for uv"
        if is_whole:
            return
        for kind in ("cudnn", "nccl"):
            for name, has in resolved.items():
                if re.fullmatch(rf"nvidia-{kind}(-cu\d+)?", name) and stack.get(kind, has) != has:
                    yield f"{kind} is {stack[kind]} in the lock, and uv takes {name} {has}"
        yield from self.runtimes(stack, resolved)

    def runtimes(self, stack, resolved):
        """The CUDA runtime is of the release that the lock names, by the metapackage of that release."""
        for name, has in resolved.items():
            if "cuda" not in stack or not re.fullmatch(r"nvidia-cuda-runtime(-cu\d+)?", name):
                continue
            locked = stack["cuda"]
            told = locked.count(".") == 2 and locked not in MISPINNED
            of_release = self.runtime(locked) if told else None
            shown = locked.count(".") + 1
            if of_release and has != of_release or numbers(has)[: min(shown, 2)] != numbers(locked)[:2]:
                whose = f", whose runtime is {of_release}" if of_release else ""
                yield f"cuda is {locked} in the lock{whose}, and uv takes {name} {has}"

    def runtime(self, version):
        for wheel in self.index.wheels("cuda-toolkit"):
            if numbers(wheel.version)[:3] == numbers(version)[:3]:
                for name, spec, _ in requirements(self.index.metadata(wheel)):
                    if re.fullmatch(r"nvidia-cuda-runtime(-cu\d+)?", name) and pinned(spec):
                        return pinned(spec)
        return None


def resolved(text):
    """Name and version of each line that uv prints."""
    for line in text.splitlines():
        if line and not line.startswith(("#", "-", " ")):
            requirement = Requirement(line)
            yield canonicalize_name(requirement.name), pinned(requirement.specifier) or "?"


def plainly(lock, target):
    """The wheels of a target as requirements; of what is only held to its index, the page."""
    for wheel in lock["wheels"]:
        if target not in wheel["targets"]:
            continue
        if wheel.get("index"):
            yield f"--find-links {wheel['index']}/{canonicalize_name(wheel['package'])}/"
        if wheel["package"] in lock["stack"] or wheel["package"].startswith("nvidia-"):
            extra = f"[{wheel['extra']}]" if wheel.get("extra") else ""
            yield f"{wheel['package']}{extra}" + (f" @ {wheel['url']}" if wheel.get("url") else f"=={wheel['version']}")


def short(text):
    """A spec in one line."""
    return " ".join(line for line in text.replace(" = ", "=").splitlines() if line and line != "[stack]")


def named(lock):
    return " ".join(f"{name}={version}" for name, version in lock["stack"].items())
