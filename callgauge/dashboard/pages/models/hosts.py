"""Compares one model on several hosts: each host's rate against that of the host that serves it most.

Hosts may get different work, so each difference is shown twice: plain, and mix-adjusted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.comparisons.strata_queries import read_strata
from callgauge.analysis.measures.comparisons import SliceComparison, compare_pairs
from callgauge.analysis.measures.rates import RateDefinition
from callgauge.analysis.measures.same_mix import SameMix
from callgauge.analysis.measures.slices import Slice, make_slices
from callgauge.analysis.verdicts.sentences import RULE
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.difference_cells import (
    difference_cell,
    difference_column,
    plain_cell,
    track_reach,
    verdict_cell,
)
from callgauge.dashboard.components.slice_table import draw_thin_slices, make_scale, rate_cell
from callgauge.dashboard.components.table import Cell, Column, draw_table

_SHOWN = 60  # rows
Pair = tuple[Slice, Slice | None]


def draw_hosts(rate: RateDefinition, chosen: Mapping[str, Any], smallest: float) -> None:
    """Draw the card of models that were observed on several hosts, or a note when there is none.

    `smallest`: the smallest difference of interest, a share.
    """
    asked = {"rates": (rate.name,), "by": "model", "also": "provider"}
    title = f"{rate.title} of the same model on several hosts"
    take = cards.Download(
        f"{rate.name}_by_model_and_provider", store_queries.ask_later("slices", **asked, **chosen)
    )
    with cards.draw_card(title, "slices", "strata", take=take, height=220, verdict="difference"):
        pairs, thin = pair_hosts(make_slices(store_queries.ask("slices", **asked, **chosen)))
        if not pairs and not thin:
            st.caption(
                "No model was seen on two hosts: the logs name one provider for it, or none. Widen the days "
                "or the sources, or load logs of another host."
            )
            return
        if pairs:
            _draw_pairs(pairs, rate, chosen, smallest)
        else:
            st.caption(f"Too few sessions to compare hosts: no model has {RULE} on two of them.")
        # Cut apart, so that a long name of a model leaves room for the host.
        named = [
            replace(one, name=f"{wording.one_line(_label(one.name), 30)} on {wording.one_line(one.also, 24)}")
            for one in thin
        ]
        draw_thin_slices("provider", {rate.name: named}, key="hosts", noun="host")


def _draw_pairs(
    pairs: Sequence[Pair], rate: RateDefinition, chosen: Mapping[str, Any], smallest: float
) -> None:
    shown = pairs[:_SHOWN]
    held = _compare_hosts(shown, rate, chosen)
    _draw_table(rate, shown, held, smallest)
    few = f" {_SHOWN} of {len(pairs)} rows are shown." if len(pairs) > _SHOWN else ""
    judged = sum(one.p is not None for one in held)
    st.caption(
        "The baseline is the host that serves the model most. Verdicts are corrected for "
        f"{wording.plural(judged, 'difference')} looked at together (Holm). "
        f"Where the hosts got different work, the mix-adjusted difference decides.{few}"
    )


def _label(model: str) -> str:
    return filters.short_label("model", model)


def pair_hosts(several: Sequence[Slice]) -> tuple[list[Pair], list[Slice]]:
    """Return each host's slice with that of the main host of its model, and the slices with too few sessions.

    Models count that were observed on two known hosts or more; a model has pairs when enough is known of two
    of them. The main host is the one with the most observations; its own slice is paired with None. In a
    slice, `name` is the model and `also` the host. Unknown hosts are left out: an unknown host may be any of
    the others.
    """
    by_model: dict[str, list[Slice]] = {}
    for one in several:
        if one.also != "unknown" and one.share.n:
            by_model.setdefault(one.name, []).append(one)
    pairs: list[Pair] = []
    thin: list[Slice] = []
    for its in by_model.values():
        if len(its) < 2:
            continue
        solid = [one for one in its if one.is_solid]
        if len(solid) > 1:
            first, *others = sorted(solid, key=lambda one: (-one.share.n, one.also))
            pairs += [(first, None), *((other, first) for other in others)]
        thin += [one for one in its if not one.is_solid or len(solid) < 2]
    return pairs, thin


def _compare_hosts(
    pairs: Sequence[Pair], rate: RateDefinition, chosen: Mapping[str, Any]
) -> list[SliceComparison]:
    """Return each pair of hosts of a model compared, mix-adjusted where the mix matters."""
    mixes: list[SameMix | None] = [None] * len(pairs)
    for model in dict.fromkeys(one.name for one, other in pairs if other is not None):
        asked = {**chosen, "models": (model,)}
        strata = read_strata(store_queries.ask, [rate], "provider", asked, apart=("model",))[rate.name]
        places = [
            place for place, (one, other) in enumerate(pairs) if other is not None and one.name == model
        ]
        arms = [
            ((one.also, one), (other.also, other))
            for one, other in (pairs[place] for place in places)
            if other is not None
        ]
        for place, found in zip(places, strata.compare(arms), strict=True):
            mixes[place] = found
    return compare_pairs(pairs, mixes)


def _draw_table(
    rate: RateDefinition,
    pairs: Sequence[Pair],
    held: Sequence[SliceComparison],
    smallest: float,
) -> None:
    at_mix = [
        SliceComparison(one.slice, one.same_mix.found.difference if one.same_mix else None, one.p)
        for one in held
    ]
    plain = [one.as_plain for one in held]
    scale, reach = make_scale([one.share for one, _ in pairs]), track_reach([*plain, *at_mix])
    columns = [
        Column("Model", "name"),
        Column("Host", "short"),
        Column("Verdict", "tight"),
        Column(rate.title, "rate", rate.meaning, scale=scale.ends()),
        difference_column("Difference", reach),
        difference_column("Mix-adjusted", reach),
    ]
    rows = [
        [
            Cell(
                _label(one.name),
                href=filters.page_link("calls", {"model": one.name}, {}) if other is None else None,
                pale=other is not None,
            ),
            Cell(wording.one_line(one.also, 60)),
            verdict_cell(beside_it, smallest),
            rate_cell(one, scale),
            plain_cell(beside_it, reach),
            difference_cell(mixed, reach, none="–" if other is None else "no work in common"),
        ]
        for beside_it, mixed, (one, other) in zip(held, at_mix, pairs, strict=True)
    ]
    draw_table("hosts", f"{rate.title} by model and host", columns, rows)
