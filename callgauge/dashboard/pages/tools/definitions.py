"""Draws cards on one tool's definitions: the rates of each version, a diff of two versions, lint findings."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.advice import Culprit, NotReadableError, find_advice
from callgauge.analysis.measures.rates import RATES
from callgauge.analysis.measures.slices import Slice, make_slices
from callgauge.analysis.texts.text_diff import definition_text, unified_diff
from callgauge.dashboard import store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.advice_table import draw_advice_table
from callgauge.dashboard.components.controls.rate_choice import choose_one
from callgauge.dashboard.components.controls.url_widgets import draw_fold
from callgauge.dashboard.components.slice_table import make_scale, rate_cell
from callgauge.dashboard.components.table import Cell, Column, draw_table

Row = Mapping[Hashable, Any]
_RATES = ("parse_error", "mended", "tool_rejected")


def show(tool: str, versions: Sequence[Row], chosen: Mapping[str, Any]) -> None:
    """Draw the expander with a tool's definitions: the rates of each definition, a diff, lint findings."""
    if not versions:
        st.caption(
            "No log has this tool's definition. Add it with: callgauge ingest PATH --tools FILE --store DIR"
        )
        return
    fold = draw_fold(f"Definition ({wording.plural(len(versions), 'version')})", "versions")
    if fold is not None:
        with fold:
            _draw_versions(tool, versions, chosen)
            _draw_advice(tool, versions, store_queries.ask("culprits", **chosen).to_dict("records"))


def _draw_versions(tool: str, versions: Sequence[Row], chosen: Mapping[str, Any]) -> None:
    rows = store_queries.ask("slices", rates=_RATES, by="definition", **chosen)
    by_rate: dict[str, dict[str, Slice]] = {name: {} for name in _RATES}
    for slice_ in make_slices(rows):
        by_rate[slice_.rate.name][slice_.name] = slice_
    scales = {
        name: make_scale([slice_.share for slice_ in several.values()]) for name, several in by_rate.items()
    }
    with cards.draw_card(
        "Versions of the definition",
        "definitions",
        "slices",
        take=cards.Download("definitions", store_queries.ask_later("definitions", **chosen)),
    ):
        heads = [
            Column("Version", "tight"), Column("In force", "tight"), Column("Calls", "number"),
            *(Column(RATES[name].title, "rate", scale=scales[name].ends()) for name in _RATES),
        ]  # fmt: skip
        draw_table(
            "tool_versions",
            f"Versions of the definition of {wording.one_line(tool, 80)}",
            heads,
            [
                [
                    *_build_version_row(row),
                    *(rate_cell(by_rate[name].get(row["definition_id"]), scales[name]) for name in _RATES),
                ]
                for row in versions
            ],
        )
        if len(versions) > 1:
            _draw_difference(versions)


def _build_version_row(row: Row) -> list[Cell]:
    same = row["first_day"] == row["last_day"]
    days = f"{row['first_day']}" if same else f"{row['first_day']} – {row['last_day']}"
    origin = "from the log" if row["origin"] == "log" else "given with --tools"
    return [
        Cell(f"{row['number']:,}", sub=(row["definition_id"] or "")[:12], order=row["number"]),
        Cell(days if row["first_day"] else "unknown days", sub=origin),
        Cell(f"{row['calls']:,}", order=row["calls"]),
    ]


def _draw_difference(versions: Sequence[Row]) -> None:
    by_number = {str(row["number"]): row for row in versions}
    numbers = list(by_number)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        before = choose_one("Before", "def_before", numbers, numbers[1], _version_title, width=160)
        after = choose_one("After", "def_after", numbers, numbers[0], _version_title, width=160)
    changes = unified_diff(_version_text(by_number[before]), _version_text(by_number[after]))
    if changes:
        st.code(wording.visible(changes), language="diff", wrap_lines=True)
    else:
        st.caption("These two are the same.")


def _version_title(number: str) -> str:
    return f"Version {number}"


def _version_text(row: Row) -> str:
    return definition_text(row["description"], row["definition"])


def _draw_advice(tool: str, versions: Sequence[Row], culprits: Sequence[Row]) -> None:
    newest = versions[0]
    guilty = [Culprit(row["parameter"], row["code"], row["severity"], row["calls"]) for row in culprits]
    try:
        advice = find_advice(tool, newest["description"], newest["definition"], guilty)
    except NotReadableError as refusal:
        st.caption(f"The lint cannot read this definition: {wording.in_markdown(str(refusal), 300)}")
        return
    if not advice:
        return
    with cards.draw_card(
        "Advice of the lint",
        caption=f"For version {newest['number']}. Calls: with an error or a guess at that parameter, under "
        "all versions; the cause may be the definition or the model.",
    ):
        draw_advice_table("advice", advice, calls=True)
