"""What a package index offers, read with pip's own machinery: its session, its index settings, its range requests.

Nothing is installed. A single member of a wheel is read without the rest of it, so a gigabyte of torch costs a few
megabytes. pip's internals are no public interface: this file is the only one that touches them.
"""

import email
import io
import json
import re
import tarfile
import tempfile
import zipfile
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache

from pip._internal.commands.download import DownloadCommand
from pip._internal.exceptions import NetworkConnectionError
from pip._internal.index.collector import IndexContent, parse_links
from pip._internal.network.lazy_wheel import HEADERS, LazyZipOverHTTP
from pip._internal.utils.misc import redact_auth_from_url
from pip._internal.utils.temp_dir import global_tempdir_manager
from pip._vendor.packaging.requirements import InvalidRequirement, Requirement
from pip._vendor.packaging.specifiers import SpecifierSet
from pip._vendor.packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from pip._vendor.packaging.version import Version
from pip._vendor.requests import RequestException

import binary
import linked
from kernels import OWN, PINNED_KERNELS, STRAY, asked_glibc, code_of, ptx_version
from store import Nothing

# What pip's session raises where nobody answers.
NO_ANSWER = (RequestException, NetworkConnectionError)
# What an index answers with where it also tells when a file was uploaded.
JSON = "application/vnd.pypi.simple.v1+json"
# As installers ask for a listing.
LISTING = f"{JSON}, application/vnd.pypi.simple.v1+html; q=0.1, text/html; q=0.01"
# After so many that were not answered one after the other no more is asked: each is tried several times.
PATIENCE = 3
# Packages of which releases name their framework in an extra alone, the one that is for it.
EXTRAS = {"sglang": "srt", "transformer-engine": "pytorch"}


class NotRead(OSError):
    """The index has not said what it was asked. Nothing follows from that: neither that a file is there nor that it is not."""


# How it shows that a file is not what was listed.
BROKEN = (*NO_ANSWER, OSError, EOFError, StopIteration, zipfile.BadZipFile, tarfile.TarError, zlib.error)


@dataclass(frozen=True)
class File:
    """One file of an index."""

    package: str
    version: Version
    name: str
    url: str
    sha256: str | None
    requires_python: str | None
    yanked: bool
    uploaded: str | None

    @property
    def purl(self):
        return f"pkg:pypi/{self.package}@{self.version}"


@dataclass(frozen=True)
class Wheel(File):
    """A wheel of an index."""

    tags: tuple

    @property
    def pythons(self):
        """`cp311`, `py3`, `abi3`: one word for each Python tag; PyPy and free-threaded builds are left out."""
        found = set()
        for tag in self.tags:
            if (
                tag.interpreter[:2] not in ("cp", "py")
                or tag.interpreter == "py2"
                or (tag.abi.startswith("cp") and tag.abi.endswith("t"))
            ):
                continue
            found.add("abi3" if tag.abi == "abi3" else tag.interpreter)
        return sorted(found)

    @property
    def arch(self):
        """`x86_64`, `aarch64`, `any`, or nothing where it is not for Linux."""
        for tag in self.tags:
            if tag.platform == "any":
                return "any"
            if "linux" in tag.platform:
                for arch in ("x86_64", "aarch64"):
                    if tag.platform.endswith(arch):
                        return arch
        return None

    @property
    def glibc(self):
        """The lowest glibc its platform tags promise to run on, `2.28`."""
        old = {"manylinux1": (2, 5), "manylinux2010": (2, 12), "manylinux2014": (2, 17)}
        seen = set()
        for tag in self.tags:
            if match := re.match(r"manylinux_(\d+)_(\d+)_", tag.platform):
                seen.add((int(match[1]), int(match[2])))
            elif match := re.match(r"(manylinux\d+)_", tag.platform):
                seen.add(old[match[1]])
        return ".".join(map(str, min(seen))) if seen else None


@dataclass(frozen=True)
class Source(File):
    """A source distribution of an index."""


class Index:
    """The index that pip is configured for. `known` are the packages that it is known to have files of."""

    def __init__(self, store=None, progress=None, known=frozenset()):
        self.store, self.progress, self.known = store or Nothing(), progress or (lambda text: None), known
        self.failed, self.silent = {}, 0
        self._command = DownloadCommand("download", "reads an index")
        self._options, _ = self._command.parse_args(["--no-cache-dir", "x"])
        self._context = self._command.main_context()
        self._context.__enter__()
        self._command.enter_context(global_tempdir_manager())
        self.session = self._command.get_default_session(self._options)
        self.serves_metadata = True
        self._finder = self._command._build_package_finder(options=self._options, session=self.session)

    @lru_cache(maxsize=None)
    def links(self, package):
        """What the index says of every file of a package; an empty list where it says that it has no such package, and was
        never known to have it. Whatever else it answers is no answer (`NotRead`)."""
        if package in self.failed:
            raise NotRead(self.failed[package])
        had = package in self.known or bool(self.store.answers(package).get("listing "))
        try:
            return self.store.fresh(package, "listing", "", lambda: self._listing(package, had))
        except NotRead as error:
            self.failed[package] = str(error)
            raise

    def _listing(self, package, had):
        self.progress(f"the listing of {package}")
        collector = self._finder._link_collector
        sources = collector.collect_sources(canonicalize_name(package), candidates_from_page=lambda link: [])
        sources = [source.link for source in sources.index_urls if source is not None]
        pages = [page for link in sources if (page := self._page(package, link))]
        links = [link for _, of_page in pages for link in of_page]
        if had and not links:
            raise NotRead("the index lists no file of it any more")
        days = {name: day for page, _ in pages for name, day in self._days(page).items()} if links else {}
        return [link | {"uploaded": days.get(link["name"])} for link in links]

    def _answer(self, url, accept=None):
        """What an address answers, whole: nothing where it says that there is no such thing."""
        place = redact_auth_from_url(url)
        if self.silent >= PATIENCE:
            raise NotRead(f"not asked, for the index has not answered the last {PATIENCE} times")
        try:
            answer = self.session.get(url, headers={"Accept": accept, "Cache-Control": "max-age=0"} if accept else None)
            length = answer.headers.get("content-length")
            cut = length and not answer.headers.get("content-encoding") and len(answer.content) != int(length)
            why = "breaks off" if cut else None if answer.status_code in (200, 404) else f"answers {answer.status_code}"
        except NO_ANSWER as error:
            why = f"cannot be read ({type(error).__name__})"
        self.silent = self.silent + 1 if why else 0
        if why:
            raise NotRead(f"{place} {why}")
        return answer if answer.status_code == 200 else None

    def _page(self, package, link):
        """The page that an index has of a package with what it says of each file; nothing where it has none."""
        url = link.url_without_fragment
        if link.is_file:
            page = self._finder._link_collector.fetch_response(link)
        else:
            answer = self._answer(url, LISTING)
            page = answer and IndexContent(answer.content, answer.headers.get("content-type", ""), answer.encoding, answer.url, False)
        if page is None:
            return None
        try:
            links = [told(link) for link in parse_links(page)]
            names = is_of(package, page, links)
        except (ValueError, TypeError, AttributeError, KeyError):
            names = False
        if not names:
            # Who stands between answers with a page of his own.
            raise NotRead(f"what {redact_auth_from_url(url)} answers is no listing of it")
        return page, links

    def _days(self, page):
        """On which day each file of a listing was uploaded, where the index tells."""
        if not page.content_type.startswith(JSON):
            page = self._answer(page.url, JSON) if page.url.startswith("http") else None
            if page is None or page.headers.get("content-type", "").split(";")[0] != JSON:
                return {}
        try:
            files = json.loads(page.content).get("files", [])
            return {file["filename"]: file["upload-time"][:10] for file in files if file.get("upload-time")}
        except (ValueError, TypeError, AttributeError, KeyError):
            raise NotRead(f"what {redact_auth_from_url(page.url)} answers is no listing of it") from None

    @lru_cache(maxsize=None)
    def wheels(self, package):
        """Every wheel of a package, oldest version first."""
        found = {}
        for link in (link for link in self.links(package) if link["name"] not in STRAY):
            try:
                _, version, _, tags = parse_wheel_filename(link["name"])
            except (InvalidWheelFilename, ValueError):
                continue
            tags = tuple(sorted(tags, key=str))
            found[link["name"]] = Wheel(package=package, version=version, tags=tags, **link)
        return sorted(found.values(), key=lambda wheel: (wheel.version, wheel.name))

    @lru_cache(maxsize=None)
    def sources(self, package):
        """Every source distribution of a package, oldest version first."""
        found = {}
        for link in self.links(package):
            try:
                _, version = parse_sdist_filename(link["name"])
            except (InvalidSdistFilename, ValueError):
                continue
            if link["name"].endswith(".tar.gz"):
                found[link["name"]] = Source(package=package, version=version, **link)
        return sorted(found.values(), key=lambda source: (source.version, source.name))

    def lists(self, package, version, asking):
        """Whether the index has a file of a release that another package pins; yes where it has none of the package at all."""

        def now():
            files = [one.version for one in (*self.wheels(package), *self.sources(package))]
            return not files or Version(version) in files

        return self.store.fresh(asking, "lists", f"{package}=={version}", now)

    def source(self, package, version):
        """The source distribution of a release, if there is one."""
        return next((one for one in self.sources(package) if one.version == Version(str(version))), None)

    @lru_cache(maxsize=None)
    def members(self, source):
        """What a source distribution says of itself and how it builds itself, by name; kernels are left out."""
        return self.kept(source, "members", lambda: self._members(source))

    def _members(self, source):
        telling = re.compile(r"PKG-INFO|README\.md|pyproject\.toml|setup\.py|build_tools/\w+\.py|[^/]+\.egg-info/requires\.txt")
        answer = self._answer(source.url)
        with tarfile.open(fileobj=io.BytesIO(answer.content if answer else b"")) as archive:
            named = ((member.name.split("/", 1)[-1], member) for member in archive if member.isfile())
            wanted = {name: member for name, member in named if telling.fullmatch(name)}
            return {name: archive.extractfile(one).read().decode("utf-8", "replace") for name, one in wanted.items()}

    @lru_cache(maxsize=None)
    def described(self, source):
        """PKG-INFO and requires.txt of a source distribution: its metadata, and the requirements without a condition."""
        members = self.members(source)
        metadata = email.message_from_string(members["PKG-INFO"])
        if (metadata.get_payload() or "UNKNOWN").strip() == "UNKNOWN" and "README.md" in members:
            # The description was not packed into the metadata, but lies beside it.
            metadata.set_payload(members["README.md"])
        lists = [text for name, text in members.items() if name.endswith(".egg-info/requires.txt")]
        lines = [line for text in lists for line in text.split("\n[")[0].splitlines()]
        return metadata, lines + (metadata.get_all("Requires-Dist") or [])

    def releases(self, package):
        """The final releases of a package with at least one wheel for Linux that was not withdrawn, oldest first; its
        pre-releases where it has had no other yet, as installers take them, not even as source."""
        there = {wheel.version for wheel in self.wheels(package) if wheel.arch and not wheel.yanked}
        is_final = any(not one.yanked and not one.version.is_prerelease for one in self.sources(package))
        return sorted({one for one in there if not one.is_prerelease} or (set() if is_final else there))

    def linux(self, package, version, arch):
        """The wheels of a release that install on Linux on this CPU architecture, oldest Python first."""
        asked = Version(str(version))
        wheels = [w for w in self.wheels(package) if w.version == asked and w.arch in (arch, "any")]
        return sorted(wheels, key=lambda wheel: (len(wheel.name), wheel.name))

    def kernels(self, package, version, arch):
        """The wheel that holds the kernels of a release for a CPU architecture: its own, or that of a package it pins."""
        wheels = self.linux(package, version, arch)
        if package in PINNED_KERNELS and wheels:
            asked = asked_by(self.metadata(wheels[-1]), package)
            of = [(name, pin) for name, spec, _ in asked if name in PINNED_KERNELS[package] and (pin := pinned(spec))]
            wheels = [wheel for name, pin in of for wheel in self.linux(name, pin, arch)]
        return wheels[-1] if wheels else None

    @lru_cache(maxsize=2)
    def open(self, wheel):
        """The wheel as an archive whose members are fetched when they are read. What is read several times of one file, one
        reading after the other, is fetched once."""
        return Archive(wheel, self.session)

    def kept(self, file, what, read):
        """What was read in a file before, or is read now. Without its sha256 nothing says that it is still the same."""

        def now():
            self.progress(f"{file.name}: {what}")
            try:
                return read()
            except NotRead:
                raise
            except BROKEN as error:
                raise NotRead(f"{file.name} cannot be read ({error or type(error).__name__})") from error

        return self.store.told(file.package, what, f"{file.name} {file.sha256}", now) if file.sha256 else now()

    @lru_cache(maxsize=None)
    def metadata(self, wheel):
        """The METADATA of a wheel; its description is left out."""

        def read():
            if (beside := self._beside(wheel)) is not None:
                return beside
            archive = self.open(wheel)
            name = next(one for one in archive.names if one.count("/") == 1 and one.endswith(".dist-info/METADATA"))
            return archive.read(name).decode("utf-8", "replace")

        return email.message_from_string(self.kept(wheel, "metadata", read))

    def _beside(self, wheel):
        """The METADATA that the index serves beside a wheel: one small file, where the wheel itself takes three reads."""
        if not self.serves_metadata:
            return None
        try:
            answer = self._answer(f"{wheel.url}.metadata")
        except NotRead:
            # The wheel itself says the same.
            answer = None
        text = answer.content.decode("utf-8", "replace") if answer else ""
        # An index serves it beside every wheel or beside none: one that has none is not asked for each.
        self.serves_metadata = "Metadata-Version:" in text[:4096]
        return text if self.serves_metadata else None

    @lru_cache(maxsize=None)
    def needs(self, wheel):
        """What the METADATA of a wheel requires, nothing else of it: the index serves it beside the wheel."""

        def read():
            text = self._beside(wheel)
            text = self.metadata(wheel).as_string() if text is None else text
            head = text.replace("\r", "").split("\n\n")[0].splitlines()
            return "\n".join(line for line in head if line.startswith("Requires-"))

        return email.message_from_string(self.kept(wheel, "needs", read))

    def searched(self, wheel, member, pattern):
        """The first group of what a pattern finds in a small member; nothing where it finds nothing."""

        def read():
            archive = self.open(wheel)
            text = archive.read(member).decode("utf-8", "replace") if member in archive.names else ""
            found = re.search(pattern, text)
            return found and found[1]

        return self.kept(wheel, f"search {pattern} in {member}", read)

    def text(self, wheel, member):
        """A small member as text; nothing where there is none."""

        def read():
            archive = self.open(wheel)
            return archive.read(member).decode("utf-8", "replace") if member in archive.names else None

        return self.kept(wheel, member, read)

    def code(self, wheel, kind):
        """(SASS, PTX, CUDA) of the libraries of a wheel that hold a package's own kernels."""
        what = f"own code {kind}" if kind in OWN else f"code {kind}"
        return self.kept(wheel, what, lambda: code_of(self.open(wheel), kind))

    def ptx_version(self, wheel, kind):
        """The newest version of PTX that a package's own kernels are written in."""
        return self.kept(wheel, f"own ptx {kind}", lambda: ptx_version(self.open(wheel), kind))

    def imported(self, wheel):
        """The symbols that its libraries import."""
        return self.kept(wheel, "imported", lambda: linked.imported(self.open(wheel)))

    @lru_cache(maxsize=None)
    def exported(self, wheel):
        """The symbols that the small libraries of a torch export."""
        return self.kept(wheel, "exported", lambda: linked.exported(self.open(wheel)))

    def asked_glibc(self, wheel):
        """The newest glibc that its libraries ask for, where its tags promise an older one."""
        return self.kept(wheel, "glibc", lambda: asked_glibc(self.open(wheel), wheel.package))

    def flags(self, wheel):
        """(architecture flags, the newest glibc that it asks for) of torch's library for Python."""

        def read():
            with self.open(wheel).spool("torch/lib/libtorch_python.so") as file:
                data = binary.mapped(file)
                said = binary.arch_flags(data) or [], binary.glibc(data)
                data.close()
            return said

        return self.kept(wheel, "flags and glibc", read)


@contextmanager
def reading(unread, package):
    """One package: where the index does not say what it is asked, that is noted, and the others are read."""
    try:
        yield
    except NotRead as error:
        unread.setdefault(package, str(error))


def is_of(package, page, links):
    """Whether a page is about a package: it says so, or names a file of it."""
    name = canonicalize_name(package)
    if page.content_type.lower().startswith(JSON):
        said = json.loads(page.content).get("name")
        return said is not None and canonicalize_name(said) == name
    heads = re.findall(r"<(?:title|h1)[^>]*>([^<]*)<", page.content.decode(page.encoding or "utf-8", "replace"))
    words = {canonicalize_name(word) for head in heads for word in head.split()}
    return name in words or any(canonicalize_name(link["name"]).startswith(f"{name}-") for link in links)


def told(link):
    """What a link of an index says of its file."""
    hashes = link.as_hashes()._allowed if hasattr(link, "as_hashes") else {}
    return {
        "name": link.filename,
        "url": link.url_without_fragment,
        "sha256": (hashes.get("sha256") or [None])[0],
        "requires_python": link.requires_python,
        "yanked": link.is_yanked,
    }


class Tailed(LazyZipOverHTTP):
    """pip's remote archive, opened with one request for its end: there lie the list of its members and a wheel's metadata."""

    def __init__(self, url, session, chunk_size=1 << 16):
        asked = HEADERS | {"Range": f"bytes=-{chunk_size}", "Cache-Control": "no-cache"}
        with session.get(url, headers=asked, stream=True) as answer:
            place = re.fullmatch(r"bytes (\d+)-(\d+)/(\d+)", answer.headers.get("content-range", ""))
            data = answer.content if answer.status_code == 206 and place else None
        if data is None:
            # The server knows no ends, or says why not.
            super().__init__(url, session, chunk_size)
            return
        begin, end, self._length = map(int, place.groups())
        self._session, self._url, self._chunk_size = session, url, chunk_size
        self._file = tempfile.NamedTemporaryFile(prefix="measure-")
        self.truncate(self._length)
        self.seek(begin)
        self._file.write(data)
        self._left, self._right = ([begin], [end]) if len(data) == end - begin + 1 else ([], [])
        self._check_zip()

    def read(self, size=-1):
        """As much as is asked for: whole members are fetched before they are read."""
        start = self.tell()
        stop = self._length if size < 0 else min(start + size, self._length)
        if start < stop:
            self._download(start, stop - 1)
        return self._file.read(size)


class Archive:
    """A remote wheel."""

    def __init__(self, wheel, session):
        self.wheel = wheel
        try:
            self._file = Tailed(wheel.url, session)
        except Exception as error:  # pip raises a type of its own where the server knows no ranges
            raise OSError(f"{wheel.name}: {redact_auth_from_url(str(error))}") from None
        self._zip = zipfile.ZipFile(self._file)

    @cached_property
    def names(self):
        return self._zip.namelist()

    def size(self, name):
        return self._zip.getinfo(name).file_size

    def read(self, name):
        """A small member."""
        self._fetch(name)
        return self._zip.read(name)

    def head(self, name, size=8 << 20):
        """The beginning of a large member: as much as that many bytes of the archive hold."""
        self._fetch(name, size)
        with self._zip.open(name) as member:
            # What is unpacked is never less than what is packed.
            return member.read(size - 8192)

    def spool(self, name):
        """A large member as a temporary file that is gone when it is closed."""
        self._fetch(name)
        out = tempfile.NamedTemporaryFile(prefix="measure-")
        with self._zip.open(name) as member:
            while block := member.read(1 << 20):
                out.write(block)
        out.flush()
        return out

    def _fetch(self, name, size=None):
        """One request for the whole member, or its beginning: zipfile reads in small steps, each of which would be one."""
        info = self._zip.getinfo(name)
        start = info.header_offset
        # The local header repeats the name and may carry an extra field of its own length.
        packed = info.compress_size if size is None else min(info.compress_size, size)
        end = min(start + 30 + len(info.filename) + 1024 + packed, self._file._length - 1)
        self._file._download(start, end)


def requirements(metadata, extra=None, package=None):
    """The requirements of a wheel as (name, specifier, marker); with an extra, and those that it names of its own package,
    as if what they bring had no such condition."""
    lines, of_extras = metadata.get_all("Requires-Dist") or [], {extra}
    if extra is None:
        return parsed(lines)
    condition = re.compile(r"""\s*(?:;|and)\s*extra == ["']([\w.-]+)["']\s*$""")
    while True:
        brought = [condition.sub("", line) for line in lines if (of := condition.search(line)) and canonicalize_name(of[1]) in of_extras]
        own = [re.match(r"[\w.-]+\[([\w.,-]+)\]", line) for line in brought if canonicalize_name(re.match(r"[\w.-]+", line)[0]) == package]
        # `Requires-Dist` may spell an extra otherwise than its condition does: `sglang[runtime_common]`, `runtime-common`.
        named = {canonicalize_name(one) for found in own if found for one in found[1].split(",")}
        if named <= of_extras:
            return parsed([*(line for line in lines if "extra ==" not in line), *brought])
        of_extras |= named


def extra_of(package, metadata):
    """The extra that brings what a wheel is for, where its metadata names no framework outside of that."""
    plain = {name for name, _, marker in requirements(metadata) if "extra" not in str(marker)}
    return EXTRAS.get(package) if "torch" not in plain else None


def asked_by(metadata, package):
    """The requirements of a wheel as it is installed for its framework."""
    return requirements(metadata, extra_of(package, metadata), package)


def parsed(lines):
    """Requirements as (name, specifier, marker)."""
    return [found for line in lines if (found := requirement(line))]


@lru_cache(maxsize=None)
def requirement(line):
    """One of them; none where it cannot be read. Releases of a package repeat most of their lines."""
    try:
        found = Requirement(line)
    except InvalidRequirement:
        return None
    return canonicalize_name(found.name), found.specifier, found.marker


def applies(marker, arch, extra="", python="3.11"):
    """Whether a requirement counts on Linux on this CPU architecture and Python."""
    if marker is None:
        return True
    environment = {"platform_system": "Linux", "sys_platform": "linux", "platform_machine": arch, "os_name": "posix"}
    return marker.evaluate(
        environment | {"extra": extra, "python_version": python, "python_full_version": f"{python}.0"}
    )


def pinned(specifier):
    """The version of an exact or compatible-release pin; of a range the lower end; else nothing."""
    for operator in ("==", "~=", ">="):
        for one in specifier:
            if one.operator == operator:
                return one.version.removesuffix(".*")
    return None
