"""Files that were found in, the same under the names that a store may hold out; and what stays as it was."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ingest.changes import Options
from ingest.ledger import Known, Ledger
from ingest.privacy.seam import Privacy
from ingest.sources.found import Found


def veiled(files: Iterable[Found], privacy: Privacy, ledger: Ledger) -> tuple[Sequence[Found], list[Known]]:
    """The files under their new names, and the rows of the ledger that follow them there.

    A file may be in under its name as it is, from a load that kept everything.
    """
    if not privacy:
        return list(files), []
    renamed, rows = [], []
    for found in files:
        name = privacy.path(found.name)
        known = ledger.at(found.name)
        if name != found.name and known is not None:
            ledger.remove(known)
            known = replace(known, name=name, reason=None)
            ledger.add(known)
            rows.append(known)
        renamed.append(replace(found, name=name))
    return renamed, rows


def read_with_more(ledger: Ledger, options: Options) -> Iterator[str]:
    """A sentence when files stay in of which more was kept than this load may keep."""
    more = [row for row in ledger.rows() if row.fingerprint and options.leave_out_more_than(row.read_with)]
    if more:
        yield f"{len(more):,} files in the store were read without these rules; load them again, too"
