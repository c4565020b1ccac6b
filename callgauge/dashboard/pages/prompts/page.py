"""The page Prompts: each version of a prompt, its text changes and its rates against the version before."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from itertools import pairwise
from typing import Any

import streamlit as st

from callgauge.dashboard import filters, store_queries, wording
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.rate_choice import (
    choose_one,
    choose_rate,
    choose_smallest,
    link_here,
)
from callgauge.dashboard.components.difference_cells import (
    difference_cell,
    difference_column,
    plain_cell,
    track_reach,
    verdict_cell,
)
from callgauge.dashboard.components.rate_trend import TrendEvent, draw_rate_trend
from callgauge.dashboard.components.slice_table import (
    READING,
    calls_link,
    draw_slice_table,
    make_scale,
    name_cell,
    rate_cell,
)
from callgauge.dashboard.components.strata_queries import read_strata
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.components.version_texts import VersionedText, draw_difference, read_versions
from callgauge.dashboard.measures import verdicts
from callgauge.dashboard.measures.comparisons import SliceComparison, compare_pairs
from callgauge.dashboard.measures.rates import RateDefinition
from callgauge.dashboard.measures.same_mix import SameMix
from callgauge.dashboard.measures.slices import Slice, make_slices

Version = Mapping[Hashable, Any]
_RATES = (
    "parse_error",
    "strict_failure",
    "tool_rejected",
    "execution",
    "retried",
    "recorded_ok",
    "derived_ok",
)
_SHOWN = 40


def show() -> None:
    st.title("Prompts", anchor=False)
    chosen = filters.chosen_filters().parameters()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        rate = choose_rate()
        rates = tuple(dict.fromkeys((rate.name, *_RATES)))
        by_name = make_slices(store_queries.ask("slices", rates=rates, by="prompt_name", **chosen))
        by_version = make_slices(
            store_queries.ask("slices", rates=rates, by="prompt", also="prompt_name", **chosen)
        )
        name = _choose_prompt(by_name, by_version)
        smallest = choose_smallest()
    if name is None:
        cards.show_no_matches("calls or turns")
        return
    _draw_versions(name, rate, rates, by_version, chosen, smallest)
    _draw_text(name)
    _time_line(name, rate, chosen)
    _draw_all(by_name, rates, chosen)


def _choose_prompt(by_name: Sequence[Slice], by_version: Sequence[Slice]) -> str | None:
    """Return the prompt that the URL names; by default the most used one with several versions.

    Return None when no prompt was found.
    """
    names = {one.name: 0 for one in by_name}
    for one in by_name:
        names[one.name] = max(names[one.name], one.total)
    if not names:
        return None
    several = {name for name in names if len({one.name for one in by_version if one.also == name}) > 1}
    order = sorted(names, key=lambda name: (name == "unknown", name not in several, -names[name], name))
    return choose_one(
        "Prompt", "of", order, order[0], lambda name: wording.one_line(_prompt_label(name), 60), width=320
    )


def _prompt_label(name: str) -> str:
    """Return the label of a prompt; an unnamed prompt, whose name is its id, gets its first words."""
    return "no prompt in the log" if name == "unknown" else filters.value_label("prompt", name)


def _draw_versions(
    name: str,
    rate: RateDefinition,
    rates: Sequence[str],
    by_version: Sequence[Slice],
    chosen: Mapping[str, Any],
    smallest: float,
) -> None:
    its = [one for one in by_version if one.also == name]
    since = _first_days(name)
    order = sorted(
        dict.fromkeys(one.name for one in its), key=lambda prompt: (since.get(prompt, date.max), prompt)
    )
    title = f"{rate.title} of {wording.in_markdown(_prompt_label(name), 60)}, version by version"
    take = cards.Download(
        "rates_by_prompt_version",
        store_queries.ask_later("slices", rates=tuple(rates), by="prompt", also="prompt_name", **chosen),
    )
    with cards.draw_card(title, "slices", "strata", "versions", take=take, height=260):
        ordered = [one for prompt in order for one in its if one.name == prompt and one.rate is rate]
        if not ordered:
            st.caption(
                f"No {rate.noun} of it that this rate is about. Choose another rate, or widen the filters."
            )
            return
        newest = ordered[-_SHOWN:]
        pairs = list(zip(newest, [None, *newest], strict=False))
        held = compare_pairs(pairs, _compare_work(pairs, rate, chosen))
        if len(held) > 1:
            _draw_newest(held[-1], smallest)
        _draw_table(rate, held, since, smallest)
        few = f" The {_SHOWN} newest of {len(ordered)} are shown." if len(ordered) > _SHOWN else ""
        st.caption(
            "In the order of their first use. Each version is held against the one before it; the verdict "
            "counts all of these differences (Holm). Where two versions got different work, it goes by the "
            f"difference at the same mix. Versions of different days may still have met different tasks.{few}"
        )


def _first_days(name: str) -> dict[str, date]:
    """Return the first day of use by prompt id; prompts without a known day are left out."""
    days: dict[str, date] = {}
    for version in _known_versions(name):
        if version["first_day"]:
            days[version["id"]] = min(version["first_day"], days.get(version["id"], date.max))
    return days


def _known_versions(name: str) -> list[dict[Any, Any]]:
    return read_versions(VersionedText("prompt", None, name)) if name != "unknown" else []


def _compare_work(
    pairs: Sequence[tuple[Slice, Slice | None]], rate: RateDefinition, chosen: Mapping[str, Any]
) -> list[SameMix | None]:
    """Return each version and the one before it at the same mix of work; None for the first."""
    known = [(one, other) for one, other in pairs if other is not None]
    if not known:
        return [None] * len(pairs)
    strata = read_strata(rate, "prompt", chosen, arms=[one.name for one, _ in pairs])
    found = strata.compare([((one.name, one), (other.name, other)) for one, other in known])
    return [None, *found]


def _draw_newest(held: SliceComparison, smallest: float) -> None:
    """Draw the verdict on the newest version as a sentence."""
    labels = [
        wording.one_line(filters.value_label("prompt", one.name), 60)
        for one in (held.slice, held.other)
        if one
    ]
    named = replace(
        held,
        slice=replace(held.slice, name=labels[0]),
        other=replace(held.other, name=labels[1]) if held.other else None,
    )
    said = f"{labels[0]} against {labels[1]}. {verdicts.describe_verdict(named, smallest)}"
    st.subheader(wording.in_markdown(said, 900), anchor=False)
    mix = verdicts.describe_mix(named)
    if mix:
        st.caption(wording.in_markdown(mix, 600))


def _draw_table(
    rate: RateDefinition, held: Sequence[SliceComparison], since: Mapping[str, date], smallest: float
) -> None:
    by_mix = any(one.is_at_same_mix for one in held)
    plain = [one.as_plain for one in held]
    scale, reach = make_scale([one.slice.share for one in held]), track_reach([*held, *plain])
    columns = [
        Column("Version", "name"),
        Column("First used", "tight"),
        Column(rate.title, "rate", f"Share of {rate.noun}s that {rate.hit}", scale=scale.ends()),
        *([difference_column("As they are", reach)] if by_mix else []),
        difference_column("At the same mix" if by_mix else "Against the one before", reach),
        Column("Verdict", "tight"),
        Column("Sessions", "number"),
    ]
    rows = [
        [
            name_cell("prompt", (one := each.slice).name),
            Cell(since[one.name].isoformat() if one.name in since else "unknown day"),
            rate_cell(one, scale, calls_link(rate, {"prompt": one.name})),
            *([plain_cell(each, reach, none="first" if each.other is None else "–")] if by_mix else []),
            difference_cell(each, reach, none="first" if each.other is None else "–"),
            Cell("–") if each.other is None else verdict_cell(each, smallest),
            Cell(f"{one.share.sessions or 0:,}"),
        ]
        for each in held
    ]
    draw_table("prompt_versions", f"{rate.title} by version", columns, rows)


def _draw_text(name: str) -> None:
    with cards.draw_card("What changed in the text", "versions", "version_text"):
        versions = _known_versions(name)
        if len(versions) > 1:
            draw_difference(VersionedText("prompt", None, name), versions)
        elif versions:
            st.caption("One text only: it has not changed in the logs that are loaded.")
        else:
            st.caption("These logs do not keep the text of this prompt.")


def _time_line(name: str, rate: RateDefinition, chosen: Mapping[str, Any]) -> None:
    asked = {"rates": (rate.name,), "by": "prompt_name", "also": "day"}
    draw_rate_trend(
        f"{rate.title} by day, with the changes of the text",
        [one for one in make_slices(store_queries.ask("slices", **asked, **chosen)) if one.name == name],
        rate,
        "prompt_name",
        key="prompt_trend",
        take=cards.Download(
            f"{rate.name}_by_prompt_and_day", store_queries.ask_later("slices", **asked, **chosen)
        ),
        events=find_text_events(_known_versions(name)),
    )


def find_text_events(versions: Sequence[Version]) -> list[TrendEvent]:
    """Return an event on the first day of each version but the first; `versions` are the metric's rows."""
    known = sorted((one for one in versions if one["first_day"]), key=lambda one: one["number"])
    return [
        TrendEvent(
            after["first_day"],
            f"Version {after['number']}: "
            + (
                "another text under the same name"
                if after["id"] == before["id"]
                else f"{wording.one_line(filters.value_label('prompt', after['id']), 60)}"
            ),
            f"hash {(after['hash'] or '–')[:12]}; before: version {before['number']}",
        )
        for before, after in pairwise(known)
    ]


def _draw_all(by_name: Sequence[Slice], rates: Sequence[str], chosen: Mapping[str, Any]) -> None:
    totals: dict[str, int] = {}
    for one in by_name:
        totals[one.name] = max(totals.get(one.name, 0), one.total)
    names = sorted(totals, key=lambda name: (-totals[name], name))
    columns = {
        rate: sorted(
            (one for one in by_name if one.rate.name == rate and one.name in names[:_SHOWN]),
            key=lambda one: names.index(one.name),
        )
        for rate in rates
    }
    take = cards.Download(
        "rates_by_prompt", store_queries.ask_later("slices", rates=tuple(rates), by="prompt_name", **chosen)
    )
    with cards.draw_card(
        "All prompts, the most used first", "slices", take=take, caption=READING, height=320
    ):
        draw_slice_table(
            "prompt_name", columns, key="all_prompts", leads=lambda name: link_here("prompts", {}, of=name)
        )
        if len(names) > _SHOWN:
            st.caption(f"{_SHOWN} of {len(names)} prompts; a filter brings up the others.")


show()
