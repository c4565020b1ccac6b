"""Card that answers which model makes the best calls, by a rate that one chooses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.comparisons.rankings import JudgedRanking, judge_ranking, read_ranked_slices
from callgauge.analysis.measures.costs import Cost, CostSummary
from callgauge.analysis.measures.rates import RateDefinition
from callgauge.analysis.measures.slices import Slice
from callgauge.dashboard import store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.links import draw_link
from callgauge.dashboard.components.controls.rate_choice import link_here
from callgauge.dashboard.components.money.leading_rates import draw_leading_rates
from callgauge.dashboard.components.slice_table import draw_thin_slices
from callgauge.dashboard.shown_page import record_answer

_ROWS = 5


def draw_which_model(
    rate: RateDefinition,
    chosen: Mapping[str, Any],
    smallest: float,
    costs: CostSummary | None,
    *,
    height: int,
) -> None:
    """Draw the card: the sentence on the best model by `rate`, and the leading rates of some models."""
    with cards.draw_card(
        "Which model", "slices", "strata", "costs", stretch=True, height=height, verdict="rank"
    ):
        slices = read_ranked_slices(store_queries.ask, rate, "model", chosen)
        if not slices[rate.name]:
            st.caption(f"No {rate.noun}s for this rate.")
            return
        by_model: Sequence[Cost] = costs.by_model if costs else ()
        ranking = judge_ranking(
            store_queries.ask, slices, rate, "model", chosen, smallest=smallest, costs=by_model
        )
        names = {row.slice.name: wording.one_line(row.slice.name, 40) for row in ranking.table.rows}
        record_answer(ranking.write_sentence(names))
        st.subheader(wording.in_markdown(ranking.write_sentence(names), 900), anchor=False)
        judged = ranking.table.judged
        if judged:
            draw_leading_rates("which_model", ranking, _choose_rows(judged), slices, by_model)
        thin = [row.slice for row in ranking.table.rows if not row.slice.is_solid]
        if not judged:
            draw_thin_slices("model", {rate.name: thin}, key="which_model", opens=True, shown=_ROWS)
        _draw_rest(ranking, sum(one.is_named for one in thin) if judged else 0)


def _choose_rows(judged: Sequence[Slice]) -> list[Slice]:
    """Return the best models and the worst."""
    return list(judged) if len(judged) <= _ROWS else [*judged[: _ROWS - 1], judged[-1]]


def _draw_rest(ranking: JudgedRanking, thin: int) -> None:
    """Draw the link to all models, and how many the card leaves out; `thin`: with too few sessions."""
    ranked = len(ranking.table.ranks)
    parts = [
        f"{ranked - _ROWS} more between" if ranked > _ROWS else "",
        f"{ranking.left_out} not ranked" if ranking.left_out else "",
        f"{wording.plural(thin, 'model')} with too few sessions" if thin else "",
    ]
    rest = ", ".join(part for part in parts if part)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        draw_link("all_models", "All models", link_here("models", {}))
        if rest:
            st.caption(rest, width="content")
