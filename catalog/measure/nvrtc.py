"""What a release of NVRTC really compiles. Runs in a process of its own: it loads a foreign library."""

import ctypes
import json
import re
import sys

SOURCE = b'extern "C" __global__ void k(float *x) { x[threadIdx.x] *= 2.f; }'


def main(library, candidates):
    """Prints {"version", "listed", "sass", "ptx", "ptx_isa"} as JSON."""
    nvrtc = ctypes.CDLL(library)
    major, minor = ctypes.c_int(), ctypes.c_int()
    nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    has_cubin = hasattr(nvrtc, "nvrtcGetCUBINSize")
    said = {
        "version": f"{major.value}.{minor.value}",
        "listed": listed(nvrtc),
        "sass": [one for one in candidates if has_cubin and compiles(nvrtc, f"sm_{one}", nvrtc.nvrtcGetCUBINSize)],
        "ptx": [one for one in candidates if compiles(nvrtc, f"compute_{one}", nvrtc.nvrtcGetPTXSize)],
    }
    said["ptx_isa"] = ptx_isa(nvrtc, said["ptx"][-1]) if said["ptx"] else None
    print(json.dumps(said))


def listed(nvrtc):
    if not hasattr(nvrtc, "nvrtcGetNumSupportedArchs"):
        return None
    count = ctypes.c_int()
    nvrtc.nvrtcGetNumSupportedArchs(ctypes.byref(count))
    archs = (ctypes.c_int * count.value)()
    nvrtc.nvrtcGetSupportedArchs(archs)
    return list(archs)


def compiled(nvrtc, target):
    """(a program, whether it compiled for the target)"""
    program = ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), SOURCE, b"k.cu", 0, None, None)
    options = (ctypes.c_char_p * 1)(f"--gpu-architecture={target}".encode())
    return program, nvrtc.nvrtcCompileProgram(program, 1, options) == 0


def compiles(nvrtc, target, size_of):
    program, done = compiled(nvrtc, target)
    size = ctypes.c_size_t()
    done = done and size_of(program, ctypes.byref(size)) == 0 and size.value > 0
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return bool(done)


def ptx_isa(nvrtc, arch):
    """`8.4`: the version that stands in the PTX it writes."""
    program, _ = compiled(nvrtc, f"compute_{arch}")
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetPTX(program, text)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return re.search(rb"\.version (\d+\.\d+)", text.value)[1].decode()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
