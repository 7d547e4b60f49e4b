"""The lines of torch that a wheel's libraries can be loaded beside: those that export the C++ symbols they import.

Only what libc10 and libc10_cuda export is compared: they are small. What is missing there proves that a library does not
load; that nothing is missing there does not prove that it does.
"""

import re

import binary

SOURCE = "torch-symbols"
# The libraries of torch, and the symbols of its namespaces: a library repeats some of the C++ library's as its own.
OF_TORCH = r"^torch/lib/libc10(_cuda)?\.so$"
NAMED = re.compile(r"_Z(T[IVS])?N?K?(3c10|2at|5torch|6caffe2)")
# The first line that is read.
FIRST = (1, 12)


def imported(archive):
    """The symbols of torch that the libraries of a wheel import."""
    return sorted(set().union(*(binary.symbols(data)[0] for data in libraries(archive, r"\.so$"))))


def exported(archive):
    """The symbols that torch's small libraries export."""
    return sorted(set().union(*(binary.symbols(data)[1] for data in libraries(archive, OF_TORCH))))


def libraries(archive, pattern):
    for member in archive.names:
        if re.search(pattern, member) and archive.size(member):
            yield archive.read(member)


def lines(index, wheel):
    """The lines of torch that export all those symbols that any of them does, `2.8`, oldest first; none where a wheel imports
    no symbol of torch."""
    newest = {}
    for version in index.releases("torch"):
        if version.release[:2] >= FIRST:
            newest[version.release[:2]] = version
    exports = {line: set(index.exported(index.linux("torch", one, "x86_64")[0])) for line, one in newest.items()}
    known = set().union(*exports.values())
    asked = {name for name in index.imported(wheel) if name in known and NAMED.match(name)}
    # What imports none of them says nothing of torch.
    return [f"{line[0]}.{line[1]}" for line in sorted(exports) if asked and asked <= exports[line]]
