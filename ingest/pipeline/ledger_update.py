"""Updates the ledger (the store's list of files) and the totals of a load after each log."""

from __future__ import annotations

from collections.abc import Collection

from msgspec.structs import replace

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

_EARLIER_STAYS = "; what was loaded from it before stays"


class LedgerUpdate:
    """Records the outcome of each log in the ledger (the store's list of files) and in the totals of the
    load.

    If a file has other content now, `replacing` removes the rows of the old content. Otherwise the rows stay.
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

    def note_became_archive(self, row: LedgerRow) -> None:
        """Update the row of a file that is an archive now but was loaded as a log."""
        self._retire(row)

    def remove_earlier(self, names: Collection[str]) -> None:
        """Remove the ledger rows for earlier content of the files with these names."""
        for row in [row for row in self._ledger.earlier_rows() if row.name in names]:
            self._totals.retired.pop(row.file_id, None)
            self._remove(row, None)

    def _retire(self, known_row: LedgerRow, now: int | None = None) -> None:
        """Update the ledger row for content that the file no longer has.

        `now` is the id of the file's present content. If a copy of the old content exists, the row gets the
        name of the copy. With `replacing`, or if the content was never read, the row is removed.
        """
        if known_row.fingerprint is None or self._replacing:
            self._remove(known_row, now)
            return
        self._ledger.remove(known_row)
        copies = self._ledger.find_copies(known_row.file_id)
        copy = next(
            (candidate for candidate in copies if still_exists(candidate.name, candidate.outside.seen)), None
        )
        if copy is not None and copy.outside.archive is None:
            row = replace(
                known_row, name=copy.name, outside=copy.outside, status=FileStatus.LOADED, reason=None
            )
            self._ledger.add(row)
            self._totals.renamed.append(row)
        else:
            row = replace(known_row, status=FileStatus.EARLIER, reason=None)
            self._ledger.add(row)
            self._totals.retired[row.file_id] = row

    def _remove(self, row: LedgerRow, now: int | None) -> None:
        self._ledger.remove(row)
        self._totals.replaced[row.file_id] = now
        if row.fingerprint is not None:
            self._totals.removed.add(row.file_id)
            self._totals.less_kept |= self._settings.options.leaves_out_more_than(row.read_with)

    def note_skipped(self, log_file: LogFile, decision: ChangeDecision) -> None:
        row = decision.known
        if decision.left is not None:
            self._retire(decision.left, row.file_id if row else None)
        if decision.change is Change.MOVED and row is not None and log_file.place.can_reopen:
            self._note_name(row, log_file)
        elif decision.change is Change.REFUSED and row is not None:
            self._totals.add_refused(row)
        else:
            self._totals.unchanged += 1
            if decision.change is Change.COPIED and row is not None:
                self._note_copy(row, log_file)
            elif row is not None:
                self._note_look(row, log_file)

    def _note_copy(self, row: LedgerRow, log_file: LogFile) -> None:
        if log_file.place.can_reopen:
            copy = LedgerCopy(log_file.name, row.file_id, FileLook.look_of(log_file))
            self._ledger.add_copy(copy)
            self._totals.copies.append(copy)
            self._totals.worth_noting |= log_file.is_costly

    def _note_look(self, row: LedgerRow, log_file: LogFile) -> None:
        if log_file.settled or (row.outside.seen == log_file.seen and log_file.archive is None):
            return
        outside = FileLook.look_of(log_file)
        if row.outside != outside:
            self._ledger.remove(row)
            self._ledger.add(replace(row, outside=outside))
            self._totals.seen_anew.append((row.file_id, outside))
            self._totals.worth_noting |= log_file.is_costly

    def _note_name(self, known_row: LedgerRow, log_file: LogFile) -> None:
        self._ledger.remove(known_row)
        self._totals.retired.pop(known_row.file_id, None)
        outside = FileLook.look_of(log_file)
        row = replace(known_row, name=log_file.name, outside=outside, status=FileStatus.LOADED, reason=None)
        self._ledger.add(row)
        self._totals.renamed.append(row)

    def note_read(self, log_file: LogFile, decision: ChangeDecision, intake: FileResult) -> None:
        """After a log was read, add it to the ledger (the store's list of files) and to the totals.

        If the content of a stream turns out to be in the store already, the log's rows are discarded. The log
        is then recorded as a copy or a new name.
        """
        options, known_row, left = self._settings.options, decision.known, decision.left
        is_new = known_row is None or known_row.fingerprint is None
        same = self._ledger.find_by_content(intake.fingerprint) if is_new else []
        if known_row is None:
            known_row = next((row for row in same if options.leaves_out_more_than(row.read_with)), None)
            same = [] if known_row else same
        if (
            known_row is not None
            and known_row.fingerprint is not None
            and not _is_same_content(known_row, intake)
        ):
            known_row, left = None, known_row
        if known_row is not None:
            self._ledger.remove(known_row)
            self._totals.retired.pop(known_row.file_id, None)
            self._totals.replaced[known_row.file_id] = None if same else intake.file_id
            self._totals.less_kept |= options.leaves_out_more_than(known_row.read_with)
        if same:
            self._writer.take_back_file()
            self.note_skipped(log_file, replace(decide_copy(same), left=left))
            return
        if left is not None:
            self._retire(left, intake.file_id)
        if known_row is not None and intake.begun is not None:
            building = self._writer.builder
            intake.rows.update(move_rows(building, known_row.file_id, intake.file_id, intake.begun))
        if intake.unfinished is not None:
            store_checkpoint(self._writer.builder, intake.file_id, intake.unfinished)
        row = _ledger_row(log_file, known_row, intake)
        if left is not None and left.fingerprint is not None and row.follows is None and not self._replacing:
            row = replace(row, follows=left.file_id)
        self._ledger.add(row)
        self._totals.add_loaded(row, intake)

    def note_refused(self, log_file: LogFile, unusable: UnusableFileError) -> None:
        """Record why a log cannot be used, unless the store already has the same reason.

        Rows from an earlier load of the log stay.
        """
        known_row, reason = (
            self._ledger.find_by_name(log_file.name),
            self._settings.privacy.redact_text(str(unusable)),
        )
        if not unusable.is_noted:
            reason += _EARLIER_STAYS if known_row is not None and known_row.fingerprint is not None else ""
            self._totals.rejected.append(RejectedFile(log_file.name, reason, is_new=True))
            return
        if unusable.may_pass:
            log_file = replace(log_file, archive_seen=None)
        foreign, by = unusable.foreign, reader_version() if unusable.foreign else None
        read_with = ReadWith(facts=self._settings.options.map_of(log_file.name, known_row))
        if known_row is not None and known_row.fingerprint is not None:
            # the store has rows of this file, so the file is a log
            reason, foreign, by = reason + _EARLIER_STAYS, None, None
        status = FileStatus.COMPANION if unusable.is_companion else FileStatus.REJECTED
        if known_row is None:
            outside = FileLook.look_of(log_file)
            row = LedgerRow(
                self._writer.begin_file(),
                log_file.name,
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
        is_new = (known_row.status, known_row.reason) != (status, reason)
        read_with = read_with if known_row.fingerprint is None else known_row.read_with
        if is_new or (known_row.refused_by, known_row.read_with) != (by, read_with):
            self._ledger.remove(known_row)
            known_row = replace(
                known_row, status=status, reason=reason, read_with=read_with, foreign=foreign, refused_by=by
            )
            self._ledger.add(known_row)
            self._totals.refused_again.append(known_row)
        self._totals.add_refused(known_row, is_new=is_new)
        if log_file.archive is not None or foreign is not None:
            self._note_look(known_row, log_file)


def _ledger_row(log_file: LogFile, known_row: LedgerRow | None, intake: FileResult) -> LedgerRow:
    content = (intake.bytes, intake.fingerprint, intake.head, intake.source)
    name = log_file.name if log_file.place.can_reopen else stream_name(intake.fingerprint)
    forgetful = intake.forgot or (known_row is not None and known_row.forgetful)
    outside = FileLook.look_of(log_file)
    return LedgerRow(
        intake.file_id,
        name,
        FileStatus.LOADED,
        None,
        outside,
        intake.read_with,
        *content,
        forgetful=forgetful,
        follows=known_row.follows if known_row is not None else None,
        lacks=intake.lacks,
    )


def _is_same_content(known_row: LedgerRow, intake: FileResult) -> bool:
    return intake.continues or known_row.fingerprint == intake.fingerprint
