# What torch says of itself once imported, and whether it computes: told step by step, the last line counts.
import json
import sys
import warnings

answer = {"messages": []}


def tell():
    sys.stdout.write("\ngpuenv=" + json.dumps(answer) + "\n")
    sys.stdout.flush()


def keep(message, *rest, **more):
    text = str(message)
    if text not in answer["messages"] and len(answer["messages"]) < 20:
        answer["messages"].append(text[:2000])


def attempt(name, function):
    try:
        value = function()
    except BaseException as error:
        keep("%s: %s: %s" % (name, type(error).__name__, error))
        return
    if value is not None:
        answer[name] = value


def arch_list():
    # torch.cuda.get_arch_list() is empty where there is no GPU to run on.
    flags = getattr(torch._C, "_cuda_getArchFlags", lambda: None)()
    return flags.split() if flags else [str(arch) for arch in torch.cuda.get_arch_list()]


def nccl():
    version = torch.cuda.nccl.version()
    return ".".join(str(part) for part in version[:3]) if isinstance(version, tuple) else str(version)


def cudnn():
    version = torch.backends.cudnn.version()
    return None if version is None else int(version)


def computed():
    # Small whole numbers come out exactly in every format that a GPU may round to.
    count = torch.cuda.device_count()
    if count == 0:
        return None
    left = (torch.arange(64 * 64) % 7).reshape(64, 64)
    right = (torch.arange(64 * 64) % 5).reshape(64, 64)
    image = (torch.arange(4 * 16 * 16) % 5).reshape(1, 4, 16, 16)
    weight = (torch.arange(4 * 4 * 3 * 3) % 3).reshape(4, 4, 3, 3)
    product = left @ right
    convolved = torch.nn.functional.conv2d(image.double(), weight.double())
    right_everywhere = True
    for index in range(count):
        device = "cuda:%d" % index
        got = left.float().to(device) @ right.float().to(device)
        right_everywhere = right_everywhere and torch.equal(got.cpu().long(), product)
        got = torch.nn.functional.conv2d(image.float().to(device), weight.float().to(device))
        right_everywhere = right_everywhere and torch.equal(got.cpu().double().round(), convolved)
    return bool(right_everywhere)


def copied():
    # A copy between each two GPUs, in both directions.
    count = torch.cuda.device_count()
    if count < 2:
        return None
    numbers = torch.arange(4096)
    right = True
    for source in range(count):
        there = numbers.float().to("cuda:%d" % source)
        for target in range(count):
            if source == target:
                continue
            try:
                same = torch.equal(there.to("cuda:%d" % target).cpu().long(), numbers)
            except BaseException as error:
                keep("copy from GPU %d to GPU %d: %s: %s" % (source, target, type(error).__name__, error))
                right = False
                continue
            if not same:
                keep("a copy from GPU %d to GPU %d arrives changed" % (source, target))
                right = False
    return right


def reduced():
    # NCCL adds up what all GPUs hold.
    count = torch.cuda.device_count()
    if count < 2 or not answer.get("nccl"):
        return None
    parts = [torch.full((4096,), index + 1).float().to("cuda:%d" % index) for index in range(count)]
    try:
        torch.cuda.nccl.all_reduce(parts)
        wanted = torch.full((4096,), count * (count + 1) // 2).long()
        wrong = [index for index, part in enumerate(parts) if not torch.equal(part.cpu().long(), wanted)]
    except BaseException as error:
        keep("all-reduce over %d GPUs: %s: %s" % (count, type(error).__name__, error))
        return False
    if wrong:
        keep("the all-reduce over %d GPUs is wrong on GPU %s" % (count, wrong))
    return not wrong


def mapped():
    wanted = ("libcudart", "libnvrtc", "libnvJitLink", "libcublas", "libcudnn", "libnccl", "libcuda.so")
    found = set()
    with open("/proc/self/maps") as maps:
        for line in maps:
            path = line[line.find("/") :].rstrip("\n") if "/" in line else ""
            if path.rsplit("/", 1)[-1].startswith(wanted):
                found.add(path)
    return sorted(found)


# What is named to this script are the folders of PYTHONPATH.
sys.path = sys.argv[1:] + [folder for folder in sys.path if folder]
warnings.simplefilter("always")
warnings.showwarning = keep
try:
    import torch
except BaseException as error:
    keep("import torch: %s: %s" % (type(error).__name__, error))
else:
    attempt("version", lambda: str(torch.__version__))
    attempt("cuda", lambda: torch.version.cuda)
    tell()
    attempt("available", lambda: bool(torch.cuda.is_available()))
    attempt("arch_list", arch_list)
    if answer.get("cuda"):
        attempt("cudnn", cudnn)
        attempt("nccl", nccl)
    tell()
    if answer.get("available"):
        attempt("computed", computed)
        tell()
        attempt("copied", copied)
        tell()
        attempt("reduced", reduced)
    attempt("mapped", mapped)
tell()
