"""Replaces file names by the names that the store may record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from ingest.pipeline.planning.change_detection import ReadOptions
from ingest.privacy.event_redaction import Privacy
from ingest.sources.log_file import LogFile
from ingest.store.ledger import FileStatus, Ledger, LedgerRow


def redact_names(
    files: Iterable[LogFile], privacy: Privacy, ledger: Ledger
) -> tuple[Sequence[LogFile], list[LedgerRow]]:
    """Return the files under redacted names. Also return the ledger rows whose names were redacted.

    A row is renamed when an earlier load without redaction recorded the file under its real name.
    """
    if not privacy:
        return list(files), []
    renamed, rows = [], []
    earlier: dict[str, list[LedgerRow]] = {}
    for row in ledger.earlier_rows():
        earlier.setdefault(row.name, []).append(row)
    for log_file in files:
        name = privacy.redact_path(log_file.name)
        known_row = ledger.find_by_name(log_file.name)
        for row in (*([known_row] if known_row is not None else []), *earlier.get(log_file.name, ())):
            if name != log_file.name:
                ledger.remove(row)
                rows.append(replace(row, name=name, reason=None))
                ledger.add(rows[-1])
        renamed.append(replace(log_file, name=name))
    return renamed, rows


def warn_of_earlier_privacy(ledger: Ledger, options: ReadOptions) -> Iterator[str]:
    """Yield a warning when the store has files that were read with other privacy rules."""
    more = [row for row in ledger.rows() if row.fingerprint and options.leaves_out_more_than(row.read_with)]
    gone = sum(row.status is FileStatus.EARLIER for row in more)
    if len(more) > gone:
        yield f"{len(more) - gone:,} files in the store were read without these rules; load them again, too"
    if gone:
        yield (
            f"{gone:,} contents that their files no longer have were read without these rules; "
            "--replace removes them"
        )
