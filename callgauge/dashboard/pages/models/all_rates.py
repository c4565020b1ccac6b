"""Draws an expander with a table of every rate, cost and latency of each model, in groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.measures.costs import DIMENSIONS as PRICED
from callgauge.analysis.measures.latency import KINDS, PERCENTILES, Latency, read_latencies
from callgauge.analysis.measures.rates import GROUPS, LISTED, RATES
from callgauge.analysis.measures.slices import MEASURED_ENOUGH, make_slices
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components.controls.url_widgets import draw_fold
from callgauge.dashboard.components.money.cells import MONEY_COLUMNS, make_cells
from callgauge.dashboard.components.money.page_costs import ask_costs
from callgauge.dashboard.components.slice_table import NEARLY_ALL, calls_link, compact_rate_cell
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.pages.models.turn_effort import read_effort_rows

_SHOWN = 8
_TITLE = 16  # characters of a slice name in the header


@dataclass(frozen=True, slots=True)
class RateRow:
    """One line of the table: a rate, cost or latency, its meaning, and the cell for each slice by name."""

    title: str
    meaning: str | None
    cells: Mapping[str, Cell]


def draw_all_rates(by: str, names: Sequence[str], chosen: Mapping[str, Any]) -> None:
    """Draw the expander. A closed expander runs no query.

    `names` holds the slices by the dimension `by`, the best first.
    """
    fold = draw_fold("All rates", "all_rates")
    if fold is None or not names:
        return
    shown = names[:_SHOWN]
    with fold:
        for group, read in _READERS.items():
            rows = read(by, chosen)
            if rows:
                _draw_group(group, by, shown, rows)
        few = f" The first {_SHOWN} of {len(names)} are shown." if len(names) > _SHOWN else ""
        st.caption(f"Hover, focus or tap a figure for its interval and what was not measured.{few}")


def _draw_group(group: str, by: str, shown: Sequence[str], rows: Sequence[RateRow]) -> None:
    labels = [filters.value_label(by, name) for name in shown]
    columns = [
        Column(group.capitalize(), "name", GROUPS.get(group), width="190px"),  # type: ignore[call-overload]
        *(
            Column(wording.one_line(each, _TITLE), "cell", full=wording.one_line(each, 200))
            for each in labels
        ),
    ]
    cells = [
        [
            Cell(row.title, title=row.meaning),
            *(row.cells.get(name, Cell("–", title="none")) for name in shown),
        ]
        for row in rows
    ]
    draw_table(
        f"all_rates_{group}", f"{group.capitalize()}: every rate by {wording.dimension(by)}", columns, cells
    )


def _read_rates(group: str, by: str, chosen: Mapping[str, Any]) -> list[RateRow]:
    names = tuple(name for name in LISTED if RATES[name].group == group)
    slices = make_slices(store_queries.ask("slices", rates=names, by=by, **chosen))
    return [
        RateRow(
            RATES[name].title,
            RATES[name].meaning,
            {
                each.name: compact_rate_cell(
                    each, calls_link(RATES[name], {by: each.name}) if each.share.k else None
                )
                for each in slices
                if each.rate.name == name
            },
        )
        for name in names
    ]


def _read_cost(by: str, chosen: Mapping[str, Any]) -> list[RateRow]:
    if by not in PRICED:
        return []
    costs = ask_costs(by, **chosen)
    rows = [
        RateRow(
            head.title,
            head.help,
            dict(zip((cost.slice for cost in costs), make_cells(costs, make), strict=True)),
        )
        for head, make in MONEY_COLUMNS.values()
    ]
    effort = store_queries.ask("turn_costs", by=by, **chosen).to_dict("records")
    return rows + [RateRow(*row) for row in read_effort_rows(effort, "tokens")]


def _read_latency(by: str, chosen: Mapping[str, Any]) -> list[RateRow]:
    latencies = (
        read_latencies(store_queries.ask("latency", by=by, **chosen)) if by != "harness_version" else []
    )
    rows = [
        RateRow(
            f"{title}, {percentile}",
            f"{meaning[0].upper()}{meaning[1:]}",
            {each.slice: _latency_cell(each, percentile) for each in latencies if each.kind == kind},
        )
        for kind, title in KINDS.items()
        for percentile, meaning in PERCENTILES.items()
    ]
    if by not in PRICED:
        return rows if latencies else []
    effort = store_queries.ask("turn_costs", by=by, **chosen).to_dict("records")
    return rows + [RateRow(*row) for row in read_effort_rows(effort, "seconds")]


def _latency_cell(latency: Latency, percentile: str) -> Cell:
    ms = latency.p50 if percentile == "p50" else latency.p95
    if ms is None:
        return Cell("–", title="not measured", values={"ms": None, "n": 0, "total": latency.total})
    return Cell(
        wording.duration(ms / 1000),
        sub=None if latency.n >= NEARLY_ALL * latency.total else latency.basis,
        title=latency.basis,
        pale=latency.n < MEASURED_ENOUGH * latency.total,
        order=ms,
        values={"ms": ms, "n": latency.n, "total": latency.total},
    )


_READERS: Mapping[str, Callable[[str, Mapping[str, Any]], list[RateRow]]] = {
    **{
        group: (lambda by, chosen, group=group: _read_rates(group, by, chosen))  # type: ignore[misc]
        for group in GROUPS
    },
    "cost": _read_cost,
    "latency": _read_latency,
}
