"""What a release of NVRTC really compiles. Runs in a process of its own: it loads a foreign library."""

import ctypes
import json
import re
import sys
import tempfile
from pathlib import Path

SOURCE = b'extern "C" __global__ void k(float *x) { x[threadIdx.x] *= 2.f; }'


def main(library, candidates):
    """Prints {"listed", "sass", "ptx", "ptx_isa"} as JSON."""
    loaded = ctypes.CDLL(library)
    nvrtc = Warp(loaded) if hasattr(loaded, "cuda_compile_program") else Nvrtc(loaded)
    said = {"listed": nvrtc.listed()}
    for kind in ("sass", "ptx"):
        said[kind] = [one for one in candidates if nvrtc.compiled(one, kind)]
    last = nvrtc.compiled(said["ptx"][-1], "ptx") if said["ptx"] else b""
    isa = re.search(rb"\.version (\d+\.\d+)", last)
    print(json.dumps(said | {"ptx_isa": isa and isa[1].decode()}))


class Nvrtc:
    """The library by itself."""

    def __init__(self, library):
        self.library = library

    def listed(self):
        if not hasattr(self.library, "nvrtcGetNumSupportedArchs"):
            return None
        count = ctypes.c_int()
        self.library.nvrtcGetNumSupportedArchs(ctypes.byref(count))
        archs = (ctypes.c_int * count.value)()
        self.library.nvrtcGetSupportedArchs(archs)
        return list(archs)

    def compiled(self, target, kind):
        """What a program compiles to; nothing where it does not. Old releases make no machine code."""
        prefix, form = ("sm_", "CUBIN") if kind == "sass" else ("compute_", "PTX")
        if not hasattr(self.library, f"nvrtcGet{form}"):
            return b""
        program = ctypes.c_void_p()
        self.library.nvrtcCreateProgram(ctypes.byref(program), SOURCE, b"k.cu", 0, None, None)
        options = (ctypes.c_char_p * 1)(f"--gpu-architecture={prefix}{target}".encode())
        code = b""
        if self.library.nvrtcCompileProgram(program, 1, options) == 0:
            size = ctypes.c_size_t()
            getattr(self.library, f"nvrtcGet{form}Size")(program, ctypes.byref(size))
            buffer = ctypes.create_string_buffer(size.value)
            getattr(self.library, f"nvrtcGet{form}")(program, buffer)
            code = buffer.raw
        self.library.nvrtcDestroyProgram(ctypes.byref(program))
        return code


class Warp:
    """NVRTC as Warp 0.6 has it built in: it passes programs on and writes what becomes of them into a file."""

    def __init__(self, library):
        self.library = library

    def listed(self):
        archs = (ctypes.c_int * self.library.nvrtc_supported_arch_count())()
        self.library.nvrtc_supported_archs(archs)
        return list(archs)

    def compiled(self, target, kind):
        if not target.isdigit():
            return b""
        with tempfile.TemporaryDirectory(prefix="measure-") as folder:
            out = Path(folder, "k.cubin" if kind == "sass" else "k.ptx")
            # Source, target, headers, four switches, and the file, by whose ending it knows what to make.
            switches = [ctypes.c_bool(False)] * 4
            with_headers = [SOURCE, int(target), folder.encode()]
            self.library.cuda_compile_program(*with_headers, *switches, str(out).encode())
            return out.read_bytes() if out.exists() else b""


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
