"""The table of chains by tool, model, layer or attempt; each number links to the calls that it counts."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from callgauge.analysis import wording
from callgauge.dashboard import filters
from callgauge.dashboard.components.fault_cards import LAYERS
from callgauge.dashboard.components.slice_table import IntervalScale, make_scale, part_cell, share_cell
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.pages.retries import recovery
from callgauge.stats import Share

Row = Mapping[Hashable, Any]
_AGAIN = {"attempts": "2-"}  # URL keys of the list of calls: chains with a second attempt


def link_to_chains(own: Mapping[str, str], narrowed: Mapping[str, str] | None = None) -> str:
    """Return a link to the first calls of chains: one call for each chain.

    `own`: URL keys of the list of calls; `narrowed`: values of the filter bar.
    """
    return filters.page_link("calls", narrowed or {}, {"attempt": "first", **own})


def draw_chain_table(
    dimension: str,
    by_slice: Mapping[str, Sequence[Row]],
    order: Sequence[str],
    *,
    shares: Mapping[str, Share] | None = None,
    shown: int | None = None,
) -> None:
    """Draw one row for each slice, in this order.

    `dimension`: tool, model or layer; `shares`: the recovered share of each slice, as other pages show it;
    without, the slices make a table of their own. `shown`: the number of rows before a person asks for all.
    """
    known = shares or recovery.relate_recoveries(by_slice)
    scale = make_scale([known.get(name, Share(0, 0)) for name in by_slice])
    heads = [
        Column("Began at" if dimension == "layer" else dimension.capitalize(), "name"),
        Column("Chains", "number"),
        Column("Tried again", "number"),
        Column("Recovered", "rate", "Of the chains whose end is known", scale=scale.ends()),
        Column("Abandoned", "number"),
        Column("Not known", "number", "The log stops before the turn's end"),
        Column("Tokens each", "number", "Of the retries of a chain, where the log tells them"),
        Column("Abandoned in", "tight", "Sessions with such an abandoned chain"),
    ]
    rows = [
        _build_row(dimension, name, by_slice[name], known.get(name, Share(0, 0)), scale) for name in order
    ]
    draw_table("chains", f"Chains by {dimension}", heads, rows, shown=shown)


def _build_row(
    dimension: str, name: str, rows: Sequence[Row], share: Share, scale: IntervalScale
) -> list[Cell]:
    narrowed = {} if dimension == "layer" else {dimension: name}
    own = {"fault": "unseen" if name == "none" else name} if dimension == "layer" else {}
    chains = sum(row["chains"] for row in rows)
    again, tokens = recovery.retried_share(rows), recovery.sum_cost(rows, "tokens").cost_per_chain
    recovered = link_to_chains(own | {"chain": "recovered"}, narrowed) if share.k else None
    return [
        _name_cell(dimension, name),
        Cell(f"{chains:,}", href=link_to_chains(own, narrowed), order=chains),
        part_cell(
            again.k, again.n, href=link_to_chains(own | _AGAIN, narrowed) if again.k else None, counts=True
        ),
        Cell("–") if share.rate is None else share_cell(share, scale, href=recovered),
        *(
            _count_cell(recovery.count_ended(rows, ended), link_to_chains(own | {"chain": ended}, narrowed))
            for ended in ("abandoned", "open")
        ),
        Cell("–" if tokens is None else f"{tokens:,.0f}", order=tokens),
        _sessions_cell(dimension, narrowed, share.n - share.k),
    ]


def _name_cell(dimension: str, name: str) -> Cell:
    if dimension == "layer":
        title, meaning = LAYERS.get(name, (name, None))
        if name == "none":
            title, meaning = "No fault", "Only the log says that it was tried again"
        return Cell(title, sub=meaning)
    label = filters.value_label(dimension, name)
    href = filters.page_link("tools", {}, {"tool_open": name}) if dimension == "tool" else None
    return Cell(wording.one_line(label, 60), title=wording.one_line(label, 400), href=href, order=label)


def _sessions_cell(dimension: str, narrowed: Mapping[str, str], abandoned: int) -> Cell:
    if dimension == "layer" or not abandoned:
        return Cell("–")
    return Cell("sessions", href=filters.page_link("sessions", narrowed, {"chain": "abandoned"}))


def _count_cell(count: int, href: str, sub: str | None = None) -> Cell:
    return Cell(f"{count:,}", sub=sub, href=href if count else None, pale=not count, order=count)


def draw_funnel(rows: Sequence[Row], layer: str) -> None:
    """Draw one row for each attempt: how many chains made it, and how they ended with it.

    `layer`: the fault layer at which all these chains began; empty for any.
    """
    stages = recovery.build_funnel(rows)
    heads = [
        Column("Attempt", "tight"),
        Column("Chains", "number"),
        Column("Recovered with it", "number", "Share of the chains that made this attempt"),
        Column("Abandoned after it", "number"),
        Column("Not known", "number", "The log stops before the turn's end"),
        Column("Tried again", "number"),
    ]
    begun = stages[0].reached
    draw_table("funnel", "Chains by attempt", heads, [_build_stage_row(one, begun, layer) for one in stages])


def _build_stage_row(one: recovery.FunnelStage, begun: int, layer: str) -> list[Cell]:
    own = {"fault": "unseen" if layer == "none" else layer} if layer else {}
    title = "1, went wrong" if one.number == 1 else f"{one.number}"
    reached = link_to_chains(own | {"attempts": f"{one.number}-"})
    ended = (("recovered", one.recovered), ("abandoned", one.abandoned), ("open", one.open))
    return [
        Cell(
            f"{title} or later" if one.number == recovery.MOST else title, share=one.reached / max(1, begun)
        ),
        Cell(f"{one.reached:,}", sub=wording.rate(one.reached, begun), href=reached),
        *(
            _count_cell(
                count,
                link_to_chains(own | {"attempts": f"{one.number}", "chain": name}),
                wording.rate(count, one.reached) if count else None,
            )
            for name, count in ended
        ),
        _count_cell(
            one.continued_count,
            link_to_chains(own | {"attempts": f"{one.number + 1}-"}),
            wording.rate(one.continued_count, one.reached) if one.continued_count else None,
        ),
    ]
