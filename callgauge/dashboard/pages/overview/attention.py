"""Draws the card "Needs attention": changed rates, new errors and missed goals.

An item stays until the problem is over or a person acknowledges the item.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.load_state import lag_days, write_days
from callgauge.analysis.measures import attention
from callgauge.analysis.measures.alert_rules import RuleFinding, judge_rules
from callgauge.analysis.measures.attention import Attention, find_returned_errors
from callgauge.analysis.measures.slices import Slice
from callgauge.analysis.metrics import MetricError
from callgauge.analysis.replay.fix_evidence import list_suspected
from callgauge.analysis.verdicts.alerts import (
    AttentionItem,
    describe_alert,
    describe_finding,
    describe_item,
    describe_quiet,
    describe_returned,
    describe_wrong_parameter,
)
from callgauge.analysis.verdicts.goals import describe_missed_goal
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.url_widgets import draw_popover
from callgauge.dashboard.components.memory.changes import (
    draw_author_field,
    may_write,
    read_records,
    take_author,
    try_change,
)
from callgauge.dashboard.components.memory.rule_form import ask_rule
from callgauge.dashboard.page_files import page_file
from callgauge.dashboard.store_queries import Generation
from callgauge.dashboard.viewer import leave_place_out, sees_texts
from callgauge.memory.alert_rules import AlertRule
from callgauge.memory.memory_file import MemoryProblemError
from callgauge.memory.records import Acknowledgement, Goal, TeamRecords

_SHOWN = 3
_PROBLEM = "_memory_problem"


def find_attention(chosen: Mapping[str, Any]) -> Attention | None:
    """Return what needs attention on the newest day with calls, or None if no day has calls.

    The days in the filter bar are ignored.
    """
    parameters = {name: value for name, value in chosen.items() if name not in ("from_day", "to_day")}
    return store_queries.derive(
        lambda ask: attention.find_attention(ask, parameters), "attention", parameters
    )


def draw_attention(chosen: Mapping[str, Any], goals: Mapping[str, Goal], rates: Mapping[str, Slice]) -> None:
    """Draw the card "Needs attention".

    `goals` and `rates` map the name of a rate to the goal and to the slice.
    """
    problem = None
    records, unread = _read_records()
    acknowledgements = records.acknowledgements
    items: list[AttentionItem] = []
    try:
        attention = find_attention(chosen)
        items += [
            *_list_silent_items(),
            *_find_rule_items(records.alert_rules),
            *_find_returned_items(records),
            *_list_missed_goals(goals, rates),
        ]
    except MetricError as refused:
        attention, problem = None, refused
    items += (
        [describe_item(notable, attention.newest, filters.short_label) for notable in attention.needing]
        if attention
        else []
    )
    left = [item for item in items if item.key not in acknowledgements]
    title = f"Needs attention ({len(left)})" if left else "Needs attention"
    with cards.draw_card(
        title,
        "alerts",
        "new_errors",
        "returned_errors",
        "worst_parameters",
        beside=_draw_rules,
        stretch=True,
    ):
        if problem:
            raise problem
        if trouble := st.session_state.pop(_PROBLEM, None) or unread:
            st.error(wording.in_markdown(trouble, 600))
        if attention is None:
            st.caption("No call of this selection has a day.")
            _draw_items(left)
            _draw_quiet_items(chosen)
            return
        _draw_items(left)
        if not left or attention.night is None:
            opened = sum(alert.is_open and alert.is_worse for alert in attention.alerts)
            st.caption(describe_quiet(attention, opened=opened))
        _draw_quiet_items(chosen)
        _draw_folds(items, acknowledgements, attention)


def _list_silent_items() -> list[AttentionItem]:
    now, items = datetime.now(UTC), []
    for source in store_queries.known_service_state().find_silent(now):
        newest = wording.utc(source.newest) if source.newest else "none came yet"
        items.append(
            AttentionItem(
                key=source.silence_key,
                sign="▲",
                colour="red",
                subject=f"No data from {source.name}",
                rest=f"for {write_days(source.count_silent_days(now))}",
                counts=f"newest data {newest} · looked {wording.utc(source.looked)}",
                page="data",
            )
        )
    return items


def _list_missed_goals(goals: Mapping[str, Goal], rates: Mapping[str, Slice]) -> Iterator[AttentionItem]:
    for name, goal in goals.items():
        item = describe_missed_goal(rates[name], goal) if name in rates else None
        if item:
            yield item


def _draw_quiet_items(chosen: Mapping[str, Any]) -> None:
    """Draw the items that are no alerts, in grey: the worst parameter, and problems with the data."""
    worst = store_queries.ask("worst_parameters", **chosen).to_dict("records")
    if (suspected := list_suspected(worst)) and sees_texts():
        _draw_sentence(describe_wrong_parameter(suspected[0]))
    load = store_queries.ask("last_load").iloc[0]
    rejected, days = int(load.rejected_files), lag_days(load.newest, load.loaded_at)
    are = "is" if rejected == 1 else "are"
    files = f"{wording.plural(rejected, 'file')} {are} not recognised" if rejected else ""
    silent_sources = store_queries.known_service_state().find_silent(datetime.now(UTC))
    newest = f"The newest turn was {wording.plural(days, 'day')} old at the load"
    newest = "" if silent_sources or not days else newest
    for words in filter(None, (files, newest)):
        st.page_link(page_file("data"), label=f":gray[○] {wording.link_label(words)}")


def _read_records() -> tuple[TeamRecords, str | None]:
    try:
        return store_queries.team_records(), None
    except MemoryProblemError as problem:
        return TeamRecords(), leave_place_out(str(problem))


def _find_rule_items(rules: Sequence[AlertRule]) -> Iterator[AttentionItem]:
    """Yield an item for each alert rule that fires and is not muted. The page's filters are ignored."""
    today = datetime.now(UTC).date()
    unmuted = [rule for rule in rules if not rule.is_muted(today)]
    if unmuted:
        shown = store_queries.shown_generation()
        for finding in _judge_rules(shown, repr(unmuted), unmuted):
            if finding.fires:
                yield describe_finding(finding, filters.short_label)


@st.cache_data(max_entries=200, show_spinner=False)
def _judge_rules(
    shown: Generation,  # noqa: ARG001 - of the cache's key
    rules_text: str,  # noqa: ARG001
    _rules: Sequence[AlertRule],
) -> list[RuleFinding]:
    """Return the results of the alert rules for the newest day, cached by store file and rules."""
    return judge_rules(store_queries.ask_all, _rules)


def _find_returned_items(records: TeamRecords) -> list[AttentionItem]:
    returned = find_returned_errors(store_queries.ask_all, records.signature_states.values())
    return [describe_returned(error) for error in returned]


def _draw_rules() -> None:
    with st.container(width="content"):
        draw_popover("Rules", "alert_rules", _list_rules)


def _list_rules() -> None:
    rules = read_records().alert_rules
    if rules:
        st.page_link(
            page_file("decisions"),
            label=wording.link_label(f"{wording.plural(len(rules), 'rule')} of the team"),
            query_params={"about": "rules"},
        )
    ask_rule()


def _draw_items(items: list[AttentionItem]) -> None:
    shown = items if st.session_state.get("all_attention") else items[:_SHOWN]
    for item in shown:
        with st.container(gap=None, key=f"alert_{_digest(item.key)}"):
            _draw_sentence(item)
            _draw_acknowledge(item)
    if len(items) > _SHOWN:
        st.toggle(f"Show all {len(items)}", key="all_attention")


def _draw_sentence(item: AttentionItem) -> None:
    subject, rest = (wording.in_markdown(text, 200) for text in (item.subject, item.rest))
    st.page_link(
        page_file(item.page),
        label=f":{item.colour}[{item.sign}] {wording.link_label(subject)} {rest}",
        query_params=item.query,
        help=wording.in_markdown(item.counts, 200) or None,
    )


def _draw_acknowledge(item: AttentionItem) -> None:
    if may_write():
        with st.container(width="content"):
            draw_popover("Acknowledge", f"acknowledge_{_digest(item.key)}", lambda: _ask_who(item.key))


def _ask_who(key: str) -> None:
    place = _digest(key)
    with st.form(f"acknowledgement_{place}", border=False):
        st.caption("Hides it for the whole team until the rate recovers and changes again.")
        draw_author_field(f"by_{place}")
        st.text_input("Note", key=f"note_{place}", placeholder="optional", max_chars=500)
        if st.form_submit_button("Acknowledge", on_click=_acknowledge, args=(key,), key=f"save_{place}"):
            st.rerun()  # run the whole page, not only the popover


def _acknowledge(key: str) -> None:
    place = _digest(key)
    note, by = st.session_state[f"note_{place}"].strip(), take_author(f"by_{place}")
    problem = try_change(lambda _: store_queries.team_memory().acknowledge(key, note=note, by=by))
    if problem:
        st.session_state[_PROBLEM] = f"Not acknowledged. {problem}"


def _withdraw(key: str) -> None:
    problem = try_change(lambda _: store_queries.team_memory().withdraw_acknowledgement(key))
    if problem:
        st.session_state[_PROBLEM] = f"Not withdrawn. {problem}"


def _draw_folds(
    items: list[AttentionItem], acknowledgements: Mapping[str, Acknowledgement], attention: Attention
) -> None:
    acknowledged = [item for item in items if item.key in acknowledgements]
    if acknowledged:
        with st.expander(f"{len(acknowledged)} acknowledged", key="acknowledged"):
            for shown in acknowledged:
                with st.container(gap=None, key=f"alert_{_digest(shown.key)}"):
                    _draw_sentence(shown)
                    st.caption(_describe_acknowledgement(acknowledgements[shown.key]))
                    if may_write():
                        st.button(
                            "Withdraw",
                            type="tertiary",
                            key=f"withdraw_{_digest(shown.key)}",
                            on_click=_withdraw,
                            args=(shown.key,),
                        )
    others = [*attention.parts, *attention.improved]
    if others:
        with st.expander(f"{wording.plural(len(others), 'other change')}", key="other_changes"):
            for alert in others:
                item = describe_alert(alert, attention.newest, filters.short_label)
                with st.container(gap=None, key=f"alert_{_digest(item.key)}"):
                    _draw_sentence(item)


def _describe_acknowledgement(acknowledgement: Acknowledgement) -> str:
    by = f"by {wording.in_markdown(acknowledgement.by, 60)}, " if acknowledgement.by else ""
    note = f": {wording.in_markdown(acknowledgement.note, 500)}" if acknowledgement.note else ""
    return f"{by}{wording.utc(acknowledgement.at)}{note}"


def _digest(key: str) -> str:
    """Return a short widget key for an alert. It contains no log content."""
    return sha256(key.encode(errors="replace")).hexdigest()[:12]
