"""One tool: what calls get wrong in it down to the parameter, its definitions, and its rates by model."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import streamlit as st

from dashboard import answers, filters, wording
from dashboard.pages import tool_definitions, tool_parameter, tool_trend
from dashboard.pages.tool_parameter import judged_cell, share_of
from dashboard.rates import RATES
from dashboard.slices import Slice, ranked, slices
from dashboard.statistics import Share
from dashboard.widgets import cards
from dashboard.widgets.findings import SEVERITY_TONES
from dashboard.widgets.replay_door import replay_door
from dashboard.widgets.sheet import Cell, Column, sheet
from dashboard.widgets.slice_table import READING, Scale, scale_of, slice_table

RATES_SHOWN = ("parse_error", "mended", "tool_rejected", "execution", "recovered")
_MODELS = 40


def show(tool: str) -> None:
    st.page_link("dashboard/pages/tools.py", label="All tools", icon=":material/arrow_back:", width="content")
    st.title(wording.in_markdown(tool), anchor=False)
    chosen = filters.chosen().parameters() | {"tools": (tool,)}
    rows = answers.ask("slices", rates=RATES_SHOWN, by="model", **chosen)
    if rows.empty:
        cards.nothing_matches("calls of this tool")
        return
    replay_door(tool)
    culprits = answers.ask("culprits", **chosen).to_dict("records")
    _culprits(tool, culprits, chosen)
    tool_parameter.show(tool, chosen)
    tool_definitions.show(tool, chosen, culprits)
    tool_trend.show(chosen)
    _models(tool, slices(rows), chosen)


def _models(tool: str, found: list[Slice], chosen: Mapping[str, Any]) -> None:
    by_rate = {
        name: [one for one in found if one.rate.name == name]
        for name in RATES_SHOWN
        if any(one.rate.name == name for one in found)
    }
    first = "parse_error" if "parse_error" in by_rate else next(iter(by_rate))
    best = ranked(by_rate[first])
    names = {one.name for one in best[:_MODELS]}
    left_out = f" The first {_MODELS} of {len(best)}." if len(best) > _MODELS else ""
    with cards.card(
        "Rates by model",
        "slices",
        caption=f"The best by {RATES[first].title.lower()} first.{left_out} {READING}",
        take=cards.Take("tool_by_model", answers.later("slices", rates=RATES_SHOWN, by="model", **chosen)),
    ):
        slice_table(
            "model",
            {name: [one for one in several if one.name in names] for name, several in by_rate.items()},
            key="tool_models",
            ranked_by=first,
            leads=lambda model: filters.link("calls", {"model": model, "tool": tool}, {}),
        )


def _culprits(tool: str, rows: list[dict[Hashable, Any]], chosen: Mapping[str, Any]) -> None:
    with cards.card(
        "What calls get wrong, by parameter",
        "culprits",
        take=cards.Take("culprits", answers.later("culprits", **chosen)),
        caption="Open a parameter to see who gets it wrong."
        if rows
        else "Nothing was found in the arguments of the calls that could be judged.",
    ):
        if not rows:
            return
        shares = [share_of(row["calls"], row["judged"]) for row in rows]
        scale = scale_of([share for share in shares if share])
        heads = [
            Column("Parameter", "name"),
            Column("Finding", "tight"),
            Column("Calls", "number"),
            Column("Share of judged calls", "rate", "With its 95% interval", scale=scale.ends()),
            Column("Newest", "tight"),
            Column("Meaning"),
        ]
        drawn = [_culprit(tool, row, share, scale) for row, share in zip(rows, shares, strict=True)]
        sheet("culprits", "What calls get wrong by parameter", heads, drawn)


def _culprit(tool: str, row: Mapping[Hashable, Any], share: Share | None, scale: Scale) -> list[Cell]:
    return [
        Cell(
            wording.one_line(row["parameter"], 80) or "the arguments as a whole",
            mono=bool(row["parameter"]),
            href=tool_parameter.link(tool, row),
            order=row["parameter"],
        ),
        Cell(
            row["severity"] or "–",
            tone=SEVERITY_TONES.get(row["severity"]),
            sub=row["code"],
            order=row["code"],
        ),
        Cell(
            f"{row['calls']:,}",
            href=filters.link("calls", {"tool": tool}, {"code": row["code"]}),
            order=row["calls"],
        ),
        judged_cell(share, scale),
        Cell("open", href=filters.link("calls", {}, {"call": row["example"]})),
        Cell(row["summary"] or "–"),
    ]
