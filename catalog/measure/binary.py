"""GPU code inside shared libraries: the containers that nvcc writes, and the symbol versions of the C library.

A fatbin is a header and entries; each entry says PTX or machine code, and for which architecture. The headers are
never compressed, so nothing has to be unpacked.
"""

import mmap
import re
import struct
from collections import Counter

FATBIN_MAGIC = struct.pack("<I", 0xBA55ED50)
PTX, SASS = 1, 2
# Flags of an entry: its code is for exactly that architecture (`sm_90a`), or for its family (`sm_100f`).
SPECIFIC, FAMILY = 1 << 20, 1 << 21
SHT_DYNAMIC, SHT_DYNSYM = 6, 11
WEAK = 2
# The greatest architecture number that can be meant: anything above is not a fatbin.
LAST_ARCH = 199


def capability(number, kind=""):
    """`90` → `9.0`, `120` → `12.0`"""
    return f"{number // 10}.{number % 10}{kind}"


def fatbins(data, exact=False, named=None):
    """What each source file of a library was compiled for: (SASS, PTX) as architectures → how often it occurs.

    `exact`: `(90, "a")`, code for just that GPU, is told from `(90, "")`.
    """
    found = Counter()
    for entries in source_files(data, named):
        told = [(kind, arch if exact else (arch[0], "")) for kind, arch, _ in entries]
        found[tuple(tuple(sorted({arch for kind, arch in told if kind == one})) for one in (SASS, PTX))] += 1
    return found


def ptx_versions(data, named=None):
    """The versions of the language that the PTX of a library is written in."""
    return {version for entries in source_files(data, named) for kind, _, version in entries if kind == PTX}


def source_files(data, named=None):
    """What nvcc made of each source file of a library, as entries. `named`: only files in whose code that name stands.
    LZ4 packs what occurs again, so a name can be read where it stands first; zstd leaves nothing to read."""
    at = data.find(FATBIN_MAGIC)
    while at >= 0:
        next_from = at + 4
        if at + 16 <= len(data):
            _, _, header, size = struct.unpack_from("<IHHQ", data, at)
            entries = _entries(data, at + header, size) if header == 16 else None
            if entries:
                next_from = at + header + size
                if not named or re.compile(named).search(data, at, next_from):
                    yield entries
        at = data.find(FATBIN_MAGIC, next_from)


def _entries(data, start, size):
    """The entries of one fatbin, as kind, architecture and version of PTX; nothing at all where they do not fill it exactly."""
    at, end, entries = start, start + size, []
    if end > len(data):
        return []
    while at + 64 <= end:
        kind, _, header, payload = struct.unpack_from("<HHIQ", data, at)
        minor, major, arch = struct.unpack_from("<HHI", data, at + 24)
        (flags,) = struct.unpack_from("<Q", data, at + 40)
        if kind not in (PTX, SASS) or not 64 <= header <= 4096 or not 10 <= arch <= LAST_ARCH:
            break
        entries.append((kind, (arch, "a" if flags & SPECIFIC else "f" if flags & FAMILY else ""), f"{major}.{minor}"))
        at += header + payload
    return entries


def mapped(file):
    """A temporary file as bytes that are read when they are looked at."""
    return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def names(data):
    """The string table of a shared library's dynamic section: the libraries it needs, its symbols and their versions."""
    sections = _sections(data)
    for _, kind, _, _, _, _, link in sections:
        if kind == SHT_DYNAMIC and link < len(sections):
            _, _, _, _, offset, length, _ = sections[link]
            return bytes(data[offset : offset + length])
    return b""


def _sections(data):
    """The sections of a shared library: name, type, flags, address, offset, size, link."""
    if data[:4] != b"\x7fELF" or data[4] != 2:
        return []
    (table,) = struct.unpack_from("<Q", data, 0x28)
    size, count = struct.unpack_from("<HH", data, 0x3A)
    ends = (at for at in range(table, table + size * count, size) if at + 64 <= len(data))
    return [struct.unpack_from("<IIQQQQI", data, at) for at in ends]


def symbols(data):
    """The dynamic symbols of a shared library by name: those it imports and cannot do without, those it exports."""
    sections, imported, exported = _sections(data), set(), set()
    for _, kind, _, _, offset, length, link in sections:
        if kind != SHT_DYNSYM or link >= len(sections):
            continue
        start, size = sections[link][4:6]
        strings = data[start : start + size]
        # The first is empty.
        for at in range(offset + 24, offset + length, 24):
            name, info, _, section = struct.unpack_from("<IBBH", data, at)
            if section:
                exported.add(strings[name : strings.index(b"\0", name)].decode())
            elif info >> 4 != WEAK:
                imported.add(strings[name : strings.index(b"\0", name)].decode())
    return imported, exported


def glibc(data):
    """The newest version of the C library that its symbols ask for."""
    return newest_glibc(names(data))


def newest_glibc(data):
    """The same of a string table, or of the beginning of a library, where that stands."""
    seen = {tuple(map(int, one.split(b"."))) for one in re.findall(rb"\0GLIBC_(\d+\.\d+)(?=[\0.])", data)}
    return ".".join(map(str, max(seen))) if seen else None


def runtime(data):
    """The CUDA runtime a library loads, `12` for libcudart.so.12; nothing where it is built in or not used."""
    found = re.search(rb"\0libcudart\.so\.(\d+(?:\.\d+)?)\0", names(data))
    return found and found[1].decode()


def built_with(data):
    """The CUDA that NCCL prints as the one it was compiled with."""
    found = re.search(rb"NCCL version [\d.]+\+cuda(\d+\.\d+)", data)
    return found and found[1].decode()


def opened(data):
    """The CUDA major of the cuBLAS that a library opens by name: `libcublas.so.12`."""
    found = re.search(rb"libcublas\.so\.(\d+)", data)
    return found and found[1].decode()


def arch_flags(data):
    """The list torch.cuda.get_arch_list() prints, as it is compiled into libtorch_python.so."""
    words = rb"(?:sm|compute)_\d{2,3}[af]?"
    # The compiler may put it behind another string without a zero between them: `ipc_h` `sm_70 sm_75 …`.
    lists = re.findall(rb"((?:" + words + rb" )*" + words + rb")(?=\0)", data)
    lists = [entry.decode().split() for entry in lists]
    return max(lists, key=len) if lists else None
