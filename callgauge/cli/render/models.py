"""Format probe results as tables with a column for each model, and the steps of a conversation."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import typer

from callgauge.cli.render.exit_codes import ExitCode
from callgauge.cli.render.terminal import escape_for_terminal, to_json

if TYPE_CHECKING:
    from callgauge.gateway import CallResult, Probe, TextPiece, Turn, TurnStep

_MOST_OF_A_NAME = 28  # Two names of this length fit into 80 columns.
_MOST_OF_A_REASON = 300
_NOT_ASKED = "not asked"
_LABELS = {
    "supports_parallel_tools": "parallel calls",
    "takes_tool_results": "results taken",
    "allows_midturn_system": "system mid-turn",
    "json_stability": "JSON answers",
    "keeps_argument_text": "text of calls",
    "streams_calls": "streams",
}
_WIDTH = 100


class ProbeRow(msgspec.Struct, frozen=True):
    """The probe results of one model. `cost` is in USD, or None if the model has no price."""

    model: str
    probe: Probe
    cost: float | None


def print_probes(rows: Sequence[ProbeRow], *, as_json: bool) -> None:
    """Print the results of probes. Exit with 1 if a server could not be reached."""
    if as_json:
        print(to_json({row.model: _list_facts(row) for row in rows}))
    else:
        print("\n".join(_probe_lines(rows)))
    if any(row.probe.ok is None for row in rows):
        raise typer.Exit(ExitCode.FAILED)


def _probe_lines(rows: Sequence[ProbeRow]) -> Iterator[str]:
    """Yield the lines of the tables, and then the reasons why a feature is missing or unknown."""
    columns = [_write_column(row) for row in rows]
    labels = [label for label in columns[0] if any(column[label] != _NOT_ASKED for column in columns)]
    first = max(map(len, labels)) + 2
    widths = [max(len(column[label]) for label in labels) for column in columns]
    for several in _split(widths, shutil.get_terminal_size().columns - first):
        if several.start:
            yield ""
        for label in labels:
            cells = (columns[at][label].ljust(widths[at]) for at in several)
            yield f"{label:{first}}{'  '.join(cells)}".rstrip()
    reasons = [line for row in rows for line in _reason_lines(row)]
    yield from ("", *reasons) if reasons else ()


def _split(widths: Sequence[int], room: int) -> Iterator[range]:
    """Yield ranges of columns that fit into one table. Each range has at least one column."""
    start = used = 0
    for at, width in enumerate(widths):
        if at > start and used + width > room:
            yield range(start, at)
            start, used = at, 0
        used += width + 2
    yield range(start, len(widths))


def _write_column(row: ProbeRow) -> dict[str, str]:
    capabilities, features = row.probe.capabilities, row.probe.features
    stability = capabilities.json_stability
    name = escape_for_terminal(row.model)
    return {
        "": name if len(name) <= _MOST_OF_A_NAME else f"…{name[1 - _MOST_OF_A_NAME :]}",
        "native calls": _yes_or_no(capabilities.supports_tool_use),
        "parallel calls": _yes_or_no(capabilities.supports_parallel_tools),
        "results taken": _yes_or_no(capabilities.takes_tool_results),
        "ids of calls": escape_for_terminal(capabilities.tool_id_pattern or "unknown"),
        "system mid-turn": _yes_or_no(capabilities.allows_midturn_system),
        "JSON answers": f"{stability.right} of {stability.asked}" if stability else _NOT_ASKED,
        "strict definitions": features.strict_definitions,
        "answers by schema": features.json_schema,
        "seed": features.seed,
        "tokens": features.usage,
        "text of calls": capabilities.whose_text,
        "requests": str(row.probe.requests),
        "seconds": f"{row.probe.seconds:.1f}",
        "cost": "unpriced" if row.cost is None else f"${row.cost:.4f}",
    }


def _reason_lines(row: ProbeRow) -> Iterator[str]:
    reasons = {"native calls": row.probe.error} if row.probe.error else {}
    reasons |= {_LABELS[name]: why for name, why in row.probe.notes.items()}
    for label, why in reasons.items():
        yield f"{escape_for_terminal(row.model)}: {label}: {shorten_line(why, _MOST_OF_A_REASON)}"


def _list_facts(row: ProbeRow) -> dict[str, Any]:
    tokens = row.probe.tokens
    return {
        **row.probe.to_log(),
        "seconds": round(row.probe.seconds, 3),
        "tokens": {"read": tokens.read, "written": tokens.written, "cached": tokens.cached},
        "cost": row.cost,
        "raw_text": row.probe.capabilities.whose_text,
        "capabilities": row.probe.capabilities.to_log(),
        "notes": dict(row.probe.notes),
    }


def _yes_or_no(value: bool | None) -> str:
    return {True: "yes", False: "no", None: "unknown"}[value]


def _step_lines(step: TurnStep) -> Iterator[str]:
    """Yield the lines of one step: its tool calls, each with diagnostics and a result."""
    if step.fault is not None and not step.calls:
        yield f"  ✗ {shorten_line(step.fault)}"
    for call in step.calls:
        yield from _call_lines(call)


def _call_lines(call: CallResult) -> Iterator[str]:
    request = call.read.request
    yield f"  → {escape_for_terminal(call.read.call.name)} {shorten_line(call.read.call.raw)}"
    if request.outcome in ("repaired", "coerced", "failed"):
        lost = ", meaning was lost" if request.lossy else ""
        yield f"    arguments {request.outcome}{lost}"
    for diagnostic in request.diagnostics:
        became = "" if diagnostic.became is None else f" → {shorten_line(diagnostic.became, 40)}"
        actual = "" if diagnostic.found is None else f": {shorten_line(diagnostic.found, 40)}"
        yield f"      {diagnostic.severity.value:7} {diagnostic.text} at {diagnostic.path}{actual}{became}"
    yield f"    {call.result.status} ({call.result.seconds * 1000:.0f} ms): {shorten_line(call.result.text)}"


class ReplyPrinter:
    """Prints the content of replies while it arrives, and then the rest of the turn."""

    def __init__(self) -> None:
        self._text = ""
        self._is_open = False  # in the middle of a reply

    def print_piece(self, piece: TextPiece) -> None:
        """Print a piece of a reply. If the request was repeated, say that the earlier pieces are void."""
        if piece.is_first:
            if self._is_open:
                print("\n  [the stream broke; the model was asked again]")
            self._text = ""
        shown = piece.text if self._text.strip() else piece.text.lstrip("\n")
        self._is_open = not piece.is_last
        self._text += piece.text
        has_ended = piece.is_last and bool(self._text.strip())
        print(_escape_lines(shown), end="\n" if has_ended else "", flush=True)

    def print_step(self, step: TurnStep) -> None:
        """Print the tool calls of a step."""
        for line in _step_lines(step):
            print(line, flush=True)

    def print_turn(self, turn: Turn) -> None:
        """Print the answer of a turn, unless already printed. Then print status, tokens and duration."""
        self.end_line()
        if turn.answer != self._text:
            print(_escape_lines(turn.answer))
        self._text = ""
        print(_turn_line(turn), flush=True)

    def end_line(self) -> None:
        """End the current output line if a reply stopped in the middle."""
        if self._is_open:
            self._is_open = False
            print(flush=True)


def _escape_lines(text: str) -> str:
    """Return a string with control characters escaped, except line breaks and tabs."""
    kept = re.split(r"([\n\t])", text)
    return "".join(part if part in ("\n", "\t") else escape_for_terminal(part) for part in kept)


def _turn_line(turn: Turn) -> str:
    """Return a line with the status, the number of steps and calls, the tokens and the duration of a turn."""
    tokens = turn.tokens
    parts = [f"{turn.status}", f"{len(turn.steps)} replies", f"{len(turn.calls)} calls"]
    if turn.calls_not_run:
        parts.append(f"{len(turn.calls_not_run)} not run")
    if tokens.read is not None:
        parts.append(f"{tokens.read:,} tokens read, {tokens.written or 0:,} written")
    return f"  [{' · '.join(parts)} · {turn.seconds:.1f} s]"


def shorten_line(text: str, most: int = _WIDTH) -> str:
    """Return a string as one line of at most `most` characters, safe for a terminal."""
    plain = escape_for_terminal(" ".join(text.split()))
    return plain if len(plain) <= most else plain[: most - 1] + "…"
