"""What happens after a fault: the funnel of recovery, what retries cost, who recovers, what is lost."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import streamlit as st

from dashboard import answers, attempts, filters, wording
from dashboard.pages import retry_losses
from dashboard.slices import slices
from dashboard.statistics import Share, difference
from dashboard.verdicts import span
from dashboard.widgets import cards
from dashboard.widgets.fault_cards import LAYERS
from dashboard.widgets.rate_choice import choice
from dashboard.widgets.sheet import Cell, Column, sheet
from dashboard.widgets.slice_table import READING, Scale, scale_of, share_cell, slice_table

Row = Mapping[Hashable, Any]
_SLICES = 15  # models or tools in a table


def show() -> None:
    st.title("Retries", anchor=False)
    chosen = filters.chosen().parameters()
    rows: list[dict[Hashable, Any]] = answers.ask("chains", **chosen).to_dict("records")
    if not rows:
        cards.nothing_matches("calls that went wrong")
        return
    take = cards.Take("chains", answers.later("chains", **chosen))
    by_layer = attempts.layers(rows)
    _funnel(by_layer, rows, take)
    left, right = st.columns(2, gap="small")
    with left:
        _kinds(rows)
    with right:
        _cost(rows)
    _layers(by_layer)
    for dimension, column in zip(("model", "tool"), st.columns(2, gap="small"), strict=True):
        with column:
            _recovered(dimension, chosen)
    retry_losses.show(chosen)


def _funnel(by_layer: Mapping[str, Sequence[Row]], rows: Sequence[Row], take: cards.Take) -> None:
    layers = ["", *(layer for layer in LAYERS if layer in by_layer)]
    with cards.card(
        "From fault to recovery",
        "chains",
        take=take,
        caption="Each chain begins with a call that went wrong. The bar: the share of all that got so far.",
    ):
        picked = choice(
            "Began at", "layer", layers, "", lambda layer: LAYERS[layer][0] if layer else "Any layer"
        )
        stages = attempts.funnel(by_layer[picked] if picked else rows)
        heads = [
            Column("Attempt", "tight"),
            Column("Chains", "number"),
            Column("Recovered with it", "number", "Share of the chains that made this attempt"),
            Column("Abandoned after it", "number"),
            Column("Not known", "number", "The log stops before the turn's end"),
            Column("Tried again", "number"),
        ]
        sheet("funnel", "Chains by attempt", heads, [_stage(one, stages[0].reached) for one in stages])


def _stage(one: attempts.Attempt, begun: int) -> list[Cell]:
    title = "1, went wrong" if one.number == 1 else f"{one.number}"
    return [
        Cell(
            f"{title} or later" if one.number == attempts.MOST else title, share=one.reached / max(1, begun)
        ),
        Cell(f"{one.reached:,}", sub=wording.rate(one.reached, begun)),
        *(
            Cell(f"{count:,}", sub=wording.rate(count, one.reached) if count else None, pale=not count)
            for count in (one.recovered, one.abandoned, one.open, one.went_on)
        ),
    ]


def _rate(share: Share, scale: Scale) -> Cell:
    return Cell("–") if share.rate is None else share_cell(share, scale)


def _kinds(rows: Sequence[Row]) -> None:
    with cards.card("Does changing the call help?", "chains", stretch=True):
        kinds = {kind: attempts.first_retries(rows, kind) for kind in ("changed", "identical")}
        found = difference(kinds["changed"], kinds["identical"])
        known, every = sum(share.n for share in kinds.values()), attempts.tried_again(rows).k
        if found is None:
            st.markdown(
                "Nothing to compare: it takes first retries with changed and with identical arguments."
            )
        elif found.decisive:
            better = "more" if found.estimate > 0 else "less"
            st.markdown(f"A changed retry works {better} often: difference {span(found)}, 95%.")
        else:
            st.markdown(f"Not decisive: difference {span(found)}, 95%.")
        scale = Scale(0.0, 1.0)
        sheet(
            "kinds",
            "Retries that worked, by kind",
            [
                Column("First retry", "tight"),
                Column("Worked", "rate", "Had no fault", scale=scale.ends()),
                Column("Retries", "number"),
            ],
            [
                [Cell(f"{kind} arguments"), _rate(share, scale), Cell(f"{share.n:,}")]
                for kind, share in kinds.items()
            ],
        )
        st.caption(
            f"{wording.of(every - known, every)} first retries are neither: one of the two texts is unknown. "
            "Later retries are left out, so that one long chain does not outweigh many."
        )


_COSTS = (("steps", "Model calls", 1.0, ""), ("tokens", "Tokens", 1.0, ""), ("ms", "Seconds", 1000.0, " s"))


def _cost(rows: Sequence[Row]) -> None:
    with cards.card("What a fault costs", "chains", stretch=True):
        again = attempts.tried_again(rows)
        st.markdown(
            f"{wording.rate(again.k, again.n)} of {wording.plural(again.n, 'chain')} were tried again. "
            "Of these, each took beyond the first attempt:"
        )
        heads = [
            Column("Cost", "tight"), Column("Each", "number"), Column("In all", "number"),
            Column("Known of", "number", "Chains with retries whose log tells it"),
        ]  # fmt: skip
        sheet("cost", "Cost of retries", heads, [_cost_row(rows, *each) for each in _COSTS])
        st.caption("In all: of those that are known. What a turn that failed for good cost is not in it.")


def _cost_row(rows: Sequence[Row], what: str, title: str, unit: float, suffix: str) -> list[Cell]:
    found = attempts.cost(rows, what)
    each = found.each
    return [
        Cell(title),
        Cell("–" if each is None else f"{each / unit:,.{0 if each / unit >= 100 else 1}f}{suffix}"),
        Cell(f"{found.total / unit:,.0f}{suffix}" if found.known else "–"),
        Cell(wording.of(found.known, found.retried), sub=wording.rate(found.known, found.retried)),
    ]


def _layers(by_layer: Mapping[str, Sequence[Row]]) -> None:
    with cards.card("By the layer of the fault", "chains", caption=READING):
        found = {layer: attempts.recovery(rows) for layer, rows in by_layer.items()}
        scale = scale_of([share for share, _ in found.values()])
        heads = [
            Column("Began at"), Column("Chains", "number"), Column("Tried again", "number"),
            Column("Recovered", "rate", "Of the chains whose end is known", scale=scale.ends()),
            Column("Not known", "number"),
            Column("Tokens each", "number", "Of chains with retries that tell them"),
        ]  # fmt: skip
        order = [layer for layer in (*LAYERS, *by_layer) if layer in by_layer]
        drawn = [_layer(layer, by_layer[layer], *found[layer], scale) for layer in dict.fromkeys(order)]
        sheet("retry_layers", "Chains by the layer of their first fault", heads, drawn)


def _layer(layer: str, rows: Sequence[Row], share: Share, chains: int, scale: Scale) -> list[Cell]:
    title, meaning = LAYERS.get(layer, (layer, None))
    if layer == "none":
        title, meaning = "No fault", "Only the log says that it was tried again"
    again, tokens = attempts.tried_again(rows), attempts.cost(rows, "tokens").each
    return [
        Cell(
            title, sub=meaning, href=filters.link("calls", {}, {"fault": layer}) if layer != "none" else None
        ),
        Cell(f"{chains:,}", order=chains),
        Cell(wording.rate(again.k, again.n), sub=wording.of(again.k, again.n), order=again.rate),
        _rate(share, scale),
        Cell(f"{chains - share.n:,}", order=chains - share.n),
        Cell("–" if tokens is None else f"{tokens:,.0f}", order=tokens),
    ]


def _recovered(dimension: str, chosen: Mapping[str, Any]) -> None:
    asked = {"rates": ("recovered",), "by": dimension, **chosen}
    with cards.card(
        f"Recovery by {dimension}",
        "slices",
        take=cards.Take(f"recovery_by_{dimension}", answers.later("slices", **asked)),
    ):
        found = slices(answers.ask("slices", **asked))
        known = sorted((one for one in found if one.share.n), key=lambda one: (-one.share.n, one.name))
        left_out = f" The {_SLICES} with most chains of {len(known)}." if len(known) > _SLICES else ""
        if not known:
            st.caption("Of no chain the end is known.")
            return
        st.caption(f"Chains that ended with an attempt that worked.{left_out} {READING}")
        slice_table(
            dimension,
            {"recovered": known[:_SLICES]},
            key=f"recovered_{dimension}",
            ranked_by="recovered",
            leads=_tool_link if dimension == "tool" else None,
        )


def _tool_link(tool: str) -> str:
    return filters.link("tools", {}, {"tool_open": tool})


show()
