"""What registries and publishers list beside the package index: image tags, toolkits, drivers, ends of support.

A feed fills in what is absent. It changes a row that rests on itself, and says so; where a row rests on another source, the
difference is told and the row stays. A feed that cannot be read is told, and the others are read.
"""

import json
import re

from feeds import drivers, images, support, toolkits
from remote import NO_ANSWER
from store import Unrecorded

# Each is read by `read(feed)`, and named to `refresh` by its name.
FEEDS = {module.NAME: module for module in (toolkits, drivers, images, support)}
# Who does not answer within this time is not waited for.
SECONDS = 30


class Unreadable(OSError):
    """An address did not answer with what was expected."""


class Feed:
    """What the readers share: the run that they belong to, and one connection."""

    def __init__(self, run, name):
        self.run, self.name = run, name

    @property
    def catalog(self):
        return self.run.catalog

    def rows(self, kind):
        return self.catalog.rows(kind)

    def json(self, url, headers=None, kept=None):
        """What an address answers as JSON, read anew in each run; what never changes is kept by a key."""
        return json.loads(self.text(url, headers, kept))

    def text(self, url, headers=None, kept=None):
        return self.answer(url, headers, kept)["text"]

    def answer(self, url, headers=None, kept=None):
        """`text`, and `next`: the address of the next page, where the answer names one in its header."""
        store = self.run.index.store
        if kept:
            return store.told(self.name, "kept", kept, lambda: self._get(url, headers))
        return store.fresh(self.name, "page", url, lambda: self._get(url, headers))

    def passing(self, url):
        """What an address answers to this run alone; nothing where answers are recorded ones."""
        return {} if self.run.index.store.recorded else json.loads(self._get(url, None)["text"])

    def _get(self, url, headers):
        self.run.index.progress(url.split("?")[0])
        try:
            response = self.run.index.session.get(url, headers=headers, timeout=SECONDS)
        except NO_ANSWER as error:
            raise Unreadable(f"{url.split('?')[0]} cannot be read ({type(error).__name__})") from None
        if response.status_code != 200:
            raise Unreadable(f"{url.split('?')[0]} answers {response.status_code}")
        following = re.search(r'<([^>]+)>;\s*rel="?next"?', response.headers.get("link", ""))
        return {"text": response.text, "next": following[1] if following else None}

    # ---- what a feed does to a row ---------------------------------------------------------------------------------

    def adds(self, file, row, after):
        """A row that the catalog lacks, behind the last one for which `after` holds."""
        self.catalog.put(file, row, after)
        self.uses(row)
        self.run.added.append(f"{file}: {said(row)}")

    def amends(self, file, row, fields):
        """Fields of a row that is there, told as changed."""
        told = [f"{field} was {row.get(field)}, is {value}" for field, value in fields.items() if row.get(field) != value]
        self.catalog.retell(file, row, fields)
        # What the row says otherwise was not read again.
        self.uses({"source": fields["source"]} if "source" in fields else {})
        self.run.changes.append(f"{file}: {said(row)}: {'; '.join(told)}")

    def uses(self, row):
        """Notes that a source was read; one that no row rested on so far gets its row."""
        self.run.uses(row)
        module = FEEDS[self.name]
        if row.get("source") in getattr(module, "SOURCES", {}) and row["source"] not in self.catalog.sources:
            file, source = module.SOURCES[row["source"]]
            self.catalog.put(f"sources/{file}", {"id": row["source"], **source}, lambda other: True)
            self.run.catalog = self.run.checker.catalog = self.catalog.reread()

    def differs(self, text):
        """What a row says otherwise that rests on another source."""
        self.run.notes.append(f"{self.name} says otherwise: {text}")

    def note(self, text):
        self.run.notes.append(text)


def said(row):
    """How a row is called."""
    named = ("repository", "tag", "id", "branch", "version")
    return ":".join(row[key] for key in named[:2]) if "tag" in row else next(row[key] for key in named if key in row)


def read_all(run):
    """Reads every feed that is asked for; what could not be read, and why."""
    unread = []
    for name, module in FEEDS.items():
        if not run.asked(name):
            continue
        try:
            module.read(Feed(run, name))
        except (Unreadable, Unrecorded) as error:
            unread.append((module.FILES, str(error)))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            unread.append((module.FILES, f"the answer has another form than is known here ({type(error).__name__}: {error})"))
        run.catalog = run.checker.catalog = run.catalog.reread()
    return unread
