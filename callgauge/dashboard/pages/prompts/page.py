"""The page Prompts: the versions of a prompt, their texts, and the rates of each version.

Each version is compared with the version before it.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from datetime import date
from itertools import pairwise
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from callgauge.analysis import wording
from callgauge.analysis.comparisons.strata_queries import choose_breakdown, read_strata
from callgauge.analysis.comparisons.versions import judge_pair
from callgauge.analysis.measures.comparisons import SliceComparison, compare_pairs
from callgauge.analysis.measures.rates import RateDefinition
from callgauge.analysis.measures.same_mix import ArmStrata, SameMix
from callgauge.analysis.measures.slices import Slice, make_slices
from callgauge.analysis.verdicts.headlines import ArmNames, write_advice
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.breakdown_table import draw_breakdown, draw_headline
from callgauge.dashboard.components.controls.links import draw_link
from callgauge.dashboard.components.controls.rate_choice import (
    choose_one,
    choose_rate,
    choose_smallest,
    link_here,
)
from callgauge.dashboard.components.controls.url_widgets import draw_tabs
from callgauge.dashboard.components.difference_cells import (
    difference_column,
    tagged_difference_cell,
    track_reach,
    verdict_cell,
)
from callgauge.dashboard.components.memory.note_list import draw_notes
from callgauge.dashboard.components.rate_trend import TrendEvent, draw_rate_trend
from callgauge.dashboard.components.slice_table import (
    calls_link,
    draw_slice_table,
    make_scale,
    name_cell,
    rate_cell,
)
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.components.version_texts import VersionedText, draw_difference, read_versions
from callgauge.dashboard.shown_page import record_answer

Version = Mapping[Hashable, Any]
_RATES = (
    "parse_error",
    "strict_failure",
    "tool_rejected",
    "execution",
    "retried",
    "turn_success",
)
_SHOWN = 40
_LONGEST = 60
_TABS = {"text": "What changed in the text", "days": "By day", "all": "All prompts"}
Pair = tuple[str, str]  # the ids of a version and of its baseline


def show() -> None:
    st.title("Prompts", anchor=False)
    chosen = filters.chosen_filters().parameters()
    top = st.container(horizontal=True, vertical_alignment="bottom", gap="small")
    answer = st.container()
    below = st.container(horizontal=True, vertical_alignment="bottom", gap="small")
    with top:
        rate = choose_rate()
        rates = tuple(dict.fromkeys((rate.name, *_RATES)))
        by_name = make_slices(store_queries.ask("slices", rates=rates, by="prompt_name", **chosen))
        by_version = make_slices(
            store_queries.ask("slices", rates=rates, by="prompt", also="prompt_name", **chosen)
        )
        name = _choose_prompt(rate, by_name, by_version)
    if name is None:
        cards.show_no_matches("calls or turns")
        return
    since = _first_days(name)
    versions = _order_versions([slice_ for slice_ in by_version if slice_.also == name], since)
    with below:
        pair = _choose_pair(versions)
        with st.popover("Settings", type="tertiary", width="content"):
            smallest = choose_smallest()
        draw_link("which_model", "Which model for which prompt", link_here("models", {}, tab="where"))
    slices = {slice_.name: slice_ for slice_ in by_version if slice_.also == name and slice_.rate is rate}
    order = [slices[version] for version in versions if version in slices]
    if pair and all(version in slices for version in pair):
        _draw_comparison(answer, rate, order, pair, since, chosen, smallest)
    else:
        _draw_alone(answer, name, rate, order, since, smallest)
    if name != "unknown":
        draw_notes("prompt", name)
    with draw_tabs("show", _TABS) as tab:
        if tab == "text":
            _draw_text(name, pair)
        elif tab == "days":
            _time_line(name, rate, chosen)
        else:
            _draw_all(by_name, rates, chosen)


def _choose_prompt(rate: RateDefinition, by_name: Sequence[Slice], by_version: Sequence[Slice]) -> str | None:
    """Draw the selector of a prompt and return the chosen prompt, or None when there are no prompts.

    The default is the most used prompt with several versions. If no prompt has several versions, the default
    is the prompt with most observations.
    """
    names = {slice_.name: 0 for slice_ in by_name}
    for slice_ in by_name:
        names[slice_.name] = max(names[slice_.name], slice_.total)
    if not names:
        return None
    several = {
        name for name in names if len({slice_.name for slice_ in by_version if slice_.also == name}) > 1
    }
    observed = {slice_.name: slice_.share.n for slice_ in by_name if slice_.rate is rate}

    def place(name: str) -> tuple[bool, bool, int, int, str]:
        measured = 0 if name in several else observed.get(name, 0)
        return name == "unknown", name not in several, -measured, -names[name], name

    order = sorted(names, key=place)
    return choose_one(
        "Prompt", "of", order, order[0], lambda name: wording.short_name(_prompt_label(name), 40), width=320
    )


def _prompt_label(name: str) -> str:
    """Return the label of a prompt. An unnamed prompt is labelled with its first words."""
    return "no prompt in the log" if name == "unknown" else filters.value_label("prompt", name)


def _order_versions(slices: Sequence[Slice], since: Mapping[str, date]) -> list[str]:
    return sorted(
        {slice_.name for slice_ in slices}, key=lambda prompt: (since.get(prompt, date.max), prompt)
    )


def _choose_pair(versions: Sequence[str]) -> Pair | None:
    """Draw selectors for a version and a baseline, and return the chosen pair.

    The default is the newest version and the version before it. Returns None when there is only one version.
    """
    if len(versions) < 2:
        return None
    newest_first = versions[::-1]
    labels = {version: _shorten_version(version) for version in versions}

    def name_version(version: str) -> str:
        return labels.get(version, version)

    current = choose_one("Version", "version", newest_first, newest_first[0], name_version, width=180)
    others = [version for version in newest_first if version != current]
    before = versions[: versions.index(current)]
    baseline = before[-1] if before else others[0]
    return current, choose_one("Compared with", "versus", others, baseline, name_version, width=180)


def _shorten_version(version: str) -> str:
    """Return only the version in a name, such as @5 for triage@5."""
    name, at, number = _label_version(version).rpartition("@")
    return f"@{number}" if at and name else wording.short_name(_label_version(version), 24)


def _label_version(version: str) -> str:
    return filters.short_label("prompt", version)


def _draw_comparison(
    answer: DeltaGenerator,
    rate: RateDefinition,
    order: Sequence[Slice],
    pair: Pair,
    since: Mapping[str, date],
    chosen: Mapping[str, Any],
    smallest: float,
) -> None:
    newest = order[-_SHOWN:]
    current, against = (next(slice_ for slice_ in order if slice_.name == name) for name in pair)
    neighbours = list(zip(newest, [None, *newest], strict=False))
    pairs = neighbours if (current, against) in neighbours else [*neighbours, (current, against)]
    names = list(dict.fromkeys(slice_.name for two in pairs for slice_ in two if slice_))
    work = read_strata(store_queries.ask, [rate], "prompt", chosen, arms=names)[rate.name]
    comparisons = compare_pairs(pairs, _compare_work(pairs, work), family="pairs of versions")
    breakdown = judge_pair(store_queries.ask, "prompt", (current, against), work, chosen, smallest)
    comparisons = [
        breakdown.whole if each.slice is current and each.other is against else each for each in comparisons
    ]
    arms = ArmNames(*map(_label_version, pair))
    advice = write_advice(breakdown, arms, filters.short_label, smallest)
    is_order = advice.startswith(("take ", "keep "))
    with answer:
        draw_headline(breakdown, arms, smallest, f"{advice[0].upper()}{advice[1:]}" if is_order else advice)
    _draw_versions(rate, comparisons[: len(newest)], since, smallest, hidden=len(order) - len(newest))

    def link(place: int, narrowed: Mapping[str, str]) -> str | None:
        return calls_link(rate, {"prompt": pair[1 - place], **narrowed})

    rows = store_queries.ask_later(
        "breakdown",
        rates=(rate.name,),
        by="prompt",
        among=pair,
        dimensions=choose_breakdown(["prompt"]),
        **chosen,
    )
    draw_breakdown(
        breakdown, arms, smallest, link, cards.Download(f"{rate.name}_of_versions_broken_down", rows)
    )


def _draw_alone(
    answer: DeltaGenerator,
    name: str,
    rate: RateDefinition,
    order: Sequence[Slice],
    since: Mapping[str, date],
    smallest: float,
) -> None:
    label = wording.in_markdown(_prompt_label(name), _LONGEST)
    with answer, st.container(key="verdict"):
        if not order:
            record_answer(f"Nothing to compare: {_prompt_label(name)} has no {rate.noun} of this rate.")
            st.header(f"Nothing to compare: {label} has no {rate.noun} of this rate.", anchor=False)
            return
        share = order[-1].share
        rate_text = f"{wording.rate(share.k, share.n)} ({wording.fraction(share.k, share.n)})"
        what = f"{rate.title}: {rate_text}." if share.n else f"{rate.title}: not measured."
        record_answer(f"Nothing to compare: {_prompt_label(name)} has one version. {what}")
        st.header(f"Nothing to compare: {label} has one version. {what}", anchor=False)
    _draw_versions(rate, compare_pairs([(each, None) for each in order]), since, smallest)


def _first_days(name: str) -> dict[str, date]:
    days: dict[str, date] = {}
    for version in _known_versions(name):
        if version["first_day"]:
            days[version["id"]] = min(version["first_day"], days.get(version["id"], date.max))
    return days


def _known_versions(name: str) -> list[dict[Any, Any]]:
    return read_versions(VersionedText("prompt", None, name)) if name != "unknown" else []


def _compare_work(pairs: Sequence[tuple[Slice, Slice | None]], work: ArmStrata) -> list[SameMix | None]:
    """Return the mix-adjusted comparison of each pair of versions. An incomplete pair gets None."""
    comparable = [(slice_, other) for slice_, other in pairs if other is not None]
    comparisons = iter(
        work.compare([((slice_.name, slice_), (other.name, other)) for slice_, other in comparable])
    )
    return [None if other is None else next(comparisons) for _, other in pairs]


def _draw_versions(
    rate: RateDefinition,
    comparisons: Sequence[SliceComparison],
    since: Mapping[str, date],
    smallest: float,
    *,
    hidden: int = 0,
) -> None:
    """Draw all versions except the oldest `hidden` versions, in order of first use."""
    with cards.draw_card(
        "Version by version", "slices", "strata", "versions", height=200, verdict="difference"
    ):
        _draw_table(rate, comparisons, since, smallest)
        few = f" The {len(comparisons)} newest of {len(comparisons) + hidden} are shown." if hidden else ""
        st.caption(
            "Each version against the one before it. The chosen pair is judged by itself; the other verdicts "
            f"are corrected for all pairs of versions.{few}"
        )


def _draw_table(
    rate: RateDefinition, comparisons: Sequence[SliceComparison], since: Mapping[str, date], smallest: float
) -> None:
    scale, reach = (
        make_scale([comparison.slice.share for comparison in comparisons]),
        track_reach(comparisons),
    )
    columns = [
        Column("Version", "name"),
        Column("First used", "tight"),
        Column(rate.title, "rate", rate.meaning, scale=scale.ends()),
        difference_column("Against the one before", reach),
        Column("Verdict", "tight"),
        Column("Sessions", "number"),
    ]
    rows = [
        [
            name_cell("prompt", (slice_ := each.slice).name),
            Cell(since[slice_.name].isoformat() if slice_.name in since else "unknown day"),
            rate_cell(slice_, scale, calls_link(rate, {"prompt": slice_.name})),
            tagged_difference_cell(each, reach, none="first" if each.other is None else "–"),
            Cell("–") if each.other is None else verdict_cell(each, smallest),
            Cell(f"{slice_.share.sessions or 0:,}"),
        ]
        for each in comparisons
    ]
    draw_table("prompt_versions", f"{rate.title} by version", columns, rows)


def _draw_text(name: str, pair: Pair | None) -> None:
    with cards.draw_card("What changed in the text", "versions", "version_text"):
        versions = _known_versions(name)
        if len(versions) > 1:
            draw_difference(VersionedText("prompt", None, name), versions, pair)
        elif versions:
            st.caption("One text only: it has not changed in the logs that are loaded.")
        else:
            st.caption("These logs do not keep the text of this prompt.")


def _time_line(name: str, rate: RateDefinition, chosen: Mapping[str, Any]) -> None:
    grouping = {"rates": (rate.name,), "by": "prompt_name", "also": "day"}
    draw_rate_trend(
        f"{rate.title} by day, with the changes of the text",
        [
            slice_
            for slice_ in make_slices(store_queries.ask("slices", **grouping, **chosen))
            if slice_.name == name
        ],
        rate,
        "prompt_name",
        key="prompt_trend",
        take=cards.Download(
            f"{rate.name}_by_prompt_and_day", store_queries.ask_later("slices", **grouping, **chosen)
        ),
        events=find_text_events(_known_versions(name)),
    )


def find_text_events(versions: Sequence[Version]) -> list[TrendEvent]:
    """Return an event on the first day of each version except the first version."""
    dated = sorted(
        (version for version in versions if version["first_day"]), key=lambda version: version["number"]
    )
    return [
        TrendEvent(
            after["first_day"],
            f"{_label_version(after['id'])}{': another text' if after['id'] == before['id'] else ''}",
            f"text {(after['hash'] or '–')[:8]}; before: {_label_version(before['id'])}",
        )
        for before, after in pairwise(dated)
    ]


def _draw_all(by_name: Sequence[Slice], rates: Sequence[str], chosen: Mapping[str, Any]) -> None:
    totals: dict[str, int] = {}
    for slice_ in by_name:
        totals[slice_.name] = max(totals.get(slice_.name, 0), slice_.total)
    names = sorted(totals, key=lambda name: (-totals[name], name))
    solid = {slice_.name for slice_ in by_name if slice_.is_solid}
    hidden = set([name for name in names if name in solid][_SHOWN:])
    columns = {
        rate: sorted(
            (slice_ for slice_ in by_name if slice_.rate.name == rate and slice_.name not in hidden),
            key=lambda slice_: names.index(slice_.name),
        )
        for rate in rates
    }
    take = cards.Download(
        "rates_by_prompt", store_queries.ask_later("slices", rates=tuple(rates), by="prompt_name", **chosen)
    )
    with cards.draw_card("All prompts", "slices", take=take, height=320):
        draw_slice_table(
            "prompt_name",
            columns,
            key="all_prompts",
            leads=lambda name: link_here("prompts", {}, of=name, show="text"),
        )
        if hidden:
            st.caption(f"{_SHOWN} of {len(solid)} prompts; a filter brings up the others.")


show()
