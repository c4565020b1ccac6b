"""Draws the rate of each model on each host. Each host is compared with the model's other hosts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from callgauge.analysis import arm_filters, wording
from callgauge.analysis.comparisons.hosts import HostComparison, compare_hosts
from callgauge.analysis.measures.alerts import read_alerts
from callgauge.analysis.measures.comparisons import SliceComparison
from callgauge.analysis.measures.rates import RateDefinition
from callgauge.analysis.verdicts.alerts import describe_open_alert
from callgauge.analysis.verdicts.hosts import describe_hosts
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.difference_cells import (
    difference_column,
    tagged_difference_cell,
    track_reach,
    verdict_cell,
)
from callgauge.dashboard.components.slice_table import (
    IntervalScale,
    calls_link,
    draw_thin_slices,
    make_scale,
    rate_cell,
)
from callgauge.dashboard.components.table import Cell, Column, draw_table

_ALERTS = 2  # alerts that the sentence lists
_BEFORE_ALL = 15
_MOST_LINKED = 100


def draw_hosts(rate: RateDefinition, chosen: Mapping[str, Any], smallest: float) -> None:
    """Draw a sentence on the hosts of the models, and a table with a row for each model and host."""
    grouping = {"rates": (rate.name,), "by": "model", "also": "provider"}
    title = f"{rate.title} by model and host"
    take = cards.Download(
        f"{rate.name}_by_model_and_provider", store_queries.ask_later("slices", **grouping, **chosen)
    )
    with cards.draw_card(title, "slices", "strata", take=take, height=220, verdict="difference"):
        comparison = compare_hosts(store_queries.ask, rate, chosen)
        st.markdown(f"**{wording.in_markdown(_describe(comparison, rate, chosen, smallest), 900)}**")
        if comparison.rows:
            _draw_table(rate, title, comparison, smallest)
            st.caption(_describe_reading(comparison))
        # Model and host are cut separately, so that a long model name leaves room for the host.
        named = [
            replace(
                slice_,
                name=f"{wording.one_line(_label(slice_.name), 30)} on {wording.one_line(slice_.also, 24)}",
            )
            for slice_ in comparison.thin
        ]
        draw_thin_slices("provider", {rate.name: named}, key="hosts", leads=lambda _: None, noun="host")


def _describe(
    comparison: HostComparison, rate: RateDefinition, chosen: Mapping[str, Any], smallest: float
) -> str:
    """Return a sentence that compares the hosts, and reports alerts that are still open."""
    if chosen["providers"] and len(chosen["providers"]) == 1:
        return "The filter chooses one host: clear it to compare the hosts of each model."
    sentence = describe_hosts(comparison.rows, _label, smallest, has_thin=bool(comparison.thin))
    night = store_queries.derive(read_alerts, "alerts")
    alerts = [
        describe_open_alert(each, night.night if night else each.found, filters.short_label)
        for each in (night.alerts if night else ())
        if each.rate is rate and each.is_open and "provider" in each.values and each.agrees_with(chosen)
    ]
    return " ".join(filter(None, [sentence, comparison.basis.sentence, *alerts[:_ALERTS]]))


def _describe_reading(comparison: HostComparison) -> str:
    judged = wording.plural(len(comparison.judged), "difference")
    few = (
        f" {len(comparison.rows)} of {len(comparison.rows) + comparison.left} rows are shown."
        if comparison.left
        else ""
    )
    return (
        "Each host is compared with the model's other hosts together. Verdicts are corrected for "
        f"{judged} looked at together (Holm). The rates are averages over the chosen days; the alerts on "
        f"Overview say what changed within them.{few}"
    )


def _label(model: str) -> str:
    return filters.short_label("model", model)


def _draw_table(rate: RateDefinition, title: str, comparison: HostComparison, smallest: float) -> None:
    rows = comparison.rows
    scale, reach = make_scale([slice_.slice.share for slice_ in rows]), track_reach(rows)
    columns = [
        Column("Model", "name"),
        Column("Host", "short"),
        Column(rate.title, "rate", rate.meaning, scale=scale.ends()),
        difference_column("Difference", reach),
        Column("Verdict", "tight", "Against the model's other hosts, corrected for all differences (Holm)"),
        Column("Sessions", "number"),
    ]
    drawn = [_build_row(row, comparison.list_against(row), scale, reach, smallest) for row in rows]
    draw_table("hosts", title, columns, drawn, shown=_BEFORE_ALL)


def _build_row(
    row: SliceComparison,
    against: Sequence[str],
    scale: IntervalScale,
    reach: float,
    smallest: float,
) -> list[Cell]:
    slice_ = row.slice
    narrowed = {"model": slice_.name, "provider": slice_.also}
    return [
        Cell(
            _label(slice_.name),
            href=filters.page_link("calls", {"model": slice_.name}, {}),
            order=slice_.name,
        ),
        Cell(
            wording.one_line(slice_.also, 60),
            href=filters.page_link("calls", narrowed, {}),
            title=wording.one_line(slice_.also, 400),
            order=slice_.also,
        ),
        rate_cell(slice_, scale, calls_link(slice_.rate, narrowed)),
        replace(tagged_difference_cell(row, reach), href=_compare_link(row, against)),
        verdict_cell(row, smallest),
        Cell(f"{slice_.share.sessions or 0:,}", order=slice_.share.sessions or 0),
    ]


def _compare_link(row: SliceComparison, against: Sequence[str]) -> str | None:
    """Return the link that compares a host (B) with the other hosts (A), or None for too many hosts."""
    if not 0 < len(against) <= _MOST_LINKED:
        return None
    model = row.slice.name
    query = arm_filters.arm_query("A", {"model": [model], "provider": against})
    query |= arm_filters.arm_query("B", {"model": [model], "provider": [row.slice.also]})
    return filters.page_link("compare", {}, query | {"rate": row.slice.rate.name})
