"""The form of an alert rule, and descriptions of rules in words."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.measures.rates import LISTED, RATES
from callgauge.dashboard import filters
from callgauge.dashboard.components.controls.rate_choice import name_rate
from callgauge.dashboard.components.memory.changes import (
    apply_change,
    describe_reader,
    draw_author_field,
    may_write,
    read_records,
    take_author,
)
from callgauge.memory.alert_rules import AlertRule, RuleKind, mute_rule, save_rule
from callgauge.memory.kept_slices import take_slice

_KINDS: Mapping[str, RuleKind] = {"is above": "above", "is below": "below", "changed by": "changed"}
_MUTES = {"a day": 1, "a week": 7, "a month": 30}


def describe_rule(rule: AlertRule) -> str:
    """Return in words what an alert rule watches, such as “Parse errors above 5%, heron · fixer@13”."""
    rate = RATES[rule.rate].title if rule.rate in RATES else rule.rate
    points = f"{100 * rule.bound:g}"
    bound = {
        "above": f"above {points}%",
        "below": f"below {points}%",
        "changed": f"changed by {points} points or more" if rule.bound else "changed",
    }[rule.kind]
    return f"{wording.one_line(rate, 60)} {bound}, {filters.describe_slice(rule.slice)}"


def ask_rule() -> None:
    """Draw a form that saves an alert rule for the current filters.

    People who may not save rules see a sentence instead.
    """
    if not may_write():
        st.caption(describe_reader())
        return
    kept_slice = take_slice(filters.chosen_filters().parameters())
    with st.form("alert_rule", border=False):
        st.caption(
            f"For {wording.in_markdown(filters.describe_slice(kept_slice), 120)}, as the filters choose. "
            "Checked in every nightly run, whatever days are chosen. The rule fires when the whole 95 % "
            "interval is beyond the limit, or when a change exceeds the usual variation between days."
        )
        rate = st.selectbox("Rate", LISTED, format_func=name_rate, key="rule_rate")
        with st.container(horizontal=True, gap="small"):
            word = st.selectbox("When it", list(_KINDS), key="rule_kind", width=130)
            percent = st.number_input(
                "Percent or points", 0.0, 100.0, 5.0, 0.5, format="%g", key="rule_bound", width=130
            )
        name = st.text_input("Name", key="rule_name", placeholder="heron breaks edits", max_chars=200)
        draw_author_field("rule_by")
        is_sent = st.form_submit_button("Save rule")
    if is_sent:
        if any(rule.name == name.strip() for rule in read_records().alert_rules):
            st.error("A rule with this name exists. Choose another name.")
            return
        by = take_author("rule_by")
        apply_change(
            lambda file: save_rule(file, name, str(rate), _KINDS[str(word)], percent / 100, kept_slice, by=by)
        )


def ask_mute(rule: AlertRule, place: str) -> None:
    """Draw the buttons that mute or unmute an alert rule. `place` makes the widget keys unique."""
    today = datetime.now(UTC).date()
    if rule.is_muted(today):
        if st.button("Unmute", key=f"speak_{place}"):
            apply_change(lambda file: mute_rule(file, rule.name, None))
        return
    st.caption("Mute it for")
    with st.container(horizontal=True, gap="small"):
        for words, days in _MUTES.items():
            if st.button(words.capitalize(), key=f"mute_{days}_{place}"):
                until = _find_last_day(today, days)
                apply_change(lambda file, until=until: mute_rule(file, rule.name, until))  # type: ignore[misc]


def _find_last_day(today: date, days: int) -> date:
    return today + timedelta(days - 1)
