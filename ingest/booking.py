"""What became of one log after another in, the ledger and the totals of the load brought up to date."""

from __future__ import annotations

from dataclasses import replace

from ingest.changes import Change, Decision, as_copy
from ingest.intake import Intake, Settings
from ingest.ledger import Copy, Known, Ledger, Outside, Status
from ingest.publishing import Totals
from ingest.reading import Unusable
from ingest.sources.found import Found
from ingest.sources.naming import stream_name
from ingest.tails import keep_state, take_over
from ingest.writing import Writer

KEPT = "; what was loaded from it before stays"


class Book:
    """The only one who changes the ledger while logs are taken in."""

    def __init__(self, ledger: Ledger, totals: Totals, settings: Settings, writer: Writer) -> None:
        self._ledger = ledger
        self._totals = totals
        self._settings = settings
        self._writer = writer

    def turned(self, known: Known) -> None:
        """A file that was a log has become an archive."""
        self._ledger.remove(known)
        self._totals.replaced.append(known.file_id)

    def passed_over(self, found: Found, decision: Decision) -> None:
        known = decision.known
        if decision.change is Change.MOVED and known is not None and found.place.again:
            self._rename(known, found)
        elif decision.change is Change.REFUSED and known is not None:
            self._totals.add_rejected(found.name, known.reason or "")
        else:
            self._totals.unchanged += 1
            if decision.change is Change.COPIED and known is not None:
                self._copied(known, found)
            elif known is not None:
                self._seen_anew(known, found)

    def _copied(self, known: Known, found: Found) -> None:
        if found.place.again:
            copy = Copy(found.name, known.file_id, Outside.of(found))
            self._ledger.add_copy(copy)
            self._totals.copies.append(copy)
            self._totals.worth_noting |= found.is_dear

    def _seen_anew(self, known: Known, found: Found) -> None:
        if found.settled or (known.outside.seen == found.seen and found.archive is None):
            return
        outside = Outside.of(found)
        if known.outside != outside:
            self._ledger.remove(known)
            self._ledger.add(replace(known, outside=outside))
            self._totals.seen_anew.append((known.file_id, outside))
            self._totals.worth_noting |= found.is_dear

    def _rename(self, known: Known, found: Found) -> None:
        self._ledger.remove(known)
        outside = Outside.of(found)
        row = replace(known, name=found.name, outside=outside, status=Status.LOADED, reason=None)
        self._ledger.add(row)
        self._totals.renamed.append(row)

    def read(self, found: Found, known: Known | None, intake: Intake) -> None:
        """Count what was read, unless its end shows that it is in: of a stream only reading tells that."""
        options = self._settings.options
        is_new = known is None or known.fingerprint is None
        same = self._ledger.of_content(intake.fingerprint) if is_new else []
        if known is None:
            known = next((row for row in same if options.leave_out_more_than(row.read_with)), None)
            same = [] if known else same
        if known is not None:
            self._ledger.remove(known)
            self._totals.replaced.append(known.file_id)
            self._totals.less_kept |= options.leave_out_more_than(known.read_with)
        if same:
            self._writer.take_back_file()
            self.passed_over(found, as_copy(same))
            return
        if known is not None and intake.begun is not None:
            building = self._writer.building
            intake.rows.update(take_over(building, known.file_id, intake.file_id, intake.begun))
        if intake.unfinished is not None:
            keep_state(self._writer.building, intake.file_id, intake.unfinished)
        row = _row(found, known, intake)
        self._ledger.add(row)
        self._totals.add_loaded(row, intake)

    def refused(self, found: Found, unusable: Unusable) -> None:
        """Record why, unless the store says just that already. Rows of an earlier reading stay."""
        known, reason = self._ledger.at(found.name), self._settings.privacy.text(str(unusable))
        if unusable.may_pass:
            found = replace(found, archive_seen=None)
        if known is not None and known.fingerprint is not None:
            reason += KEPT
        self._totals.add_rejected(found.name, reason)
        if known is None:
            outside = Outside.of(found)
            row = Known(self._writer.begin_file(), found.name, Status.REJECTED, reason, outside)
            self._ledger.add(row)
            self._totals.refused_new.append(row)
            return
        if (known.status, known.reason) != (Status.REJECTED, reason):
            self._ledger.remove(known)
            known = replace(known, status=Status.REJECTED, reason=reason)
            self._ledger.add(known)
            self._totals.refused_again.append((known.file_id, reason))
        if found.archive is not None:
            self._seen_anew(known, found)


def _row(found: Found, known: Known | None, intake: Intake) -> Known:
    content = (intake.bytes, intake.fingerprint, intake.head, intake.source)
    name = found.name if found.place.again else stream_name(intake.fingerprint)
    forgetful = intake.forgot or (known is not None and known.forgetful)
    outside = Outside.of(found)
    return Known(
        intake.file_id, name, Status.LOADED, None, outside, intake.read_with, *content, forgetful=forgetful
    )
