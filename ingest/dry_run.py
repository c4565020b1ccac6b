"""What a load would be given in, what it would do with it out: told from heads, without a lock.

The members of a compressed tar archive can only be listed by unpacking it on the way; all else costs the
beginning of each file that is not in as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from pathlib import Path

from ingest.changes import Options, in_safe_order
from ingest.collect import Named, collect
from ingest.definitions import given_definitions
from ingest.generations import published
from ingest.intake import Settings
from ingest.ledger import Known, Ledger, Status
from ingest.lines import MAX_LINE
from ingest.lookup import read_ledger
from ingest.privacy.wanted import ALL, Wanted
from ingest.reading import Unusable, recognise, unreadable
from ingest.reports import RejectedFile
from ingest.selection import known_format, selected
from ingest.sources import solid
from ingest.sources.content import HEAD, Content, opened
from ingest.sources.found import Found
from ingest.unfolding import unfold


class Would(StrEnum):
    """What a load would do with a file; all but the last two mean reading it."""

    NEW = "new"
    GROWN = "grown"
    CHANGED = "changed"
    AGAIN = "again"  # it is in, but the options given now see more in it
    ALIKE = "alike"  # it begins like a log that is in and is as large: passed over when all of it is the same
    UNCHANGED = "unchanged"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Share:
    """So many files of one kind; `bytes` as stored. `form` None = none was found, or had to be."""

    would: Would
    form: str | None
    files: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a load would do. `left` files would stay out by `--since` and `--limit`."""

    shares: tuple[Share, ...]
    refused: tuple[RejectedFile, ...]
    left: int


def dry_run(
    paths: Iterable[Named],
    store_dir: Path,
    *,
    tools: Sequence[Path] = (),
    max_line: int = MAX_LINE,
    form: str | None = None,
    since: str | None = None,
    limit: int | None = None,
    private: Wanted = ALL,
) -> Outlook:
    """What `ingest.pipeline.load` would do with the same words. Raises as it does, but for StoreBusy."""
    store_dir = store_dir.absolute()
    catalog, _ = given_definitions(store_dir, tools)
    known_as = known_format(form)
    found, left = selected(collect(paths, store_dir), since)
    current = published(store_dir)
    ledger = read_ledger(current) if current else Ledger()
    words = (row.read_with.privacy for row in ledger.rows())
    privacy, left_out = private.of(store_dir, words, keep=False)
    options = Settings.of(catalog, max_line, known_as, privacy, left_out).options
    foresight = _Foresight(ledger, options, limit, left)
    try:
        for log in in_safe_order(unfold(found, ledger, options, privacy).logs, ledger):
            foresight.look_at(log)
    finally:
        solid.rewind()
    return foresight.outlook()


class _Foresight:
    """One load's files, looked at one after another."""

    def __init__(self, ledger: Ledger, options: Options, limit: int | None, left: int) -> None:
        self._ledger = ledger
        self._options = options
        self._limit = limit
        self._read = 0
        self._sums: dict[tuple[Would, str | None], tuple[int, int]] = {}
        self._refused: list[RejectedFile] = []
        self._left = left

    def outlook(self) -> Outlook:
        shares = [Share(*kind, *sums) for kind, sums in self._sums.items()]
        shares.sort(key=lambda share: (list(Would).index(share.would), share.form or ""))
        return Outlook(tuple(shares), tuple(self._refused), self._left)

    def look_at(self, found: Found) -> None:
        known = self._ledger.at(found.name)
        if known is not None and known.status is Status.REJECTED:
            self._look_at_refused(found, known)
        elif self._is_in(found, known):
            self._add(found, Would.UNCHANGED, known.source if known else None)
        elif self._limit is not None and self._read >= self._limit:
            self._left += 1
        else:
            self._look_into(found, known)

    def _look_at_refused(self, found: Found, known: Known) -> None:
        if found.settled:
            self._refuse(found, known.reason or "")
        else:
            self._look_into(found, None)

    def _is_in(self, found: Found, known: Known | None) -> bool:
        if found.settled:
            return True
        row = known or self._ledger.copy_at(found.name)
        if row is None or (known is not None and self._options.read_otherwise_than(known)):
            return False
        return found.seen.tells and row.outside.seen == found.seen

    def _look_into(self, found: Found, known: Known | None) -> None:
        if found.problem is not None:
            self._refuse(found, found.problem)
            return
        try:
            would, form = self._head_of(found, known)
        except Unusable as unusable:
            self._refuse(found, str(unusable))
        except OSError as error:
            self._refuse(found, str(unreadable(error)))
        else:
            self._read += would is not Would.ALIKE
            self._add(found, would, form)

    def _head_of(self, found: Found, known: Known | None) -> tuple[Would, str]:
        with opened(found, rewinds=True) as content:
            head = bytearray(HEAD)
            del head[content.readinto(head) :]
            would = self._would(found, known, content, bytes(head))
            content.back()
            recognised = recognise(content, found, self._options.max_line, self._options.form)
        return would, recognised.form.SOURCE.name

    def _would(self, found: Found, known: Known | None, content: Content, head: bytes) -> Would:
        size = None if content.packed or not found.place.again else found.seen.size
        if known is None:
            alike = self._ledger.of_head(content.head)
            return Would.ALIKE if any(size in (None, row.size) for row in alike) else Would.NEW
        if self._options.read_otherwise_than(known):
            return Would.AGAIN
        if sha256(head[: known.size]).hexdigest() != known.head:
            return Would.CHANGED
        if size == known.size:
            return Would.ALIKE
        larger = found.seen.size > known.outside.seen.size if size is None else size > known.size
        return Would.GROWN if larger else Would.CHANGED

    def _refuse(self, found: Found, reason: str) -> None:
        self._refused.append(RejectedFile(found.name, reason))
        self._add(found, Would.REFUSED)

    def _add(self, found: Found, would: Would, form: str | None = None) -> None:
        files, size = self._sums.get((would, form), (0, 0))
        self._sums[would, form] = (files + 1, size + found.seen.size)
