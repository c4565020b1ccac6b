"""What a step of a night is given, and what it tells."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from callgauge.configuration.settings import Configuration
from callgauge.memory.night_steps import Outcome
from callgauge.nightly.source_loads import ShowProgress
from ingest.store.generations import OnWrite, Patience, ignore_write


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
