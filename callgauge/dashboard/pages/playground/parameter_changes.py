"""Computes how parsing changed each parameter of a call: the sent value, the typed value, and the reasons."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from callgauge.analysis import wording
from callgauge.analysis.reparsed_call import read_member_texts
from callgauge.dashboard.components.definition_editor.parameters import describe_parameter
from lenient import Diagnostic, Outcome, ToolCallRequest
from lenient.diagnostics import FORBIDDEN_HINT, render_path
from lenient.diagnostics.codes import Severity, Stage

MOST = 200
"""Maximum number of parameters that get a row."""

AS_SENT, REPAIRED, CONVERTED, FLAGGED, INVALID, MISSING, DROPPED, UNDECLARED, FORBIDDEN = (
    "as sent", "repaired", "converted", "flagged", "invalid", "missing", "dropped",
    "kept, not declared", "kept, but forbidden",
)  # fmt: skip
_OF_STAGE = {
    Stage.UNWRAP: REPAIRED,
    Stage.REPAIR: REPAIRED,
    Stage.COERCE: CONVERTED,
    Stage.CHECK: FLAGGED,
}
# The first part of a path: `$.name` or `$["odd name"]`.
_FIRST_STEP = re.compile(r'\$(?:\.[^.\[]+|\["(?:\\.|[^"\\])*"\])')
_ABSENT = object()
_LONGEST = 400
_WHOLE = (
    "unquoted_string", "single_quotes", "nonstandard_literal", "nonstandard_number", "unclosed_string",
    "truncated_literal",
)  # fmt: skip
_RENAMED = "parameter_name_normalised"


@dataclass(frozen=True, slots=True)
class ParameterChange:
    """One parameter of a call. When `name` is None, the change is outside the parameters.

    `declared` holds the declared types in words, or None if the parameter is undeclared. `sent` is the value
    as in the raw arguments, or the repaired value as JSON if `is_exact` is False. `became` is the typed value
    as JSON. `sent` and `became` are None when there is no value. `verdict` is a word such as `REPAIRED`.
    `severity` is the severity of the worst diagnostic, or None.
    """

    name: str | None
    declared: str | None
    sent: str | None
    became: str | None
    verdict: str
    severity: Severity | None
    findings: tuple[Diagnostic, ...]
    is_exact: bool = True


def list_changes(request: ToolCallRequest) -> list[ParameterChange]:
    """Return the changes outside the parameters, of sent parameters, and of missing parameters."""
    arguments = request.arguments or {}
    sent, exact = _sent_values(request), read_member_texts(request)
    declared = {parameter.name: parameter for parameter in request.tool.parameters} if request.tool else {}
    names = list(dict.fromkeys([*(name for name in declared), *sent, *arguments]))[:MOST]
    by_name, around = _group_findings(request.diagnostics, names)
    former = {
        diagnostic.found: name
        for name, several in by_name.items()
        for diagnostic in several
        if diagnostic.code == _RENAMED and diagnostic.found
    }
    changes = [_describe_text(request, sent, around)] if around else []
    for name in names:
        findings = by_name[name]
        if name in former:
            continue
        sent_name = name if name in sent else next((old for old, new in former.items() if new == name), name)
        value = sent.get(sent_name, _ABSENT)
        if value is _ABSENT:
            value = request.rejected.get(render_path((None, name)), _ABSENT)
        if value is _ABSENT and not findings:
            continue
        types = describe_parameter(declared[name]) if name in declared else None
        became = arguments.get(name, _ABSENT)
        raw = exact.get(sent_name) if value is not _ABSENT else None
        changes.append(_describe_parameter(request, name, types, value, became, findings, raw))
    return changes


def names_not_sent(request: ToolCallRequest, changes: Sequence[ParameterChange]) -> list[str]:
    """Return the optional parameters that were not sent and that `changes` does not list."""
    shown = {change.name for change in changes}
    declared = request.tool.parameters if request.tool else ()
    return [parameter.name for parameter in declared if parameter.name not in shown]


def describe_outcome(request: ToolCallRequest, changes: Sequence[ParameterChange]) -> str:
    """Return one sentence on a result: the outcome and the number of problems of each kind.

    The sentence names the worst problems and contains log content. Example: “Failed: 2 errors (a and b are
    invalid) and 1 repair.”
    """
    names = {
        word: [change.name for change in changes if change.name and change.verdict == word]
        for word in _MENTIONED
    }
    mentions = "".join(f"; {word}: {_join(names[word])}" for word in _MENTIONED if names[word])
    if request.outcome is Outcome.CLEAN:
        return f"Clean: valid JSON that fits the definition{mentions}."
    if request.outcome is Outcome.UNMEASURED:
        return "Not measured: valid JSON, but without a tool definition to check it against."
    (gravest, named), *others = [*_count_faults(request, changes)] or [("values were converted", "")]
    first = f"{gravest} ({named})" if named else gravest
    faults = wording.list_words([first, *(count for count, _ in others)])
    return f"{request.outcome.capitalize()}: {faults}{mentions}."


_NAMED = 3
_FAULTY = (MISSING, INVALID)
# The sentence mentions these verdicts in addition to the outcome.
_MENTIONED = (FORBIDDEN, UNDECLARED, FLAGGED)


def _count_faults(request: ToolCallRequest, changes: Sequence[ParameterChange]) -> Iterator[tuple[str, str]]:
    """Yield the number and the names of errors, lossy guesses, repairs and conversions."""
    errors = [diagnostic for diagnostic in request.diagnostics if diagnostic.severity is Severity.ERROR]
    others = [diagnostic for diagnostic in request.diagnostics if diagnostic.severity is not Severity.ERROR]
    lossy = [diagnostic for diagnostic in others if diagnostic.lossy]
    repairs = [
        diagnostic
        for diagnostic in others
        if not diagnostic.lossy and _OF_STAGE.get(diagnostic.stage) == REPAIRED
    ]
    if errors:
        yield wording.plural(len(errors), "error"), _name_errors(errors, changes)
    if lossy:
        guesses = "1 guess" if len(lossy) == 1 else f"{len(lossy):,} guesses"
        yield f"{guesses} that may lose meaning", _name_codes(lossy)
    if repairs:
        yield wording.plural(len(repairs), "repair"), _name_codes(repairs)
    converted = [change for change in changes if change.name and change.verdict == CONVERTED]
    if converted and len(lossy) < len(others):
        sent = sum(change.name is not None and change.sent is not None for change in changes)
        named = _join([f"{change.name}: {change.sent} → {change.became}" for change in converted], "; ")
        yield f"{len(converted):,} of {wording.plural(sent, 'argument')} converted", named


def _name_errors(errors: Sequence[Diagnostic], changes: Sequence[ParameterChange]) -> str:
    names = {
        word: [change.name for change in changes if change.name and change.verdict == word]
        for word in _FAULTY
    }
    parts = [
        f"{_join(several)} {'is' if len(several) == 1 else 'are'} {word}"
        for word, several in names.items()
        if several
    ]
    return ", ".join(parts) or _name_codes(errors)


def _name_codes(several: Sequence[Diagnostic]) -> str:
    gravest_first = sorted(several, key=lambda diagnostic: -diagnostic.severity.rank)
    return _join(
        [code.replace("_", " ") for code in dict.fromkeys(diagnostic.code for diagnostic in gravest_first)]
    )


def _join(names: Sequence[str], separator: str = ", ") -> str:
    shown = [wording.one_line(name, 40) for name in names[:_NAMED]]
    if len(names) > _NAMED:
        return f"{separator.join(shown)} and {len(names) - _NAMED:,} more"
    return wording.list_words(shown) if separator == ", " else separator.join(shown)


def _sent_values(request: ToolCallRequest) -> Mapping[str, Any]:
    """Return the parameters that the model sent, decoded, before type conversion."""
    for step in request.steps:
        if step.stage is Stage.COERCE:
            try:
                arguments = json.loads(step.before)
            except (ValueError, RecursionError):
                break
            return arguments if isinstance(arguments, dict) else {}
    return request.arguments or {}


def _group_findings(
    diagnostics: Iterable[Diagnostic], names: Sequence[str]
) -> tuple[dict[str, list[Diagnostic]], list[Diagnostic]]:
    """Group the diagnostics by parameter.

    Also return the diagnostics on what is outside the parameters.
    """
    by_name: dict[str, list[Diagnostic]] = {name: [] for name in names}
    around: list[Diagnostic] = []
    by_place = {render_path((None, name)): name for name in names}
    for diagnostic in diagnostics:
        step = _FIRST_STEP.match(diagnostic.path)
        name = by_place.get(step[0]) if step else None
        (around if name is None else by_name[name]).append(diagnostic)
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
    raw: str | None,
) -> ParameterChange:
    """Describe one parameter. `raw` is the value as in the raw arguments, or None if it is unknown."""
    verdict = _choose_verdict(findings, sent=sent is not _ABSENT)
    if became is _ABSENT and verdict == CONVERTED:
        verdict = DROPPED
    # Only a diagnostic with this path is about the parameter; longer paths are about fields inside its value.
    place = render_path((None, name))
    undeclared = next(
        (finding for finding in findings if (finding.code, finding.path) == ("unknown_parameter", place)),
        None,
    )
    if undeclared is not None:
        verdict = FORBIDDEN if FORBIDDEN_HINT in (undeclared.hint or "") else UNDECLARED
    text = _shorten(raw) if raw is not None else _raw_scalar(request, name, sent, findings)
    text, is_exact = (text, True) if text else _repaired_text(request, sent, findings)
    if verdict == AS_SENT and not is_exact:
        verdict = REPAIRED
    return ParameterChange(
        name, types, text, _value_text(became), verdict, _worst(findings), tuple(findings), is_exact
    )


def _raw_scalar(request: ToolCallRequest, name: str, sent: Any, findings: Sequence[Diagnostic]) -> str | None:
    """Return a value as in the raw arguments if a diagnostic covers the whole value. Otherwise return None.

    Lists and objects always give None, because a diagnostic there may be about a key.
    """
    raw, place = request.raw_arguments, render_path((None, name))
    if not isinstance(raw, str) or isinstance(sent, dict | list):
        return None
    if any(diagnostic.code in ("duplicate_key", "repeated_member") for diagnostic in request.diagnostics):
        return None  # the diagnostic may be about a value that a later duplicate replaced
    for finding in findings:
        if (
            finding.code in _WHOLE
            and finding.path == place
            and finding.start is not None
            and finding.end is not None
        ):
            return _shorten(raw[finding.start : finding.end])
    return None


def _choose_verdict(findings: Sequence[Diagnostic], *, sent: bool) -> str:
    worst = _worst(findings)
    if worst is Severity.ERROR:
        return INVALID if sent else MISSING
    stages = {finding.stage for finding in findings}
    for stage in (Stage.COERCE, Stage.REPAIR, Stage.UNWRAP, Stage.CHECK):
        if stage in stages:
            return _OF_STAGE[stage]
    return AS_SENT


def _worst(findings: Sequence[Diagnostic]) -> Severity | None:
    return max((finding.severity for finding in findings), key=lambda severity: severity.rank, default=None)


def _repaired_text(
    request: ToolCallRequest, sent: Any, findings: Sequence[Diagnostic]
) -> tuple[str | None, bool]:
    """Return a repaired value, and whether it equals the value in the raw arguments except for whitespace."""
    text, raw = _value_text(sent), request.raw_arguments
    if text is None:
        return None, True
    whole = next(
        (
            finding.found
            for finding in findings
            if finding.found and finding.became and finding.became == text
        ),
        None,
    )
    if whole:
        return whole, True
    written = json.dumps(sent, ensure_ascii=False)
    return text, isinstance(raw, str) and "".join(written.split()) in "".join(raw.split())


def _value_text(value: Any) -> str | None:
    if value is _ABSENT:
        return None
    return _shorten(json.dumps(value, ensure_ascii=False))


def _shorten(text: str) -> str:
    return wording.shorten(text, _LONGEST)
