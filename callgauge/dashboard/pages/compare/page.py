"""The page Compare, which shows whether slice B is better than A, for which values, and what else differs."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from callgauge.analysis import arm_filters, wording
from callgauge.analysis.comparisons.sides import JudgedSides, judge_sides
from callgauge.analysis.verdicts.headlines import ArmNames, suggest_decision, write_headline
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.breakdown_table import draw_breakdown, draw_headline
from callgauge.dashboard.components.controls.rate_choice import choose_rate, choose_smallest
from callgauge.dashboard.components.controls.url_widgets import draw_tabs
from callgauge.dashboard.components.memory.changes import read_records
from callgauge.dashboard.pages.compare.all_rates import draw_all_rates
from callgauge.dashboard.pages.compare.arms import (
    are_same,
    calls_link,
    choose_arms,
    choose_at_once,
    draw_swap,
    read_labels,
)
from callgauge.dashboard.pages.compare.costs import draw_pass_k
from callgauge.dashboard.pages.compare.decision import draw_compare_decision, freeze_comparison
from callgauge.dashboard.pages.compare.exports import make_breakdown_export
from callgauge.dashboard.pages.compare.verdict import draw_nothing, draw_warnings, draw_ways
from callgauge.dashboard.pages.compare.work_makeup import draw_makeup

_LONGEST = 60
_TABS = {
    "rates": "All rates",
    "ways": "The difference in several ways",
    "work": "What differs in their work",
    "tasks": "Same tasks",
}


def show() -> None:
    title = st.container()
    labels = read_labels()
    if not labels:
        title.title("Compare", anchor=False)
        cards.show_no_matches("calls")
        return
    extent = store_queries.ask("extent").iloc[0]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        arms = choose_arms(labels, extent.first_day, extent.last_day)
        draw_swap()
    at_once, answer = st.container(), st.container()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        rate = choose_rate()
        with st.popover("Settings", type="tertiary", width="content"):
            smallest = choose_smallest()
    with at_once:  # drawn only now, because the links keep slice B, which was not chosen earlier
        choose_at_once(rate, labels, extent.first_day, extent.last_day, read_records().baselines)
    if filters.chosen_filters().active_names():
        answer.caption("The filter bar narrows both slices, unless a slice has its own choice.")
    if are_same(arms):
        title.title("Compare", anchor=False)
        with answer:
            cards.draw_answer(
                "Nothing to compare yet: choose a model, a prompt or days for A and for B.", 200
            )
        return
    arm_names = arm_filters.name_arms(*arms, labels)
    judged = store_queries.derive(
        lambda ask: judge_sides(ask, arms, arm_names, rate, smallest),
        *("judged sides", arms, arm_names, rate.name, smallest),
    )
    a, b, comparison = judged.a, judged.b, judged.comparison
    names = ArmNames(*(wording.short_name(side.name, _LONGEST) for side in (b, a)))
    title.title(wording.in_markdown(f"{names.of} against {names.against}", 300), anchor=False)
    reason = f"{judged.basis.reason[0].upper()}{judged.basis.reason[1:]}." if judged.basis.reason else ""
    if judged.basis.rate is None:
        with answer:
            cards.draw_answer(reason, 400)
    elif comparison is None or judged.breakdown is None:
        with answer:
            draw_nothing(a, b, judged.rate)
    else:
        breakdown, calls = judged.breakdown, judged.rate.calls
        sentence = write_headline(breakdown, names, filters.short_label, smallest)
        decision = suggest_decision(breakdown, names, smallest)
        with answer:
            draw_headline(breakdown, names, smallest, sentence)
            draw_compare_decision(decision, freeze_comparison(a, b, judged.rate, comparison, sentence))
            draw_warnings(a, b, judged.rate, comparison, reason)

        def link(place: int, narrowed: Mapping[str, str]) -> str | None:
            return calls_link(arms[place], calls, narrowed) if calls else None

        draw_breakdown(breakdown, names, smallest, link, make_breakdown_export(a, b, judged.rate))
    _draw_tabs(judged, smallest)


def _draw_tabs(judged: JudgedSides, smallest: float) -> None:
    a, b, comparison = judged.a, judged.b, judged.comparison
    with draw_tabs("show", _TABS) as tab:
        if tab == "rates":
            draw_all_rates(a, b, comparison, smallest)
        elif tab == "ways":
            draw_ways(a, b, judged.rate, comparison)
        elif tab == "work":
            draw_makeup(a, b)
        else:
            draw_pass_k(a, b)


show()
