"""Formats the report of a run and its gates for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from callgauge.cli.render.printable import align_columns, escape_for_terminal
from callgauge.trials.verdicts.gate import GateResult
from callgauge.trials.verdicts.report import Report
from callgauge.trials.verdicts.report_text import (
    FACTOR_HEADS,
    HEADS,
    answer_lines,
    detail_lines,
    factor_rows,
    gate_lines,
    table_rows,
    unplanned_note,
)


def trial_report_lines(report: Report, gates: Sequence[GateResult]) -> Iterator[str]:
    """Yield the lines of a report: the question, the answer, the table, what is behind it; then the gates."""
    yield escape_for_terminal(report.question or report.name)
    yield from (f"  {escape_for_terminal(line)}" for line in answer_lines(report))
    yield ""
    yield from map(escape_for_terminal, align_columns([HEADS, *table_rows(report)]))
    if report.factors:
        yield ""
        yield from map(escape_for_terminal, align_columns([FACTOR_HEADS, *factor_rows(report)]))
    note = unplanned_note(report)
    if note is not None:
        yield note
    yield ""
    yield from map(escape_for_terminal, detail_lines(report))
    for title, lines in (("Warning", report.warnings), ("Not known", report.unknown)):
        yield from (f"{title}: {escape_for_terminal(line)}" for line in lines)
    for gate in gates:
        yield ""
        yield from map(escape_for_terminal, gate_lines(gate, report.reference))
