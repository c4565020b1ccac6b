"""The headline rates with their doubt, then by model or prompt, by day, and by what went wrong."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import streamlit as st

from dashboard import charts, filters, wording
from dashboard.pages import answers, cards
from dashboard.pages.findings import SEVERITY_TONES
from dashboard.pages.rate_table import READING, rate_table
from dashboard.pages.sheet import Cell, Column, sheet
from dashboard.statistics import ENOUGH, wilson

Row = Mapping[Hashable, Any]

_DRAWN = timedelta(days=30)

_LAYERS = {
    "emission": ("Emission", "No call, a leaked call or one cut off"),
    "syntax": ("Syntax", "The arguments are not JSON"),
    "schema": ("Schema", "JSON, but not what the tool's definition asks for"),
    "tool_rejected": ("Tool rejected", "The tool itself refused the arguments"),
    "execution": ("Execution", "It ran and failed"),
    "refused": ("Refused", "A user or a policy said no"),
}


def show() -> None:
    st.title("Overview", anchor=False)
    _last_load()
    chosen = filters.chosen().parameters()
    rates = answers.ask("rates", **chosen)
    if rates.empty:
        cards.nothing_matches("calls or turns")
        return
    _headlines(rates.iloc[0].to_dict())
    _slices(chosen)
    wide, narrow = st.columns([8, 5], gap="small")
    with wide:
        _trend(chosen)
    with narrow:
        _layers(chosen)
    _findings(chosen)


def _last_load() -> None:
    load = answers.ask("last_load").iloc[0]
    trouble = [
        wording.plural(number, noun)
        for number, noun in ((load.rejected_files, "rejected file"), (load.rejected_lines, "rejected line"))
        if number
    ]
    text = f"Data as of {wording.utc(load.loaded_at)} · {wording.plural(load.files, 'file')}"
    text += wording.age(load.loaded_at, datetime.now(UTC).replace(tzinfo=None))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(text if trouble else f"{text} · nothing rejected", width="content")
        if trouble:
            st.page_link("dashboard/pages/data.py", label=wording.door(", ".join(trouble)), width="content")


def _headlines(row: Row) -> None:
    with st.grid(4, min_column_width=230, gap="small"):
        _headline(
            "Parse errors", "calls", row["parse_k"], row["parse_n"], row["calls"], {"fault": "arguments"}
        )
        _headline("Mended", "calls", row["mend_k"], row["mend_n"], row["calls"], {"outcome": "mended"})
        _headline(
            "Turns with a retry", "turns", row["retry_k"], row["turns"], row["turns"], {"turns": "retried"}
        )
        _turn_success(row)


def _headline(title: str, noun: str, k: int, n: int, total: int, door: Mapping[str, str]) -> None:
    with st.container(border=True, height="stretch", gap="xsmall"):
        st.metric(title, wording.rate(k, n), help=None)
        bounds = wording.interval(wilson(k, n))
        st.caption(f"{wording.of(k, n)} {noun}" + (f" · 95% {bounds}" if bounds else ""))
        st.caption(wording.unmeasured(n, total))
        st.page_link("dashboard/pages/calls.py", label=wording.door("See these calls"), query_params=door)


def _turn_success(row: Row) -> None:
    with st.container(border=True, height="stretch", gap="xsmall"):
        with st.container(horizontal=True, gap="large"):
            st.metric(
                "Turns recorded ok", wording.rate(row["recorded_k"], row["recorded_n"]), width="content"
            )
            st.metric("Derived ok", wording.rate(row["derived_k"], row["derived_n"]), width="content")
        recorded, derived = (
            wording.of(row[f"{name}_k"], row[f"{name}_n"]) for name in ("recorded", "derived")
        )
        st.caption(f"{recorded} and {derived} turns")
        st.caption(f"{wording.unmeasured(row['recorded_n'], row['turns'])} by the log")
        st.page_link(
            "dashboard/pages/calls.py",
            label=wording.door(f"{row['disagree']:,} disagree: see their calls"),
            query_params={"turns": "disagree"},
        )


def _slices(chosen: Mapping[str, Any]) -> None:
    with cards.card("Rates by", "rates", beside=_slice_choice, height=320, caption=READING):
        dimension = st.session_state["by"].lower()
        rate_table(dimension, answers.ask("rates", by=dimension, **chosen))


def _slice_choice() -> None:
    st.selectbox(
        "Rates by",
        ["Model", "Prompt"],
        key="by",
        bind="query-params",
        label_visibility="collapsed",
        width=120,
    )


def _trend(chosen: Mapping[str, Any]) -> None:
    with cards.card("Parse errors by day", "parse_errors_by_day", stretch=True, height=380):
        rows = answers.ask("parse_errors_by_day", **chosen).to_dict("records")
        if not rows:
            st.caption("No dated calls whose arguments could be judged.")
            return
        choices = answers.ask("choices")
        order = charts.series_order(choices[choices.dimension == "model"].value.tolist())
        begin = rows[-1]["day"] - _DRAWN
        points = [
            charts.DayRate(row["day"], row["model"], row["k"], row["n"]) for row in rows if row["day"] > begin
        ]
        st.plotly_chart(
            charts.trend(points, order),
            config=charts.CONFIG,
            key="trend",
            alt="Parse error rate by day and model",
        )
        newest = f" Drawn are the {_DRAWN.days} newest days; choose days above for earlier ones."
        st.caption(f"Hollow: fewer than {ENOUGH} calls that day.{newest if len(points) < len(rows) else ''}")


def _layers(chosen: Mapping[str, Any]) -> None:
    with cards.card("Where calls went wrong first", "fault_layers", stretch=True, height=380):
        rows = {row["layer"]: row for row in answers.ask("fault_layers", **chosen).to_dict("records")}
        most = max((rows[layer]["calls"] for layer in _LAYERS), default=0)
        sheet(
            "layers",
            "Calls by fault layer",
            [Column("Layer"), Column("Calls", "number"), Column("Share", "number")],
            [_layer_row(layer, rows[layer], most) for layer in _LAYERS],
        )


def _layer_row(layer: str, row: Row, most: int) -> list[Cell]:
    title, meaning = _LAYERS[layer]
    return [
        Cell(
            title,
            sub=meaning,
            share=row["calls"] / most if most else 0.0,
            href=filters.link("calls", {}, {"fault": layer}),
        ),
        Cell(f"{row['calls']:,}"),
        Cell(wording.rate(row["calls"], row["total"])),
    ]


def _findings(chosen: Mapping[str, Any]) -> None:
    with cards.card("What the parser found", "findings", height=220):
        rows = answers.ask("findings", **chosen).head(12).to_dict("records")
        if not rows:
            st.caption("No findings: every text that could be read was clean.")
            return
        sheet(
            "findings",
            "Parser findings by code",
            [
                Column("Code", "tight"),
                Column("Severity", "tight"),
                Column("Calls", "number"),
                Column("Meaning"),
            ],
            [_finding_row(row) for row in rows],
        )


def _finding_row(row: Row) -> list[Cell]:
    return [
        Cell(row["code"], mono=True, href=filters.link("calls", {}, {"code": row["code"]})),
        Cell(row["severity"] or "–", tone=SEVERITY_TONES.get(row["severity"])),
        Cell(f"{row['calls']:,}"),
        Cell(row["summary"] or ""),
    ]


show()
