"""Writes the sentence on one tool: the parameter with most errors, and the models that make these errors."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from callgauge.analysis import wording
from callgauge.analysis.measures.comparisons import LEVEL, SMALLEST
from callgauge.analysis.verdicts.parameter_faults import (
    FaultCount,
    FaultKind,
    ParameterFault,
    ToolFaults,
)
from callgauge.stats import ENOUGH, Share, compare_rates, holm

_OFTEN_SENT = 0.1  # smallest share of a parameter's type errors for which a kind of value is named
_NAMED = 3  # maximum number of kinds of value in a sentence
_LONGEST = 60  # maximum number of characters of a name

KINDS = {
    "text": "text",
    "number": "a number",
    "boolean": "true or false",
    "list": "a list",
    "object": "an object",
    "null": "null",
}
"""The words for each kind of value in the metric `parameter_faults`."""
_FIELDS = {"success": "`success: false`", "ok": "`ok: false`", "status": "`status: error`", None: "so"}
_FAULTS = {
    FaultKind.MISSING: "is missing",
    FaultKind.VALUE: "has a value that is not allowed",
    FaultKind.UNDECLARED: "is sent although it is not declared",
    FaultKind.NAME: "is sent under another spelling",
}


def find_leading_fault(faults: ToolFaults) -> ParameterFault | None:
    """Return the parameter error to describe, or None if no error occurs in enough calls."""
    leading = next(iter(faults.faults), None)
    return leading if leading is not None and leading.count.n >= ENOUGH else None


def list_kinds(fault: ParameterFault) -> list[str]:
    """Return the types that are often sent instead of the declared type, the most frequent first."""
    total = sum(fault.sent.values())
    return [kind for kind, calls in fault.sent.items() if calls >= _OFTEN_SENT * total][:_NAMED]


def write_tool_answer(tool: str, faults: ToolFaults, *, defined: bool = True) -> str:
    """Return the sentence on the errors in calls of a tool. It contains log content.

    `defined` is True if the store has a definition of the tool.
    """
    name = wording.one_line(tool, _LONGEST)
    if not faults.judged:
        return f"No call of {name} could be judged: the logs keep neither its text nor its definition."
    leading = find_leading_fault(faults)
    if faults.judged < ENOUGH or (leading is None and faults.faults):
        return _describe_few(name, faults)
    if not faults.checked:
        return f"{name}: {_describe_text(faults)} {_describe_undefined(defined=defined)}"
    if leading is None:
        if faults.broken_text.calls:
            return f"{name}: {_describe_text(faults)} No parameter is wrong in {_count_checked(faults)}."
        return _describe_nothing(name, faults)
    sentence = f"{_describe_fault(leading)}."
    if faults.broken_text.calls > 2 * leading.count.calls:
        sentence = f"{_describe_text(faults)} No parameter goes wrong that often: {sentence}"
    return f"{name}: {sentence}"


def describe_reported_failures(rows: Sequence[Mapping[Hashable, Any]]) -> str | None:
    """Say which share of a tool's results report a failure in their content. These results count as failed.

    `rows` holds the rows of the metric `failure_envelopes` for one tool. Return None when no result reports a
    failure.
    """
    if not rows:
        return None
    shares = [f"{wording.rate(row['calls'], row['results'])} say {_FIELDS[row['field']]}" for row in rows]
    shares[0] = shares[0].replace(" say ", " of results say ", 1)
    return f"{wording.list_words(shares)}; counted as failed."


def describe_fault_kind(fault: ParameterFault) -> str:
    """Describe the error at a parameter as a phrase that follows the parameter's name, such as "is sent as
    text".
    """
    if fault.kind is FaultKind.TEXT:
        return "has broken JSON" if fault.parameter else "are not valid JSON"
    if fault.kind is not FaultKind.TYPE:
        return _FAULTS[fault.kind]
    kinds = [KINDS[kind] for kind in list_kinds(fault) if kind in KINDS]
    return f"is sent as {wording.list_words(kinds, 'or')}" if kinds else "has a value of another type"


def _describe_fault(fault: ParameterFault) -> str:
    name = wording.one_line(fault.parameter, _LONGEST)
    return f"{name} {describe_fault_kind(fault)} {_describe_rate(fault.count)}"


def _describe_text(faults: ToolFaults) -> str:
    text = faults.broken_text
    if not text.calls:
        interval = text.share.interval
        visible = (
            f" JSON broken in more than {wording.percent(interval.high)} would show." if interval else ""
        )
        return f"all {text.n:,} judged calls are valid JSON.{visible}"
    return f"the arguments are not valid JSON {_describe_rate(text)}."


def _describe_rate(count: FaultCount) -> str:
    """Describe the share of calls with an error, and the models that made most of these calls: "in 8.7% of
    calls, mostly by heron".
    """
    rate = f"in {wording.rate(count.calls, count.n)} of calls"
    if len(count.by_slice) > 1:
        return f"{rate}{_describe_models(count.by_slice)}"
    model = next(iter(count.by_slice), "unknown")
    return rate if model == "unknown" else f"{rate} by {_shorten_name(model)}"


def _describe_undefined(*, defined: bool) -> str:
    if defined:
        return "No call could be checked against the definition."
    return "Its parameters cannot be checked: no log has its definition."


def _count_checked(faults: ToolFaults) -> str:
    return wording.plural(faults.checked, "checked call")


def _describe_few(name: str, faults: ToolFaults) -> str:
    wrong = faults.wrong
    first = next(iter(faults.faults), None)
    most = ""
    if first is not None:
        parameter = wording.one_line(first.parameter, _LONGEST)
        most = f", most often because {parameter} {describe_fault_kind(first)}"
    calls = wording.plural(faults.judged, "judged call")
    if faults.judged >= ENOUGH:
        calls = f"{wording.plural(faults.checked, 'call')} with a definition"
    counts = f"{wrong.calls:,} of {wording.plural(wrong.n, 'judged call')} had a fault{most}"
    return f"Not enough data on {name}: {calls}, {ENOUGH} are needed. {counts}."


def _describe_nothing(name: str, faults: ToolFaults) -> str:
    sentence = f"No parameter of {name} fails or needs repair in {wording.plural(faults.judged, 'call')}"
    interval = faults.wrong.share.interval
    if interval is None:
        return f"{sentence}."
    return f"{sentence}; a fault in more than {wording.percent(interval.high)} of calls would show."


def _describe_models(by_model: Mapping[str, Share]) -> str:
    """Describe which models make an error, as a phrase that follows the figures.

    Return "" if the models are unknown.
    """
    named = {name: share for name, share in by_model.items() if name != "unknown"}
    total = sum(share.k for share in by_model.values())
    solid = {name: share for name, share in named.items() if share.has_enough_to_compare}
    rest = {
        name: _sum_shares([other for another, other in by_model.items() if another != name]) for name in solid
    }
    differences = {
        name: gap for name, share in solid.items() if (gap := compare_rates(share, rest[name])) is not None
    }
    adjusted = dict(zip(differences, holm([gap.p for gap in differences.values()]), strict=True))
    above = [
        name
        for name, gap in differences.items()
        if gap.estimate > 0 and gap.is_decisive and adjusted[name] < LEVEL
    ]
    if above:
        most = max(above, key=lambda name: (solid[name].rate or 0.0, solid[name].k))
        if 2 * solid[most].k > total:
            return f", mostly by {_shorten_name(most)}"
        return f", most often by {_shorten_name(most)} ({wording.rate(solid[most].k, solid[most].n)})"
    everywhere = len(solid) == len(by_model) and len(differences) == len(solid)
    rates = _sum_shares(list(by_model.values())).rate or 0.0
    if everywhere and rates > SMALLEST and all(gap.is_within(SMALLEST) for gap in differences.values()):
        return ", about equally often by all models"
    return ""


def _sum_shares(shares: Sequence[Share]) -> Share:
    whole = Share(0, 0) if not shares else shares[0]
    for share in shares[1:]:
        whole = whole + share
    return whole


def _shorten_name(name: str) -> str:
    return wording.one_line(name, _LONGEST)
