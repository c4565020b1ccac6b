"""Run the nightly job: load the sources, apply retention, back up, report.

Each step is recorded when the step begins and when it ends. A second process continues at the first
unfinished step.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, date, datetime, timedelta
from enum import IntEnum
from itertools import dropwhile
from typing import Any

from callgauge.configuration.settings import Configuration
from callgauge.memory.memory_file import MemoryProblemError
from callgauge.memory.nights.night_lock import hold_night
from callgauge.memory.nights.night_steps import NightRecords, NightStep, Outcome, StepName
from callgauge.nightly.source_loads import ShowProgress, SourceLoad, load_sources
from callgauge.nightly.stored_reports import remove_old_reports
from ingest.errors import IngestError
from ingest.store.generations import OnWrite, Patience, ignore_write, prepare_store, published_generation

# An unfinished nightly run can be continued for this time, also past midnight.
_SAME_NIGHT = timedelta(hours=12)
UNREADABLE = "unreadable"
"""The key of the unreadable files. The memory does not store these, because a reason may quote a log."""
_NOTHING_LOADED = "nothing has been loaded yet"


@dataclass(frozen=True, slots=True)
class NightRun:
    """One process of a nightly run. When `stop()` returns True, a step ends as soon as no data is lost.

    `patience` decides whether to wait for a store that another load has locked. `on_write` is called before
    each lasting write; tests use it to kill the process.
    """

    configuration: Configuration
    night: date
    show_progress: ShowProgress
    stop: Callable[[], bool]
    patience: Patience
    on_write: OnWrite = ignore_write


@dataclass(frozen=True, slots=True)
class StepResult:
    """How a step ended, and the figures to store. If `ends_night` is True, all later steps are skipped."""

    outcome: Outcome
    figures: Mapping[str, Any] = field(default_factory=dict)
    ends_night: bool = False


def skip_step(reason: str) -> StepResult:
    """Return the result of a step that had nothing to do. `reason` says why."""
    return StepResult("skipped", {"reason": reason})


@dataclass(frozen=True, slots=True)
class SourceFigures:
    """The counts of one source's load.

    `refused_files` and `refused_lines` count only files and lines that no earlier load reported.
    """

    name: str
    files: int = 0
    unchanged: int = 0
    calls: int = 0
    refused_files: int = 0
    refused_lines: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class UnreadableFile:
    """A file that was read only partly or not at all. `lines` is the number of unreadable lines. None means
    the whole file.

    `reason` is a clause about the file. If `lines` is a number, `reason` is the code and reason of the first
    unreadable line.
    """

    source: str
    path: str
    reason: str
    lines: int | None = None


def run_load(run: NightRun) -> StepResult:
    """Load all sources. The step fails when one source fails. If all sources fail, later steps are
    skipped.
    """
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
    figures = [_count(load) for load in loads]
    totals: dict[str, Any] = {
        name: sum(getattr(each, name) for each in figures)
        for name in ("files", "unchanged", "calls", "refused_files", "refused_lines")
    }
    totals["sources"] = [asdict(source) for source in figures]
    totals[UNREADABLE] = [asdict(file) for load in loads for file in _list_unreadable(load)]
    failed = [load for load in loads if load.problem]
    if failed:
        totals["problem"] = "; ".join(f"{load.name}: {load.problem}" for load in failed)
    if run.stop() and _is_cut_short(loads, len(configuration.sources)):
        return StepResult("stopped", totals)
    if failed:
        return StepResult("failed", totals, ends_night=len(failed) == len(loads) or failed[-1].is_fatal)
    return StepResult("done", totals)


def _list_unreadable(load: SourceLoad) -> Iterator[UnreadableFile]:
    if load.report is not None:
        for file in load.report.rejected:
            if file.is_new:
                yield UnreadableFile(load.name, file.path, file.reason)
        for damaged in load.report.damaged:
            yield UnreadableFile(load.name, damaged.path, damaged.reason, damaged.lines)


def _is_cut_short(loads: Sequence[SourceLoad], sources: int) -> bool:
    return len(loads) < sources or any(load.report is not None and load.report.unread for load in loads)


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
    """Remove content, calls and reports older than the limits in [retention]. Raises IngestError."""
    from ingest.maintenance.retention import apply_retention

    settings, store = run.configuration.retention, run.configuration.store
    if settings.text_days is None and settings.fact_days is None:
        return skip_step("the file has no [retention]: nothing goes")
    if published_generation(store) is None:
        return skip_step(_NOTHING_LOADED)
    report = apply_retention(
        store,
        text_days=settings.text_days,
        fact_days=settings.fact_days,
        on_write=run.on_write,
        patience=run.patience,
    )
    reports = remove_old_reports(store, report.text_before) if report.text_before else 0
    figures = {
        "sessions_removed": report.sessions_removed,
        "calls_removed": report.calls_removed,
        "calls_without_text": report.calls_without_text,
        "reports_removed": reports,
    }
    return StepResult("done", figures)


def run_backup(run: NightRun) -> StepResult:
    """Back up the store to the location in [backup]. Raises IngestError."""
    from ingest.backup.make_backup import make_backup

    settings, store = run.configuration.backup, run.configuration.store
    if settings.to is None:
        return skip_step("the file has no [backup]")
    if published_generation(store) is None:
        return skip_step(_NOTHING_LOADED)
    report = make_backup(store, settings.to, keep=settings.keep, on_write=run.on_write)
    figures = {
        "bytes_sent": report.bytes_sent,
        "backups": report.backups,
        "place": report.place,
        "name": report.name,
    }
    return StepResult("done", figures | ({"note": "; ".join(report.notes)} if report.notes else {}))


def run_report(run: NightRun) -> StepResult:
    """Make the report, and send it to each channel that lacks it. The step fails if a channel fails."""
    from callgauge.report.content.morning_report import ReportError  # This import loads pandas.
    from callgauge.report.nightly_report import send_nightly_report

    if published_generation(run.configuration.store) is None:
        return skip_step(_NOTHING_LOADED)
    try:
        report = send_nightly_report(run.configuration, run.night)
    except ReportError as problem:
        return StepResult("failed", {"problem": str(problem)})
    return StepResult("failed" if report.problem else "done", report.to_record())


NIGHT_STEPS: Mapping[StepName, Callable[[NightRun], StepResult]] = {
    "load": run_load,
    "retention": run_retention,
    "backup": run_backup,
    "report": run_report,
}


class NightExit(IntEnum):
    """The exit codes of `callgauge nightly`."""

    DONE = 0
    NOTHING_DONE = 1
    REJECTED = 3
    FAILED = 4
    STOPPED = 130


@dataclass(slots=True)
class NightResult:
    """The steps that this process executed, in order. `before` has the steps that earlier processes of the
    nightly run finished.

    `is_stopped` means that a signal ended the nightly run. `problem` says why the nightly run could not
    continue, or is empty.
    """

    night: date
    before: Sequence[NightStep]
    steps: dict[StepName, StepResult] = field(default_factory=dict)
    is_stopped: bool = False
    problem: str = ""

    @property
    def exit_code(self) -> NightExit:
        load = self.steps.get("load")
        if self.is_stopped:
            return NightExit.STOPPED
        if self.problem or (load and load.ends_night):
            done = any(step.outcome == "done" for step in self.steps.values()) or self.before
            return NightExit.FAILED if done else NightExit.NOTHING_DONE
        if any(step.outcome == "failed" for step in self.steps.values()):
            return NightExit.FAILED
        if load and (load.figures.get("refused_files") or load.figures.get("refused_lines")):
            return NightExit.REJECTED
        return NightExit.DONE


def run_night(
    configuration: Configuration,
    *,
    show_progress: ShowProgress,
    stop: Callable[[], bool],
    patience: Patience,
    on_step: Callable[[StepName, StepResult], None],
    on_write: OnWrite = ignore_write,
    again: bool = False,
) -> NightResult:
    """Execute the unfinished steps of this nightly run, or all steps if `again` is True. Call `on_step` after
    each step.

    A failed step does not stop later steps unless its result has `ends_night`. Raises NightBusyError while
    another process executes the nightly job. Raises IngestError if the store's folder cannot be used, and
    MemoryProblemError if the first step cannot be recorded.
    """
    prepare_store(configuration.store)
    records = NightRecords(configuration.store)
    with hold_night(configuration.store):
        records.close_broken_steps()
        now = datetime.now(UTC)
        night, past = choose_night(now, records.list_steps(1, until=now.astimezone().date()))
        left = list(NIGHT_STEPS) if again else list(dropwhile(lambda name: _is_over(past, name), NIGHT_STEPS))
        result = NightResult(night, [past[name] for name in NIGHT_STEPS if name not in left])
        run = NightRun(configuration, night, show_progress, stop, patience, on_write)
        for name in left:
            if stop():
                result.is_stopped = True
                break
            tries = int(past[name].figures.get("tries", 1)) + 1 if name in past else 1
            on_write(f"{name} begins")
            try:
                records.begin_step(night, name, tries)
                on_write(f"{name} begun")
                step = result.steps[name] = _run_step(name, run)
                on_step(name, step)
                on_write(f"{name} ends")
                numbers = {key: value for key, value in step.figures.items() if key != UNREADABLE}
                records.end_step(night, name, step.outcome, {**numbers, "tries": tries})
            except MemoryProblemError as problem:
                if not result.steps:
                    raise
                result.problem = str(problem)
                break
            on_write(f"{name} ended")
            result.is_stopped = step.outcome == "stopped"
            if step.ends_night or result.is_stopped:
                break
    return result


def choose_night(now: datetime, newest: Sequence[NightStep]) -> tuple[date, dict[StepName, NightStep]]:
    """Return the day of the nightly run to which a start at `now` belongs, and the steps that were already
    recorded for it.

    `newest` has the steps of the newest nightly run. The day is the local day on which the nightly run began.
    An unfinished nightly run is continued for twelve hours, also past midnight.
    """
    today = now.astimezone().date()
    past = {step.step: step for step in newest}
    if past:
        is_over = all(_is_over(past, name) for name in NIGHT_STEPS)
        began = min(step.began for step in past.values())
        if newest[0].night == today or (not is_over and now - began < _SAME_NIGHT):
            return newest[0].night, past
    return today, {}


def _is_over(past: Mapping[StepName, NightStep], name: StepName) -> bool:
    return name in past and past[name].is_over


def _run_step(name: StepName, run: NightRun) -> StepResult:
    try:
        return NIGHT_STEPS[name](run)
    except KeyboardInterrupt:
        return StepResult("stopped", {"problem": "stopped immediately; unfinished work was rolled back"})
    except (IngestError, MemoryProblemError) as problem:
        return StepResult("failed", {"problem": str(problem)}, ends_night=name == "load")
    except Exception as mistake:
        traceback.print_exc()
        # Do not store the message: it may quote a log, and the memory would keep the quote for ever.
        reason = f"{type(mistake).__name__}; see the output of the nightly run"
        return StepResult("failed", {"problem": reason})
