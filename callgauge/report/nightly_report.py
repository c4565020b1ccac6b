"""Makes the nightly report, writes it into a folder, and sends it once to each channel."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from callgauge.analysis.metrics import MetricError
from callgauge.analysis.metrics.published_store import UnshownStoreError, read_store
from callgauge.configuration.places import REPORTS
from callgauge.configuration.settings import Configuration
from callgauge.memory.deliveries import DeliveryRecords
from callgauge.memory.nights.source_states import SourceState, SourceStates
from callgauge.memory.reports import ReportRecords
from callgauge.memory.team_memory import TeamMemory
from callgauge.prices import PriceList
from callgauge.report.content.compose import SilentSource, TeamContext, make_report
from callgauge.report.content.morning_report import MorningReport, ReportError
from callgauge.report.delivery.attempts import DeliveryResult, deliver
from callgauge.report.delivery.channels import list_channels
from callgauge.report.formats import write_json
from callgauge.report.formats.html_page import write_html
from ingest.safe_files import new_files_like


@dataclass(frozen=True, slots=True)
class NightlyReport:
    """The report of a nightly run, the file of the report, and the delivery result for each channel."""

    report: MorningReport
    file: Path
    deliveries: tuple[DeliveryResult, ...]

    @property
    def problem(self) -> str:
        """The channels for which delivery is not confirmed, each with the reason.

        The value is empty if there are no such channels.
        """
        lacking = [delivery for delivery in self.deliveries if delivery.result in ("failed", "unknown")]
        return "; ".join(f"{delivery.channel} {delivery.result}: {delivery.reason}" for delivery in lacking)

    def to_record(self) -> dict[str, Any]:
        """Return the data of this report that is stored with the nightly run."""
        facts = {"answer": self.report.answer, "file": str(self.file)}
        sent = {delivery.channel: delivery.result for delivery in self.deliveries}
        return facts | {"sent": sent} | ({"problem": self.problem} if self.problem else {})


def read_report(
    store: Path,
    night: date,
    *,
    since: date | None = None,
    address: str | None = None,
    texts: bool = True,
) -> MorningReport:
    """Return the report of a store. The store is not changed.

    The report has what changed after the day `since`, which is by default the day of the last report. `texts`
    says whether descriptions of errors may quote logs. Raises ReportError and MemoryProblemError.
    """
    records, sources = TeamMemory(store).read(), SourceStates(store).read()
    # The report of an earlier day uses the end of that day as its time.
    now = min(datetime.now(UTC), datetime.combine(night + timedelta(days=1), datetime.min.time(), UTC))
    team = TeamContext(
        acknowledged=frozenset(records.acknowledgements),
        rules=tuple(rule for rule in records.alert_rules if not rule.is_muted(night)),
        states=records.signature_states,
        prices=PriceList(records.prices),
        last=ReportRecords(store).read_last_before(night),
        overdue=tuple(_describe_silent(source, now) for source in sources if source.is_silent(now)),
        unloaded=tuple((source.name, source.problem) for source in sources if source.problem),
    )
    try:
        with read_store(store, texts=texts) as reader:
            return make_report(
                reader.ask, team, night, store=store.resolve().name, since=since, address=address
            )
    except (UnshownStoreError, MetricError) as problem:
        raise ReportError(str(problem)) from None


def _describe_silent(source: SourceState, now: datetime) -> SilentSource:
    """Return the report's entry for a source without data for longer than its limit in callgauge.toml."""
    why = f"silent_after = {source.silent_after:g} in callgauge.toml"
    last = (source.newest or source.first_seen).date()
    days = max(1, int(source.count_silent_days(now)))
    why = why if source.newest else f"no data yet; {why}"
    return SilentSource(source.name, last, days, why, source.silent_after or 0)


def send_nightly_report(
    configuration: Configuration,
    night: date,
    *,
    since: date | None = None,
    environment: Mapping[str, str] = os.environ,
    sleep: Callable[[float], object] = time.sleep,
) -> NightlyReport:
    """Make the report of a nightly run, write it, and send it to the channels that do not have it yet.

    If `quiet` is configured, nothing is sent on a quiet day. The result lists the channels that failed.
    Raises ReportError and MemoryProblemError.
    """
    store, settings = configuration.store, configuration.report
    texts = configuration.serve.texts
    report = read_report(store, night, since=since, address=settings.address, texts=texts)
    with nullcontext() if settings.folder else new_files_like(store):
        file = _write_files(settings.folder or store / REPORTS, report)
    results: tuple[DeliveryResult, ...] = ()
    channels = () if settings.quiet and report.is_quiet else (*list_channels(settings, report, environment),)
    if channels:
        records = DeliveryRecords(store)
        results = tuple(deliver(records, night.isoformat(), channel, sleep) for channel in channels)
    if not channels and settings.quiet and report.is_quiet:
        # Items of this report stay new, so that the next report that is sent mentions them.
        ReportRecords(store).note(night, report.keys - {item.key for item in report.sentences})
    elif not results or any(delivery.is_known_to_be_there for delivery in results):
        # If no channel received the report, the items of the report stay new for the next report.
        ReportRecords(store).note(night, report.keys)
    return NightlyReport(report, file, results)


def _write_files(folder: Path, report: MorningReport) -> Path:
    page = folder / f"{report.night}.html"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, text in ((page.with_suffix(".json"), write_json(report)), (page, write_html(report))):
            write_text(path, text)
    except OSError as problem:
        raise ReportError(
            f"{folder} cannot be written: {problem.strerror}; make room, or name another as [report] folder"
        ) from None
    return page


def write_text(path: Path, text: str) -> None:
    """Write a file atomically. Raises OSError."""
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        aside.write_text(text, encoding="utf-8", errors="replace")
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)
