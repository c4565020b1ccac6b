"""Writes what the steps of a night did, a line each, and one for each source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from callgauge.cli import render
from callgauge.cli.render.load_progress import format_size

_APART = ("reason", "problem", "sources", "tries", "name")
_COUNTED = ("files", "lines", "calls", "sessions", "backups")


def night_step_lines(name: str, outcome: str, told: Mapping[str, Any]) -> Iterator[str]:
    """Yield the line of a step, and of a load one for each source."""
    words = told.get("reason") or _describe_figures(told)
    yield render.escape_for_terminal(f"{name:<10} {outcome}{f': {words}' if words else ''}")
    for source in told.get("sources", ()):
        words = source["problem"] or _describe_figures(source)
        yield render.escape_for_terminal(f"  {source['name']:<24} {words}")


def _describe_figures(told: Mapping[str, Any]) -> str:
    """Return the figures of a step or a source: `12 files, 34 calls, 1 refused line`.

    Of those that are 0 only the first is told.
    """
    shown = {key: value for key, value in told.items() if key not in _APART and value is not None}
    figures = [(key, value) for key, value in shown.items() if isinstance(value, int)]
    counts = [_write_count(key, value) for number, (key, value) in enumerate(figures) if value or not number]
    texts = [f"{key} {value}" for key, value in shown.items() if isinstance(value, str) and value]
    return ", ".join([*counts, *texts])


def _write_count(key: str, value: int) -> str:
    if key.startswith("bytes_"):
        return f"{format_size(value)} {key.removeprefix('bytes_')}"
    words = key.split("_")
    one = (word.removesuffix("s") if value == 1 and word in _COUNTED else word for word in words)
    return f"{value:,} {' '.join(one)}"
