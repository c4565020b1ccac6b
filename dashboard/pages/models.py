"""Which model (host, strategy, harness version, source) makes the best calls, at what cost, since when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from dashboard import answers, filters, wording
from dashboard.pages.models_audit import strategies
from dashboard.pages.models_cost import cost
from dashboard.pages.models_hosts import hosts
from dashboard.pages.models_ranking import in_order, ranking
from dashboard.pages.models_since import first_seen
from dashboard.pages.models_versions import versions
from dashboard.rates import Rate
from dashboard.slices import Slice, slices
from dashboard.widgets import cards
from dashboard.widgets.rate_choice import DIMENSIONS, choice, dimension_choice, rate_choice
from dashboard.widgets.rate_trend import rate_trend
from dashboard.widgets.slice_table import READING, slice_table

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
    chosen = filters.chosen().parameters()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        by = dimension_choice("Rank", among=_BY)
        rate = rate_choice()
        found = _found(by, rate, chosen)
        reference = _reference(by, found[rate.name]) if rate.name in found else None
    if not found:
        cards.nothing_matches("calls or turns")
        return
    shown = most_used(found)
    if reference is None:
        _not_counted(rate)
    else:
        ranking(by, rate, found[rate.name], reference, shown, chosen)
    if by == "harness_version":
        versions(rate, chosen)
    _trend(by, rate, chosen)
    _rates(by, rate, found, shown, chosen)
    cost(by, shown, chosen)
    hosts(rate, chosen)
    strategies(chosen)


def _found(by: str, rate: Rate, chosen: Mapping[str, Any]) -> dict[str, list[Slice]]:
    """The slices of each rate that the page shows, by the rate's name."""
    found: dict[str, list[Slice]] = {}
    for one in slices(answers.ask("slices", rates=_asked(rate), by=by, **chosen)):
        found.setdefault(one.rate.name, []).append(one)
    return found


def _asked(rate: Rate) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*(name for *_, names in _TABLES for name in names), rate.name]))


def most_used(found: Found) -> list[str]:
    """The names in the order of their use, by the largest total that any rate has of them."""
    totals: dict[str, int] = {}
    for several in found.values():
        for one in several:
            totals[one.name] = max(totals.get(one.name, 0), one.total)
    return sorted(totals, key=lambda name: (-totals[name], name))[:_SHOWN]


def _reference(by: str, several: Sequence[Slice]) -> Slice:
    """What the others are held against: chosen, or the one with a name that is known best.

    That is the one with the largest effective number, so that doubt about the reference hides least.
    """
    known = {one.name: one for one in sorted(several, key=_known_best)}
    names = list(known)
    against = choice(
        "Held against",
        "against",
        names,
        names[0],
        lambda name: wording.one_line(filters.label(by, name), 60),
        width=280,
    )
    return known[against]


def _known_best(one: Slice) -> tuple[Any, ...]:
    effective = one.share.effective if one.share.n else 0.0
    return one.name == "unknown", not one.rankable, -effective, one.name


def _not_counted(rate: Rate) -> None:
    with st.container(border=True):
        st.header(f"{rate.title}: nothing to rank", anchor=False)
        st.caption(
            f"The chosen logs hold no {rate.noun} that this rate is about. Choose another rate, or widen "
            "the filters."
        )


def _rates(by: str, rate: Rate, found: Found, shown: Sequence[str], chosen: Mapping[str, Any]) -> None:
    """All rates side by side in the order of the chosen one; what was lost on the way in a second table."""
    ranks = {one.name: place for place, one in enumerate(in_order(found.get(rate.name, [])))}
    names = sorted(shown, key=lambda name: ranks.get(name, len(ranks)))
    for title, key, rates in _TABLES:
        columns = {
            name: sorted(
                (one for one in found.get(name, []) if one.name in names),
                key=lambda one: names.index(one.name),
            )
            for name in rates
        }
        take = cards.Take(f"{key}_by_{by}", answers.later("slices", rates=rates, by=by, **chosen))
        with cards.card(
            f"{title}, by {DIMENSIONS[by].lower()}", "slices", take=take, caption=READING, height=320
        ):
            slice_table(by, columns, key=key, caption=f"{title}, by {DIMENSIONS[by].lower()}")


def _trend(by: str, rate: Rate, chosen: Mapping[str, Any]) -> None:
    asked = {"rates": (rate.name,), "by": by, "also": "day"}
    rate_trend(
        f"{rate.title} by day and {DIMENSIONS[by].lower()}",
        slices(answers.ask("slices", **asked, **chosen)),
        rate,
        by,
        key="models_trend",
        take=cards.Take(f"{rate.name}_by_{by}_and_day", answers.later("slices", **asked, **chosen)),
        why=lambda shifts: first_seen(shifts, chosen["sources"]) if by == "model" else {},
    )


show()
