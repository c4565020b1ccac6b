"""The definitions of one tool: how calls fared under each, what changed between two, what the lint says."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import streamlit as st

from dashboard import answers, wording
from dashboard.advice import Culprit, NotReadableError, advice
from dashboard.diffs import definition_text, unified
from dashboard.rates import RATES
from dashboard.slices import Slice, slices
from dashboard.widgets import cards
from dashboard.widgets.advice_table import advice_table
from dashboard.widgets.rate_choice import choice
from dashboard.widgets.sheet import Cell, Column, sheet
from dashboard.widgets.slice_table import rate_cell, scale_of

Row = Mapping[Hashable, Any]
_RATES = ("parse_error", "mended", "tool_rejected")


def show(tool: str, chosen: Mapping[str, Any], culprits: Sequence[Row]) -> None:
    """`chosen`: the filters with this one tool; `culprits`: the rows of the metric of that name for it."""
    versions: list[dict[Hashable, Any]] = answers.ask("definitions", **chosen).to_dict("records")
    if not versions:
        with cards.card("Definition", "definitions"):
            st.caption(
                "No log of these calls holds the tool's definition. Give it with: "
                "callgauge ingest PATH --tools FILE"
            )
        return
    _versions(tool, versions, chosen)
    _advice(tool, versions, culprits)


def _versions(tool: str, versions: Sequence[Row], chosen: Mapping[str, Any]) -> None:
    rows = answers.ask("slices", rates=_RATES, by="definition", **chosen)
    by_rate: dict[str, dict[str, Slice]] = {name: {} for name in _RATES}
    for one in slices(rows):
        by_rate[one.rate.name][one.name] = one
    scales = {name: scale_of([one.share for one in several.values()]) for name, several in by_rate.items()}
    with cards.card(
        "Versions of the definition",
        "definitions",
        "slices",
        take=cards.Take("definitions", answers.later("definitions", **chosen)),
    ):
        heads = [
            Column("Version", "tight"), Column("In force", "tight"), Column("Calls", "number"),
            *(Column(RATES[name].title, "rate", scale=scales[name].ends()) for name in _RATES),
        ]  # fmt: skip
        sheet(
            "tool_versions",
            f"Versions of the definition of {wording.one_line(tool, 80)}",
            heads,
            [
                [
                    *_version(row),
                    *(rate_cell(by_rate[name].get(row["definition_id"]), scales[name]) for name in _RATES),
                ]
                for row in versions
            ],
        )
        if len(versions) > 1:
            _difference(versions)


def _version(row: Row) -> list[Cell]:
    same = row["first_day"] == row["last_day"]
    days = f"{row['first_day']}" if same else f"{row['first_day']} – {row['last_day']}"
    origin = "from the log" if row["origin"] == "log" else "given with --tools"
    return [
        Cell(f"{row['number']:,}", sub=(row["definition_id"] or "")[:12], order=row["number"]),
        Cell(days if row["first_day"] else "unknown days", sub=origin),
        Cell(f"{row['calls']:,}", order=row["calls"]),
    ]


def _difference(versions: Sequence[Row]) -> None:
    by_number = {str(row["number"]): row for row in versions}
    numbers = list(by_number)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        before = choice("Before", "def_before", numbers, numbers[1], _titled, width=160)
        after = choice("After", "def_after", numbers, numbers[0], _titled, width=160)
    changes = unified(_text(by_number[before]), _text(by_number[after]))
    if changes:
        st.code(wording.visible(changes), language="diff", wrap_lines=True)
    else:
        st.caption("These two are the same.")


def _titled(number: str) -> str:
    return f"Version {number}"


def _text(row: Row) -> str:
    return definition_text(row["description"], row["definition"])


def _advice(tool: str, versions: Sequence[Row], culprits: Sequence[Row]) -> None:
    newest = versions[0]
    guilty = [Culprit(row["parameter"], row["code"], row["severity"], row["calls"]) for row in culprits]
    with cards.card(
        "What the newest definition could say better",
        caption=f"Version {newest['number']}, read by the lint (callgauge lint). Calls: with an error or "
        "a guess at that parameter, in all versions; the definition may be the cause, or the model.",
    ):
        try:
            found = advice(tool, newest["description"], newest["definition"], guilty)
        except NotReadableError as refused:
            st.caption(f"The lint cannot read this definition: {wording.in_markdown(str(refused), 300)}")
            return
        advice_table("advice", found, calls=True)
