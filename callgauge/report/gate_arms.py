"""Which two slices a gate of a store compares: its baseline, and the newest days of the same slice."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from datetime import date, timedelta

from callgauge.analysis.arm_filters import Arm
from callgauge.analysis.comparisons.strata_queries import Ask
from callgauge.analysis.time_ranges import Days, read_range
from callgauge.memory.baselines import Baseline
from callgauge.stats.gate_syntax import GateSyntaxError

Labels = Mapping[str, Mapping[str, str]]


def read_labels(ask: Ask) -> Labels:
    """Return the label of each value, by dimension, the most used values first."""
    rows = ask("choices")
    return {
        str(dimension): dict(zip(its.value, its.label, strict=True))
        for dimension, its in rows.groupby("dimension", sort=False)
    }


def choose_gate_arms(
    newest: date,
    labels: Labels,
    kept: Sequence[Baseline],
    baseline: str,
    days: str,
    chosen: Mapping[str, Sequence[str]],
) -> tuple[Arm, Arm]:
    """Return A, the baseline, and B, the slice that is judged. Raises GateSyntaxError.

    `newest`: the newest day of the store. `baseline`: the name of a kept one, days, or how many days before
    those of B. `days`: of B. `chosen`: values of B by dimension, by their name or label; where the baseline
    is pinned to others, it keeps its own, and where B names none, B has the baseline's.
    """
    own = {name: _find_values(name, values, labels) for name, values in chosen.items() if values}
    of_b = _read_days(days, newest)
    pinned: Mapping[str, tuple[str, ...]] = {}
    found = next((one for one in kept if one.name == baseline), None)
    if found is not None:
        of_a, pinned = found.days, found.slice
    else:
        try:
            span = read_range(baseline)
        except ValueError:
            raise GateSyntaxError(_describe_unknown(baseline, [one.name for one in kept])) from None
        if span.length is not None:
            of_a = of_b[0] - timedelta(span.length), of_b[0] - timedelta(1)
        else:
            of_a = _read_days(baseline, newest)
    return Arm("A", {**own, **pinned}, of_a), Arm("B", {**pinned, **own}, of_b)


def _read_days(text: str, newest: date) -> Days:
    try:
        span = read_range(text).resolve(newest, newest)
    except ValueError as problem:
        raise GateSyntaxError(str(problem)) from None
    if span is None:
        raise GateSyntaxError(
            f"{text!r}: a gate compares days with others; write 7 days, or a first and a last day"
        )
    return span


def _find_values(dimension: str, asked: Sequence[str], labels: Labels) -> tuple[str, ...]:
    """Return the values that a person means, by their value or label."""
    known = labels.get(dimension, {})
    by_label = {label: value for value, label in known.items()}
    found = []
    for one in asked:
        value = one if one in known else by_label.get(one)
        if value is None:
            near = difflib.get_close_matches(one, [*known, *by_label], n=1)
            advice = (
                f"did you mean {near[0]!r}?"
                if near
                else f"there are {', '.join(list(by_label)[:10]) or 'none'}"
            )
            raise GateSyntaxError(f"the store has no {dimension} {one!r}; {advice}")
        found.append(value)
    return tuple(found)


def _describe_unknown(baseline: str, names: Sequence[str]) -> str:
    known = f"the team keeps {', '.join(names[:10])}" if names else "the team keeps none yet"
    return (
        f"{baseline!r} is no baseline: {known}; or write days: 7 days (before those that are judged), "
        "2026-11-01 to 2026-11-07"
    )
