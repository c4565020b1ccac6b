"""The page Models: ranks models (or hosts, strategies, harness versions, sources) and shows their cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from callgauge.dashboard import filters, store_queries, wording
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.rate_choice import (
    DIMENSIONS,
    choose_dimension,
    choose_one,
    choose_rate,
    choose_smallest,
)
from callgauge.dashboard.components.rate_trend import draw_rate_trend
from callgauge.dashboard.components.slice_table import READING, draw_slice_table
from callgauge.dashboard.measures.comparisons import choose_reference
from callgauge.dashboard.measures.rates import RateDefinition
from callgauge.dashboard.measures.slices import Slice, make_slices
from callgauge.dashboard.pages.models.audit_card import draw_strategies
from callgauge.dashboard.pages.models.cost_card import draw_cost
from callgauge.dashboard.pages.models.first_seen import find_first_uses
from callgauge.dashboard.pages.models.hosts import draw_hosts
from callgauge.dashboard.pages.models.model_versions import draw_versions
from callgauge.dashboard.pages.models.ranking import draw_ranking, order_slices

_BY = ("model", "provider", "harness_version", "strategy", "source")
_TABLES = (
    (
        "All rates", "rates_of_models",
        (
            "parse_error", "strict_failure", "salvaged", "tool_rejected", "execution", "retried", "recovered",
            "recorded_ok", "derived_ok",
        ),
    ),
    ("Calls lost before they reached a tool", "lost_of_models", ("emission", "unknown_tool", "truncated")),
)  # fmt: skip
_SHOWN = 25  # rows of a table; the most used
Found = Mapping[str, Sequence[Slice]]


def show() -> None:
    st.title("Models", anchor=False)
    chosen = filters.chosen_filters().parameters()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        by = choose_dimension("Rank", among=_BY)
        rate = choose_rate()
        found = _read_slices(by, rate, chosen)
        reference = _choose_reference(by, found[rate.name]) if rate.name in found else None
        smallest = choose_smallest()
    if not found:
        cards.show_no_matches("calls or turns")
        return
    shown = most_used(found)
    if reference is None:
        _draw_not_counted(rate)
    else:
        draw_ranking(by, rate, found[rate.name], reference, shown, chosen, smallest)
    if by == "harness_version":
        draw_versions(rate, chosen)
    _draw_trend(by, rate, chosen)
    _draw_rates(by, rate, found, shown, chosen)
    draw_cost(by, shown, chosen)
    draw_hosts(rate, chosen, smallest)
    draw_strategies(chosen)


def _read_slices(by: str, rate: RateDefinition, chosen: Mapping[str, Any]) -> dict[str, list[Slice]]:
    """Return the slices of each rate that the page shows, by rate name."""
    found: dict[str, list[Slice]] = {}
    for one in make_slices(store_queries.ask("slices", rates=_rates_asked(rate), by=by, **chosen)):
        found.setdefault(one.rate.name, []).append(one)
    return found


def _rates_asked(rate: RateDefinition) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*(name for *_, names in _TABLES for name in names), rate.name]))


def most_used(found: Found) -> list[str]:
    """Return up to _SHOWN slice names, the most used first; use is the largest total among the rates."""
    totals: dict[str, int] = {}
    for several in found.values():
        for one in several:
            totals[one.name] = max(totals.get(one.name, 0), one.total)
    return sorted(totals, key=lambda name: (-totals[name], name))[:_SHOWN]


def _choose_reference(by: str, several: Sequence[Slice]) -> Slice:
    """Draw the choice of the reference slice, with which the others are compared, and return it.

    The default is the slice with most sessions. It is never chosen by its rate: the luckiest slice as the
    reference would make the others look worse than they are.
    """
    usual = choose_reference(several)
    known = {one.name: one for one in [usual, *sorted(several, key=_use_key)]}
    against = choose_one(
        "Held against",
        "against",
        list(known),
        usual.name,
        lambda name: wording.one_line(filters.value_label(by, name), 60),
        width=280,
    )
    return known[against]


def _use_key(one: Slice) -> tuple[Any, ...]:
    return one.name == "unknown", not one.is_solid, -(one.share.sessions or 0), one.name


def _draw_not_counted(rate: RateDefinition) -> None:
    with st.container(border=True):
        st.header(f"{rate.title}: nothing to rank", anchor=False)
        st.caption(
            f"The chosen logs hold no {rate.noun} that this rate is about. Choose another rate, or widen "
            "the filters."
        )


def _draw_rates(
    by: str, rate: RateDefinition, found: Found, shown: Sequence[str], chosen: Mapping[str, Any]
) -> None:
    """Draw all rates side by side in the order of the chosen rate, in one card for each table of _TABLES."""
    ranks = {one.name: place for place, one in enumerate(order_slices(found.get(rate.name, [])))}
    names = sorted(shown, key=lambda name: ranks.get(name, len(ranks)))
    for title, key, rates in _TABLES:
        columns = {
            name: sorted(
                (one for one in found.get(name, []) if one.name in names),
                key=lambda one: names.index(one.name),
            )
            for name in rates
        }
        take = cards.Download(
            f"{key}_by_{by}", store_queries.ask_later("slices", rates=rates, by=by, **chosen)
        )
        with cards.draw_card(
            f"{title}, by {DIMENSIONS[by].lower()}", "slices", take=take, caption=READING, height=320
        ):
            draw_slice_table(by, columns, key=key, caption=f"{title}, by {DIMENSIONS[by].lower()}")


def _draw_trend(by: str, rate: RateDefinition, chosen: Mapping[str, Any]) -> None:
    asked = {"rates": (rate.name,), "by": by, "also": "day"}
    draw_rate_trend(
        f"{rate.title} by day and {DIMENSIONS[by].lower()}",
        make_slices(store_queries.ask("slices", **asked, **chosen)),
        rate,
        by,
        key="models_trend",
        take=cards.Download(
            f"{rate.name}_by_{by}_and_day", store_queries.ask_later("slices", **asked, **chosen)
        ),
        why=lambda shifts: find_first_uses(shifts, chosen["sources"]) if by == "model" else {},
    )


show()
