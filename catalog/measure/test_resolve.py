"""Tests of the check by uv that need neither uv nor an index: what stands in METADATA, and what counts as a difference.

    python3 catalog/measure/test_resolve.py [--index]    with --index also what lock files hold against the package index
"""

import random
import sys
import tempfile
import zipfile
from pathlib import Path

from catalog import Catalog
from remote import Requirement, Version, canonicalize_name
from resolve import Resolve, plainly, resolved
from specs import Specs
from standins import OF_CUDA, StandIns, Unpublished, line_of, write

PAGE = "https://download.pytorch.org/whl/cu128"
DEFAULT = [
    "filelock",
    'triton==3.1.0; platform_machine == "x86_64" and python_version < "3.13"',
    'nvidia-cuda-runtime-cu12==12.4.127; platform_machine == "x86_64"',
    'nvidia-cudnn-cu12==9.1.0.70; platform_machine == "x86_64"',
    "opt-einsum>=3.3; extra == 'opt-einsum'",
]


def asked(standins, version, python="3.12", arch="x86_64"):
    return standins.of_variant(Version(version), python, arch, DEFAULT)


def test_the_default_asks_for_what_the_wheel_of_the_index_asks(standins):
    assert asked(standins, "2.5.1+cu124") == DEFAULT


def test_a_cpu_build_asks_for_no_cuda(standins):
    assert [Requirement(line).name for line in asked(standins, "2.5.1+cpu")] == ["filelock", "opt-einsum"]


def test_another_variant_asks_for_what_lock_files_hold(standins):
    lines = asked(standins, "2.5.1+cu121")
    assert "filelock" in lines and "nvidia-cuda-runtime-cu12==12.1.105" in lines and "triton==3.1.0" in lines, lines
    assert not any("12.4.127" in line for line in lines)
    # Of triton the default tells for which Pythons.
    assert not any(line.startswith("triton") for line in asked(standins, "2.5.1+cu121", python="3.13"))


def test_nothing_is_made_of_what_nobody_published(standins):
    for version, arch in (("2.5.1+cu118", "x86_64"), ("2.7.0+cu118", "x86_64"), ("2.5.1+cu121", "aarch64")):
        try:
            made = asked(standins, version, arch=arch)
        except Unpublished:
            continue
        raise AssertionError(f"{version} {arch}: {made}")


def test_a_wheel_holds_metadata():
    with tempfile.TemporaryDirectory() as folder:
        write(folder, "flash-attn", Version("2.8.3"), "py3-none-any", ["torch", "x; extra == 'a'"], ">=3.9")
        with zipfile.ZipFile(Path(folder) / "flash_attn-2.8.3-py3-none-any.whl") as wheel:
            text = wheel.read("flash_attn-2.8.3.dist-info/METADATA").decode()
    assert "Requires-Dist: torch\n" in text and "Provides-Extra: a\n" in text and "Requires-Python: >=3.9\n" in text, text


def test_what_uv_takes_is_held_against_the_lock():
    check = Resolve.__new__(Resolve)
    check.runtime = {"12.8.1": "12.8.90"}.get
    stack = {"cuda": "12.8.1", "cudnn": "9.10.2.21", "nccl": "2.27.3", "python": "3.12"}
    stack |= {"torch": "2.8.0+cu128", "triton": "3.4.0"}
    wheels = [{"package": "torch", "version": "2.8.0+cu128"}]
    text = "torch==2.8.0+cu128\ntriton==3.4.0\nnvidia-cudnn-cu12==9.10.2.21\nnvidia-cuda-runtime-cu12==12.8.90\n"
    told = dict(resolved(text))
    assert not list(check.compared(stack, wheels, told))
    for name, other in (("triton", "3.5.0"), ("nvidia-cudnn-cu12", "9.1.0.70"), ("nvidia-cuda-runtime-cu12", "12.8.57")):
        assert len(list(check.compared(stack, wheels, told | {name: other}))) == 1, name
    assert len(list(check.compared(stack, wheels, told | {"torch": "2.8.0+cu126"}))) == 1
    # Beside a torch that holds its libraries itself, another framework's are none of the lock's.
    assert not list(check.compared(stack, wheels, told | {"nvidia-cudnn-cu12": "9.1.0.70"}, is_whole=True))
    del told["triton"]
    assert len(list(check.compared(stack, wheels, told))) == 1


def test_what_is_held_without_a_file_is_not_checked(standins):
    check = Resolve.__new__(Resolve)
    check.standins = standins
    text = f"--find-links {PAGE}/unseen/\nunseen==1.0+cu128\n"
    try:
        check.stand_in(Path("nowhere"), [], text, "3.12", "x86_64")
    except Unpublished as reason:
        assert "no file of unseen 1.0+cu128 was seen" in str(reason), reason
    else:
        raise AssertionError(text)


def test_a_lock_as_requirements():
    wheels = [
        {"package": "jax", "version": "0.6.0", "extra": "cuda12", "targets": ["a"]},
        {"package": "torchvision", "version": "0.23.0+cu128", "index": PAGE, "targets": ["a"]},
        {"package": "torch", "version": "2.8.0", "targets": ["b"]},
    ]
    lines = list(plainly({"stack": {"jax": "0.6.0+cu12"}, "wheels": wheels}, "a"))
    assert lines == ["jax[cuda12]==0.6.0", f"--find-links {PAGE}/torchvision/"], lines


def test_a_seed_draws_the_same_specs(catalog):
    drawn = [[specs.draw() for _ in range(50)] for specs in (Specs(catalog, random.Random(7)) for _ in "ab")]
    assert drawn[0] == drawn[1] and len(set(drawn[0])) > 40


def test_lock_files_hold_the_pins_of_defaults(standins):
    """Of a variant that is the default, lock files hold what the wheel of the package index asks for."""
    same = 0
    for (version, variant), rows in standins.pins.items():
        lines = standins.default("torch", version, "x86_64").get_all("Requires-Dist")
        libraries = {canonicalize_name(one.name): one for one in map(Requirement, lines) if OF_CUDA.match(one.name)}
        if line_of(libraries.values()) == variant and Version(version) >= Version("2.2"):
            for package, pin, *_ in rows:
                assert libraries[package].specifier.contains(pin), (version, variant, package, pin)
                same += 1
    assert same > 200, same


def main():
    catalog = Catalog()
    standins = StandIns(catalog, None)
    test_the_default_asks_for_what_the_wheel_of_the_index_asks(standins)
    test_a_cpu_build_asks_for_no_cuda(standins)
    test_another_variant_asks_for_what_lock_files_hold(standins)
    test_nothing_is_made_of_what_nobody_published(standins)
    test_a_wheel_holds_metadata()
    test_what_uv_takes_is_held_against_the_lock()
    test_what_is_held_without_a_file_is_not_checked(standins)
    test_a_lock_as_requirements()
    test_a_seed_draws_the_same_specs(catalog)
    if "--index" in sys.argv:
        from remote import Index
        from store import USUAL, Store

        test_lock_files_hold_the_pins_of_defaults(StandIns(catalog, Index(Store(USUAL))))


if __name__ == "__main__":
    main()
