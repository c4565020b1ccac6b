"""Draws a table of retry sequences by tool, model, failure stage or attempt.

Each number links to the counted calls.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from callgauge.analysis import wording
from callgauge.dashboard import filters
from callgauge.dashboard.components.slice_table import IntervalScale, make_scale, part_cell, share_cell
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.pages.errors import recovery
from callgauge.stats import Share

Row = Mapping[Hashable, Any]
_AGAIN = {"attempts": "2-"}  # URL keys with which the call list shows sequences that have a second attempt
_NO_FAILURE = ("No failure", "Only the log reports the retry")
_OPEN = Column("Not known", "number", "The log ends before the end of the turn")


def link_to_chains(own: Mapping[str, str], narrowed: Mapping[str, str] | None = None) -> str:
    """Return a link to a list with the first call of each retry sequence."""
    return filters.page_link("calls", narrowed or {}, {"attempt": "first", **own})


def draw_chain_table(
    dimension: str,
    by_slice: Mapping[str, Sequence[Row]],
    order: Sequence[str],
    *,
    shares: Mapping[str, Share] | None = None,
    shown: int | None = None,
) -> None:
    """Draw one row for each slice, in the given order.

    `dimension` is tool, model or layer (the failure stage). `shares` holds the share of recovered sequences
    of each slice, as other pages show it. By default the shares are estimated from this table alone. `shown`
    is the number of rows before "Show all".
    """
    recoveries = shares or recovery.relate_recoveries(by_slice)
    given_up = {name: recoveries.get(name, Share(0, 0)).complement for name in by_slice}
    scale = make_scale(list(given_up.values()))
    has_open = any(recovery.count_ended(rows, "open") for rows in by_slice.values())
    heads = [
        Column("Failed at" if dimension == "layer" else dimension.capitalize(), "name"),
        Column(
            "Given up", "rate", "Share of the sequences with a known end, with its 95% interval",
            scale=scale.ends(),
        ),
        Column("Sequences", "number"),
        Column("Retried", "number"),
        Column("Recovered", "number"),
        *([_OPEN] if has_open else []),
        Column("Attempts each", "number"),
        Column("Tokens each", "number", None if has_open else "Of the retries, where the log has them"),
    ]  # fmt: skip
    rows = [
        _build_row(dimension, name, by_slice[name], given_up[name], scale, has_open=has_open)
        for name in order
    ]
    words = "stage" if dimension == "layer" else dimension
    draw_table("chains", f"Retry sequences by {words}", heads, rows, shown=shown)


def _build_row(
    dimension: str,
    name: str,
    rows: Sequence[Row],
    given_up: Share,
    scale: IntervalScale,
    *,
    has_open: bool,
) -> list[Cell]:
    narrowed = {} if dimension == "layer" else {dimension: name}
    own = {"fault": "unseen" if name == "none" else name} if dimension == "layer" else {}
    chains = sum(row["chains"] for row in rows)
    again, tokens = recovery.retried_share(rows), recovery.sum_cost(rows, "tokens").cost_per_chain
    attempts = recovery.mean_attempts(rows)

    def link(**more: str) -> str:
        return link_to_chains(own | more, narrowed)

    return [
        _name_cell(dimension, name),
        Cell("–")
        if given_up.rate is None
        else share_cell(given_up, scale, href=link(chain="abandoned") if given_up.k else None),
        Cell(f"{chains:,}", href=link(), order=chains),
        part_cell(again.k, again.n, href=link(**_AGAIN) if again.k else None, counts=True),
        *(
            _count_cell(recovery.count_ended(rows, ended), link(chain=ended))
            for ended in ("recovered", *(["open"] if has_open else []))
        ),
        Cell(f"{attempts:.2f}", order=attempts),
        Cell("–" if tokens is None else f"{tokens:,.0f}", order=tokens),
    ]


def _name_cell(dimension: str, name: str) -> Cell:
    if dimension == "layer":
        title, meaning = wording.STAGES.get(name, _NO_FAILURE if name == "none" else (name, ""))
        return Cell(title, sub=meaning or None)
    label = filters.value_label(dimension, name)
    href = filters.page_link("tools", {}, {"tool_open": name}) if dimension == "tool" else None
    return Cell(wording.one_line(label, 60), title=wording.one_line(label, 400), href=href, order=label)


def _count_cell(count: int, href: str, sub: str | None = None) -> Cell:
    return Cell(f"{count:,}", sub=sub, href=href if count else None, pale=not count, order=count)


def draw_funnel(rows: Sequence[Row], layer: str) -> None:
    """Draw one row per attempt: how many retry sequences reached the attempt, and how many ended with each
    outcome.

    `layer` is the failure stage of the first call of these sequences, or empty for any stage.
    """
    stages = recovery.build_funnel(rows)
    heads = [
        Column("Attempt", "tight"),
        Column("Sequences", "number"),
        Column("Recovered with it", "number", "Share of the sequences that made this attempt"),
        Column("Given up after it", "number"),
        _OPEN,
        Column("Retried", "number"),
    ]
    begun = stages[0].reached
    built = [_build_stage_row(stage, begun, layer) for stage in stages]
    draw_table("funnel", "Retry sequences by attempt", heads, built)


def _build_stage_row(stage: recovery.FunnelStage, begun: int, layer: str) -> list[Cell]:
    own = {"fault": "unseen" if layer == "none" else layer} if layer else {}
    title = "1, failed" if stage.number == 1 else f"{stage.number}"
    reached = link_to_chains(own | {"attempts": f"{stage.number}-"})
    ended = (("recovered", stage.recovered), ("abandoned", stage.abandoned), ("open", stage.open))
    return [
        Cell(
            f"{title} or later" if stage.number == recovery.MOST else title,
            share=stage.reached / max(1, begun),
        ),
        Cell(f"{stage.reached:,}", sub=wording.rate(stage.reached, begun), href=reached),
        *(
            _count_cell(
                count,
                link_to_chains(own | {"attempts": f"{stage.number}", "chain": name}),
                wording.rate(count, stage.reached) if count else None,
            )
            for name, count in ended
        ),
        _count_cell(
            stage.continued_count,
            link_to_chains(own | {"attempts": f"{stage.number + 1}-"}),
            wording.rate(stage.continued_count, stage.reached) if stage.continued_count else None,
        ),
    ]
