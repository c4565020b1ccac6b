"""The steps of a night: load all sources, let old data go, back up, report."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date
from typing import Any

from callgauge.configuration.settings import Configuration
from callgauge.memory.nights.night_steps import Outcome
from callgauge.nightly.kept_reports import remove_old_reports
from callgauge.nightly.source_loads import ShowProgress, SourceLoad, load_sources
from ingest.store.generations import OnWrite, Patience, ignore_write, published_generation

_NOTHING = "nothing has been loaded yet"


@dataclass(frozen=True, slots=True)
class NightRun:
    """One run of a night. Once `stop()` returns True a step ends as soon as nothing is lost.

    `patience`: decides whether to wait for a store that another load has locked. `on_write`: called before
    each lasting write; tests kill the process there.
    """

    configuration: Configuration
    night: date
    show_progress: ShowProgress
    stop: Callable[[], bool]
    patience: Patience
    on_write: OnWrite = ignore_write


@dataclass(frozen=True, slots=True)
class StepResult:
    """How a step ended; `told` as `NightStep` has it. `ends_night`: no other step makes sense after it."""

    outcome: Outcome
    told: Mapping[str, Any] = field(default_factory=dict)
    ends_night: bool = False


def skip_step(reason: str) -> StepResult:
    """Return that a step had nothing to do, and why."""
    return StepResult("skipped", {"reason": reason})


@dataclass(frozen=True, slots=True)
class SourceFigures:
    """What the night's load of a source did. `refused_files`, `refused_lines`: only new ones."""

    name: str
    files: int = 0
    unchanged: int = 0
    calls: int = 0
    refused_files: int = 0
    refused_lines: int = 0
    problem: str = ""


def run_load(run: NightRun) -> StepResult:
    """Load each source. It fails when one source does; when all do, the night ends with it."""
    configuration = run.configuration
    if not configuration.sources:
        return skip_step("the file names no [sources]")
    loads = list(
        load_sources(
            configuration,
            given={"patience": run.patience, "on_write": run.on_write},
            show_progress=run.show_progress,
            stop=run.stop,
        )
    )
    figures = [_count(one) for one in loads]
    told: dict[str, Any] = {
        name: sum(getattr(one, name) for one in figures)
        for name in ("files", "unchanged", "calls", "refused_files", "refused_lines")
    }
    told["sources"] = [asdict(one) for one in figures]
    failed = [one for one in loads if one.problem]
    if failed:
        told["problem"] = "; ".join(f"{one.name}: {one.problem}" for one in failed)
    if run.stop() and _is_cut_short(loads, len(configuration.sources)):
        return StepResult("stopped", told)
    if failed:
        return StepResult("failed", told, ends_night=len(failed) == len(loads) or failed[-1].is_fatal)
    return StepResult("done", told)


def _is_cut_short(loads: Sequence[SourceLoad], sources: int) -> bool:
    return len(loads) < sources or any(one.report is not None and one.report.unread for one in loads)


def _count(load: SourceLoad) -> SourceFigures:
    report = load.report
    if report is None:
        return SourceFigures(load.name, problem=load.problem)
    return SourceFigures(
        load.name,
        files=report.loaded,
        unchanged=report.unchanged + report.moved,
        calls=report.calls,
        refused_files=report.new_rejected,
        refused_lines=report.new_rejects,
    )


def run_retention(run: NightRun) -> StepResult:
    """Remove texts, facts and reports that are older than [retention] says. Raises IngestError."""
    from ingest.maintenance.retention import apply_retention

    settings, store = run.configuration.retention, run.configuration.store
    if settings.text_days is None and settings.fact_days is None:
        return skip_step("the file has no [retention]: nothing goes")
    if published_generation(store) is None:
        return skip_step(_NOTHING)
    report = apply_retention(
        store,
        text_days=settings.text_days,
        fact_days=settings.fact_days,
        on_write=run.on_write,
        patience=run.patience,
    )
    reports = remove_old_reports(store, report.text_before) if report.text_before else 0
    told = {
        "sessions_removed": report.sessions_removed,
        "calls_removed": report.calls_removed,
        "calls_without_text": report.calls_without_text,
        "reports_removed": reports,
    }
    return StepResult("done", told)


def run_backup(run: NightRun) -> StepResult:
    """Back the store up to the place that [backup] names. Raises IngestError."""
    from ingest.backup.make_backup import make_backup

    settings, store = run.configuration.backup, run.configuration.store
    if settings.to is None:
        return skip_step("the file has no [backup]")
    if published_generation(store) is None:
        return skip_step(_NOTHING)
    report = make_backup(store, settings.to, keep=settings.keep, on_write=run.on_write)
    told = {
        "bytes_sent": report.bytes_sent,
        "backups": report.backups,
        "place": report.place,
        "name": report.name,
    }
    return StepResult("done", told | ({"note": "; ".join(report.notes)} if report.notes else {}))


def run_report(run: NightRun) -> StepResult:
    """Make the night's report and send it to each channel that has not got it; fails when one did not."""
    from callgauge.report.content.morning_report import ReportError  # imports pandas
    from callgauge.report.nightly_report import send_nightly_report

    if published_generation(run.configuration.store) is None:
        return skip_step(_NOTHING)
    try:
        report = send_nightly_report(run.configuration, run.night)
    except ReportError as problem:
        return StepResult("failed", {"problem": str(problem)})
    return StepResult("failed" if report.problem else "done", report.to_told())
