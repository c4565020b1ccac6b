"""Guesses whether a load will read a file, before its turn and without a look into it."""

from __future__ import annotations

from collections.abc import Collection

from ingest.pipeline.planning.change_detection import ReadOptions
from ingest.sources.log_file import LogFile
from ingest.store.ledger import FileStatus, Ledger


def is_likely_read(found: LogFile, ledger: Ledger, options: ReadOptions, again: Collection[str] = ()) -> bool:
    """Return True when everything speaks for it; the load decides when it gets there.

    False where telling would take reading: a file of the size of another may be its copy.
    """
    if found.problem is not None or found.settled or not found.place.can_reopen:
        return False
    known = ledger.find_by_name(found.name)
    if known is not None and (found.name in again or known.status is FileStatus.REJECTED):
        return True
    if known is not None and options.reads_otherwise_than(known):
        return True
    row = known or ledger.find_copy(found.name)
    if row is not None and found.seen.is_telling and row.outside.seen == found.seen:
        return False
    if found.fingerprint is not None:
        return not ledger.find_by_content(found.fingerprint)
    if found.content_size is None:
        return known is not None or not len(ledger)
    return found.content_size != known.size if known else not ledger.find_by_size(found.content_size)
