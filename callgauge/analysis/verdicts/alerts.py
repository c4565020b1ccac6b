"""Sentences on what needs attention (changed rates, firing rules, new errors) and on a quiet night.

The Overview, the morning report and the trend charts print the same sentence for the same alert.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any, Literal

from callgauge.analysis import arm_filters, wording
from callgauge.analysis.measures.alert_rules import RuleFinding
from callgauge.analysis.measures.alerts import Alert, AlertPlace, NewError
from callgauge.analysis.measures.attention import Attention, ReturnedError
from callgauge.analysis.verdicts.sentences import RULE, format_difference
from callgauge.stats import Share
from callgauge.stats.day_spread import LEAST_DAYS

Label = Callable[[str, str], str]
"""Returns the label of a value of a dimension."""
Days = tuple[date, date]

_HIGH = 0.9
_JOINED: Mapping[str, str] = {
    "model": "for",
    "prompt": "with prompt",
    "tool": "with tool",
    "provider": "on host",
}
"""The word between a rate and a value of the dimension in a sentence."""
_SUBJECTS: Mapping[str, str] = {
    "tool_rejected": "Tool rejections",
    "execution": "Failed executions",
    "emission": "Missing calls",
}
"""The subjects of sentences, for rates whose title does not fit before "of basalt-mini"."""
_NAMED: Mapping[str, str] = {"model": "", "prompt": "prompt ", "tool": "tool ", "provider": "host "}


@dataclass(frozen=True, slots=True)
class AttentionItem:
    """One thing that needs attention, as plain text that may contain log content, and the page with the
    evidence.

    `subject` is the beginning of the sentence, and `rest` is the end. `counts` holds the numbers in small
    print. `share` is the changed rate as it is now, or None for a new error.
    """

    key: str
    sign: Literal["▲", "▼", "○"]
    colour: Literal["red", "green", "gray"]
    subject: str
    rest: str
    counts: str
    page: str
    query: Mapping[str, str] = field(default_factory=dict)
    share: Share | None = None


def describe_item(item: Alert | NewError, newest: date, label: Label) -> AttentionItem:
    """Describe an alert or a new error. `newest` is the newest night."""
    return (
        _describe_new_error(item, newest)
        if isinstance(item, NewError)
        else describe_alert(item, newest, label)
    )


def describe_alert(alert: Alert, newest: date, label: Label) -> AttentionItem:
    """Describe an alert. `newest` is the newest night.

    Example: Parse errors of basalt-mini rose from 2.6 to 14.6% on 19 Nov, only on host west-2. If the alert
    is over: Parse errors of basalt-mini returned to 2.6% on 27 Nov.
    """
    before, now = format_rate(alert.before.rate), format_rate(alert.now.rate)
    began = format_day(alert.since, newest)
    counts = (
        f"{wording.fraction(alert.now.k, alert.now.n)} {alert.rate.noun}s since, "
        f"{wording.fraction(alert.before.k, alert.before.n)} before"
    )
    if alert.back:
        rest = f"returned to {before} on {format_day(alert.back, newest)}"
        counts = f"{now} from {began} on"
    else:
        place = f", {_describe_place(alert.place, label)}" if alert.place else ""
        verb = "rose" if alert.rose else "fell"
        rest = f"{verb} from {before.removesuffix('%')} to {now} on {began}{place}"
        counts += f" · {format_difference(alert.difference)}" if alert.difference else ""
    own = {dimension: [value] for dimension, value in alert.values.items()}
    query = arm_filters.arm_query("A", own, alert.baseline) | arm_filters.arm_query("B", own, alert.days)
    return AttentionItem(
        alert.key,
        "○" if alert.back else "▲" if alert.rose else "▼",
        "gray" if alert.back else "red" if alert.is_worse else "green",
        f"{_SUBJECTS.get(alert.rate.name, alert.rate.title)} of {_name_values(alert.values, label)}",
        rest,
        f"{counts} · q {'< 0.001' if alert.q < 0.001 else f'{alert.q:.3f}'}",
        "compare",
        query | {"rate": alert.rate.name},
        alert.now,
    )


def describe_wrong_parameter(row: Mapping[Hashable, Any]) -> AttentionItem:
    """Describe the worst parameter of a tool. `row` is a row of the metric `worst_parameters`."""
    return AttentionItem(
        "",
        "○",
        "gray",
        f"{wording.short_name(row['parameter'], 40)} of {wording.one_line(row['tool'], 60)}",
        "is often wrong: can the definition be fixed?",
        f"{row['code']} in {wording.rate(row['calls'], row['judged'])} of calls",
        "tools",
        {"tool_open": row["tool"]},
    )


def describe_open_alert(alert: Alert, newest: date, label: Label) -> str:
    """Return a sentence on an open alert, to show next to a rate over all days, which hides the change."""
    words = describe_alert(alert, newest, label)
    return f"Open alert: {words.subject[0].lower()}{words.subject[1:]} {words.rest}."


def _name_values(values: Mapping[str, str], label: Label) -> str:
    (dimension, value), *others = values.items()
    more = "".join(f" {_JOINED[other]} {label(other, other_value)}" for other, other_value in others)
    return f"{_NAMED[dimension]}{label(dimension, value)}{more}"


def _describe_place(place: AlertPlace, label: Label) -> str:
    how = "only" if place.is_only else "mostly"
    return f"{how} {_JOINED[place.dimension]} {label(place.dimension, place.value)}"


def _describe_new_error(error: NewError, newest: date) -> AttentionItem:
    return AttentionItem(
        error.key,
        "▲",
        "red",
        f"New error: {wording.quote(error.text, 60)},",
        f"{wording.plural(error.calls, 'call')} since {format_day(error.first_day, newest)}",
        f"{wording.plural(error.sessions, 'session')} · never seen before",
        "errors",
        {"signature": error.signature_id},
    )


def describe_returned(error: ReturnedError) -> AttentionItem:
    """Describe an error that is back after a fix."""
    version = f" in {wording.one_line(error.state.fixed_in, 40)}" if error.state.fixed_in else ""
    fixed = error.state.fixed_day or error.back_day
    return AttentionItem(
        error.key,
        "▲",
        "red",
        f"Fixed and back: {wording.quote(error.text, 60)},",
        f"{wording.plural(error.calls, 'call')} since {format_day(error.back_day, error.last_day)}",
        f"Fixed{version} on {format_day(fixed, error.last_day)} · "
        f"{wording.plural(error.sessions, 'session')}",
        "errors",
        {"signature": error.state.signature},
    )


def describe_finding(finding: RuleFinding, label: Label) -> AttentionItem:
    """Describe a firing rule. Raises ValueError for a rule that does not fire."""
    if not finding.fires or not finding.share or not finding.days or not finding.since or not finding.rate:
        raise ValueError(f"the rule {finding.rule.name!r} does not fire")
    rule, share, last, change = finding.rule, finding.share, finding.days[1], finding.change
    bound = f"{100 * rule.bound:g}"
    was = f"was {format_rate(change.before.rate)}" if change else f"rule: {rule.kind} {bound}%"
    rose = change.rose if change else rule.kind == "above"
    counts = f"{wording.fraction(share.k, share.n)} {finding.rate.noun}s, {wording.interval(share.interval)}"
    values = " · ".join(label(name, choices[0]) for name, choices in rule.slice.items())
    own = {name: list(choices) for name, choices in rule.slice.items()}
    earlier = change.baseline if change else _days_before(finding.days)
    query = arm_filters.arm_query("A", own, earlier) | arm_filters.arm_query("B", own, finding.days)
    return AttentionItem(
        finding.key,
        "▲" if rose else "▼",
        "red",
        f"{wording.one_line(rule.name, 60)}:",
        f"{finding.rate.phrase} {format_rate(share.rate)} since {format_day(finding.since, last)} ({was})",
        f"Rule · {counts}{f' · {values}' if values else ''}",
        "compare",
        query | {"rate": rule.rate},
        share,
    )


def _days_before(days: Days) -> Days:
    length = (days[1] - days[0]) + timedelta(1)
    return days[0] - length, days[1] - length


# --- a quiet night --------------------------------------------------------------------------------


def describe_quiet(attention: Attention, *, opened: int = 0) -> str:
    """Return the sentences for a night without new alerts: how large a change must be to be found, or why no
    change can be found.

    `opened` is the number of open alerts from earlier nights.
    """
    day = format_day(attention.newest, attention.newest)
    night = attention.night
    if night is None:
        days = wording.plural(attention.days, "day")
        need = f"it takes {LEAST_DAYS} before the newest one"
        return (
            f"Too few days to find a change: {need}, "
            f"and {days} {'has' if attention.days == 1 else 'have'} calls."
        )
    if not night.tests:
        return f"Too few calls to find a change: no model, prompt, tool or host has {RULE}, now and before."
    return (
        f"No {'new ' if opened else ''}alerts on {day}. {_describe_power(night.in_a_night, night.in_a_week)}"
    )


def _describe_power(in_a_night: float | None, in_a_week: float | None) -> str:
    if in_a_week is None:
        return "With so few sessions a day, a change in a model takes more than a week to show."
    week = _round_points(in_a_week)
    if in_a_night is None:
        return f"A change in a model takes days to show: one of about {week} would within a week."
    night = _round_points(in_a_night)
    later = f"about {week.split()[0]} within a week"
    return f"A change below about {night} in a model would not show after one day yet ({later})."


def _round_points(share: float) -> str:
    points = 100 * share
    number = f"{points:.0f}" if points >= 2 else f"{points:.1f}"
    return f"{number} point{'' if number == '1' else 's'}"


def format_rate(rate: float | None) -> str:
    """Write a rate with two digits, or with three digits near 100 %."""
    return wording.percent(rate or 0.0, 3 if (rate or 0.0) > _HIGH else 2)


def format_day(day: date, newest: date) -> str:
    """Write a day as 12 Nov. Add the year if the newest day has another year."""
    return f"{day.day} {day:%b}{'' if day.year == newest.year else f' {day.year}'}"
