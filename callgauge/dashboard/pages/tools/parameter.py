"""Card of one finding at one parameter, as the URL names it: its calls by model or another dimension."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.measures.slices import sum_groups
from callgauge.analysis.verdicts.sentences import LESS
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.rate_choice import DIMENSIONS, choose_dimension
from callgauge.dashboard.components.slice_table import FILTERED, IntervalScale, make_scale, share_cell
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.stats import Share
from callgauge.stats.intervals import Floats

OPEN = "culprit"  # the parameter of the URL: the code, a colon, the parameter
_BY = ("model", "provider", "prompt", "definition", "source", "day")
_SHOWN = 60

Row = Mapping[Hashable, Any]


def parameter_link(tool: str, row: Row) -> str:
    """Return the link that opens the finding of a row of the metric `culprits`."""
    return filters.page_link("tools", {}, {"tool_open": tool, OPEN: f"{row['code']}:{row['parameter']}"})


def show(tool: str, chosen: Mapping[str, Any]) -> None:
    """Draw the card of the finding that the URL names; draw nothing when the URL names no finding."""
    code, colon, parameter = st.query_params.get(OPEN, "").partition(":")
    if not colon:
        return
    name = wording.in_markdown(parameter, 80) if parameter else "the arguments as a whole"
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="culprit_by"):
        by = choose_dimension("Who gets it wrong, by", among=_BY)
    asked = {"by": by, "parameter": parameter, "code": code, **chosen}
    title = f"{wording.in_markdown(code, 60)} at {name}, by {DIMENSIONS[by].lower()}"
    take = cards.Download(f"culprit_by_{by}", store_queries.ask_later("culprit_slices", **asked))
    with cards.draw_card(title, "culprit_slices", take=take, height=220):
        rows = store_queries.ask("culprit_slices", **asked).to_dict("records")
        if not any(row["k"] for row in rows):
            st.caption("No call of this selection has this finding. Choose another, or widen the filters.")
            return
        _draw_table(tool, by, code, rows[:_SHOWN])
        more = f" The first {_SHOWN} of {len(rows)}." if len(rows) > _SHOWN else ""
        st.caption(
            f"Share of the calls that the parser could judge, with its 95% interval. Pale: {LESS}.{more}"
        )


def _draw_table(tool: str, by: str, code: str, rows: list[dict[Hashable, Any]]) -> None:
    shares = [judged_share(row["k"], row["n"], sum_groups([row], "k", "n")) for row in rows]
    scale = make_scale([share for share in shares if share])
    columns = [
        Column(DIMENSIONS[by], "name"),
        Column("Calls with it", "number"),
        Column("Share of judged calls", "rate", "With its 95% interval", scale=scale.ends()),
        Column("All calls", "number"),
        Column("Newest", "tight"),
    ]
    drawn = [
        [
            Cell(
                filters.short_label(by, row["slice"]),
                title=wording.one_line(filters.value_label(by, row["slice"]), 400),
                order=row["slice"],
            ),
            Cell(
                f"{row['k']:,}",
                href=filters.page_link("calls", {"tool": tool, by: row["slice"]}, {"code": code})
                if by in FILTERED and row["k"]
                else None,
                order=row["k"],
            ),
            judged_cell(share, scale),
            Cell(f"{row['total']:,}", order=row["total"]),
            Cell("open", href=filters.page_link("calls", {}, {"call": row["example"]}))
            if row["example"]
            else Cell("–"),
        ]
        for row, share in zip(rows, shares, strict=True)
    ]
    draw_table("culprit_slices", f"Calls with this finding by {DIMENSIONS[by].lower()}", columns, drawn)


def judged_share(calls: int, judged: int, by_group: Floats) -> Share | None:
    """Return the share of `calls` among the `judged` calls; `by_group`: both by group of sessions.

    Return None when the harness gave the finding on calls that the parser cannot judge.
    """
    return Share(calls, judged, None, by_group) if judged and calls <= judged else None


def judged_cell(share: Share | None, scale: IntervalScale) -> Cell:
    """Return a cell with the share of judged calls and its interval; a dash when `share` is None."""
    return Cell("–", sub="not judged here") if share is None else share_cell(share, scale)
