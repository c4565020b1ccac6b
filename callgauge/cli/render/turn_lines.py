"""Writes the steps of a conversation and the results of a probe for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from callgauge.cli.render.printable import escape_for_terminal

if TYPE_CHECKING:
    from callgauge.gateway import CallResult, Probe, Turn, TurnStep

_WIDTH = 100


def step_lines(step: TurnStep) -> Iterator[str]:
    """Yield the lines of one step: its calls, each with the findings and what became of it."""
    if step.fault is not None and not step.calls:
        yield f"  ✗ {_shorten(step.fault)}"
    for call in step.calls:
        yield from _call_lines(call)


def _call_lines(call: CallResult) -> Iterator[str]:
    request = call.read.request
    yield f"  → {escape_for_terminal(call.read.call.name)} {_shorten(call.read.call.raw)}"
    if request.outcome in ("repaired", "coerced", "failed"):
        lost = ", meaning was lost" if request.lossy else ""
        yield f"    arguments {request.outcome}{lost}"
    for found in request.diagnostics:
        became = "" if found.became is None else f" → {_shorten(found.became, 40)}"
        seen = "" if found.found is None else f": {_shorten(found.found, 40)}"
        yield f"      {found.severity.value:7} {found.text} at {found.path}{seen}{became}"
    yield f"    {call.result.status} ({call.result.seconds * 1000:.0f} ms): {_shorten(call.result.text)}"


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


def probe_lines(found: Mapping[str, Probe]) -> Iterator[str]:
    """Yield one table: a model a row, with what it can do and how that is known."""
    rows = [_HEAD, *(_probe_row(name, one) for name, one in found.items())]
    widths = [max(len(row[place]) for row in rows) for place in range(len(_HEAD))]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
    for name, one in found.items():
        if one.error:
            yield f"{escape_for_terminal(name)}: {_shorten(one.error, 300)}"


_HEAD = ("model", "native calls", "parallel", "system mid-turn", "JSON answers", "ids", "asked", "seconds")


def _probe_row(name: str, found: Probe) -> tuple[str, ...]:
    known = found.capabilities
    stability = known.json_stability
    return (
        escape_for_terminal(name),
        _yes_or_no(known.supports_tool_use),
        _yes_or_no(known.supports_parallel_tools),
        _yes_or_no(known.allows_midturn_system),
        f"{stability.right} / {stability.asked}" if stability else "–",
        known.tool_id_pattern or "–",
        str(found.requests),
        f"{found.seconds:.1f}",
    )


def probe_data(found: Probe) -> dict[str, Any]:
    """Return a probe for JSON output."""
    return {**found.to_log(), "seconds": round(found.seconds, 3), "capabilities": found.capabilities.to_log()}


def _yes_or_no(known: bool | None) -> str:
    return {True: "yes", False: "no", None: "unknown"}[known]


def _shorten(text: str, most: int = _WIDTH) -> str:
    plain = escape_for_terminal(" ".join(text.split()))
    return plain if len(plain) <= most else plain[: most - 1] + "…"
