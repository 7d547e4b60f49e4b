"""Measures the facts of `catalog/` again from published artifacts, without a GPU, and proposes new ones.

    python3 catalog/measure check [NAME…] [--only WHAT…]      compare; a difference is a failing exit
    python3 catalog/measure refresh [PACKAGE…] [--write]      a patch with what the catalog lacks; --overlay FILE: an overlay
    python3 catalog/measure practices [--write]               what publishers always do, counted over the builds
    python3 catalog/measure ordinary [PACKAGE…] [--write]     what ordinary packages and those of the catalog need of each other
    python3 catalog/measure beside [--write]                  what people install beside torch, and where it is taken
    python3 catalog/measure freshness                         how old each source is
    python3 catalog/measure answers [--since COMMIT]          which answers of scenarios are others, and because of which rows
    python3 catalog/measure resolve [--count N] [--seed N]    random locks, each resolved again by uv

Needs Python 3.11 and pip, nothing else; `resolve` needs gpuenv and uv. docs/catalog.md says what each check reads.
"""

import argparse
import datetime
import random
import shutil
import signal
import sys
import time
from pathlib import Path

from catalog import ROOT, Catalog, day
from checks import CHECKS, Checker
from remote import Index, NotRead
from store import USUAL, Store, Unrecorded, Unusable


def main():
    parser = argparse.ArgumentParser(prog="catalog/measure", description="Measures the catalog from public artifacts.")
    parser.add_argument("--root", type=Path, default=ROOT, help="another copy of the repository")
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser("check", help="compare the catalog with the artifacts")
    check.add_argument("names", nargs="*", metavar="NAME", help=f"which checks: {', '.join(CHECKS)}; all by default")
    only = "only releases that begin so (2.7), of a package (vllm), or both (vllm==0.11); may be repeated"
    check.add_argument("--only", action="append", metavar="WHAT", help=only)
    refresh = commands.add_parser("refresh", help="propose rows for releases the catalog lacks")
    refresh.add_argument("only", nargs="*", metavar="PACKAGE", help="only these packages of the index, or what is listed elsewhere: image-tags, cuda-redist, driver-releases, endoflife")
    refresh.add_argument("--recorded", type=Path, metavar="FOLDER", help="ask recorded answers instead of the index")
    refresh.add_argument("--record", type=Path, metavar="FOLDER", help="record the answers that are used")
    refresh.add_argument("--store", type=Path, default=USUAL, metavar="FOLDER", help=f"what was read before [default: {USUAL}]")
    outcome = refresh.add_mutually_exclusive_group()
    outcome.add_argument("--write", action="store_true", help="change catalog/ instead of printing a patch")
    outcome.add_argument("--overlay", type=Path, metavar="FILE", help="write the rows into an overlay instead: where a few are needed")
    practices = commands.add_parser("practices", help="count what publishers always do")
    practices.add_argument("--write", action="store_true", help="put the numbers into catalog/")
    ordinary = commands.add_parser("ordinary", help="read what ordinary packages and those of the catalog need of each other")
    ordinary.add_argument("only", nargs="*", metavar="PACKAGE", help="only these packages")
    ordinary.add_argument("--store", type=Path, default=USUAL, metavar="FOLDER", help=f"what was read before [default: {USUAL}]")
    ordinary.add_argument("--write", action="store_true", help="put the rows into catalog/")
    around = commands.add_parser("beside", help="what people install beside torch, and where it is taken")
    around.add_argument("--store", type=Path, default=USUAL, metavar="FOLDER", help=f"what was read before [default: {USUAL}]")
    around.add_argument("--write", action="store_true", help="put the rows into tests/data/")
    commands.add_parser("freshness", help="how old each source is")
    changed = commands.add_parser("answers", help="which answers of scenarios are others, and because of which rows")
    changed.add_argument("--since", default="HEAD", metavar="COMMIT", help="compare with this commit [default: HEAD]")
    resolve = commands.add_parser("resolve", help="have uv resolve random locks, and compare")
    resolve.add_argument("--count", type=int, default=200, metavar="N", help="how many locks [default: 200]")
    resolve.add_argument("--seed", type=int, metavar="N", help="draw the same locks again [default: another each time]")
    resolve.add_argument("--gpuenv", default="gpuenv", metavar="FILE", help="the program [default: gpuenv]")
    resolve.add_argument("--uv", default="uv", metavar="FILE", help="the program [default: uv]")
    resolve.add_argument("--store", type=Path, default=USUAL, metavar="FOLDER", help=f"what was read before [default: {USUAL}]")
    resolve.add_argument("--keep", type=Path, metavar="FOLDER", help="keep each spec, its lock, and what uv was given and said")
    asked = parser.parse_args()
    if asked.command == "check":
        unknown = [one for one in asked.names if one not in CHECKS]
        if unknown:
            parser.error(f"no check is named {', '.join(unknown)}: there are {', '.join(CHECKS)}")
        return check_all(Catalog(asked.root), asked.names or list(CHECKS), asked.only)
    if asked.command == "refresh":
        from refresh import refresh as propose

        store, catalog = Store(asked.recorded, recorded=True) if asked.recorded else Store(asked.store), Catalog(asked.root)
        outcome = propose(catalog, Index(store, progress, catalog.indexed), asked.write, asked.only, asked.overlay)
        if asked.record:
            store.keep(asked.record)
        return outcome
    if asked.command == "practices":
        from practices import practices as count

        return count(Catalog(asked.root), asked.write)
    if asked.command == "resolve":
        from resolve import Resolve

        seed = random.randrange(1_000_000) if asked.seed is None else asked.seed
        programs = (found(parser, asked.gpuenv), found(parser, asked.uv))
        catalog = Catalog(asked.root)
        return Resolve(catalog, Index(Store(asked.store), known=catalog.indexed), *programs).run(asked.count, seed, asked.keep)
    if asked.command == "ordinary":
        from ordinary import ordinary as collect

        catalog = Catalog(asked.root)
        return collect(catalog, Index(Store(asked.store), progress, catalog.indexed), asked.write, asked.only)
    if asked.command == "beside":
        from beside import beside

        catalog = Catalog(asked.root)
        return beside(catalog, Index(Store(asked.store), progress, catalog.indexed), asked.write)
    if asked.command == "answers":
        from answers import told

        print(*told(asked.root, asked.since), sep="\n")
        return 0
    return freshness(Catalog(asked.root))


def found(parser, program):
    """Where a program is: it is called from other folders."""
    path = shutil.which(program)
    return str(Path(path).resolve()) if path else parser.error(f"there is no {program}")


def progress(text):
    """What is being read, for people who wait."""
    if sys.stderr.isatty():
        print(f"\r\x1b[Kreading {text}", end="\r", file=sys.stderr, flush=True)
    else:
        print(f"# reading {text}", file=sys.stderr, flush=True)


def check_all(catalog, names, only):
    checker = Checker(catalog, Index(known=catalog.indexed), only)
    counts, unread = {}, 0
    for check in names:
        started = time.monotonic()
        rows = {}
        findings = CHECKS[check](checker)
        while True:
            try:
                finding = next(findings, None)
            except NotRead as error:
                unread += 1
                print(f"# {check}: could not be read: {error}: the rest of this check was left out", flush=True)
                break
            if finding is None:
                break
            counts[finding.verdict] = counts.get(finding.verdict, 0) + 1
            rows.setdefault((finding.row, finding.artifact), []).append(finding)
            if finding.verdict == "DIFFERS":
                print(
                    f"DIFFERS  {finding.row}: {finding.field} is {finding.said!r}, but {finding.artifact} says {finding.read!r}",
                    flush=True,
                )
        for (row, artifact), findings in rows.items():
            if all(finding.verdict == "agrees" for finding in findings):
                fields = ", ".join(finding.field for finding in findings)
                print(f"agrees   {row}: {fields} ({artifact})")
            for finding in findings:
                if finding.verdict == "unread":
                    print(f"unread   {row}: {finding.field} ({artifact})")
        print(f"# {check}: {len(rows)} rows in {time.monotonic() - started:.0f} s", flush=True)
    print("# " + (", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())) or "nothing compared"))
    return 1 if counts.get("DIFFERS") or unread or not counts else 0


def freshness(catalog):
    """Each source with its age in days and the number of rows that rest on it, oldest first."""
    today = datetime.date.today()
    used = {}
    for rows in catalog.tables.values():
        for row in rows:
            for key, value in row.items():
                if key == "source" or key.endswith("_source"):
                    used[value] = used.get(value, 0) + 1
    print(f"{'days':>5} {'rows':>6}  {'kind':<9} source")
    for source in sorted(catalog.sources.values(), key=lambda row: (row["seen"], row["id"])):
        age = (today - day(source["seen"])).days
        print(f"{age:>5} {used.get(source['id'], 0):>6}  {source['kind']:<9} {source['id']} ({source['at']})")
    facts = sum(used.values())
    for kind in ("measured", "package", "vendor", "article"):
        count = sum(number for one, number in used.items() if catalog.sources.get(one, {}).get("kind") == kind)
        print(f"# {kind}: {count} of {facts} citations, {100 * count / facts:.1f} %")
    return 0


if __name__ == "__main__":
    # A reader that has seen enough is no failure: `… freshness | head`.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
    except (NotRead, Unrecorded) as error:
        print(f"error: could not be read: {error}", file=sys.stderr)
        sys.exit(1)
    except Unusable as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
