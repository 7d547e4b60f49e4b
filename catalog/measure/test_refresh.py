"""Takes rows out of a copy of the catalog and has `refresh` bring them back from recorded answers of the index.

    python3 catalog/measure/test_refresh.py [SEED]     test
    python3 catalog/measure/test_refresh.py record     record the answers anew; needs the index

The rows are chosen anew for each seed, from those whose answers lie in tests/data/refresh.
"""

import random
import shutil
import sys
import tempfile
import tomllib
from pathlib import Path

from catalog import ROOT, Catalog
from refresh import Refresh
from remote import Index, Version
from store import USUAL, Store

RECORDED = ROOT / "tests" / "data" / "refresh"
# Rows whose answers are recorded: maintenance and post releases, both processors, an old release among newer ones, what
# comes as source, what torch pins, a toolkit.
ROWS = [
    ("build", {"package": "torch", "version": "2.14.1", "index": ["pypi"]}),
    ("build", {"package": "torch", "version": "2.15.0", "arch": "aarch64"}),
    ("libraries", {"package": "torch", "version": "2.14.1"}),
    ("companion", {"package": "triton", "version": "3.8.0"}),
    ("companion", {"package": "triton", "version": "3.2.0"}),
    ("companion", {"package": "vllm", "version": "0.27.1"}),
    ("companion", {"package": "vllm", "version": "0.10.1.1"}),
    ("companion", {"package": "vllm", "version": "0.5.0.post1"}),
    ("companion", {"package": "vllm", "version": "0.2.0"}),
    ("companion", {"package": "vllm", "version": "0.8.4"}),
    ("companion", {"package": "torchaudio", "version": "2.11.1"}),
    ("companion", {"package": "flashinfer-python", "version": "0.7.4"}),
    ("companion", {"package": "transformer-engine-jax", "version": "2.18.0"}),
    ("companion", {"package": "xformers", "version": "0.0.28.post3"}),
    ("companion", {"package": "xformers", "version": "0.0.23"}),
    ("companion", {"package": "xformers", "version": "0.0.27"}),
    ("companion", {"package": "xgboost", "version": "3.0.2"}),
    ("companion", {"package": "nvidia-dali-cuda130", "version": "1.51.2"}),
    ("companion", {"package": "deepspeed", "version": "0.19.4"}),
    ("companion", {"package": "bitsandbytes", "version": "0.45.1"}),
    ("companion", {"package": "bitsandbytes", "version": "0.49.0"}),
    ("companion", {"package": "flash-attn", "version": "2.8.3"}),
    ("companion", {"package": "flash-attn", "version": "2.5.9.post1"}),
    ("companion", {"package": "cupy-cuda12x", "version": "13.4.0"}),
    ("companion", {"package": "ctranslate2", "version": "4.5.0"}),
    ("libraries", {"package": "nvidia-cusolver-cu12", "version": "11.7.3.90"}),
    ("cudnn", {"version": "9.10.2.21", "cuda": "12"}),
    ("cudnn", {"version": "9.5.1.17", "cuda": "12"}),
    ("nccl", {"version": "2.21.5", "cuda": "12"}),
    ("nccl", {"version": "2.27.3", "cuda": "12"}),
    ("toolkit", {"version": "13.0.1"}),
    ("toolkit", {"version": "12.6.2"}),
]
# The listings of these are recorded from a release on: they are long.
FROM = {"torch": "2.12.0"}
# What only release notes tell of a toolkit, and only reading tells of a package; refresh says so.
BY_HAND = {
    "nccl": {"pools"},
    "toolkit": {"driver", "runfile", "released", "tegra_unified", "tegra_disputed", "source"},
    "companion": {
        *("gone", "unreached", "finds_cuda", "borrows", "cudnn_headers", "cpu_glibc", "kernels_with", "kernels_source", "pools", "wsl2", "wsl2_source", "headers_from", "headers_source"),
        *("offered", "offered_source", "arm_offered", "arm_offered_source", "abi_variants", "abi_source"),
    },
}


def says(row, wanted):
    return "variant" not in row and all(row.get(key) == value for key, value in wanted.items()) or (
        row.get("package") == "torch" and all(row.get(key) == value for key, value in wanted.items())
    )


def may_say(text, wanted):
    """Whether it is worth reading: a catalog of megabytes is read once for each row that is taken out."""
    return all(value in text for value in wanted.values() if isinstance(value, str))


def without(root, taken):
    """A copy of the catalog in which rows are missing; the rows by their kind."""
    shutil.copytree(ROOT / "catalog", root / "catalog", ignore=shutil.ignore_patterns("__pycache__"))
    gone = []
    for path in root.glob("catalog/**/*.toml"):
        text = path.read_text()
        kinds = [kind for kind, rows in tomllib.loads(text).items() if isinstance(rows, list)]
        for kind, wanted in taken:
            if kind not in kinds:
                continue
            head, *blocks = text.split("\n[[toolkit]]\n") if kind == "toolkit" else (text,)
            for block in list(blocks):
                if may_say(block, wanted) and says(tomllib.loads(block), wanted):
                    gone.append((kind, tomllib.loads(block)))
                    blocks.remove(block)
            lines = head.splitlines(keepends=True)
            for line in list(lines):
                if line.startswith("  {") and may_say(line, wanted):
                    row = tomllib.loads(f"row = {line.strip().rstrip(',')}")["row"]
                    if says(row, wanted):
                        gone.append((kind, row))
                        lines.remove(line)
            text = "\n[[toolkit]]\n".join(["".join(lines), *blocks])
        path.write_text(text)
    return gone


def refreshed(root, store):
    """One run that writes: (rows added, rows changed, what is left to do)."""
    catalog = Catalog(root)
    listed = {"torch", "triton", "cuda-toolkit"} | {wanted["package"] for _, wanted in ROWS if "package" in wanted}
    run = Refresh(catalog, Index(store), listed | {"nvidia-cudnn-cu12", "nvidia-nccl-cu12"})
    run.propose()
    run.catalog.write(catalog.files)
    return run


def plain(kind, row):
    """A row without what no index tells, its ranges in the order of the alphabet."""
    told = {key: value for key, value in row.items() if key not in BY_HAND.get(kind, ())}
    return told | {key: sorted(told[key].split(",")) for key in ("needs", "python") if key in told}


def brings_back(taken, store):
    """Whether every row that was taken out is there again as it was, and a second run changes nothing."""
    wrong = []
    with tempfile.TemporaryDirectory(prefix="refresh-") as folder:
        root = Path(folder)
        gone = without(root, taken)
        unknown = [wanted for kind, wanted in taken if not any(kind == one and says(row, wanted) for one, row in gone)]
        wrong += [f"the catalog has no row {wanted}" for wanted in unknown]
        run = refreshed(root, store)
        tables = Catalog(root).tables
        for kind, row in gone:
            again = [one for one in tables[kind] if plain(kind, one) == plain(kind, row)]
            if len(again) > 1:
                wrong.append(f"{kind} {row}\n  came back {len(again)} times")
            lost = [key for key in row if again and key not in again[0] and key != "source"]
            told = [note for note in run.notes if row.get("package", "") in note and row["version"] in note]
            # `kernels_source` goes with `kernels_with`.
            named = lambda key: key.split("_")[0] if key.endswith("_source") else key
            wrong += [f"{kind} {row}\n  came back without {key}, and nothing says so" for key in lost if not any(named(key) in note for note in told)]
            if not again:
                near = [one for one in tables[kind] if all(one.get(key) == row.get(key) for key in ("package", "version", "arch", "cuda"))]
                wrong.append(f"{kind} {row}\n  came back as {near}")
        if len(run.added) != len(gone):
            wrong.append(f"{len(gone)} rows were taken out, and {run.added} told as added")
        wrong += [f"an existing row was changed: {one}" for one in run.changes]
        before = {path: path.read_text() for path in root.glob("catalog/**/*.toml")}
        again = refreshed(root, store)
        wrong += [f"a second run adds {one}" for one in (*again.added, *again.changes)]
        wrong += [f"a second run changes {path.name}" for path, text in before.items() if path.read_text() != text]
    return wrong


def record():
    store = Store(USUAL)
    wrong = brings_back(ROWS, store)
    for package, first in FROM.items():
        links = store.used[package]["listing "]
        store.used[package]["listing "] = [one for one in links if Version(one["name"].split("-")[1]) >= Version(first)]
    shutil.rmtree(RECORDED, ignore_errors=True)
    store.keep(RECORDED)
    return wrong


def main():
    asked = sys.argv[1] if len(sys.argv) > 1 else "1"
    if asked == "record":
        wrong = record()
    else:
        taken = random.Random(asked).sample(ROWS, k=12) if asked != "all" else ROWS
        wrong = brings_back(taken, Store(RECORDED, recorded=True))
    print("\n".join(wrong) or "every row came back")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
