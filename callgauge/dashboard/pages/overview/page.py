"""The page Overview: the best model, what needs attention, the leading rates, and failures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import streamlit as st

from callgauge.analysis.comparisons.rankings import list_ranked_rates
from callgauge.analysis.measures.measurability import rates_to_compare
from callgauge.analysis.measures.rates import RateDefinition
from callgauge.analysis.measures.slices import Slice
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components import cards, fault_cards
from callgauge.dashboard.components.controls.rate_choice import choose_rate, read_smallest
from callgauge.dashboard.components.controls.url_widgets import draw_fold, draw_popover
from callgauge.dashboard.components.memory.compared_days import choose_compared_days, draw_named_days
from callgauge.dashboard.components.memory.goals import draw_goals_form, read_goals
from callgauge.dashboard.components.rate_trend import draw_rate_trend
from callgauge.dashboard.pages.overview.attention import draw_attention
from callgauge.dashboard.pages.overview.headline_rates import (
    HEADLINES,
    RATES_BY_DAY,
    baseline_rates,
    draw_headlines,
    merge_days,
    read_baseline,
    read_costs,
    read_days,
)
from callgauge.dashboard.pages.overview.load_line import draw_load_line
from callgauge.dashboard.pages.overview.which_model import draw_models, rank_models, write_answer
from callgauge.dashboard.pages.overview.which_prompt import draw_which_prompt
from callgauge.dashboard.shown_slices import ask_slices
from callgauge.memory.records import Goal

_ANSWERS = 330  # height in pixels of the cards in the first row, so that nothing moves while they load


def show() -> None:
    chosen = filters.chosen_filters().parameters()
    goals = read_goals()
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="page_head"):
        st.title("Overview", anchor=False, width="content")
        rate = choose_rate(words="By")
    _ask_all_slices(rate, chosen)
    by_day = read_days(chosen)
    rates = merge_days(by_day, chosen)
    if not any(whole.total for whole in rates.values()):
        cards.show_no_matches("calls or turns")
        return
    smallest, costs = read_smallest(), read_costs(chosen)
    models = rank_models(rate, chosen, smallest, costs)
    if models:
        cards.draw_answer(write_answer(models), 900)
    draw_load_line(rates["emission"].total if "emission" in rates else 0)
    wide, narrow = st.columns([8, 5], gap="small")
    with wide:
        draw_models(models, rate, height=_ANSWERS)
    with ExitStack() as waiting:
        with narrow, st.container(height="stretch", gap="small"):
            attention = st.container(height="stretch")
            with attention:
                waiting.enter_context(st.skeleton(height=_ANSWERS // 3))
            draw_which_prompt(rate, chosen, smallest, height=_ANSWERS // 2)
        before = read_baseline(rate, chosen, related=False)
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key="compared_days"):
            choose_compared_days()
            with st.container(width="content"):
                draw_popover("Settings", "overview_settings", lambda: _draw_settings(goals))
        draw_headlines(rates, by_day, before, goals, costs)
        wide, narrow = st.columns([8, 5], gap="small")
        with narrow:
            fault_cards.draw_layers(chosen)
        _draw_diagnostics(chosen, rates.get("defined"))
        # This card comes last, because it reads many days and the rest of the page need not wait for it.
        with attention:
            draw_attention(chosen, goals, rates)
    with wide:
        _draw_trend(rate, chosen, read_baseline(rate, chosen, related=True))


def _ask_all_slices(rate: RateDefinition, chosen: Mapping[str, Any]) -> None:
    """Read the slices of all cards with one query, which takes half as long as one query for each card."""
    queries = [
        {"rates": RATES_BY_DAY, "by": "day", **chosen},
        {"rates": list_ranked_rates(rate), "by": "model", **chosen},
        {"rates": rates_to_compare(rate.name), "by": "prompt", **chosen},
        {"rates": (rate.name,), "by": "model", "also": "day", **chosen},
    ]
    baseline = filters.baseline_parameters(chosen)
    if baseline and not filters.baseline_slice():
        queries.append({"rates": baseline_rates(rate), "by": "model", **baseline})
    store_queries.ask_slices_together(queries)


def _draw_settings(goals: Mapping[str, Goal]) -> None:
    draw_goals_form(HEADLINES, goals)
    draw_named_days()


def _draw_trend(rate: RateDefinition, chosen: Mapping[str, Any], before: Sequence[Slice] | None) -> None:
    draw_rate_trend(
        f"{rate.title} by day and model",
        ask_slices(rates=(rate.name,), by="model", also="day", **chosen),
        rate,
        "model",
        key="trend",
        before=[each for each in before or () if each.rate is rate],
    )


def _draw_diagnostics(chosen: Mapping[str, Any], defined: Slice | None) -> None:
    fold = draw_fold("Parser diagnostics", "found")
    if fold is not None:
        with fold:
            judged = (defined.share.n, defined.total) if defined else (0, 0)
            fault_cards.draw_findings(chosen, *judged, framed=False)


show()
