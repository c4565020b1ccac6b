"""Card that answers which model makes the best calls, by a rate that one chooses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.comparisons.strata_queries import rank_at_same_mix
from callgauge.analysis.measures.comparisons import RankedTable, choose_reference
from callgauge.analysis.measures.costs import CostSummary
from callgauge.analysis.measures.rates import RATES, RateDefinition
from callgauge.analysis.measures.slices import Slice, make_slices
from callgauge.analysis.verdicts.sentences import describe_agreement, describe_bottom, describe_top
from callgauge.dashboard import store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.links import draw_link
from callgauge.dashboard.components.controls.rate_choice import link_here
from callgauge.dashboard.components.difference_cells import place_cell, rank_column
from callgauge.dashboard.components.slice_table import (
    calls_link,
    draw_thin_slices,
    make_scale,
    name_cell,
    rate_cell,
)
from callgauge.dashboard.components.table import Column, draw_table
from callgauge.dashboard.pages.overview.headline_cost import describe_model_costs

_ROWS = 4


def draw_which_model(
    rate: RateDefinition,
    chosen: Mapping[str, Any],
    smallest: float,
    costs: CostSummary | None,
    *,
    height: int,
) -> None:
    """Draw the card: the best models by `rate`, whether other rates agree, a short ranking, their cost."""
    with cards.draw_card("Which model", "slices", "strata", stretch=True, height=height):
        tables = _rank_models(rate, chosen, smallest)
        if rate.name not in tables:
            st.caption(f"No {rate.noun} here of which this rate can be known.")
            return
        table = tables.pop(rate.name)
        names = {row.slice.name: wording.one_line(row.slice.name, 40) for row in table.rows}
        st.subheader(wording.in_markdown(describe_top(table, names, "model"), 400), anchor=False)
        agreed = describe_agreement(table, list(tables.values()), names)
        said = " ".join(part for part in (agreed, describe_bottom(table, names)) if part)
        if said:
            st.caption(wording.in_markdown(said, 600))
        if table.judged:
            shown = _draw_ranking(rate, table)
            priced = describe_model_costs(costs, shown) if costs else ""
            if priced:
                st.caption(wording.in_markdown(priced, 400))
        thin = [row.slice for row in table.rows if not row.slice.is_solid]
        unranked = not table.ranks
        if unranked:
            draw_thin_slices("model", {rate.name: thin}, key="which_model", opens=True, shown=_ROWS)
        _draw_rest(table, 0 if unranked else sum(one.is_named for one in thin))


def _rank_models(rate: RateDefinition, chosen: Mapping[str, Any], smallest: float) -> dict[str, RankedTable]:
    """Return the ranking of the models by `rate`, and by the other rates that name a best model, by rate."""
    asked = tuple(dict.fromkeys((rate.name, "parse_error", "retried", "turn_success")))
    several: dict[str, list[Slice]] = {}
    for one in make_slices(store_queries.ask("slices", rates=asked, by="model", **chosen)):
        several.setdefault(one.rate.name, []).append(one)
    return {
        name: rank_at_same_mix(
            store_queries.ask, RATES[name], "model", its, choose_reference(its), chosen, smallest
        )
        for name, its in several.items()
    }


def _draw_ranking(rate: RateDefinition, table: RankedTable) -> list[str]:
    """Draw the best models and the worst, and return their names."""
    judged = table.judged
    rows = judged if len(judged) <= _ROWS else [*judged[: _ROWS - 1], judged[-1]]
    scale = make_scale([one.share for one in rows])
    draw_table(
        "which_model",
        f"Models by {rate.title.lower()}",
        [
            Column("Model", "name"),
            rank_column(),
            Column(rate.title, "rate", rate.meaning, scale=scale.ends()),
        ],
        [
            [
                name_cell("model", one.name),
                place_cell(one, table),
                rate_cell(one, scale, calls_link(rate, {"model": one.name})),
            ]
            for one in rows
        ],
    )

    return [one.name for one in rows]


def _draw_rest(table: RankedTable, thin: int) -> None:
    """Draw the link to all models, and how many the card leaves out; `thin`: with too few sessions."""
    ranked = len(table.ranks)
    parts = [
        f"{ranked - _ROWS} more between" if ranked > _ROWS else "",
        f"{wording.plural(thin, 'model')} with too few sessions" if thin else "",
    ]
    said = ", ".join(part for part in parts if part)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        draw_link("all_models", "All models", link_here("models", {}))
        if said:
            st.caption(said, width="content")
