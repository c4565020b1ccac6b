"""The first step of a night: loads all sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from callgauge.nightly.night_runs import NightRun, StepResult, skip_step
from callgauge.nightly.source_loads import SourceLoad, load_sources


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
