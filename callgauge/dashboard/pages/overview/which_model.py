"""Builds the sentence on the best model, and a card with the leading rates of the models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.comparisons.rankings import JudgedRanking, SlicesByRate
from callgauge.analysis.measures.costs import Cost, CostSummary
from callgauge.analysis.measures.rates import RateDefinition
from callgauge.analysis.measures.slices import Slice
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.links import draw_link
from callgauge.dashboard.components.controls.rate_choice import link_here
from callgauge.dashboard.components.money.leading_rates import draw_leading_rates
from callgauge.dashboard.components.slice_table import draw_thin_slices
from callgauge.dashboard.shown_slices import rank_slices, read_slices

_ROWS = 6


@dataclass(frozen=True, slots=True)
class ModelRanking:
    """The models ranked by one rate, with the slices of every leading rate and the cost of each model."""

    judged: JudgedRanking
    slices: SlicesByRate
    costs: Sequence[Cost]


def rank_models(
    rate: RateDefinition, chosen: Mapping[str, Any], smallest: float, costs: CostSummary | None
) -> ModelRanking | None:
    """Return the models ranked by `rate`. Raises MetricError.

    Returns None when the rate counts no calls or turns.
    """
    slices = read_slices(rate, "model", chosen)
    if not slices[rate.name]:
        return None
    by_model: Sequence[Cost] = costs.by_model if costs else ()
    judged = rank_slices(slices, rate, "model", chosen, by_model, smallest=smallest)
    return ModelRanking(judged, slices, by_model)


def write_answer(ranking: ModelRanking) -> str:
    """Return the sentence that says which model is best."""
    names = [row.slice.name for row in ranking.judged.table.rows]
    return ranking.judged.write_sentence({name: wording.one_line(name, 40) for name in names})


def draw_models(models: ModelRanking | None, rate: RateDefinition, *, height: int) -> None:
    """Draw the card with the leading rates of the models, best model first."""
    with cards.draw_card("Models", "slices", "strata", "costs", stretch=True, height=height, verdict="rank"):
        if models is None:
            st.caption(f"No {rate.noun}s for this rate.")
            return
        ranking, slices, by_model = models.judged, models.slices, models.costs
        judged = ranking.table.judged
        if judged:
            draw_leading_rates("which_model", ranking, _choose_rows(judged), slices, by_model)
        thin = [row.slice for row in ranking.table.rows if not row.slice.is_solid]
        if not judged:
            draw_thin_slices("model", {rate.name: thin}, key="which_model", opens=True, shown=_ROWS)
        _draw_rest(ranking, [slice_ for slice_ in thin if slice_.is_named] if judged else [])


def _choose_rows(judged: Sequence[Slice]) -> list[Slice]:
    """Return the best models and the worst model, or all models if there are only few."""
    return list(judged) if len(judged) <= _ROWS + 2 else [*judged[: _ROWS - 1], judged[-1]]


def _draw_rest(ranking: JudgedRanking, thin: Sequence[Slice]) -> None:
    """Draw a link to all models, and the number of models that the card does not contain."""
    judged = ranking.table.judged
    between = len(judged) - len(_choose_rows(judged))
    few = sum(not slice_.share.has_enough for slice_ in thin)
    others = len(thin) - few
    parts = [
        f"{between:,} more between the last two" if between else "",
        f"{ranking.left_out} not ranked" if ranking.left_out else "",
        f"{wording.plural(few, 'model')} with too few sessions" if few else "",
        f"{wording.plural(others, 'model')} not ranked: measured too little" if others else "",
    ]
    rest = ", ".join(part for part in parts if part)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        draw_link("all_models", "All models", link_here("models", {}))
        if rest:
            st.caption(rest, width="content")
