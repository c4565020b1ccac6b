"""Does one night: its steps in order from the first that is not over; each begin and end is recorded."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from enum import IntEnum
from itertools import dropwhile

from callgauge.configuration.settings import Configuration
from callgauge.memory.memory_file import MemoryProblemError
from callgauge.memory.nights.night_lock import hold_night
from callgauge.memory.nights.night_steps import NightRecords, NightStep, StepName
from callgauge.nightly.source_loads import ShowProgress
from callgauge.nightly.steps import NightRun, StepResult, run_backup, run_load, run_report, run_retention
from ingest.errors import IngestError
from ingest.store.generations import OnWrite, Patience, ignore_write, prepare_store

_SAME_NIGHT = timedelta(hours=12)  # so long a night that is not over is gone on with, past midnight, too
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
    """What this run did of a night: its steps in order, after those that were over `before`.

    `is_stopped`: a signal ended it. `problem`: why the run itself could not go on; empty where it could.
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
        if load and (load.told.get("refused_files") or load.told.get("refused_lines")):
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
    """Do what is left of this night, or all of it `again`. `on_step` is called after each step.

    A step that fails stops no other, unless none makes sense after it. Raises NightBusyError while another
    process does the night, IngestError where the store's folder cannot be used, and MemoryProblemError when
    not even the first step can be recorded.
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
            tries = int(past[name].told.get("tries", 1)) + 1 if name in past else 1
            on_write(f"{name} begins")
            try:
                records.begin_step(night, name, tries)
                on_write(f"{name} begun")
                step = result.steps[name] = _run_step(name, run)
                on_step(name, step)
                on_write(f"{name} ends")
                records.end_step(night, name, step.outcome, {**step.told, "tries": tries})
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
    """Return the night that a run at `now` is of, and its steps so far.

    `newest`: the steps of the newest night. A night is named by the day (of this machine) on which it began.
    One that is not over is gone on with during twelve hours, past midnight, too.
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
        return StepResult("stopped", {"problem": "stopped at once; what it had not finished is undone"})
    except (IngestError, MemoryProblemError) as problem:
        return StepResult("failed", {"problem": str(problem)}, ends_night=name == "load")
    except Exception as mistake:
        traceback.print_exc()
        # What it says may quote a log, and nobody would remove that from the memory again.
        told = f"{type(mistake).__name__}; the output of the night says more"
        return StepResult("failed", {"problem": told})
