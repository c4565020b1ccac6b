"""Writes docs/internal/benchmarks_statistics.md from the results of the simulations."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from bench.statistics.cells import Cell

PAGE = Path(__file__).parents[2] / "docs" / "internal" / "benchmarks_statistics.md"
_LISTED = 4  # for a topic with more results, only the lowest and the highest result are shown

_HEAD = """# Benchmarks of the statistics

`./dev bench statistics --write` runs the simulations and writes this page. Each simulation (*cell*)
draws sessions with known rates, and analyses the sessions with the functions that the dashboard uses.
The *band* is the range in which the simulated share must be. A cell is *outside* if the whole 99.9 %
Monte-Carlo interval of the cell's share (Clopper & Pearson) is outside the band. If a topic has more
than four cells, the page shows only the two lowest and two highest shares.
[statistics.md](../statistics.md) describes the methods."""


def write_page(results: Mapping[str, Sequence[Cell]], minutes: float, *, whole: bool) -> str:
    """Return the page: one table of all topics, then the results of each topic."""
    topics: dict[str, list[Cell]] = {}
    for cells in results.values():
        for cell in cells:
            topics.setdefault(cell.topic, []).append(cell)
    grid = "the whole grid" if whole else "the named subset"
    number = sum(map(len, topics.values()))
    made = f"{datetime.now(UTC):%Y-%m-%d}, {grid}: {number:,} cells in {minutes:.0f} minutes"
    versions = f"numpy {version('numpy')}, scipy {version('scipy')}, CPython {platform.python_version()}"
    machine = f"{os.cpu_count()} cores, {versions}"
    parts = [_HEAD, f"{made}. {machine}.", "\n".join(_topic_rows(topics))]
    for topic, topic_cells in topics.items():
        parts += [f"## {topic[0].upper()}{topic[1:]}", "\n".join(_cell_rows(topic_cells))]
    return "\n\n".join(parts) + "\n"


def _topic_rows(topics: Mapping[str, Sequence[Cell]]) -> Iterator[str]:
    yield "| topic | cells | draws a cell | lowest | median | highest | band | outside |"
    yield "|---|--:|--:|--:|--:|--:|---|--:|"
    for topic, cells in topics.items():
        shares = sorted(cell.share for cell in cells)
        draws = {cell.draws for cell in cells}
        outside = sum(cell.leaves_band for cell in cells)
        yield (
            f"| {topic} | {len(cells)} | {_describe_range(draws)} | {shares[0]:.1%} "
            f"| {shares[len(shares) // 2]:.1%} | {shares[-1]:.1%} | {_describe_band(cells)} | {outside} |"
        )


def _describe_range(numbers: Iterable[int]) -> str:
    several = sorted(numbers)
    return f"{several[0]:,}" if several[0] == several[-1] else f"{several[0]:,}–{several[-1]:,}"


def _describe_band(cells: Sequence[Cell]) -> str:
    least = {cell.least for cell in cells if cell.least is not None}
    most = {cell.most for cell in cells if cell.most is not None}
    parts = [f"≥ {min(least):.1%}"] if len(least) == 1 else ["varies by cell"] if least else []
    return ", ".join([*parts, *([f"≤ {max(most):.1%}"] if most else [])]) or "–"


def _cell_rows(cells: Sequence[Cell]) -> Iterator[str]:
    shown = sorted(cells, key=lambda cell: cell.share) if len(cells) > _LISTED else list(cells)
    if len(shown) > _LISTED:
        shown = [*shown[: _LISTED // 2], *shown[-_LISTED // 2 :]]
    yield "| setting | share | 99.9 % interval | band |"
    yield "|---|--:|--:|---|"
    for cell in shown:
        low, high = cell.doubt
        mark = " **outside**" if cell.leaves_band else ""
        yield f"| {cell.setting} | {cell.share:.1%} | {low:.1%}–{high:.1%} | {_describe_band([cell])}{mark} |"
