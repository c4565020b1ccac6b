"""Reports, findings and formats in, lines for a terminal or JSON out; decides nothing."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ingest.texts import spelled
from lenient import DefinitionFinding, Diagnostic, Policy, ToolCallRequest
from lenient.codes import CODES, Code, Severity, Stage
from lenient.examples import run_example
from lenient.lint import DefinitionCode
from terminal.forgotten import forget_text
from terminal.interrupts import INTERRUPTED, stoppable
from terminal.loads import load_report, load_trouble, outlook_text, progress
from terminal.rejects import rejects_lines
from terminal.texts import as_json, printable, say
from terminal.waiting import waiting

if TYPE_CHECKING:  # the pages of `callgauge explain` need no DuckDB
    from ingest.claims import Claim
    from ingest.formats import Source

__all__ = [
    "INTERRUPTED",
    "as_json",
    "forget_text",
    "load_report",
    "load_trouble",
    "outlook_text",
    "printable",
    "progress",
    "rejects_lines",
    "say",
    "stoppable",
    "waiting",
]

_EXCERPT = 72  # characters of raw text around a finding


# --- one call --------------------------------------------------------------------------------------


def request_data(request: ToolCallRequest) -> dict[str, Any]:
    """Everything the parser found out, for machines."""
    raw = request.raw_arguments
    return {
        "tool_name": request.tool_name,
        "raw_arguments": raw if isinstance(raw, str) else raw.decode("utf-8", "backslashreplace"),
        "outcome": request.outcome,
        "arguments": request.arguments,
        "rejected": spelled(request.rejected),
        "parse_error": request.parse_error,
        "parse_warning": request.parse_warning,
        "accepted_under": _accepting(request),
        "lossy": request.lossy,
        "diagnostics": [_finding_data(finding) for finding in request.diagnostics],
    }


def _finding_data(finding: Diagnostic) -> dict[str, Any]:
    judged = {"stage": finding.stage, "severity": finding.severity, "lossy": finding.lossy}
    return {**finding._asdict(), **judged, "message": finding.message}


def request_text(request: ToolCallRequest) -> str:
    """The outcome, the arguments, then every finding under the text it was made in."""
    lines = [
        f"outcome    {request.outcome}",
        f"accepted   {', '.join(_accepting(request)) or 'under no policy'}",
        f"arguments  {_shown(request.arguments)}",
    ]
    if request.lossy:
        lines.append("lossy      meaning was lost or invented: run no tool on this unasked")
    if request.rejected:
        lines.append(f"rejected   {_shown(spelled(request.rejected))}")
    raw = request.raw_arguments
    text = raw if isinstance(raw, str) else raw.decode("utf-8", "replace")
    for number, finding in enumerate(request.diagnostics, 1):
        lines += ["", f"{number:3d}  {finding.severity}: {finding.code}{' (lossy)' if finding.lossy else ''}"]
        lines.append(f"     {printable(finding.message)}")
        lines += [f"     {line}" for line in marked(text, finding.start, finding.end)]
    return "\n".join(lines)


def _accepting(request: ToolCallRequest) -> list[str]:
    return [policy.value for policy in Policy if request.accepted_under(policy)]


def marked(raw: str, start: int | None, end: int | None) -> Iterator[str]:
    """The part of the raw text around a span, and a line of carets under it. Each character is one column."""
    if start is None or end is None:
        return
    first = max(0, min(start, len(raw)) - _EXCERPT // 2)
    shown = [_one_column(character) for character in raw[first : first + _EXCERPT]]
    width = max(1, min(end, first + _EXCERPT) - start)
    yield "".join(shown)
    yield " " * (start - first) + "^" * width


def _one_column(character: str) -> str:
    """What a terminal shows in one column: control characters would move the caret or the terminal."""
    pictures = {"\n": "⏎", "\t": "⇥", "\r": "␍"}
    return character if character.isprintable() else pictures.get(character, "�")


def _shown(value: Any) -> str:
    return printable(json.dumps(value, ensure_ascii=False, default=str))


# --- definitions -----------------------------------------------------------------------------------


def definition_finding_data(found: DefinitionFinding) -> dict[str, Any]:
    return {**asdict(found), "severity": found.severity, "message": found.message}


def definition_findings_text(findings: Sequence[DefinitionFinding]) -> str:
    """Each finding with what to do, then how many there are of each severity."""
    lines = []
    for found in findings:
        lines.append(f"{found.severity}: {found.code}")
        lines.append(f"     {printable(found.message)}")
        advice = found.suggested if isinstance(found.suggested, str) else _shown(found.suggested)
        lines.append(f"     suggested: {printable(advice)}")
    counts = Counter(found.severity for found in findings)
    told = ", ".join(
        f"{counts[severity]:,} {severity}{'s' if counts[severity] > 1 else ''}"
        for severity in reversed(Severity)
        if counts[severity]
    )
    return "\n".join([*lines, told or "nothing found"])


def definition_code_text(code: DefinitionCode) -> str:
    lines = [f"{code.name}  ({code.severity}, definitions)", code.summary, code.why]
    return "\n".join([*lines, f"What to do: {code.advice}", "", f"  example  {_shown(code.example)[:500]}"])


# --- codes and formats -----------------------------------------------------------------------------


def codes_text() -> str:
    """Every code on a line, grouped by stage."""
    width = max(map(len, CODES))
    lines = []
    for stage in Stage:
        lines.append(f"{stage}:")
        lines += [
            f"  {code.name:{width}}  {code.severity:7}  {code.summary}"
            for code in CODES.values()
            if code.stage is stage
        ]
    return "\n".join(lines)


def code_text(code: Code) -> str:
    """One code, explained, with its example run just now."""
    call = run_example(code)
    finding = next(finding for finding in call.diagnostics if finding.code == code.name)
    sent = call.raw_arguments if isinstance(call.raw_arguments, str) else repr(call.raw_arguments)
    return "\n".join(
        [
            f"{code.name}: {code.severity} of the {code.stage} stage{', lossy' if code.lossy else ''}",
            f"  {code.summary}",
            f"  {code.why}",
            "",
            f"  sent     {printable(sent)[:_EXCERPT]}",
            f"  became   {_shown(call.arguments)[:_EXCERPT]}",
            f"  finding  {printable(finding.message)}",
        ]
    )


def code_data(code: Code) -> dict[str, Any]:
    facts = {name: getattr(code, name) for name in ("name", "stage", "severity", "lossy", "summary", "why")}
    return {**facts, "example": request_data(run_example(code))}


def claims_text(claims: Sequence[Claim]) -> str:
    """Which format reads each file; then what the file shows, and what every other format looked for."""
    lines = []
    for claim in claims:
        lines.append(f"{claim.file}: {claim.name or f'no format: it {claim.reason}'}")
        if claim.container:
            lines.append(f"  {claim.container} of objects; the first has the keys {', '.join(claim.keys)}")
        lines += [f"  not {name}: it {why}" for name, why in claim.others.items()]
    return "\n".join(map(printable, lines))


def formats_text(sources: list[Source]) -> str:
    """Every format with what it can tell."""
    blocks = []
    for source in sources:
        facts = {name: value for name, value in asdict(source).items() if name not in ("name", "title")}
        lines = [f"{source.name}: {source.title}"]
        lines += [f"  {name.replace('_', ' '):18}  {value}" for name, value in facts.items()]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)
