"""Format diagnostics, tool definitions, diagnostic codes and log formats for a terminal, or as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import structs

from callgauge.api.questions.parsed_calls import list_accepting_policies
from callgauge.cli.render.terminal import escape_for_terminal, to_json
from ingest.sessions.stored_text import spell_non_finite
from lenient import DefinitionFinding, ToolCallRequest
from lenient.diagnostics.codes import CODES, Code, Severity, Stage
from lenient.examples import run_example
from lenient.lint import DefinitionCode

if TYPE_CHECKING:  # `callgauge explain` does not need DuckDB, so do not import it at runtime.
    from ingest.log_format import Source
    from ingest.pipeline.reading.format_explanation import FormatClaim

_EXCERPT = 72  # This many characters of raw text are shown around a diagnostic.


# --- one call --------------------------------------------------------------------------------------


def request_text(request: ToolCallRequest) -> str:
    """Return the result of parsing a tool call as text.

    The outcome and the arguments come first. Then comes each diagnostic, with the raw arguments at its
    position.
    """
    lines = [
        f"outcome    {request.outcome}",
        f"accepted   {', '.join(list_accepting_policies(request)) or 'by no policy'}",
        f"arguments  {_show_value(request.arguments)}",
    ]
    if request.lossy:
        lines.append(
            "lossy      meaning was lost or invented; ask before you run a tool with these arguments"
        )
    if request.rejected:
        lines.append(f"invalid    {_show_value(spell_non_finite(request.rejected))}")
    raw = request.raw_arguments
    text = raw if isinstance(raw, str) else raw.decode("utf-8", "replace")
    for number, diagnostic in enumerate(request.diagnostics, 1):
        lossy = " (lossy)" if diagnostic.lossy else ""
        lines += ["", f"{number:3d}  {diagnostic.severity}: {diagnostic.code}{lossy}"]
        lines.append(f"     {escape_for_terminal(diagnostic.message)}")
        lines += [f"     {line}" for line in mark_span(text, diagnostic.start, diagnostic.end)]
    return "\n".join(lines)


def mark_span(raw: str, start: int | None, end: int | None) -> Iterator[str]:
    """Yield an excerpt of the raw arguments around a span, and a line with carets under the span.

    Each character takes one column. Yields nothing if there is no span.
    """
    if start is None or end is None:
        return
    first = max(0, min(start, len(raw)) - _EXCERPT // 2)
    shown = [_fit_one_column(character) for character in raw[first : first + _EXCERPT]]
    width = max(1, min(end, first + _EXCERPT) - start)
    yield "".join(shown)
    yield " " * (start - first) + "^" * width


def _fit_one_column(character: str) -> str:
    """Return a character as a terminal shows it in one column.

    Control characters are replaced, because they would move the carets or control the terminal.
    """
    pictures = {"\n": "⏎", "\t": "⇥", "\r": "␍"}
    return character if character.isprintable() else pictures.get(character, "�")


def _show_value(value: Any) -> str:
    return escape_for_terminal(json.dumps(value, ensure_ascii=False))


# --- definitions -----------------------------------------------------------------------------------


def definition_finding_data(finding: DefinitionFinding) -> dict[str, Any]:
    return {**asdict(finding), "severity": finding.severity, "message": finding.message}


LintResults = Sequence[tuple[Path, Sequence[DefinitionFinding]]]
"""The results of `callgauge lint` by file."""


def lint_json(results: LintResults) -> str:
    """Return the lint results of all files as one JSON list."""
    return to_json(
        [
            {**definition_finding_data(finding), "file": str(file)}
            for file, findings in results
            for finding in findings
        ]
    )


def lint_text(results: LintResults) -> str:
    """Return the linter's diagnostics as text. If there are several files, each file has a heading."""
    if len(results) == 1:
        return definition_findings_text(results[0][1])
    return "\n\n".join(
        f"{escape_for_terminal(str(file))}\n{definition_findings_text(findings)}"
        for file, findings in results
    )


def definition_findings_text(findings: Sequence[DefinitionFinding]) -> str:
    """Return the linter's diagnostics with suggestions as text, and their number by severity."""
    lines = []
    for finding in findings:
        lines.append(f"{finding.severity}: {finding.code}")
        lines.append(f"     {escape_for_terminal(finding.message)}")
        advice = finding.suggested if isinstance(finding.suggested, str) else _show_value(finding.suggested)
        lines.append(f"     suggested: {escape_for_terminal(advice)}")
    counts = Counter(finding.severity for finding in findings)
    summary = ", ".join(
        f"{counts[severity]:,} {severity}{'s' if counts[severity] > 1 else ''}"
        for severity in reversed(Severity)
        if counts[severity]
    )
    return "\n".join([*lines, summary or "no problems found"])


def definition_code_text(code: DefinitionCode) -> str:
    lines = [f"{code.name}  ({code.severity}, definitions)", code.summary, code.why]
    return "\n".join(
        [*lines, f"What to do: {code.advice}", "", f"  example  {_show_value(code.example)[:500]}"]
    )


# --- codes and formats -----------------------------------------------------------------------------


def codes_text() -> str:
    """Return a list of all diagnostic codes as text, one code per line, grouped by parsing stage."""
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
    """Return the explanation of a diagnostic code as text, with the parser's result for an example."""
    call = run_example(code)
    diagnostic = next(diagnostic for diagnostic in call.diagnostics if diagnostic.code == code.name)
    sent = call.raw_arguments if isinstance(call.raw_arguments, str) else repr(call.raw_arguments)
    return "\n".join(
        [
            f"{code.name}: {code.severity} of the {code.stage} stage{', lossy' if code.lossy else ''}",
            f"  {code.summary}",
            f"  {code.why}",
            "",
            f"  sent     {escape_for_terminal(sent)[:_EXCERPT]}",
            f"  became   {_show_value(call.arguments)[:_EXCERPT]}",
            f"  message  {escape_for_terminal(diagnostic.message)}",
        ]
    )


def claims_text(claims: Sequence[FormatClaim]) -> str:
    """Return as text which format reads each file.

    The text shows each file's container, the keys of its first object, and why other formats do not read the
    file.
    """
    lines = []
    for claim in claims:
        lines.append(f"{claim.file}: {claim.name or f'no format reads it: it {claim.reason}'}")
        if claim.container:
            lines.append(f"  {claim.container} of objects; the first has the keys {', '.join(claim.keys)}")
        lines += [f"  not {name}: it {why}" for name, why in claim.others.items()]
    return "\n".join(map(escape_for_terminal, lines))


def formats_text(sources: Sequence[tuple[Source, str | None]]) -> str:
    """Return all log formats as text, with the contents of their logs.

    For a third-party format, the text shows the name of the distribution.
    """
    blocks = []
    for source, distribution in sources:
        facts = {
            name: value for name, value in structs.asdict(source).items() if name not in ("name", "title")
        }
        lines = [f"{source.name}: {source.title}"]
        lines += [f"  {name.replace('_', ' '):18}  {value}" for name, value in facts.items()]
        if distribution is not None:
            lines.append(f"  {'distribution':18}  {distribution}")
        blocks.append("\n".join(map(escape_for_terminal, lines)))
    return "\n\n".join(blocks)
