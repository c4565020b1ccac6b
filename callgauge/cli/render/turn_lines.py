"""Writes the steps of a conversation for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from callgauge.cli.render.printable import escape_for_terminal

if TYPE_CHECKING:
    from callgauge.gateway import CallResult, Turn, TurnStep

_WIDTH = 100


def step_lines(step: TurnStep) -> Iterator[str]:
    """Yield the lines of one step: its calls, each with the findings and what became of it."""
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
    for found in request.diagnostics:
        became = "" if found.became is None else f" → {shorten_line(found.became, 40)}"
        seen = "" if found.found is None else f": {shorten_line(found.found, 40)}"
        yield f"      {found.severity.value:7} {found.text} at {found.path}{seen}{became}"
    yield f"    {call.result.status} ({call.result.seconds * 1000:.0f} ms): {shorten_line(call.result.text)}"


def turn_lines(turn: Turn) -> Iterator[str]:
    """Yield the answer of a turn, and one line of what it took."""
    yield escape_for_terminal(turn.answer)
    tokens = turn.tokens
    told = [f"{turn.status}", f"{len(turn.steps)} replies", f"{len(turn.calls)} calls"]
    if turn.calls_not_run:
        told.append(f"{len(turn.calls_not_run)} not run")
    if tokens.read is not None:
        told.append(f"{tokens.read:,} tokens read, {tokens.written or 0:,} written")
    yield f"  [{' · '.join(told)} · {turn.seconds:.1f} s]"


def shorten_line(text: str, most: int = _WIDTH) -> str:
    """Return a text in one line of at most so many characters, safe for a terminal."""
    plain = escape_for_terminal(" ".join(text.split()))
    return plain if len(plain) <= most else plain[: most - 1] + "…"
