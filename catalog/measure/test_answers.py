"""Changes an answer and a row in a repository of its own, and reads what is told of it: python3 catalog/measure/test_answers.py"""

import subprocess
import sys
import tempfile
from pathlib import Path

from answers import KEPT, told

BEFORE = """\
one
  stack cuda 12.4.1, cudnn 9.28.0.42, torch 2.6.0+cu124
  wheel torch==2.6.0+cu124 cu124
  warns gpu-not-checked target.t

two
  stack cuda 12.4.1, cudnn 9.28.0.42, torch 2.6.0+cu124

same
  stack torch 2.5.1+cu124
"""
AFTER = BEFORE.replace("9.28.0.42", "9.28.1.4").replace("  warns gpu-not-checked target.t\n", "  warns eol target.t\n")
SAYS = [
    "2 of 3 answers change",
    "- stack cudnn 9.28.0.42 → 9.28.1.4, because of cudnn.toml: 9.28.1.4 13: one, two",
    "- no longer warns gpu-not-checked target.t: one",
    "- now warns eol target.t: one",
]


def main():
    with tempfile.TemporaryDirectory(prefix="answers-") as folder:
        root = Path(folder)
        run = lambda *words: subprocess.run(["git", "-C", folder, "-c", "user.name=t", "-c", "user.email=t@t", *words], check=True, capture_output=True)
        run("init", "--quiet")
        for path, text in ((KEPT, BEFORE), ("catalog/cudnn.toml", 'cudnn = [\n]\n')):
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        run("add", "--all")
        run("commit", "--quiet", "--message", "before")
        (root / KEPT).write_text(AFTER)
        (root / "catalog/cudnn.toml").write_text('cudnn = [\n  { version = "9.28.1.4", cuda = "13" },\n]\n')
        says = list(told(root, "HEAD"))
    if says != SAYS:
        print("\n".join(says))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
