"""The words and the data of a trial run's gate, in the same form as for the gate of a store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any
from urllib.parse import urlencode

from callgauge.analysis import wording
from callgauge.analysis.verdicts.trials import (
    NOUNS,
    name_arm,
    write_bare,
    write_change,
    write_ends,
    write_size,
)
from callgauge.documents.gate_text import GateSideText, GateText, write_sentence
from callgauge.stats.gate_syntax import EXIT_CODES
from callgauge.trials.verdicts.gate import ArmGate, ArmSide, GateResult
from callgauge.trials.verdicts.measures import MEASURES, Measure
from callgauge.trials.verdicts.run_record import RunRecord, count_whole_tasks, open_arms

_NAMED = 3  # A sentence names at most this many tasks.


def explain_gates(record: RunRecord, gates: Sequence[GateResult]) -> list[GateText]:
    """Return the verdict of each gate on each variant in words."""
    notes = _describe_state(record)
    link = f"/trials?{urlencode({'run': str(record.lock['run'])})}"
    return [_explain_arm(record, gate, arm, notes, link) for gate in gates for arm in gate.arms]


def _explain_arm(record: RunRecord, gate: GateResult, arm: ArmGate, notes: str, link: str) -> GateText:
    measure = MEASURES[gate.measure]
    difference = ""
    if arm.estimate is not None and arm.low is not None and arm.high is not None:
        ends = write_ends(measure, arm.low, arm.high)
        difference = f"{write_change(measure, arm.estimate)} ({ends})"
    return GateText(
        arm.verdict,
        NOUNS[gate.measure],
        write_size(measure, gate.margin),
        _explain_side(measure, arm.slice or ArmSide(arm.arm, 0, 0)),
        _explain_side(measure, arm.baseline or ArmSide("", 0, 0)),
        difference,
        bool(difference),
        f"{_describe_reason(arm, measure, record.design.reference)} {notes}".rstrip(),
        _describe_changes(arm),
        link,
    )


def _explain_side(measure: Measure, side: ArmSide) -> GateSideText:
    if measure.is_share:
        counts = wording.fraction(round(side.k), round(side.n))
    else:
        counts = f"mean of {wording.plural(round(side.n), 'trial')}"
    interval = ""
    if side.low is not None and side.high is not None:
        low, high = (write_bare(measure, end) for end in (side.low, side.high))
        interval = f"95% {low.rstrip('%')}–{high}"
    unit = " tokens" if measure.unit == "tokens" else ""
    return GateSideText(side.name, f"{write_bare(measure, side.rate)}{unit}", counts, interval)


def _describe_reason(arm: ArmGate, measure: Measure, reference: str) -> str:
    """Return the sentences on the basis of a verdict, or on the data that a verdict needs."""
    if arm.estimate is None:
        return (
            f"Fewer than two tasks of {name_arm(arm.arm)} and {name_arm(reference)} have a measured value of "
            f"{measure.name}; `callgauge trial report DIR --full` says why."
        )
    tasks = wording.plural(arm.changes.tasks, "task")
    names = f"{name_arm(arm.arm)} and {name_arm(reference)}"
    basis = f"{names} ran the same {tasks}; the interval is corrected for interim analyses."
    if arm.why:
        return f"{basis} No verdict: {arm.why}. Run the trial again when the endpoint answers."
    if arm.verdict != "cannot be told":
        return basis
    if arm.more is None:
        return f"{basis} How many more tasks a verdict needs is unknown."
    more = wording.plural(arm.more, "more task")
    return f"{basis} About {more} would decide if the difference stays the same."


def _describe_changes(arm: ArmGate) -> tuple[str, ...]:
    """Return in how many tasks the variant is worse and better, and the worst tasks."""
    changes = arm.changes
    if not changes.worse:
        return ()
    names = [name_arm(task) for task in changes.worse[:_NAMED]]
    more = len(changes.worse) - _NAMED
    listed = wording.list_words([*names, f"{more:,} more"] if more > 0 else names)
    worse = f"worse in {len(changes.worse):,} of {wording.plural(changes.tasks, 'task')} ({listed})"
    return (f"{worse}, better in {changes.better:,}",)


def _describe_state(record: RunRecord) -> str:
    """Return sentences on tasks that have not run and on damaged lines, or "" for a whole trial run."""
    sentences = []
    if not record.is_over:
        arms = [record.design.reference, *open_arms(record.design, record.looks)]
        whole = count_whole_tasks(record.tasks, record.repeats, arms, record.outcomes)
        sentences.append(
            f"The trial run has finished {whole:,} of {wording.plural(record.design.planned, 'task')}; "
            "`callgauge trial run` continues it."
        )
    if record.unread:
        sentences.append(
            f"{wording.plural(record.unread, 'line')} of ledger.jsonl could not be read; `callgauge trial "
            "run` restores such lines from the logs of the sessions."
        )
    return " ".join(sentences)


def list_results(record: RunRecord, gates: Sequence[GateResult]) -> list[dict[str, Any]]:
    """Return the verdicts as data, with the same keys as the gate of a store."""
    texts = iter(explain_gates(record, gates))
    results = []
    for gate in gates:
        for arm, text in zip(gate.arms, texts, strict=False):
            ends = {"estimate": arm.estimate, "low": arm.low, "high": arm.high}
            difference = ends if arm.estimate is not None else None
            results.append(
                {
                    "rate": gate.measure,
                    "margin": gate.margin,
                    "verdict": arm.verdict,
                    "why": text.explanation,
                    "slice": asdict(arm.slice) if arm.slice else None,
                    "baseline": asdict(arm.baseline) if arm.baseline else None,
                    "difference": difference,
                    "decided_by": difference,
                    "at_same_mix": False,
                    "link": text.link,
                    "sentence": write_sentence(text),
                    "details": text.explanation,
                    "where": [],
                    "parts": list(text.where),
                    "tasks": asdict(arm.changes),
                    "exit_code": EXIT_CODES[arm.verdict],
                    "text": write_sentence(text),
                }
            )
    return results
