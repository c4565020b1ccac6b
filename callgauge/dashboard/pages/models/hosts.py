"""Compares one model on several hosts: each host's rate against that of the host that serves it most.

Hosts may get different work, so each difference is shown twice: plain, and at the same mix of work.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import streamlit as st

from callgauge.dashboard import filters, store_queries, wording
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.difference_cells import (
    difference_cell,
    difference_column,
    track_reach,
    verdict_cell,
)
from callgauge.dashboard.components.slice_table import make_scale, rate_cell
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.measures import strata as contrasts
from callgauge.dashboard.measures import verdicts
from callgauge.dashboard.measures.rates import RateDefinition
from callgauge.dashboard.measures.slices import Slice, SliceComparison, compare_pairs, make_slices
from callgauge.stats.mixes import StandardisedDifference, standardise

_SHOWN = 60  # rows
Pair = tuple[Slice, Slice | None]
Strata = Mapping[tuple[str, str], Sequence[Slice]]
"""The slices (strata) of each pair of model and host."""


def draw_hosts(rate: RateDefinition, chosen: Mapping[str, Any]) -> None:
    """Draw the card of models that were observed on several hosts, or a note when there is none."""
    asked = {"rates": (rate.name,), "by": "model", "also": "provider"}
    title = f"{rate.title} of the same model on several hosts"
    take = cards.Download(
        f"{rate.name}_by_model_and_provider", store_queries.ask_later("slices", **asked, **chosen)
    )
    with cards.draw_card(title, "slices", "host_strata", take=take, height=220):
        pairs = pair_hosts(make_slices(store_queries.ask("slices", **asked, **chosen)))
        found = len(pairs)
        if not pairs:
            st.caption(
                "No model was seen on two hosts: the logs name one provider for it, or none. Widen the days "
                "or the sources, or load logs of another host."
            )
            return
        held, adjusted = (
            compare_pairs(pairs := pairs[:_SHOWN]),
            _compare_at_same_mix(pairs, _read_strata(rate, chosen)),
        )
        for warning in _turned_order_notes(rate, held, adjusted):
            st.warning(warning, icon=":material/warning:")
        _draw_table(rate, pairs, held, adjusted)
        few = f" {_SHOWN} of {found} rows are shown." if found > _SHOWN else ""
        judged = sum(one.p is not None for one in held)
        st.caption(
            "Each host is held against the one that serves the model most; the verdict is corrected for "
            f"{wording.plural(judged, 'difference')} looked at together (Holm). "
            f"At the same mix: over the {contrasts.describe_mix(rate)} that both hosts were given, "
            "weighed alike; pale where the two have little work in common, or little is known." + few
        )


def pair_hosts(several: Sequence[Slice]) -> list[Pair]:
    """Return, for each model observed on two known hosts or more, each host's slice with the main host's.

    The main host is the one with the most observations; its own slice is paired with None. In a slice, `name`
    is the model and `also` the host. Unknown hosts are left out: an unknown host may be any of the others.
    """
    by_model: dict[str, list[Slice]] = {}
    for one in several:
        if one.also != "unknown" and one.share.n:
            by_model.setdefault(one.name, []).append(one)
    pairs: list[Pair] = []
    for its in by_model.values():
        if len(its) > 1:
            first, *others = sorted(its, key=lambda one: (-one.share.n, one.also))
            pairs += [(first, None), *((other, first) for other in others)]
    return pairs


def _read_strata(rate: RateDefinition, chosen: Mapping[str, Any]) -> Strata:
    by, also = contrasts.STRATA[rate.noun]
    rows = store_queries.ask("host_strata", rates=(rate.name,), by=by, also=also, **chosen)
    return {
        (str(model), str(host)): make_slices(its)
        for (model, host), its in rows.groupby(["model", "provider"])
    }


def _compare_at_same_mix(pairs: Sequence[Pair], strata: Strata) -> list[StandardisedDifference | None]:
    """Return, for each pair, the difference at the same mix of work; None when the hosts share no work."""
    return [
        None
        if other is None
        else standardise(
            contrasts.pair_strata(
                strata.get((other.name, other.also), ()), strata.get((one.name, one.also), ())
            )
        )
        for one, other in pairs
    ]


def _turned_order_notes(
    rate: RateDefinition, held: Sequence[SliceComparison], adjusted: Sequence[StandardisedDifference | None]
) -> Iterator[str]:
    """Yield a warning for each pair whose judged difference changes its sign at the same mix of work."""
    for one, mixed in zip(held, adjusted, strict=True):
        if one.p is not None and mixed is not None and mixed.flips:
            certain = "" if mixed.difference.is_decisive else ", though not decisively"
            model, host = (
                wording.in_markdown(text, 60)
                for text in (filters.value_label("model", one.slice.name), one.slice.also)
            )
            yield (
                f"{model} on {host}: the mix turns the order round{certain}. At the same mix of "
                f"{contrasts.describe_mix(rate)} the difference is "
                f"{verdicts.format_difference(mixed.difference)}."
            )


def _draw_table(
    rate: RateDefinition,
    pairs: Sequence[Pair],
    held: Sequence[SliceComparison],
    adjusted: Sequence[StandardisedDifference | None],
) -> None:
    mixes = [
        SliceComparison(
            one.slice,
            mixed.difference if mixed else None,
            one.p if mixed and mixed.is_representative else None,
        )
        for one, mixed in zip(held, adjusted, strict=True)
    ]
    scale, reach = make_scale([one.share for one, _ in pairs]), track_reach([*held, *mixes])
    columns = [
        Column("Model", "name"),
        Column("Host", "text"),
        Column(rate.title, "rate", f"Share of {rate.noun}s that {rate.hit}", scale=scale.ends()),
        difference_column("Difference", reach),
        difference_column("At the same mix", reach),
        Column("Verdict", "tight"),
    ]
    rows = [
        [
            Cell(
                wording.one_line(filters.value_label("model", one.name), 60),
                href=filters.page_link("calls", {"model": one.name}, {}) if other is None else None,
                pale=other is not None,
            ),
            Cell(wording.one_line(one.also, 60)),
            rate_cell(one, scale),
            difference_cell(beside_it, reach, none="reference"),
            difference_cell(mixed, reach, none="reference" if other is None else "no work in common"),
            Cell("Reference", tone="info") if other is None else verdict_cell(beside_it, other),
        ]
        for beside_it, mixed, (one, other) in zip(held, mixes, pairs, strict=True)
    ]
    draw_table("hosts", f"{rate.title} by model and host", columns, rows)
