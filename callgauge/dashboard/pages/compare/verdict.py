"""Draws the main result of the page Compare: a sentence, and the difference by several methods."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isnan

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.comparisons.sides import CompareSide, list_cautions
from callgauge.analysis.measures.comparisons import SliceComparison
from callgauge.analysis.measures.rates import RateDefinition
from callgauge.analysis.measures.same_mix import SameMix
from callgauge.analysis.measures.slices import Slice
from callgauge.analysis.verdicts.headlines import ArmNames
from callgauge.dashboard import store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.breakdown_table import name_columns
from callgauge.dashboard.components.controls.rate_choice import choose_toggle
from callgauge.dashboard.components.difference_cells import difference_cell, difference_column, track_reach
from callgauge.dashboard.components.slice_table import share_cell
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.pages.compare.arms import calls_link
from callgauge.dashboard.pages.compare.exports import make_export
from callgauge.stats import Difference, bootstrap_interval, compare_paired

BY_TASK = ("parse_error", "turn_success", "recorded_ok", "derived_ok")
_ORIGINS = {"log": "the log's own task id", "first message": "the same first message"}
_OTHER_INTERVAL = (
    "The last row's interval comes from drawing whole sessions at random; the first row's from a formula. "
    "Where they differ much, trust neither: few sessions decide the result."
)


@dataclass(frozen=True, slots=True)
class ComparisonWay:
    """One method to compute the difference between the two slices.

    `a` and `b` are the rates of both slices as text, or empty if the method uses the plain rates. `rests_on`
    describes the method and its data. `thin` is True when less than 80 % of the data is in strata that both
    slices have.
    """

    title: str
    a: str
    b: str
    found: Difference
    rests_on: str
    thin: bool = False


def draw_ways(
    a: CompareSide, b: CompareSide, rate: RateDefinition, comparison: SliceComparison | None
) -> None:
    """Draw the difference between slice B and slice A by several methods."""
    with cards.draw_card(
        f"{rate.title}: the difference",
        "slices",
        "strata",
        "shared_tasks",
        "session_counts",
        take=cards.Download(f"compare_{rate.name}", make_export(a.arm, b.arm, "slices", rates=(rate.name,))),
        height=240,
        verdict="difference",
    ):
        if comparison is None or comparison.plain is None or comparison.other is None:
            st.caption("Nothing to compare: choose another rate, or widen what narrows a slice.")
            return
        drawn_anew = choose_toggle("Check the interval by resampling sessions", "anew")
        ways = list(_list_ways(a, b, rate, comparison.plain, comparison.same_mix, anew=drawn_anew))
        _draw_ways_table(a, b, rate, ways, comparison.slice)
        measured = f"{_describe_measured(a, comparison.other)} {_describe_measured(b, comparison.slice)}"
        st.caption(f"{measured} {_describe_notes(a, b, rate, anew=drawn_anew)}")


def draw_nothing(a: CompareSide, b: CompareSide, rate: RateDefinition) -> None:
    """Draw a sentence that names the slice for which the rate was not measured."""
    unseen = [side.name for side in (a, b) if not ((whole := side.whole_slice(rate)) and whole.share.n)]
    sentence = f"Nothing to compare: no {rate.noun} of {' or of '.join(unseen)} was measured."
    cards.draw_answer(sentence, 300)
    st.caption("Choose another rate, or widen what narrows that slice.")


def draw_warnings(
    a: CompareSide, b: CompareSide, rate: RateDefinition, comparison: SliceComparison, reason: str
) -> None:
    """Draw the reasons to doubt the comparison, such as few measurements or overlapping slices.

    `reason` says why the comparison uses another rate than the chosen rate. It is empty when the chosen rate
    is used.
    """
    for warning in filter(None, [reason, *list_cautions(a, b, rate, comparison)]):
        st.warning(warning, icon=":material/warning:")


def _describe_measured(side: CompareSide, whole: Slice) -> str:
    coverage = wording.known_share(whole.share.n, whole.total, whole.rate.noun)
    return f"{side.arm.letter}, {wording.in_markdown(side.name, 80)}: {coverage}."


def _list_ways(
    a: CompareSide,
    b: CompareSide,
    rate: RateDefinition,
    plain: Difference,
    same_mix: SameMix | None,
    *,
    anew: bool,
) -> Iterator[ComparisonWay]:
    yield ComparisonWay("Unadjusted", "", "", plain, plain.method)
    if same_mix is not None and same_mix.by:
        adjusted = same_mix.found
        yield ComparisonWay(
            f"Mix-adjusted by {same_mix.words}",
            wording.percent(adjusted.against),
            wording.percent(adjusted.of),
            adjusted.difference,
            f"{adjusted.difference.method}: {wording.percent(adjusted.covered)} of the {rate.noun}s are in "
            "groups that both have",
            thin=not adjusted.is_representative,
        )
    yield from _compare_by_task(a, b, rate)
    if anew:
        yield from _bootstrap(a, b, rate, plain)


def _compare_by_task(a: CompareSide, b: CompareSide, rate: RateDefinition) -> Iterator[ComparisonWay]:
    if rate.name not in BY_TASK or a.arm.split_by_call() or b.arm.split_by_call():
        return
    rows = store_queries.ask("shared_tasks", measure=rate.name, **a.arm.add_prefix(), **b.arm.add_prefix())
    for origin, group in rows.groupby("origin"):
        differences = (group.b_k / group.b_n - group.a_k / group.a_n).astype(float).tolist()
        tasks = group.tasks.astype(int).tolist()
        difference = compare_paired(differences, tasks)
        if difference is None:
            continue
        first, second = (
            sum(k / n * many for k, n, many in zip(group[f"{arm}_k"], group[f"{arm}_n"], tasks, strict=True))
            / sum(tasks)
            for arm in "ab"
        )
        yield ComparisonWay(
            "On the tasks that both saw",
            wording.percent(first),
            wording.percent(second),
            difference,
            f"{difference.method}; a task is known by {_ORIGINS.get(str(origin), 'its name')}",
        )


def _bootstrap(
    a: CompareSide, b: CompareSide, rate: RateDefinition, plain: Difference
) -> Iterator[ComparisonWay]:
    counts = [store_queries.ask("session_counts", rate=rate.name, **side.arm.parameters()) for side in (b, a)]
    pairs = [list(zip(rows.k.astype(int), rows.n.astype(int), strict=True)) for rows in counts]
    weights = tuple(rows.sessions.astype(int).tolist() for rows in counts)
    interval = bootstrap_interval(pairs[0], pairs[1], (weights[0], weights[1]))
    if interval is None:
        return
    sessions = " and ".join(f"{sum(many):,}" for many in reversed(weights))
    low, high = interval
    anew = Difference(plain.estimate, low, high, float("nan"), "cluster bootstrap, 95 %")
    yield ComparisonWay(
        "Unadjusted, sessions resampled", "", "", anew, f"{anew.method}: 2,000 draws of {sessions} sessions"
    )


def _draw_ways_table(
    a: CompareSide, b: CompareSide, rate: RateDefinition, ways: list[ComparisonWay], slice_: Slice
) -> None:
    comparisons = [SliceComparison(slice_, way.found, way.found.p) for way in ways]
    reach = track_reach(comparisons)
    columns = [
        Column("Compared", "text"),
        *name_columns(ArmNames(b.name, a.name)),
        difference_column("Difference", reach),
        Column("p", "number", "Two-sided; of this comparison alone"),
        Column("Rests on", "text"),
    ]
    rows = [
        [
            Cell(way.title),
            _plain_cell(a, rate) if way is ways[0] else Cell(way.a or "–"),
            _plain_cell(b, rate) if way is ways[0] else Cell(way.b or "–"),
            difference_cell(each, reach),
            Cell("–" if isnan(way.found.p) else format_chance(way.found.p)),
            Cell(way.rests_on, pale=way.thin),
        ]
        for way, each in zip(ways, comparisons, strict=True)
    ]
    draw_table("compared", "The difference, compared in several ways", columns, rows)


def _plain_cell(side: CompareSide, rate: RateDefinition) -> Cell:
    whole = side.whole_slice(rate)
    if whole is None:
        return Cell("–")
    share = whole.share
    href = calls_link(side.arm, rate.calls) if rate.calls and share.k else None
    return share_cell(share, None, href=href, pale=False, title=share.method_name, ordered=False)


def format_chance(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def _describe_notes(a: CompareSide, b: CompareSide, rate: RateDefinition, *, anew: bool) -> str:
    split = sorted({*a.arm.split_by_call(), *b.arm.split_by_call()})
    parts = ["Negative: less of it than the baseline."]
    if rate.name not in BY_TASK:
        parts.append("Task by task: parse errors and the two verdicts on turns only.")
    elif split:
        parts.append(f"Not task by task: a task is tried by a whole session, which has no one {split[0]}.")
    if anew:
        parts.append(_OTHER_INTERVAL)
    return " ".join(parts)
