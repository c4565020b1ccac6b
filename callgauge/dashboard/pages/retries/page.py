"""The page Retries: what became of chains of attempts, by tool, model, layer or attempt; their cost."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.measures.slices import make_slices
from callgauge.analysis.verdicts.sentences import RULE, format_difference
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.rate_choice import choose_one, choose_segment
from callgauge.dashboard.components.fault_cards import LAYERS
from callgauge.dashboard.components.slice_table import READING, IntervalScale, share_cell
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.pages.retries import losses, recovery
from callgauge.dashboard.pages.retries.chain_table import draw_chain_table, draw_funnel, link_to_chains
from callgauge.dashboard.shown_page import record_answer
from callgauge.stats import Share, compare_rates

Row = Mapping[Hashable, Any]
_ROWS = 10  # tools or models, until all are asked for
_WAYS = {"tool": "By tool", "model": "By model", "layer": "By layer", "attempt": "By attempt"}


def show() -> None:
    st.title("Retries", anchor=False)
    chosen = filters.chosen_filters().parameters()
    rows: list[dict[Hashable, Any]] = store_queries.ask("chains", **chosen).to_dict("records")
    if not rows:
        cards.show_no_matches("calls that went wrong")
        return
    record_answer(f"{describe_recovery(rows)} {describe_kinds(rows)}")
    with st.container(key="verdict"):
        st.header(f"{describe_recovery(rows)} {describe_kinds(rows)}", anchor=False)
    _draw_chains(chosen, rows)
    left, right = st.columns(2, gap="small")
    with left:
        _draw_kinds(rows)
    with right:
        _draw_cost(rows)
    losses.show(chosen)


def describe_recovery(rows: Sequence[Row]) -> str:
    """Return a sentence on how many of the chains with a known end recovered."""
    share, chains = recovery.recovery_share(rows)
    if not share.n:
        return f"Of none of {wording.plural(chains, 'chain')} the end is known."
    known = "" if share.n == chains else " whose end is known"
    return f"Of {wording.plural(share.n, 'chain')}{known}, {wording.rate(share.k, share.n)} recovered."


def describe_kinds(rows: Sequence[Row]) -> str:
    """Return a sentence on whether a changed retry works more often than an identical one."""
    changed, identical = (recovery.first_retry_share(rows, kind) for kind in ("changed", "identical"))
    found = compare_rates(changed, identical)
    if found is None:
        return "Changed and identical retries cannot be compared: one kind is missing."
    rates = f"{wording.rate(changed.k, changed.n)} against {wording.rate(identical.k, identical.n)}"
    if not (changed.has_enough and identical.has_enough):
        return f"Too few to say whether changing the arguments helps: {rates} worked."
    if not found.is_decisive:
        return f"No clear difference between changed and identical arguments: {rates} worked."
    better = "more" if found.estimate > 0 else "less"
    return f"Retries with changed arguments work {better} often than identical ones: {rates}."


def _draw_chains(chosen: Mapping[str, Any], rows: Sequence[Row]) -> None:
    with cards.draw_card(
        "What became of each chain",
        "chains",
        caption="A chain begins with a call that went wrong. A number opens the first call of each chain.",
        take=cards.Download("chains", store_queries.ask_later("chains", **chosen)),
    ):
        way = choose_segment("Chains by", "by", tuple(_WAYS), _WAYS.__getitem__)
        if way == "attempt":
            _draw_attempts(recovery.group_by_slice(rows), rows)
        elif way == "layer":
            by_layer = recovery.group_by_slice(rows)
            order = [layer for layer in (*LAYERS, *by_layer) if layer in by_layer]
            draw_chain_table("layer", by_layer, list(dict.fromkeys(order)))
        else:
            _draw_most(way, store_queries.ask("chains", by=way, **chosen).to_dict("records"), chosen)
        if way != "attempt":
            st.caption(READING)


def _draw_attempts(by_layer: Mapping[str, Sequence[Row]], rows: Sequence[Row]) -> None:
    layers = ["", *(layer for layer in LAYERS if layer in by_layer)]
    picked = choose_one(
        "Began at", "layer", layers, "", lambda layer: LAYERS[layer][0] if layer else "Any layer"
    )
    draw_funnel(by_layer[picked] if picked else rows, picked)


def _draw_most(dimension: str, rows: Sequence[Row], chosen: Mapping[str, Any]) -> None:
    """Draw the models or tools, those with the most abandoned chains first: there most is to win."""
    by_slice = recovery.group_by_slice(rows)
    order = sorted(
        by_slice,
        key=lambda name: (
            -recovery.count_ended(by_slice[name], "abandoned"),
            -recovery.count_ended(by_slice[name], "recovered"),
            name,
        ),
    )
    # Of the table of this rate that the pages Tools and Models show, so that each interval is the same there.
    known = make_slices(store_queries.ask("slices", rates=("recovered",), by=dimension, **chosen))
    shares = recovery.relate_recoveries(by_slice)
    shares |= {
        each.name: each.share
        for each in known
        if each.name in shares and (each.share.k, each.share.n) == (shares[each.name].k, shares[each.name].n)
    }
    draw_chain_table(dimension, by_slice, order, shares=shares, shown=_ROWS)


def _draw_kinds(rows: Sequence[Row]) -> None:
    with cards.draw_card("Does changing the call help?", "chains", stretch=True):
        kinds = {kind: recovery.first_retry_share(rows, kind) for kind in ("changed", "identical")}
        found = compare_rates(kinds["changed"], kinds["identical"])
        if found is not None:  # what it means is the sentence of the page
            st.markdown(f"Changed minus identical: {format_difference(found)}, 95%.")
        scale = IntervalScale(0.0, 1.0)
        drawn = [
            [
                Cell(f"{kind} arguments"),
                _worked_cell(share, scale, f"{kind}_worked"),
                Cell(f"{share.n:,}", href=link_to_chains({"first_retry": kind}) if share.n else None),
            ]
            for kind, share in kinds.items()
        ]
        unknown = recovery.retried_share(rows).k - sum(share.n for share in kinds.values())
        if unknown:
            href = link_to_chains({"first_retry": "unknown"})
            drawn.append([Cell("one text unknown"), Cell("–"), Cell(f"{unknown:,}", href=href)])
        draw_table(
            "kinds",
            "Retries that worked, by kind",
            [
                Column("First retry", "tight"),
                Column("Worked", "rate", "Had no fault", scale=scale.ends()),
                Column("Chains", "number"),
            ],
            drawn,
        )
        st.caption(
            "Only the first retry of a chain counts: one long chain must not outweigh many. "
            f"A verdict takes {RULE} of both kinds."
        )


def _worked_cell(share: Share, scale: IntervalScale, kind: str) -> Cell:
    if share.rate is None:
        return Cell("–")
    return share_cell(
        share, scale, href=link_to_chains({"first_retry": kind}) if share.k else None, ordered=False
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
    whole = found.retried > 0 and found.known == found.retried
    return [
        Cell(title),
        Cell("–" if each is None else f"{each / unit:,.{0 if each / unit >= 100 else 1}f}{suffix}"),
        Cell(f"{found.total / unit:,.0f}{suffix}" if found.known else "–"),
        Cell(
            wording.fraction(found.known, found.retried),
            sub=wording.rate(found.known, found.retried),
            href=link_to_chains({"attempts": "2-"}) if whole else None,
        ),
    ]


show()
