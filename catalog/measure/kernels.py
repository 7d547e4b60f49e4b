"""The GPU code inside wheels: which of their libraries hold it, and for which architectures."""

import re
from collections import Counter

import binary
from catalog import numbers

# The libraries that hold a package's own kernels; what else lies in its wheels is another's, or for one GPU only.
KERNELS = {
    "jax": r"^jax_cuda\d+_plugin/_(linalg|prng)[\w.-]*\.so$",
    "torchaudio": r"^torchaudio/(lib/)?lib\w+(\.abi3)?\.so$",
    "torchvision": r"^torchvision/_C(_stable)?\.so$",
    "ctranslate2": r"^ctranslate2(\.libs)?/libctranslate2[\w.-]*\.so[\d.]*$",
    "deepspeed-kernels": r"^dskernels/lib\w+\.so$",
    "faiss-gpu": r"(^|/)(libfaiss[\w.-]*|_swigfaiss[\w.-]*)\.so$",
    "faiss-gpu-cu11": r"(^|/)(libfaiss[\w.-]*|_swigfaiss[\w.-]*)\.so$",
    "faiss-gpu-cu12": r"(^|/)(libfaiss[\w.-]*|_swigfaiss[\w.-]*)\.so$",
    "fbgemm-gpu": r"^fbgemm_gpu/fbgemm_gpu_py\.so$",
    "nvidia-dali-cuda110": r"^nvidia/dali/libdali_kernels\.so$",
    "nvidia-dali-cuda120": r"^nvidia/dali/libdali_kernels\.so$",
    "nvidia-dali-cuda130": r"^nvidia/dali/libdali_kernels\.so$",
    "onnxruntime-gpu": r"^onnxruntime/capi/libonnxruntime_providers_cuda\.so$",
    "open3d": r"^open3d/(cuda/pybind[\w.-]*|libOpen3D)\.so[\d.]*$",
    "paddlepaddle-gpu": r"^paddle/(libs/libphi|fluid/(libpaddle|core_avx))\.so$",
    "sgl-kernel": r"^sgl_kernel/(sm100/)?common_ops[\w.-]*\.so$",
    "sglang-kernel": r"^sgl_kernel/(sm100/)?common_ops[\w.-]*\.so$",
    "torchao": r"^torchao/_C[\w.-]*\.so$",
    "torchcodec": r"^torchcodec/libtorchcodec_core8\.so$",
    "transformer-engine-cu12": r"^transformer_engine/(wheel_lib/)?libtransformer_engine\.so$",
    "transformer-engine-cu13": r"^transformer_engine/(wheel_lib/)?libtransformer_engine\.so$",
    "xgboost": r"^xgboost/(lib/)?libxgboost\.so$",
    "auto-gptq": r"^(autogptq|exllama)\w*\.cpython[\w.-]*\.so$",
    "lmcache": r"^lmcache/(c|cuda)_ops[\w.-]*\.so$",
    "lmdeploy": r"^lmdeploy/(lib|turbomind)/_turbomind[\w.-]*\.so$",
    # load_utils.py loads that of the folder sm90 for 9.0, that of sm100 for every other GPU; before there were folders, the one.
    "sglang": r"^sgl_kernel/(sm(90|100)/)?common_ops[\w.-]*\.so$",
    "vllm": r"^vllm/(_C|attention_ops)[^/]*\.so$",
    "xformers": r"^xformers/_C[^/]*\.so$",
    # One for each CUDA line; of two for a line, the one for GPUs before Turing is the greater.
    "bitsandbytes": r"^bitsandbytes/libbitsandbytes_cuda\d+(_nocublaslt\d*)?\.so$",
    # What every network needs; the engines beside it hold no less, and are many times its size.
    "cudnn": r"/libcudnn_ops(_infer)?\.so\.\d+$",
    "nccl": r"/libnccl\.so\.\d+$",
}
# Packages that link others' libraries into the one with their kernels, NCCL, cuBLAS or cuFFT, whose files may outnumber their own:
# the namespace that stands in the names of their own kernels. Files without it are another's, or hold templates of another.
OWN = {
    "faiss-gpu": rb"5faiss",
    "faiss-gpu-cu11": rb"5faiss",
    "faiss-gpu-cu12": rb"5faiss",
    "nvidia-dali-cuda110": rb"4dali",
    "nvidia-dali-cuda120": rb"4dali",
    "nvidia-dali-cuda130": rb"4dali",
    "open3d": rb"6open3d",
    "paddlepaddle-gpu": rb"N(3phi|6paddle)",
    "xgboost": rb"7xgboost",
}
# Names of the kernels of those libraries, which stand unpacked beside their code as well.
LINKED_IN = rb"nccl\w*Kernel|cublasGemm|cutlass_\d\d_|regular_fft"
# A wheel that loads the runtime of another CUDA than its release's for the other processor does (libcudart.so.13): it runs
# where that one does not, so it is passed over.
STRAY = ("transformer_engine_cu12-2.6.0.post1-py3-none-manylinux_2_28_aarch64.whl",)
# Packages without kernels of their own, and their library that loads the CUDA runtime.
LOADS = {
    "torch-tensorrt": r"^torch_tensorrt/lib/libtorchtrt\.so$",
}
# Packages that open CUDA's libraries by name when they run.
OPENS = ("ctranslate2",)
# Packages with a library for each CUDA line, of which the one that fits is loaded: they reach what any of them does.
A_LIBRARY_EACH = ("bitsandbytes",)
# Packages with several libraries that are all used on the GPUs they are for: they run where each of these does.
ALL_LOADED = ("xformers",)
# Packages whose kernels lie in another, which they pin: its name, newest first.
PINNED_KERNELS = {"sglang": ("sglang-kernel", "sgl-kernel")}
# Packages of which code for one GPU alone (9.0a) is told from code for what follows it as well.
EXACT = ("fbgemm-gpu", "lmdeploy", "onnxruntime-gpu", "xformers", "sglang", "sglang-kernel", "sgl-kernel")


# The libraries that a package loads on Linux beside CUDA, where its tags promise an older glibc than these ask for.
TAGGED_TOO_LOW = {
    "deepspeed-kernels": r"^dskernels/lib\w+\.so$",
    # Without _moe_C, which it does without where that does not load: a rule about a part of it.
    "vllm": r"^vllm/(?!_moe_C).*\.so$",
    "bitsandbytes": r"^bitsandbytes/libbitsandbytes_cuda[\w.]*\.so$",
    "paddlepaddle-gpu": r"^paddle/(libs|fluid)/[\w.-]*\.so[\d.]*$",
}


def asked_glibc(archive, package):
    """The newest glibc that those libraries ask for; their symbols stand at the beginning. Of several of which one is loaded,
    what none of them does without: what one alone asks for is a rule."""
    members = [name for name in archive.names if re.search(TAGGED_TOO_LOW[package], name) and archive.size(name)]
    asked = [binary.newest_glibc(archive.head(name)) for name in members]
    least = min if package in A_LIBRARY_EACH else max
    return least(filter(None, asked), key=numbers, default=None)


def code_of(archive, package):
    """(SASS, PTX, CUDA) of the libraries of a wheel that hold a package's kernels; nothing where there are none."""
    counts, cuda = [], None
    for data in libraries(archive, package):
        counts.append(binary.fatbins(data, package in EXACT, own_name(data, package)))
        cuda = cuda or binary.runtime(data) or (binary.built_with(data) if package == "nccl" else None)
        cuda = cuda or (binary.opened(data) if package in OPENS else None)
    if package in ALL_LOADED:
        return *together([main_code(one) for one in counts]), cuda
    if package not in A_LIBRARY_EACH:
        return *main_code(sum(counts, Counter())), cuda
    each = [main_code(one) for one in counts]
    union = lambda kind: sorted({arch for code in each for arch in code[kind] or []}, key=numbers)
    return union(0), union(1), None


def together(codes):
    """What all of several libraries run on that are loaded together: the widest, less what a GPU newer than all in another
    would find in it alone. On older GPUs than any that another is for that one is not used, and what is for one GPU is left aside."""
    codes = [code for code in codes if code[0] and len(code[0]) > 1] or [code for code in codes if code[0]]
    if not codes:
        return None, None
    sass, ptx = max(codes, key=lambda code: (len(code[0]), len(code[1])))
    for others, others_ptx in codes:
        reached = lambda arch: any(one.split(".")[0] == arch.split(".")[0] and numbers(one) <= numbers(arch) for one in others)
        compiled = lambda arch: any(numbers(one) <= numbers(arch) for one in others_ptx)
        sass = [arch for arch in sass if numbers(arch) < min(map(numbers, others)) or reached(arch) or compiled(arch)]
        ptx = ptx if others_ptx else []
    return sass, ptx


def ptx_version(archive, package):
    """The newest version of PTX that a package's own kernels are written in: no older driver compiles all of them. Nothing
    where there is no PTX, or where each CUDA line has its own."""
    if package in A_LIBRARY_EACH or package in ALL_LOADED and not code_of(archive, package)[1]:
        return None
    found = set()
    for data in libraries(archive, package):
        found |= binary.ptx_versions(data, own_name(data, package))
    return max(found, key=numbers, default=None)


def libraries(archive, package):
    """The libraries of a wheel that hold a package's kernels, one after the other: they are large."""
    for member in archive.names:
        if re.search(KERNELS.get(package) or LOADS[package], member) and archive.size(member):
            with archive.spool(member) as file:
                data = binary.mapped(file)
                yield data
                data.close()


def own_name(data, package):
    """By which name a package's own kernels are told from those of others in a library. By none where nothing is linked in,
    and where zstd packed all names and nothing tells of others."""
    name = OWN.get(package)
    if name and (any(binary.source_files(data, name)) or re.search(LINKED_IN, data)):
        return name
    return None


def main_code(counts):
    """The architectures that most source files were compiled for.

    A file for a single one is left aside where others are for several: it holds what no other GPU can.
    """
    several = {code: count for code, count in counts.items() if len(code[0]) > 1} or counts
    if not several:
        return None, None
    sass, ptx = max(several, key=several.get)
    return [binary.capability(*one) for one in sass], [binary.capability(*one) for one in ptx]
