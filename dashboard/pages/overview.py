"""The headline rates with their doubt, then by model or prompt, by day, and by what went wrong."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import streamlit as st

from dashboard import charts, filters, wording
from dashboard.pages import answers, cards, fault_cards
from dashboard.pages.rate_table import READING, rate_table
from dashboard.statistics import ENOUGH, wilson

Row = Mapping[Hashable, Any]

_DRAWN = 30  # days with data


def show() -> None:
    st.title("Overview", anchor=False)
    _last_load()
    chosen = filters.chosen().parameters()
    rates = answers.ask("rates", **chosen)
    if rates.empty:
        cards.nothing_matches("calls or turns")
        return
    row: Row = rates.iloc[0].to_dict()
    _headlines(row)
    _slices(chosen)
    wide, narrow = st.columns([8, 5], gap="small")
    with wide:
        _trend(chosen)
    with narrow:
        fault_cards.layers(chosen)
    fault_cards.findings(chosen, row["mend_n"], row["calls"])


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


@dataclass(frozen=True, slots=True)
class _Headline:
    """One card: `k` of `n`, of `total` in all, and the door to the `leads` calls or turns behind it."""

    title: str
    noun: str
    k: int
    n: int
    total: int
    by: str = ""  # who measured
    note: str = ""
    door: str = "See these calls"
    leads: int = 0
    query: Mapping[str, str] = field(default_factory=dict)


def _headlines(row: Row) -> None:
    with st.grid(5, min_column_width=200, gap="small"):
        for headline in (*_of_calls(row), *_of_turns(row)):
            _draw(headline)


def _of_calls(row: Row) -> Iterator[_Headline]:
    k, refused = row["parse_k"], row["mend_refused"]
    yield _Headline(
        "Parse errors", "calls", k, row["parse_n"], row["calls"], leads=k, query={"fault": "arguments"}
    )
    yield _Headline(
        "Mended",
        "calls",
        row["mend_k"],
        row["mend_n"],
        row["calls"],
        note=f"{refused:,} of them the harness had refused" if refused else "",
        leads=row["mend_k"],
        query={"outcome": "mended"},
    )


def _of_turns(row: Row) -> Iterator[_Headline]:
    turns, both, disagree = row["turns"], row["both_n"], row["disagree"]
    of_these = "See the calls of these turns"
    yield _Headline(
        "Turns with a retry",
        "turns",
        row["retry_k"],
        turns,
        turns,
        door=of_these,
        leads=row["retry_k"],
        query={"turns": "retried"},
    )
    yield _Headline(
        "Turns recorded ok", "turns", row["recorded_k"], row["recorded_n"], turns, by=" by the log"
    )
    compared = f"{disagree:,} of {both:,} disagree with the log"
    yield _Headline(
        "Turns derived ok",
        "turns",
        row["derived_k"],
        row["derived_n"],
        turns,
        note=compared if both else "Not comparable: no turn has both verdicts",
        door=of_these,
        leads=disagree,
        query={"turns": "disagree"},
    )


def _draw(it: _Headline) -> None:
    with st.container(border=True, height="stretch", gap="xsmall"):
        st.metric(it.title, wording.rate(it.k, it.n))
        bounds = wording.interval(wilson(it.k, it.n))
        lines = [
            f"{wording.of(it.k, it.n)} {it.noun}",
            f"95% interval {bounds}" if bounds else "",
            wording.unmeasured(it.n, it.total) + it.by,
            it.note,
        ]
        st.caption("  \n".join(line for line in lines if line))
        if it.leads:
            st.page_link("dashboard/pages/calls.py", label=wording.door(it.door), query_params=it.query)


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
    with cards.card("Parse errors by day", "parse_errors_by_day", stretch=True, height=460):
        rows = answers.ask("parse_errors_by_day", **chosen).to_dict("records")
        if not rows:
            st.caption("No dated calls whose arguments could be judged.")
            return
        choices = answers.ask("choices")
        order = charts.series_order(choices[choices.dimension == "model"].value.tolist())
        drawn = sorted({row["day"] for row in rows})[-_DRAWN:]
        points = [
            charts.DayRate(row["day"], row["model"], row["k"], row["n"])
            for row in rows
            if row["day"] >= drawn[0]
        ]
        st.plotly_chart(
            charts.trend(points, order),
            config=charts.CONFIG,
            key="trend",
            alt="Parse error rate by day and model",
        )
        left_out = len(points) < len(rows)
        newest = f" Drawn are the {_DRAWN} newest days with data; choose days above for earlier ones."
        hollow = f"Days without calls are left out. Hollow: fewer than {ENOUGH} calls."
        st.caption(hollow + (newest if left_out else ""))


show()
