"""Updates the ledger (the store's list of files) and the totals of a load, log by log."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from ingest.load_report import RejectedFile
from ingest.pipeline.planning.change_detection import Change, ChangeDecision, decide_copy, reader_version
from ingest.pipeline.publish import LoadTotals
from ingest.pipeline.reading.file_reader import FileResult, ReadSettings
from ingest.pipeline.reading.format_recognition import UnusableFileError
from ingest.pipeline.resume import move_rows, store_checkpoint
from ingest.sources.discovery import still_exists
from ingest.sources.log_file import LogFile
from ingest.sources.stored_names import stream_name
from ingest.store.ledger import FileLook, FileStatus, Ledger, LedgerCopy, LedgerRow, ReadWith
from ingest.store.writer import FactWriter

KEPT = "; what was loaded from it before stays"


class LedgerUpdate:
    """Records the outcome of each log in the ledger and in the totals of the load.

    While logs are read, no other class changes the ledger. `replacing`: contents that their files no longer
    have are removed, else they stay.
    """

    def __init__(
        self,
        ledger: Ledger,
        totals: LoadTotals,
        settings: ReadSettings,
        writer: FactWriter,
        *,
        replacing: bool = False,
    ) -> None:
        self._replacing = replacing
        self._ledger = ledger
        self._totals = totals
        self._settings = settings
        self._writer = writer

    def note_became_archive(self, known: LedgerRow) -> None:
        """Update the row of a file that was a log when it was loaded and is an archive now."""
        self._retire(known)

    def remove_earlier(self, names: Collection[str]) -> None:
        """Remove the contents that the files with these names no longer have."""
        for row in [row for row in self._ledger.earlier_rows() if row.name in names]:
            self._totals.retired.pop(row.file_id, None)
            self._remove(row, None)

    def _retire(self, known: LedgerRow, now: int | None = None) -> None:
        """Keep the rows of a content that its file no longer has; `now` is the id of its present content.

        The content may have other names that are still there: then it is that file's. With `replacing`, and
        where nothing was read of it, the row goes.
        """
        if known.fingerprint is None or self._replacing:
            self._remove(known, now)
            return
        self._ledger.remove(known)
        copies = self._ledger.find_copies(known.file_id)
        copy = next((one for one in copies if still_exists(one.name, one.outside.seen)), None)
        if copy is not None and copy.outside.archive is None:
            row = replace(known, name=copy.name, outside=copy.outside, status=FileStatus.LOADED, reason=None)
            self._ledger.add(row)
            self._totals.renamed.append(row)
        else:
            row = replace(known, status=FileStatus.EARLIER, reason=None)
            self._ledger.add(row)
            self._totals.retired[row.file_id] = row

    def _remove(self, known: LedgerRow, now: int | None) -> None:
        self._ledger.remove(known)
        self._totals.replaced[known.file_id] = now
        if known.fingerprint is not None:
            self._totals.removed.add(known.file_id)
            self._totals.less_kept |= self._settings.options.leaves_out_more_than(known.read_with)

    def note_skipped(self, found: LogFile, decision: ChangeDecision) -> None:
        known = decision.known
        if decision.left is not None:
            self._retire(decision.left, known.file_id if known else None)
        if decision.change is Change.MOVED and known is not None and found.place.can_reopen:
            self._note_name(known, found)
        elif decision.change is Change.REFUSED and known is not None:
            self._totals.add_refused(known)
        else:
            self._totals.unchanged += 1
            if decision.change is Change.COPIED and known is not None:
                self._note_copy(known, found)
            elif known is not None:
                self._note_look(known, found)

    def _note_copy(self, known: LedgerRow, found: LogFile) -> None:
        if found.place.can_reopen:
            copy = LedgerCopy(found.name, known.file_id, FileLook.look_of(found))
            self._ledger.add_copy(copy)
            self._totals.copies.append(copy)
            self._totals.worth_noting |= found.is_costly

    def _note_look(self, known: LedgerRow, found: LogFile) -> None:
        if found.settled or (known.outside.seen == found.seen and found.archive is None):
            return
        outside = FileLook.look_of(found)
        if known.outside != outside:
            self._ledger.remove(known)
            self._ledger.add(replace(known, outside=outside))
            self._totals.seen_anew.append((known.file_id, outside))
            self._totals.worth_noting |= found.is_costly

    def _note_name(self, known: LedgerRow, found: LogFile) -> None:
        self._ledger.remove(known)
        self._totals.retired.pop(known.file_id, None)
        outside = FileLook.look_of(found)
        row = replace(known, name=found.name, outside=outside, status=FileStatus.LOADED, reason=None)
        self._ledger.add(row)
        self._totals.renamed.append(row)

    def note_read(self, found: LogFile, decision: ChangeDecision, intake: FileResult) -> None:
        """Add a log that was read to the ledger and the totals.

        A new log whose content turns out to be in the store already is taken back and recorded as a copy or a
        new name. That happens with streams, whose fingerprint is only known at their end.
        """
        options, known, left = self._settings.options, decision.known, decision.left
        is_new = known is None or known.fingerprint is None
        same = self._ledger.find_by_content(intake.fingerprint) if is_new else []
        if known is None:
            known = next((row for row in same if options.leaves_out_more_than(row.read_with)), None)
            same = [] if known else same
        if known is not None and known.fingerprint is not None and not _is_same_content(known, intake):
            known, left = None, known
        if known is not None:
            self._ledger.remove(known)
            self._totals.retired.pop(known.file_id, None)
            self._totals.replaced[known.file_id] = None if same else intake.file_id
            self._totals.less_kept |= options.leaves_out_more_than(known.read_with)
        if same:
            self._writer.take_back_file()
            self.note_skipped(found, replace(decide_copy(same), left=left))
            return
        if left is not None:
            self._retire(left, intake.file_id)
        if known is not None and intake.begun is not None:
            building = self._writer.builder
            intake.rows.update(move_rows(building, known.file_id, intake.file_id, intake.begun))
        if intake.unfinished is not None:
            store_checkpoint(self._writer.builder, intake.file_id, intake.unfinished)
        row = _ledger_row(found, known, intake)
        if left is not None and left.fingerprint is not None and row.follows is None and not self._replacing:
            row = replace(row, follows=left.file_id)
        self._ledger.add(row)
        self._totals.add_loaded(row, intake)

    def note_refused(self, found: LogFile, unusable: UnusableFileError) -> None:
        """Record why a log cannot be used by itself, unless the store records that reason already.

        Rows of an earlier reading of the log stay.
        """
        known, reason = (
            self._ledger.find_by_name(found.name),
            self._settings.privacy.redact_text(str(unusable)),
        )
        if not unusable.is_noted:
            reason += KEPT if known is not None and known.fingerprint is not None else ""
            self._totals.rejected.append(RejectedFile(found.name, reason, is_new=True))
            return
        if unusable.may_pass:
            found = replace(found, archive_seen=None)
        foreign, by = unusable.foreign, reader_version() if unusable.foreign else None
        read_with = ReadWith(facts=self._settings.options.map_of(found.name, known))
        if known is not None and known.fingerprint is not None:
            reason, foreign, by = reason + KEPT, None, None  # rows of it are in: it is a log
        status = FileStatus.COMPANION if unusable.is_companion else FileStatus.REJECTED
        if known is None:
            outside = FileLook.look_of(found)
            row = LedgerRow(
                self._writer.begin_file(),
                found.name,
                status,
                reason,
                outside,
                read_with,
                foreign=foreign,
                refused_by=by,
            )
            self._ledger.add(row)
            self._totals.refused_new.append(row)
            self._totals.add_refused(row, is_new=True)
            return
        is_new = (known.status, known.reason) != (status, reason)
        read_with = read_with if known.fingerprint is None else known.read_with
        if is_new or (known.refused_by, known.read_with) != (by, read_with):
            self._ledger.remove(known)
            known = replace(
                known, status=status, reason=reason, read_with=read_with, foreign=foreign, refused_by=by
            )
            self._ledger.add(known)
            self._totals.refused_again.append(known)
        self._totals.add_refused(known, is_new=is_new)
        if found.archive is not None or foreign is not None:
            self._note_look(known, found)


def _ledger_row(found: LogFile, known: LedgerRow | None, intake: FileResult) -> LedgerRow:
    content = (intake.bytes, intake.fingerprint, intake.head, intake.source)
    name = found.name if found.place.can_reopen else stream_name(intake.fingerprint)
    forgetful = intake.forgot or (known is not None and known.forgetful)
    outside = FileLook.look_of(found)
    return LedgerRow(
        intake.file_id,
        name,
        FileStatus.LOADED,
        None,
        outside,
        intake.read_with,
        *content,
        forgetful=forgetful,
        follows=known.follows if known is not None else None,
        lacks=intake.lacks,
    )


def _is_same_content(known: LedgerRow, intake: FileResult) -> bool:
    """Return True when a file has the content of the row, or has grown since."""
    return intake.continues or known.fingerprint == intake.fingerprint
