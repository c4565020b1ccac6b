"""Computes what became of each parameter of a call: the value sent, the typed value, and the reasons."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from callgauge.analysis import wording
from callgauge.dashboard.components.definition_editor.parameters import describe_parameter
from lenient import CODES, Diagnostic, Outcome, ToolCallRequest
from lenient.diagnostics import FORBIDDEN_HINT, render_path
from lenient.diagnostics.codes import Severity, Stage

MOST = 200
"""Maximal number of parameters that get a row."""

AS_SENT, MENDED, CONVERTED, FLAGGED, REFUSED, MISSING, LEFT_OUT, UNDECLARED, FORBIDDEN = (
    "as sent", "mended", "converted", "flagged", "refused", "missing", "left out",
    "kept, not declared", "kept, but forbidden",
)  # fmt: skip
_OF_STAGE = {
    Stage.UNWRAP: MENDED,
    Stage.REPAIR: MENDED,
    Stage.COERCE: CONVERTED,
    Stage.CHECK: FLAGGED,
}
_FIRST_STEP = re.compile(r'\$(?:\.[^.\[]+|\["(?:\\.|[^"\\])*"\])')  # of a path: `$.name`, `$["odd name"]`
_ABSENT = object()
_LONGEST = 400  # characters of a value
_WHOLE = (
    "unquoted_string", "single_quotes", "nonstandard_literal", "nonstandard_number", "unclosed_string",
    "truncated_literal",
)  # fmt: skip
_RENAMED = "parameter_name_normalised"


@dataclass(frozen=True, slots=True)
class ParameterChange:
    """One parameter of a call, or the text around all of them where `name` is None.

    `declared`: its types in words, None when the definition does not declare it. `sent`: the raw text where
    a finding spans it, else JSON; `became`: JSON; both None when there is no value. `verdict`: what happened,
    as one of the words above. `severity`: of the worst finding, None without any. `findings`: in order.
    """

    name: str | None
    declared: str | None
    sent: str | None
    became: str | None
    verdict: str
    severity: Severity | None
    findings: tuple[Diagnostic, ...]


def list_changes(request: ToolCallRequest) -> list[ParameterChange]:
    """Return the changes of the text, of the parameters sent, and of those that are missing."""
    arguments = request.arguments or {}
    sent = _sent_values(request)
    declared = {one.name: one for one in request.tool.parameters} if request.tool else {}
    names = list(dict.fromkeys([*(name for name in declared), *sent, *arguments]))[:MOST]
    by_name, around = _group_findings(request.diagnostics, names)
    former = {
        found.found: name
        for name, several in by_name.items()
        for found in several
        if found.code == _RENAMED and found.found
    }
    changes = [_describe_text(request, sent, around)] if around else []
    for name in names:
        findings = by_name[name]
        if name in former:
            continue  # it has its row under the declared name
        value = sent.get(name, next((sent[old] for old, new in former.items() if new == name), _ABSENT))
        if value is _ABSENT:
            value = request.rejected.get(render_path((None, name)), _ABSENT)
        if value is _ABSENT and not findings:
            continue
        types = describe_parameter(declared[name]) if name in declared else None
        became = arguments.get(name, _ABSENT)
        changes.append(_describe_parameter(request, name, types, value, became, findings))
    return changes


def names_not_sent(request: ToolCallRequest, changes: Sequence[ParameterChange]) -> list[str]:
    """Return the declared parameters that have no row: optional, and not sent."""
    shown = {change.name for change in changes}
    declared = request.tool.parameters if request.tool else ()
    return [one.name for one in declared if one.name not in shown]


def describe_outcome(request: ToolCallRequest, changes: Sequence[ParameterChange]) -> str:
    """Return one sentence on a reading: its outcome and what it is due to. Contains log text."""
    count = {word: [one.name for one in changes if one.name and one.verdict == word] for word in _ALL}
    if request.outcome is Outcome.FAILED:
        return f"Failed: {_describe_failure(request, count)}."
    told = "".join(f"; {word}: {_join(count[word])}" for word in _TOLD if count[word])
    if request.outcome is Outcome.CLEAN:
        return f"Clean: valid JSON, and every declared argument fits{told}."
    if request.outcome is Outcome.UNMEASURED:
        return "Arguments not judged: valid JSON, but without a definition no type is known."
    parts = []
    if request.outcome is Outcome.REPAIRED:
        places = sum(found.stage in (Stage.UNWRAP, Stage.REPAIR) for found in request.diagnostics)
        parts.append(f"the text was mended at {wording.plural(places, 'place')}")
    if count[CONVERTED]:
        of = sum(one.name is not None and one.sent is not None for one in changes)
        changed = len(count[CONVERTED])
        parts.append(f"{changed:,} of {wording.plural(of, 'argument')} changed type or form")
    if not parts:
        parts.append("values were converted")
    return f"{request.outcome.capitalize()}: {', and '.join(parts)}{told}."


_TOLD = (FORBIDDEN, UNDECLARED, FLAGGED)  # what the sentence adds to the outcome
_ALL = (AS_SENT, MENDED, CONVERTED, REFUSED, MISSING, LEFT_OUT, *_TOLD)


def _describe_failure(request: ToolCallRequest, count: Mapping[str, Sequence[str]]) -> str:
    if request.arguments is None:
        broken = next(found for found in request.diagnostics if found.severity is Severity.ERROR)
        summary = CODES[broken.code].summary.rstrip(".")
        return summary[0].lower() + summary[1:]
    parts = []
    if count[MISSING]:
        parts.append(f"{_join(count[MISSING])} {'is' if len(count[MISSING]) == 1 else 'are'} missing")
    if count[REFUSED]:
        verb = "does" if len(count[REFUSED]) == 1 else "do"
        parts.append(f"{_join(count[REFUSED])} {verb} not fit the definition")
    return " and ".join(parts) or "the text cannot be used as arguments"


def _join(names: Sequence[str]) -> str:
    told = [wording.one_line(name, 40) for name in names[:2]]
    if len(names) > 2:
        return f"{', '.join(told)} and {len(names) - 2} more"
    return " and ".join(told)


def _sent_values(request: ToolCallRequest) -> Mapping[str, Any]:
    """Return the object that the text held, before values were converted."""
    for step in request.steps:
        if step.stage is Stage.COERCE:
            try:
                found = json.loads(step.before)
            except (ValueError, RecursionError):
                break
            return found if isinstance(found, dict) else {}
    return request.arguments or {}


def _group_findings(
    diagnostics: Iterable[Diagnostic], names: Sequence[str]
) -> tuple[dict[str, list[Diagnostic]], list[Diagnostic]]:
    """Return the findings by the parameter that they are about, and those about the text around all."""
    by_name: dict[str, list[Diagnostic]] = {name: [] for name in names}
    around: list[Diagnostic] = []
    by_place = {render_path((None, name)): name for name in names}
    for found in diagnostics:
        step = _FIRST_STEP.match(found.path)
        name = by_place.get(step[0]) if step else None
        (around if name is None else by_name[name]).append(found)
    return by_name, around


def _describe_text(
    request: ToolCallRequest, sent: Mapping[str, Any], findings: Sequence[Diagnostic]
) -> ParameterChange:
    raw = request.raw_arguments if isinstance(request.raw_arguments, str) else ""
    became = None if request.arguments is None else _value_text(sent)
    return ParameterChange(
        None, None, _shorten(raw), became, _choose_verdict(findings, sent=True), _worst(findings),
        tuple(findings),
    )  # fmt: skip


def _describe_parameter(
    request: ToolCallRequest,
    name: str,
    types: str | None,
    sent: Any,
    became: Any,
    findings: Sequence[Diagnostic],
) -> ParameterChange:
    verdict = _choose_verdict(findings, sent=sent is not _ABSENT)
    if became is _ABSENT and verdict == CONVERTED:
        verdict = LEFT_OUT
    # One further down is about a field of this value.
    place = render_path((None, name))
    undeclared = next((one for one in findings if (one.code, one.path) == ("unknown_parameter", place)), None)
    if undeclared is not None:
        verdict = FORBIDDEN if FORBIDDEN_HINT in (undeclared.hint or "") else UNDECLARED
    text = _raw_scalar(request, name, sent, findings) or _exact_text(sent, findings)
    return ParameterChange(name, types, text, _value_text(became), verdict, _worst(findings), tuple(findings))


def _raw_scalar(request: ToolCallRequest, name: str, sent: Any, findings: Sequence[Diagnostic]) -> str | None:
    """Return the raw text of a value that a finding spans as a whole; None where none does.

    Within a list or an object such a finding may be about a key, so only a scalar is looked at.
    """
    raw, place = request.raw_arguments, render_path((None, name))
    if not isinstance(raw, str) or isinstance(sent, dict | list):
        return None
    if any(one.code == "duplicate_key" for one in request.diagnostics):
        return None  # the finding may be about the value that was overwritten
    for one in findings:
        if one.code in _WHOLE and one.path == place and one.start is not None and one.end is not None:
            return _shorten(raw[one.start : one.end])
    return None


def _choose_verdict(findings: Sequence[Diagnostic], *, sent: bool) -> str:
    worst = _worst(findings)
    if worst is Severity.ERROR:
        return REFUSED if sent else MISSING
    stages = {found.stage for found in findings}
    for stage in (Stage.COERCE, Stage.REPAIR, Stage.UNWRAP, Stage.CHECK):
        if stage in stages:
            return _OF_STAGE[stage]
    return AS_SENT


def _worst(findings: Sequence[Diagnostic]) -> Severity | None:
    return max((found.severity for found in findings), key=lambda one: one.rank, default=None)


def _exact_text(sent: Any, findings: Sequence[Diagnostic]) -> str | None:
    """Return the value as it was sent: the text that a repair replaced as a whole, or else as JSON."""
    text = _value_text(sent)
    whole = next((one.found for one in findings if one.found and one.became and one.became == text), None)
    return whole or text


def _value_text(value: Any) -> str | None:
    if value is _ABSENT:
        return None
    return _shorten(json.dumps(value, ensure_ascii=False, default=str))


def _shorten(text: str) -> str:
    return wording.shorten(text, _LONGEST)
