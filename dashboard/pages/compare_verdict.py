"""Two slices and a rate in, the answer out: a sentence, and the difference in several ways."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isnan

import streamlit as st

from dashboard import answers, contrasts, verdicts, wording
from dashboard.pages.compare_arms import calls_link, overlap_note
from dashboard.pages.compare_sides import Side, strata_of, to_take
from dashboard.rates import Rate
from dashboard.slices import MEASURED_ENOUGH, Against, Slice
from dashboard.statistics import Difference, bootstrapped, difference, paired
from dashboard.statistics.mixes import Adjusted, standardised
from dashboard.widgets import cards
from dashboard.widgets.difference_cells import difference_cell, difference_column, reach_of
from dashboard.widgets.sheet import Cell, Column, sheet
from dashboard.widgets.urlstate import url_widget

BY_TASK = ("parse_error", "recorded_ok", "derived_ok")
_ORIGINS = {"log": "the log's own task id", "first message": "the same first message"}
_OTHER_INTERVAL = "The interval of the draws and the one above should be alike."


@dataclass(frozen=True, slots=True)
class Way:
    """One way to compare: both rates where it has its own, the difference, and what it rests on."""

    title: str
    a: str
    b: str
    found: Difference
    rests_on: str
    thin: bool = False


def verdict_card(a: Side, b: Side, rate: Rate) -> None:
    with cards.card(
        f"{rate.title}: B against A",
        "slices",
        "shared_tasks",
        "session_counts",
        take=cards.Take(f"compare_{rate.name}", to_take(a.arm, b.arm, "slices", rates=(rate.name,))),
        height=320,
    ):
        first, second = a.whole(rate), b.whole(rate)
        plain = difference(second.share, first.share) if first and second else None
        if first is None or second is None or plain is None:
            _nothing(a, b, rate)
            return
        with st.container(key="verdict"):
            sentence = verdicts.verdict(second, first, plain)
            st.subheader(wording.in_markdown(sentence, 600), anchor=False)
        st.caption(f"{plain.method}. {_measured(a, first)} {_measured(b, second)}")
        adjusted = standardised(contrasts.strata(strata_of(a.arm, rate), strata_of(b.arm, rate)))
        for warning in _warnings(a, b, rate, first, second, adjusted):
            st.warning(warning, icon=":material/warning:")
        drawn_anew = _drawn_anew_choice()
        ways = list(_ways(a, b, rate, plain, adjusted, anew=drawn_anew))
        _sheet(a, b, rate, ways, second)
        st.caption(_notes(a, b, rate, anew=drawn_anew))


def _nothing(a: Side, b: Side, rate: Rate) -> None:
    unseen = [one.name for one in (a, b) if not ((whole := one.whole(rate)) and whole.share.n)]
    st.subheader(
        wording.in_markdown(
            f"Nothing to compare: no {rate.noun} of {' or of '.join(unseen)} could be judged."
        ),
        anchor=False,
    )
    st.caption("Choose another rate, or widen what narrows that slice.")


def _measured(side: Side, whole: Slice) -> str:
    known = wording.unmeasured(whole.share.n, whole.total)
    return f"{side.arm.letter}, {wording.in_markdown(side.name, 80)}: {known}."


def _warnings(
    a: Side, b: Side, rate: Rate, first: Slice, second: Slice, adjusted: Adjusted | None
) -> Iterator[str]:
    for side, whole in ((a, first), (b, second)):
        if not whole.rankable:
            yield (
                f"Less than {100 * MEASURED_ENOUGH:.0f}% of the {rate.noun}s of {side.arm.letter} could be "
                "judged: those that could may be unlike the others."
            )
    if adjusted is not None and adjusted.flips:
        certain = "" if adjusted.difference.decisive else ", though not decisively"
        yield (
            f"The mix turns the order round{certain}: at the same mix of {contrasts.mix_of(rate)} the "
            f"difference is {verdicts.span(adjusted.difference)}. The two get different work; see what "
            "differs below."
        )
    overlap = overlap_note(a.arm, b.arm)
    if overlap:
        yield overlap


def _ways(
    a: Side, b: Side, rate: Rate, plain: Difference, adjusted: Adjusted | None, *, anew: bool
) -> Iterator[Way]:
    yield Way("As they are", "", "", plain, plain.method)
    if adjusted is not None:
        yield Way(
            f"At the same mix of {contrasts.mix_of(rate)}",
            wording.percent(adjusted.against),
            wording.percent(adjusted.of),
            adjusted.difference,
            f"{adjusted.difference.method}: {wording.percent(adjusted.covered)} of the {rate.noun}s are in "
            "strata that both have",
            thin=not adjusted.covers,
        )
    yield from _by_task(a, b, rate)
    if anew:
        yield from _drawn_anew(a, b, rate, plain)


def _by_task(a: Side, b: Side, rate: Rate) -> Iterator[Way]:
    if rate.name not in BY_TASK or a.arm.split_by_call() or b.arm.split_by_call():
        return
    rows = answers.ask("shared_tasks", measure=rate.name, **a.arm.prefixed(), **b.arm.prefixed())
    for origin, its in rows.groupby("origin"):
        differences = (its.b_k / its.b_n - its.a_k / its.a_n).astype(float).tolist()
        tasks = its.tasks.astype(int).tolist()
        found = paired(differences, tasks)
        if found is None:
            continue
        first, second = (
            sum(k / n * many for k, n, many in zip(its[f"{arm}_k"], its[f"{arm}_n"], tasks, strict=True))
            / sum(tasks)
            for arm in "ab"
        )
        yield Way(
            "On the tasks that both saw",
            wording.percent(first),
            wording.percent(second),
            found,
            f"{found.method}; a task is told by {_ORIGINS.get(str(origin), 'its name')}",
        )


def _drawn_anew(a: Side, b: Side, rate: Rate, plain: Difference) -> Iterator[Way]:
    counts = [answers.ask("session_counts", rate=rate.name, **one.arm.parameters()) for one in (b, a)]
    pairs = [list(zip(rows.k.astype(int), rows.n.astype(int), strict=True)) for rows in counts]
    weights = tuple(rows.sessions.astype(int).tolist() for rows in counts)
    found = bootstrapped(pairs[0], pairs[1], (weights[0], weights[1]))
    if found is None:
        return
    sessions = " and ".join(f"{sum(many):,}" for many in reversed(weights))
    low, high = found
    anew = Difference(plain.estimate, low, high, float("nan"), "cluster bootstrap, 95 %")
    yield Way("Whole sessions drawn anew", "", "", anew, f"{anew.method}: 2,000 draws of {sessions} sessions")


def _drawn_anew_choice() -> bool:
    return url_widget(
        lambda key: st.toggle("Check by drawing whole sessions anew", key=key),
        "anew",
        False,
        lambda text: text == "yes",
        lambda _: "yes",
    )


def _sheet(a: Side, b: Side, rate: Rate, ways: list[Way], of: Slice) -> None:
    held = [Against(of, way.found, way.found.p) for way in ways]
    reach = reach_of(held)
    columns = [
        Column("Compared", "text"),
        Column(f"A: {wording.one_line(a.name, 40)}", "number"),
        Column(f"B: {wording.one_line(b.name, 40)}", "number"),
        difference_column("B − A", reach),
        Column("p", "number", "Two-sided; of this comparison alone"),
        Column("Rests on", "text"),
    ]
    rows = [
        [
            Cell(way.title),
            _plain_cell(a, rate) if way is ways[0] else Cell(way.a or "–"),
            _plain_cell(b, rate) if way is ways[0] else Cell(way.b or "–"),
            difference_cell(each, reach),
            Cell("–" if isnan(way.found.p) else chance(way.found.p)),
            Cell(way.rests_on, pale=way.thin),
        ]
        for way, each in zip(ways, held, strict=True)
    ]
    sheet("compared", "The difference, compared in several ways", columns, rows)


def _plain_cell(side: Side, rate: Rate) -> Cell:
    whole = side.whole(rate)
    if whole is None:
        return Cell("–")
    share = whole.share
    href = calls_link(side.arm, rate.calls) if rate.calls and share.k else None
    sub = f"{wording.of(share.k, share.n)} · {wording.interval(share.interval)}"
    return Cell(wording.rate(share.k, share.n), sub=sub, href=href, title=share.method)


def chance(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def _notes(a: Side, b: Side, rate: Rate, *, anew: bool) -> str:
    split = sorted({*a.arm.split_by_call(), *b.arm.split_by_call()})
    parts = []
    if rate.name not in BY_TASK:
        parts.append("Task by task: parse errors and the two verdicts on turns only.")
    elif split:
        parts.append(f"Not task by task: a task is tried by a whole session, which has no one {split[0]}.")
    if anew:
        parts.append(_OTHER_INTERVAL)
    parts.append("Negative: B has less of it than A.")
    return " ".join(parts)
