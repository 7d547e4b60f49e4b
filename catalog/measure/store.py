"""What was read before: an answer for each file, kept by its sha256, so that a run that was stopped goes on where it was.

A folder of recorded answers stands in for the index in tests: what is not in it cannot be read.
"""

import json
import os
from pathlib import Path

USUAL = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gpuenv" / "measure"


class Unrecorded(OSError):
    """Nobody recorded that answer."""


class Unusable(OSError):
    """A file of ours that cannot be read or written: its name, and what to do."""


class Store:
    """Answers by what they are about and a key; a file for each package."""

    def __init__(self, folder, recorded=False):
        self.folder, self.recorded = Path(folder), recorded
        self.files = {}
        self.used = {}

    def told(self, package, what, key, read):
        """The answer: the kept one, or what `read` says now."""
        answers = self.answers(package)
        name = f"{what} {key}"
        if name not in answers:
            if self.recorded:
                raise Unrecorded(f"{package}: {name} was not recorded")
            answers[name] = read()
            self.write(package)
        self.used.setdefault(package, {})[name] = answers[name]
        return answers[name]

    def fresh(self, package, what, key, read):
        """The same for what may change from day to day: read anew in each run. What was read before stays where that fails."""
        if self.recorded:
            return self.told(package, what, key, read)
        answers, name, said = self.answers(package), f"{what} {key}", read()
        if name not in answers or answers[name] != said:
            answers[name] = said
            self.write(package)
        self.used.setdefault(package, {})[name] = said
        return said

    def answers(self, package):
        if package not in self.files:
            path = self.folder / f"{package}.json"
            try:
                said = json.loads(path.read_text()) if path.exists() else {}
            except OSError as error:
                raise Unusable(f"{path} cannot be read ({error.strerror}): name another folder with --store") from None
            except ValueError:
                said = None
            if not isinstance(said, dict):
                raise Unusable(f"{path} is damaged: delete it, and what it held is read again")
            self.files[package] = said
        return self.files[package]

    def write(self, package):
        path = self.folder / f"{package}.json"
        # A run that is stopped in between leaves the old file or the new one.
        beside = path.with_suffix(".new")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            beside.write_text(json.dumps(self.files[package], separators=(",", ":")))
            beside.replace(path)
        except OSError as error:
            raise Unusable(f"{path} cannot be written ({error.strerror}): name another folder with --store") from None

    def keep(self, folder):
        """Writes what this run used into a folder, to be recorded."""
        for package, answers in self.used.items():
            Path(folder).mkdir(parents=True, exist_ok=True)
            lines = (f"{json.dumps(name)}: {json.dumps(short(name, one))}" for name, one in sorted(answers.items()))
            (Path(folder) / f"{package}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


def short(name, answer):
    """An answer without what nothing reads: addresses, and descriptions but for how to install from source."""
    if name == "listing ":
        return [{**link, "url": ""} for link in answer]
    if name.startswith("metadata "):
        head = answer.replace("\r", "").split("\n\n")[0].splitlines()
        return "\n".join(line for line in head if line.startswith(("Name:", "Version:", "Requires-")))
    return answer


class Nothing(Store):
    """Keeps nothing beyond the run."""

    def __init__(self):
        super().__init__(USUAL)

    def answers(self, package):
        return self.files.setdefault(package, {})

    def write(self, package):
        pass
