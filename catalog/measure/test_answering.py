"""Asks an index that does not answer, or not with a listing: python3 catalog/measure/test_answering.py

Nothing follows from that. The rows of the package stay, it is told, and the exit says so.
"""

import contextlib
import http.server
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from catalog import ROOT, Catalog
from ordinary import ordinary
from refresh import refresh
from remote import PATIENCE, Index
from store import Store

JSON = "application/vnd.pypi.simple.v1+json"
PORTAL = "<html><head><title>Sign in to the network</title></head><body><a href='/sign-in'>accelerate</a></body></html>"
# How an index may fail: status, type, what it sends, and how long it says that this is.
FAILS = {
    "a server in trouble": (503, "text/html", "down for maintenance", None),
    "a connection that is dropped": (None, None, "", None),
    "a page that asks to sign in": (200, "text/html", PORTAL, None),
    "an empty object": (200, JSON, "{}", None),
    "a page cut in two": (200, JSON, '{"files": [{"filename": "acc', None),
    "an answer that breaks off": (200, "text/html", "<title>Links for accelerate</title>", 9999),
    "the listing of another package": (200, JSON, '{"name": "accelerator", "files": []}', None),
    "a listing without files": (200, JSON, '{"name": "NAME", "files": []}', None),
    "a package that is gone": (404, "text/plain", "", None),
}
# What is asked for here, and the files of which only that is needed.
ASKED = ("accelerate", "diffusers", "numpy", "peft", "timm", "trl", "torchtext")
LONG = ("asks.toml", "companions.toml", "images.toml", "libraries.toml", "torch.toml", "wheels/pypi.toml", "wheels/pytorch.toml")
# What an index answers of a package that the catalog does not have.
UNKNOWN = "gpuenv-made-up-name"


class Answers(http.server.BaseHTTPRequestHandler):
    """Every package the same."""

    answer, asked = None, []

    def do_GET(self):
        self.asked.append(self.path)
        status, kind, text, length = self.answer
        if status is None:
            return
        data = text.replace("NAME", self.path.strip("/").rsplit("/", 1)[-1]).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(length or len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def said(call):
    """(What a run returns, what it says on stderr.)"""
    with contextlib.redirect_stderr(io.StringIO()) as told, contextlib.redirect_stdout(io.StringIO()):
        return call(), told.getvalue()


def files(root):
    return {path: path.read_text() for path in root.glob("catalog/**/*.toml")}


def rows_stay(root):
    """Whichever way the index fails, nothing is taken away or called withdrawn."""
    before = files(root)
    for name, Answers.answer in FAILS.items():
        for package, call in (
            ("accelerate", lambda catalog, index: ordinary(catalog, index, True, ["accelerate"])),
            ("torchtext", lambda catalog, index: refresh(catalog, index, True, ["torchtext"])),
        ):
            catalog = Catalog(root)
            failed, told = said(lambda: call(catalog, Index(known=catalog.indexed)))
            yield f"{package}, {name}: exit", failed, 1
            yield f"{package}, {name}: told", f"# could not be read: {package}: " in told, True
            yield f"{package}, {name}: called withdrawn", "withdrawn" in told, False
            yield f"{package}, {name}: files that changed", [path.name for path, text in files(root).items() if before[path] != text], []


def what_is_not_there(root):
    """That there is no such package is an answer, where none was ever known; where one was read before it is none."""
    catalog = Catalog(root)
    Answers.answer = FAILS["a package that is gone"]
    failed, told = said(lambda: refresh(catalog, Index(known=catalog.indexed), False, [UNKNOWN]))
    yield "an unknown name: exit", failed, 0
    yield "an unknown name: told", f"{UNKNOWN}: the index has no release of it: is the name right?" in told, True
    with tempfile.TemporaryDirectory(prefix="answering-") as folder:
        link = {"name": "a-1-py3-none-any.whl", "url": "", "sha256": None, "requires_python": None, "yanked": False, "uploaded": None}
        kept = Path(folder) / f"{UNKNOWN}.json"
        kept.write_text(json.dumps({"listing ": [link]}))
        failed, told = said(lambda: refresh(catalog, Index(Store(folder)), False, [UNKNOWN]))
        yield "a name that was read before: exit", failed, 1
        yield "a name that was read before: kept", json.loads(kept.read_text())["listing "], [link]


def one_that_is_silent(root):
    """An index that does not answer is not asked for each package."""
    catalog = Catalog(root)
    Answers.answer, Answers.asked[:] = FAILS["a server in trouble"], []
    failed, _ = said(lambda: ordinary(catalog, Index(known=catalog.indexed), True, ["accelerate", "diffusers", "numpy", "peft", "timm", "trl"]))
    yield "a silent index: exit", failed, 1
    yield "a silent index: asked", len(Answers.asked), PATIENCE


def unusable_files(root):
    """A file that cannot be used is named, with what to do."""
    tool = [sys.executable, str(ROOT / "catalog" / "measure"), "--root", str(root), "refresh", "torchtext"]
    Answers.answer = (200, "text/html", "<title>Links for NAME</title><a href='torchtext-0.5.0-py3-none-any.whl'>x</a>", None)
    with tempfile.TemporaryDirectory(prefix="answering-") as folder:
        damaged, file = Path(folder) / "torchtext.json", Path(folder) / "file"
        damaged.write_text('{"listing ')
        file.write_text("")
        for name, asked, names, says in (
            ("a damaged store", ["--store", folder], damaged, "is damaged: delete it"),
            ("a store that is a file", ["--store", file], file, "--store"),
            ("an overlay in a file", ["--overlay", file / "a.toml", "--store", folder], file / "a.toml", "--overlay"),
            ("an overlay that is a folder", ["--overlay", folder, "--store", folder], folder, "--overlay"),
        ):
            ran = subprocess.run([*tool, *map(str, asked)], capture_output=True, text=True)
            last = ran.stderr.splitlines()[-1]
            yield f"{name}: exit", ran.returncode, 2
            yield f"{name}: {last}", last.startswith(f"error: {names}") and says in last, True
            yield f"{name}: traceback", "Traceback" in ran.stderr, False


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    # One try for each: nobody waits for what is made to fail.
    os.environ |= {"PIP_INDEX_URL": f"http://127.0.0.1:{server.server_port}/simple", "PIP_RETRIES": "0", "NO_PROXY": "127.0.0.1"}
    os.environ.pop("PIP_EXTRA_INDEX_URL", None)
    wrong = []
    with tempfile.TemporaryDirectory(prefix="answering-") as folder:
        root = Path(folder)
        shutil.copytree(ROOT / "catalog", root / "catalog", ignore=shutil.ignore_patterns("measure"))
        for path in [root / "catalog" / name for name in LONG]:
            lines = path.read_text().splitlines(keepends=True)
            path.write_text("".join(line for line in lines if not line.startswith("  {") or any(f'"{one}' in line for one in ASKED)))
        for case in (rows_stay, what_is_not_there, one_that_is_silent, unusable_files):
            wrong += [f"{what}: {read}, not {says}" for what, read, says in case(root) if read != says]
    server.shutdown()
    print("\n".join(wrong) or "no answer is taken for one")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
