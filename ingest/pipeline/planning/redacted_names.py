"""Replaces the names of files by the names under which the store may record them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ingest.pipeline.planning.change_detection import ReadOptions
from ingest.privacy.event_redaction import Privacy
from ingest.sources.log_file import LogFile
from ingest.store.ledger import Ledger, LedgerRow


def redact_names(
    files: Iterable[LogFile], privacy: Privacy, ledger: Ledger
) -> tuple[Sequence[LogFile], list[LedgerRow]]:
    """Return the files under their redacted names, and the ledger rows that were renamed with them.

    A row is renamed when an earlier load without redaction recorded the file under its real name.
    """
    if not privacy:
        return list(files), []
    renamed, rows = [], []
    for found in files:
        name = privacy.redact_path(found.name)
        known = ledger.find_by_name(found.name)
        if name != found.name and known is not None:
            ledger.remove(known)
            known = replace(known, name=name, reason=None)
            ledger.add(known)
            rows.append(known)
        renamed.append(replace(found, name=name))
    return renamed, rows


def warn_of_earlier_privacy(ledger: Ledger, options: ReadOptions) -> Iterator[str]:
    """Yield a warning when the store holds files that were read with other privacy rules than this load's.

    Yields nothing otherwise.
    """
    more = [row for row in ledger.rows() if row.fingerprint and options.leaves_out_more_than(row.read_with)]
    if more:
        yield f"{len(more):,} files in the store were read without these rules; load them again, too"
