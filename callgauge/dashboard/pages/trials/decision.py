"""Records a decision on a trial run: the variants, the difference in the primary measure, the verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from callgauge.analysis.measures.trials import RunResults, StoredLook, TrialRun
from callgauge.analysis.verdicts.trials import name_arm
from callgauge.dashboard.components.memory.decision_form import draw_decide
from callgauge.dashboard.components.memory.saved_views import read_query
from callgauge.memory.decisions import FrozenComparison, FrozenSide


def draw_trial_decision(
    run: TrialRun, results: RunResults, looks: Mapping[str, Sequence[StoredLook]], sentence: str
) -> None:
    """Draw the popover that records a decision on a trial run.

    Draws nothing when the trial run has a single variant.
    """
    figures = {
        name_arm(name): (_suggest_title(run, name, looks), _freeze(run, results, looks, name, sentence))
        for name in run.others
    }
    if figures:
        draw_decide("trial", figures, f"trials?{read_query()}")


def _suggest_title(run: TrialRun, name: str, looks: Mapping[str, Sequence[StoredLook]]) -> str:
    analyses = looks.get(name)
    is_better = bool(analyses) and analyses is not None and analyses[-1].decision == "better"
    return f"Take {name_arm(name)}" if is_better else f"Keep {name_arm(run.reference)}"


def _freeze(
    run: TrialRun,
    results: RunResults,
    looks: Mapping[str, Sequence[StoredLook]],
    name: str,
    sentence: str,
) -> FrozenComparison:
    difference, _ = results.compare(name, run.primary, looks.get(name, ()))
    return FrozenComparison(
        run.primary.name,
        sentence,
        _freeze_arm(run, results, name),
        _freeze_arm(run, results, run.reference),
        difference.estimate if difference else None,
        difference.low if difference else None,
        difference.high if difference else None,
        None,
        f"{difference.kind} interval over {difference.tasks} tasks" if difference else "",
        run.run,
    )


def _freeze_arm(run: TrialRun, results: RunResults, name: str) -> FrozenSide:
    total = results.total(name, run.primary)
    bounds = total.interval
    low, high = (bounds.low, bounds.high) if bounds else (None, None)
    return FrozenSide(name_arm(name), float(total.k), float(total.n), total.replied, low, high)
