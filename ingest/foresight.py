"""A log and the ledger in, whether it will be read out: before its turn, and without a look into it."""

from __future__ import annotations

from collections.abc import Collection

from ingest.changes import Options
from ingest.ledger import Ledger, Status
from ingest.sources.found import Found


def is_likely_read(found: Found, ledger: Ledger, options: Options, again: Collection[str] = ()) -> bool:
    """True when everything speaks for it; what a load really does is decided when it gets there.

    False where telling would take reading: a file of the size of another may be its copy.
    """
    if found.problem is not None or found.settled or not found.place.again:
        return False
    known = ledger.at(found.name)
    if known is not None and (found.name in again or known.status is Status.REJECTED):
        return True
    if known is not None and options.read_otherwise_than(known):
        return True
    row = known or ledger.copy_at(found.name)
    if row is not None and found.seen.tells and row.outside.seen == found.seen:
        return False
    if found.fingerprint is not None:
        return not ledger.of_content(found.fingerprint)
    if found.content_size is None:
        return known is not None or not len(ledger)
    return found.content_size != known.size if known else not ledger.of_size(found.content_size)
