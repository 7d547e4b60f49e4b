"""Which answers of the scenarios are others than at a commit, grouped by what changed in them, and the rows behind it."""

import re
import subprocess

KEPT = "tests/data/answers.txt"
# How many names of scenarios a group shows.
SHOWN = 5


def told(root, since):
    """Lines of Markdown: how many answers are others, and for each kind of change why."""
    before, after = blocks(at(root, since, KEPT)), blocks((root / KEPT).read_text())
    groups = {}
    for name in sorted(before.keys() & after.keys()):
        for change in changes(before[name], after[name]):
            groups.setdefault(change, []).append(name)
    changed = {name for names in groups.values() for name in names}
    new, gone = after.keys() - before.keys(), before.keys() - after.keys()
    yield f"{len(changed)} of {len(after)} answers change" + (f", {len(new)} are new, {len(gone)} are gone" if new or gone else "")
    rows = touched(root, since)
    for change, names in sorted(groups.items(), key=lambda group: (-len(group[1]), group[0])):
        because = [row for row in rows if any(word in row.split() for word in re.split(r"[\s,=+]+", change))]
        reason = f", because of {'; '.join(because[:SHOWN])}" if because else ""
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        yield f"- {change}{reason}: {', '.join(names[:SHOWN])}{more}"


def at(root, since, path):
    shown = subprocess.run(["git", "-C", str(root), "show", f"{since}:{path}"], capture_output=True, text=True, check=True)
    return shown.stdout


def blocks(text):
    """The lines of each answer by its scenario's name."""
    found = {}
    for block in text.strip().split("\n\n"):
        name, *lines = block.splitlines()
        found[name] = [line.strip() for line in lines]
    return found


def changes(before, after):
    """`cudnn 9.1 → 9.2` of what stands in both with another value; else the line that came or went."""
    old, new = ([part for line in lines for part in parts(line) if part not in others] for lines, others in pairs(before, after))
    values = {part.rpartition(" ")[0]: part for part in new}
    for part in old:
        name, _, value = part.rpartition(" ")
        other = values.pop(name, None) if name else None
        yield f"{name} {value} → {other.rpartition(' ')[2]}" if other else f"no longer {part}"
    yield from (f"now {part}" for part in values.values())


def pairs(before, after):
    """Each side's lines with what the other side says."""
    said = lambda lines: {part for line in lines for part in parts(line)}
    return (before, said(after)), (after, said(before))


def parts(line):
    """What a line says one by one: `stack cuda 12.4.1`, `stack torch 2.6.0+cu124`; `wheel torch 2.6.0+cu124`."""
    head, _, rest = line.partition(" ")
    if head == "stack":
        return [f"{head} {part}" for part in rest.split(", ")]
    return [line.replace("==", " ").split(" cu")[0].strip()] if head == "wheel" else [line]


def touched(root, since):
    """`cudnn.toml: 9.28.1.4 13` for each row of the catalog that is new or another one."""
    diff = subprocess.run(["git", "-C", str(root), "diff", "-U0", since, "--", "catalog"], capture_output=True, text=True, check=True)
    rows, file = [], ""
    for line in diff.stdout.splitlines():
        if line.startswith("+++ "):
            file = line.rpartition("/")[2]
        elif line.startswith("+") and (version := re.search(r'\bversion = "([^"]+)"', line)):
            package, variant, cuda = (re.search(rf'\b{key} = "([^"]+)"', line) for key in ("package", "variant", "cuda"))
            words = [found[1] for found in (package, version, variant, cuda) if found]
            rows.append(f"{file}: {' '.join(words)}")
    return rows
