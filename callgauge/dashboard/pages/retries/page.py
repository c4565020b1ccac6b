"""The page Retries: funnel of recovery, cost of retries, recovery by model, calls lost beside faults."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import streamlit as st

from callgauge.dashboard import filters, store_queries, wording
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.rate_choice import choose_one
from callgauge.dashboard.components.fault_cards import LAYERS
from callgauge.dashboard.components.slice_table import (
    READING,
    IntervalScale,
    draw_slice_table,
    make_scale,
    part_cell,
    share_cell,
)
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.measures.slices import make_slices
from callgauge.dashboard.measures.verdicts import RULE, format_difference
from callgauge.dashboard.pages.retries import losses, recovery
from callgauge.stats import Share, compare_rates

Row = Mapping[Hashable, Any]
_SLICES = 15  # models or tools in a table


def show() -> None:
    st.title("Retries", anchor=False)
    chosen = filters.chosen_filters().parameters()
    rows: list[dict[Hashable, Any]] = store_queries.ask("chains", **chosen).to_dict("records")
    if not rows:
        cards.show_no_matches("calls that went wrong")
        return
    take = cards.Download("chains", store_queries.ask_later("chains", **chosen))
    by_layer = recovery.group_by_layer(rows)
    _draw_funnel(by_layer, rows, take)
    left, right = st.columns(2, gap="small")
    with left:
        _draw_kinds(rows)
    with right:
        _draw_cost(rows)
    _draw_layers(by_layer)
    for dimension, column in zip(("model", "tool"), st.columns(2, gap="small"), strict=True):
        with column:
            _draw_recovered(dimension, chosen)
    losses.show(chosen)


def _draw_funnel(by_layer: Mapping[str, Sequence[Row]], rows: Sequence[Row], take: cards.Download) -> None:
    layers = ["", *(layer for layer in LAYERS if layer in by_layer)]
    with cards.draw_card(
        "From fault to recovery",
        "chains",
        take=take,
        caption="Each chain begins with a call that went wrong. The bar: the share of all that got so far.",
    ):
        picked = choose_one(
            "Began at", "layer", layers, "", lambda layer: LAYERS[layer][0] if layer else "Any layer"
        )
        stages = recovery.build_funnel(by_layer[picked] if picked else rows)
        heads = [
            Column("Attempt", "tight"),
            Column("Chains", "number"),
            Column("Recovered with it", "number", "Share of the chains that made this attempt"),
            Column("Abandoned after it", "number"),
            Column("Not known", "number", "The log stops before the turn's end"),
            Column("Tried again", "number"),
        ]
        draw_table(
            "funnel", "Chains by attempt", heads, [_build_stage_row(one, stages[0].reached) for one in stages]
        )


def _build_stage_row(one: recovery.FunnelStage, begun: int) -> list[Cell]:
    title = "1, went wrong" if one.number == 1 else f"{one.number}"
    return [
        Cell(
            f"{title} or later" if one.number == recovery.MOST else title, share=one.reached / max(1, begun)
        ),
        Cell(f"{one.reached:,}", sub=wording.rate(one.reached, begun)),
        *(
            Cell(f"{count:,}", sub=wording.rate(count, one.reached) if count else None, pale=not count)
            for count in (one.recovered, one.abandoned, one.open, one.continued_count)
        ),
    ]


def _rate_cell(share: Share, scale: IntervalScale) -> Cell:
    return Cell("–") if share.rate is None else share_cell(share, scale)


def _draw_kinds(rows: Sequence[Row]) -> None:
    with cards.draw_card("Does changing the call help?", "chains", stretch=True):
        kinds = {kind: recovery.first_retry_share(rows, kind) for kind in ("changed", "identical")}
        found = compare_rates(kinds["changed"], kinds["identical"])
        known, every = sum(share.n for share in kinds.values()), recovery.retried_share(rows).k
        if found is None:
            st.markdown(
                "Nothing to compare: it takes first retries with changed and with identical arguments."
            )
        elif not all(share.has_enough for share in kinds.values()):
            st.markdown(
                f"Too few to judge: difference {format_difference(found)}, 95%. "
                f"It takes {RULE} of both kinds."
            )
        elif found.is_decisive:
            better = "more" if found.estimate > 0 else "less"
            st.markdown(f"A changed retry works {better} often: difference {format_difference(found)}, 95%.")
        else:
            st.markdown(f"Not decided: difference {format_difference(found)}, 95%.")
        scale = IntervalScale(0.0, 1.0)
        draw_table(
            "kinds",
            "Retries that worked, by kind",
            [
                Column("First retry", "tight"),
                Column("Worked", "rate", "Had no fault", scale=scale.ends()),
                Column("Retries", "number"),
            ],
            [
                [Cell(f"{kind} arguments"), _rate_cell(share, scale), Cell(f"{share.n:,}")]
                for kind, share in kinds.items()
            ],
        )
        st.caption(
            f"{wording.fraction(every - known, every)} first retries are neither: "
            "one of the two texts is unknown. Later retries are left out, "
            "so that one long chain does not outweigh many."
        )


_COSTS = (("steps", "Model calls", 1.0, ""), ("tokens", "Tokens", 1.0, ""), ("ms", "Seconds", 1000.0, " s"))


def _draw_cost(rows: Sequence[Row]) -> None:
    with cards.draw_card("What a fault costs", "chains", stretch=True):
        again = recovery.retried_share(rows)
        st.markdown(
            f"{wording.rate(again.k, again.n)} of {wording.plural(again.n, 'chain')} were tried again. "
            "Of these, each took beyond the first attempt:"
        )
        heads = [
            Column("Cost", "tight"), Column("Each", "number"), Column("In all", "number"),
            Column("Known of", "number", "Chains with retries whose log tells it"),
        ]  # fmt: skip
        draw_table("cost", "Cost of retries", heads, [_cost_row(rows, *each) for each in _COSTS])
        st.caption("In all: of those that are known. What a turn that failed for good cost is not in it.")


def _cost_row(rows: Sequence[Row], what: str, title: str, unit: float, suffix: str) -> list[Cell]:
    found = recovery.sum_cost(rows, what)
    each = found.cost_per_chain
    return [
        Cell(title),
        Cell("–" if each is None else f"{each / unit:,.{0 if each / unit >= 100 else 1}f}{suffix}"),
        Cell(f"{found.total / unit:,.0f}{suffix}" if found.known else "–"),
        Cell(wording.fraction(found.known, found.retried), sub=wording.rate(found.known, found.retried)),
    ]


def _draw_layers(by_layer: Mapping[str, Sequence[Row]]) -> None:
    with cards.draw_card("By the layer of the fault", "chains", caption=READING):
        found = {layer: recovery.recovery_share(rows) for layer, rows in by_layer.items()}
        scale = make_scale([share for share, _ in found.values()])
        heads = [
            Column("Began at"), Column("Chains", "number"), Column("Tried again", "number"),
            Column("Recovered", "rate", "Of the chains whose end is known", scale=scale.ends()),
            Column("Not known", "number"),
            Column("Tokens each", "number", "Of chains with retries that tell them"),
        ]  # fmt: skip
        order = [layer for layer in (*LAYERS, *by_layer) if layer in by_layer]
        drawn = [
            _build_layer_row(layer, by_layer[layer], *found[layer], scale) for layer in dict.fromkeys(order)
        ]
        draw_table("retry_layers", "Chains by the layer of their first fault", heads, drawn)


def _build_layer_row(
    layer: str, rows: Sequence[Row], share: Share, chains: int, scale: IntervalScale
) -> list[Cell]:
    title, meaning = LAYERS.get(layer, (layer, None))
    if layer == "none":
        title, meaning = "No fault", "Only the log says that it was tried again"
    again, tokens = recovery.retried_share(rows), recovery.sum_cost(rows, "tokens").cost_per_chain
    return [
        Cell(
            title,
            sub=meaning,
            href=filters.page_link("calls", {}, {"fault": layer}) if layer != "none" else None,
        ),
        Cell(f"{chains:,}", order=chains),
        part_cell(again.k, again.n, counts=True),
        _rate_cell(share, scale),
        Cell(f"{chains - share.n:,}", order=chains - share.n),
        Cell("–" if tokens is None else f"{tokens:,.0f}", order=tokens),
    ]


def _draw_recovered(dimension: str, chosen: Mapping[str, Any]) -> None:
    asked = {"rates": ("recovered",), "by": dimension, **chosen}
    with cards.draw_card(
        f"Recovery by {dimension}",
        "slices",
        take=cards.Download(f"recovery_by_{dimension}", store_queries.ask_later("slices", **asked)),
    ):
        found = make_slices(store_queries.ask("slices", **asked))
        known = sorted((one for one in found if one.share.n), key=lambda one: (-one.share.n, one.name))
        left_out = f" The {_SLICES} with most chains of {len(known)}." if len(known) > _SLICES else ""
        if not known:
            st.caption("Of no chain the end is known.")
            return
        st.caption(f"Chains that ended with an attempt that worked.{left_out} {READING}")
        draw_slice_table(
            dimension,
            {"recovered": known[:_SLICES]},
            key=f"recovered_{dimension}",
            ranked_by="recovered",
            leads=_tool_link if dimension == "tool" else None,
        )


def _tool_link(tool: str) -> str:
    return filters.page_link("tools", {}, {"tool_open": tool})


show()
