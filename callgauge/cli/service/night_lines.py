"""Writes what the steps of a night did, a line each, and one for each source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from callgauge.cli.render.printable import escape_for_terminal

_QUIET = ("reason", "problem", "sources", "tries")


def night_step_lines(name: str, outcome: str, told: Mapping[str, Any]) -> Iterator[str]:
    """Yield the line of a step, and of a load one for each source."""
    words = told.get("reason") or describe_figures(told)
    yield escape_for_terminal(f"{name:<10} {outcome}{f': {words}' if words else ''}")
    for source in told.get("sources", ()):
        words = source["problem"] or describe_figures(source)
        yield escape_for_terminal(f"  {source['name']:<24} {words}")


def describe_figures(told: Mapping[str, Any]) -> str:
    """Return the figures of a step or a source: `12 files, 34 calls, 1 refused lines`.

    Of those that are 0 only the first is told.
    """
    figures = [
        (key.replace("_", " "), value)
        for key, value in told.items()
        if key not in _QUIET and isinstance(value, int | float) and not isinstance(value, bool)
    ]
    shown = [f"{value:,} {key}" for number, (key, value) in enumerate(figures) if value or not number]
    words = [
        f"{key} {value}"
        for key, value in told.items()
        if key not in (*_QUIET, "name") and isinstance(value, str)
    ]
    return ", ".join([*shown, *filter(None, words)])
