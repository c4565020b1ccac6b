"""Draws the rates of the page Overview: headlines, a table by model or prompt, a trend by day."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from callgauge.dashboard import store_queries, wording
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.rate_choice import choose_dimension
from callgauge.dashboard.components.rate_trend import draw_rate_trend
from callgauge.dashboard.components.slice_table import READING, draw_slice_table
from callgauge.dashboard.measures.rates import RATES
from callgauge.dashboard.measures.slices import Slice, make_slices, rank_slices
from callgauge.dashboard.page_files import page_file

HEADLINES = ("parse_error", "mended", "retried", "recorded_ok", "derived_ok")
_BY = ("model", "prompt", "prompt_name", "tool", "provider", "source")
_ROWS = 10  # of the table, until all are asked for


@dataclass(frozen=True, slots=True)
class _Headline:
    """One headline card; it links, under the label `door`, to `leads` calls or turns when that is not 0."""

    slice: Slice
    by: str = ""  # who measured
    note: str = ""
    door: str = "See these calls"
    leads: int = 0
    query: Mapping[str, str] = field(default_factory=dict)


def draw_headlines(rates: Mapping[str, Slice], refused: int) -> None:
    """Draw the headline rates; `refused` is the number of mended calls that the harness had refused."""
    with st.grid(5, min_column_width=200, gap="small"):
        for name in HEADLINES:
            if name in rates:
                _draw(_headline(name, rates, refused))


def _headline(name: str, rates: Mapping[str, Slice], refused: int) -> _Headline:
    one = rates[name]
    k, calls = one.share.k, one.rate.calls or {}
    of_these = "See the calls of these turns"
    if name == "mended":
        note = f"{refused:,} of them the harness had refused" if refused else ""
        return _Headline(one, note=note, leads=k, query=calls)
    if name == "retried":
        return _Headline(one, door=of_these, leads=k, query=calls)
    if name == "recorded_ok":
        return _Headline(one, by=" by the log")
    if name == "derived_ok":
        both = rates.get("disagree")
        if both is None or not both.share.n:
            return _Headline(one, note="Not comparable: no turn has both verdicts")
        note = f"{both.share.k:,} of {both.share.n:,} disagree with the log"
        return _Headline(one, note=note, door=of_these, leads=both.share.k, query=both.rate.calls or {})
    return _Headline(one, leads=k, query=calls)


def _draw(it: _Headline) -> None:
    share, noun = it.slice.share, it.slice.rate.noun
    with st.container(border=True, height="stretch", gap="xsmall"):
        st.metric(
            it.slice.rate.title, wording.rate(share.k, share.n), help=share.method_name if share.n else None
        )
        bounds = wording.interval(share.interval)
        lines = [
            f"{wording.fraction(share.k, share.n)} {noun}s",
            f"95% interval {bounds}" if bounds else "",
            wording.unmeasured_share(share.n, it.slice.total) + it.by,
            it.note,
        ]
        st.caption("  \n".join(line for line in lines if line))
        if it.leads:
            st.page_link(
                page_file("calls"),
                label=wording.link_label(it.door),
                query_params=it.query,
            )


def draw_rates_by(chosen: Mapping[str, Any]) -> None:
    """Draw the headline rates by the chosen dimension; values with the most parse errors come first."""
    with cards.draw_card("Rates", "slices", beside=_draw_dimension, height=320, caption=READING):
        by = st.session_state["by"]
        rows = store_queries.ask("slices", rates=HEADLINES, by=by, **chosen)
        columns = {name: [one for one in make_slices(rows) if one.rate.name == name] for name in HEADLINES}
        order = _worst_first(columns)
        shown = set(order if st.session_state.get("all_slices") else order[:_ROWS])
        place = {name: number for number, name in enumerate(order)}
        draw_slice_table(
            by,
            {
                rate: sorted((one for one in several if one.name in shown), key=lambda one: place[one.name])
                for rate, several in columns.items()
            },
            key=f"rates_{by}",
        )
        if len(order) > _ROWS:
            st.caption(f"{len(shown)} of {len(order)}; the worst parse errors of the well measured first.")
            st.toggle(f"Show all {len(order)}", key="all_slices")


def _draw_dimension() -> None:
    choose_dimension("By", among=_BY)


def _worst_first(columns: Mapping[str, Sequence[Slice]]) -> list[str]:
    """Return names by parse errors where enough calls are judged; then the others, the most used first."""
    enough = [one for one in columns["parse_error"] if one.is_solid]
    worst = [one.name for one in reversed(rank_slices(enough))]
    used: dict[str, int] = {}
    for several in columns.values():
        for one in several:
            used[one.name] = max(used.get(one.name, 0), one.total)
    return list(dict.fromkeys([*worst, *sorted(used, key=lambda name: (-used[name], name))]))


def draw_trend_card(chosen: Mapping[str, Any]) -> None:
    found = make_slices(store_queries.ask("slices", rates=("parse_error",), by="model", also="day", **chosen))
    draw_rate_trend("Parse errors by day", found, RATES["parse_error"], "model", key="trend")
