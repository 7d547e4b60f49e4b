"""Reads libraries made up of a few files for GPUs: python3 catalog/measure/test_kernels.py"""

import struct
import sys
import tempfile

import binary
from kernels import code_of, ptx_version, together


def source_file(sass, ptx, name, version=(7, 0)):
    """What nvcc makes of one: packed code, in which a name can be read where it stands first."""
    entries = b""
    for kind, archs in ((binary.SASS, sass), (binary.PTX, ptx)):
        for arch in archs:
            payload = (b"\xf0\x11\0.text." + name + b"\0").ljust(64, b"\0")
            head = struct.pack("<HHIQ", kind, 0x101, 64, len(payload)) + bytes(8) + struct.pack("<HHIIIQ", *version[::-1], arch, 0, 0, 0)
            entries += head.ljust(64, b"\0") + payload
    return binary.FATBIN_MAGIC + struct.pack("<HHQ", 1, 16, len(entries)) + entries


class Wheel:
    """An archive with a single library."""

    def __init__(self, member, *files, registers=b""):
        self.names, self.data = [member], b"\x7fELF" + bytes(60) + registers + b"".join(files)

    def size(self, name):
        return len(self.data)

    def spool(self, name):
        out = tempfile.NamedTemporaryFile(prefix="measure-")
        out.write(self.data)
        out.flush()
        return out


NCCL = source_file((35, 50, 60, 61, 70, 80), (80,), b"_Z33ncclAllGatherRingLLKernel_copy_i88ncclColl", (7, 8))
OWN = source_file((52, 60, 70, 75, 80), (80,), b"_ZN2dh13LaunchNKernelIN7xgboost11CompactPageEEEvmmT_")
UNREADABLE = source_file((70, 80), (), b"\x28\xb5\x2f\xfd")
TEMPLATE = source_file((90,), (), b"_ZN3cub11EmptyKernelIvEEvv")
XGBOOST, VLLM = "xgboost/lib/libxgboost.so", "vllm/_C.abi3.so"
CASES = [
    # The files of a library that is linked in are more than the package's own.
    ("xgboost", Wheel(XGBOOST, *[NCCL] * 9, *[OWN] * 2, TEMPLATE), (["5.2", "6.0", "7.0", "7.5", "8.0"], ["8.0"], None)),
    # No name can be read: all files are the package's own, if nothing tells of others; else nothing is told.
    ("xgboost", Wheel(XGBOOST, *[UNREADABLE] * 9), (["7.0", "8.0"], [], None)),
    ("xgboost", Wheel(XGBOOST, *[UNREADABLE] * 9, registers=b"\0ncclDevKernel_ReduceScatter_Sum_f32_RING_LL\0"), (None, None, None)),
    # Where nothing is linked in, all files are the package's own, whatever their names.
    ("vllm", Wheel(VLLM, *[NCCL] * 3, OWN), (["3.5", "5.0", "6.0", "6.1", "7.0", "8.0"], ["8.0"], None)),
    # Code that is PTX alone.
    ("faiss-gpu", Wheel("faiss/_swigfaiss.so", NCCL, NCCL, source_file((), (35, 52), b"_ZN5faiss3gpu4sumEv")), ([], ["3.5", "5.2"], None)),
]


# The newest version of PTX, of the package's own files alone.
VERSIONS = [
    ("xgboost", Wheel(XGBOOST, *[NCCL] * 9, *[OWN] * 2), "7.0"),
    ("vllm", Wheel(VLLM, OWN, NCCL), "7.8"),
    ("vllm", Wheel(VLLM, TEMPLATE), None),
    ("bitsandbytes", Wheel("bitsandbytes/libbitsandbytes_cuda118.so", OWN), None),
]


# What several libraries run on that are loaded together.
JOINED = [
    # On GPUs newer than all in one of them the others are of no use; on older ones that one is not used.
    ([(["5.0", "8.0", "8.6"], ["5.0"]), (["7.5", "8.0", "8.6"], [])], (["5.0", "8.0", "8.6"], [])),
    ([(["7.5", "8.0", "9.0"], []), (["7.5", "8.0"], [])], (["7.5", "8.0"], [])),
    ([(["5.0", "8.0", "9.0"], ["5.0", "8.0"]), (["8.0", "9.0"], ["8.0"])], (["5.0", "8.0", "9.0"], ["5.0", "8.0"])),
    # What is for one GPU alone is left aside.
    ([(["6.0", "8.0"], ["8.0"]), (["9.0a"], [])], (["6.0", "8.0"], ["8.0"])),
    ([], (None, None)),
]


def main():
    wrong = [f"{package}: PTX {ptx_version(wheel, package)}, not {says}" for package, wheel, says in VERSIONS if ptx_version(wheel, package) != says]
    wrong += [f"{package}: {code_of(wheel, package)}, not {says}" for package, wheel, says in CASES if code_of(wheel, package) != says]
    wrong += [f"{codes}: {together(codes)}, not {says}" for codes, says in JOINED if together(codes) != says]
    print("\n".join(wrong) or "as they should be")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
