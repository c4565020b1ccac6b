"""Simulates the morning reports of quiet stores: on how many nights one tells something.

Every report is made by the code that makes them, of metrics that answer with drawn counts, and knows what
those before it told. The series of a store are those of `alert_cells`: the first half are models, the others
prompts and tools. Nothing ever changes, so whatever a report tells is false.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date
from typing import Any

import numpy as np
import pandas as pd

from bench.statistics.alert_cells import NAMED, WALKED, Store, draw_series, rate_names
from bench.statistics.cells import Cell
from callgauge.memory.reports import ToldReport
from callgauge.report.content.compose import TeamContext, make_report
from callgauge.stats.over_time.lasting_changes import DailySeries

MOST_FALSE = 0.05  # of quiet nights whose report tells something
_COLUMNS = ("rate", "slice", "also", "k", "n", "total", "sessions", "group_ids", "group_k", "group_n")


def cells(draws: int, *, whole: bool, seed: int) -> Iterator[Cell]:
    """Yield the quiet nights whose report tells something."""
    random = np.random.default_rng(seed)
    for store in NAMED if not whole else (*NAMED, Store(20_000, 0.3, 0.2), Store(500, 0.1, 0.4, models=16)):
        told = sum(count_told_nights(store, number, random) for number in range(draws))
        yield Cell(
            "quiet nights whose report tells something", store.setting, told, draws * WALKED, most=MOST_FALSE
        )


def count_told_nights(store: Store, number: int, random: np.random.Generator) -> int:
    """Return on how many nights of a store in which nothing changed the report tells something."""
    return len(find_told_nights(store, number, random))


def find_told_nights(
    store: Store, number: int, random: np.random.Generator, *, changed_days: int = 0
) -> list[int]:
    """Return on which nights the report tells something; the first model changes on so many of the first."""
    series = draw_series(store, WALKED, number, random, changed_days=changed_days)
    ask = answer_from(series, store.models)
    # A store's first report has none before it: it says what the next ones are held against.
    first = series.days[-WALKED - 1]
    last = ToldReport(first, make_report(ask, TeamContext(), first, store="s").told)
    told = []
    for place, night in enumerate(series.days[-WALKED:]):
        report = make_report(ask, TeamContext(last=last), night, store="s")
        told += [place] if report.sentences and not report.is_quiet else []
        last = ToldReport(night, report.told)
    return told


def answer_from(series: DailySeries, models: int) -> Callable[..., pd.DataFrame]:
    """Return a function that answers metrics as a store with these counts would."""
    frames: dict[str | None, pd.DataFrame] = {
        dimension: pd.DataFrame(rows, columns=list(_COLUMNS))
        for dimension, rows in _list_rows(series, models)
    }
    counts = ["k", "n", "total", "sessions"]  # of all models together nobody asks for more
    frames[None] = frames["model"].groupby(["rate", "also"], as_index=False)[counts].sum()
    nothing = pd.DataFrame(columns=list(_COLUMNS))
    newest = series.days[-1]
    answers = {
        "extent": pd.DataFrame([{"first_day": series.days[0], "last_day": newest}]),
        "choices": pd.DataFrame([{"dimension": "model", "value": "m0", "label": "m0"}]),
        "last_load": pd.DataFrame([{"rejected_files": 0, "rejected_lines": 0, "loaded_at": None}]),
    }

    def ask(metric: str, **given: Any) -> pd.DataFrame:
        if metric in answers:
            return answers[metric]
        if metric != "slices" or given.get("also") != "day" or given.get("by") not in frames:
            return nothing
        rows = frames[given.get("by")]
        first, last = (
            given.get(name) or other for name, other in (("from_day", date.min), ("to_day", newest))
        )
        inside = (rows["also"] >= first.isoformat()) & (rows["also"] <= last.isoformat())
        return rows[inside & rows["rate"].isin(given["rates"])]

    return ask


def _list_rows(series: DailySeries, models: int) -> Iterator[tuple[str, list[tuple[Any, ...]]]]:
    """Yield the rows of the metric `slices` by each dimension and by day."""
    names = rate_names()
    found: dict[str, list[tuple[Any, ...]]] = {"model": [], "prompt": [], "tool": []}
    for place in range(len(series.counts)):
        owner, rate = place // len(names), names[place % len(names)]
        dimension = _choose_dimension(owner, models)
        if dimension == "tool" and rate == "derived_ok":
            continue  # of a turn, which has no one tool
        for day, when in enumerate(series.days):
            k, n = series.counts[place, :, day]
            groups = np.nonzero(n)[0].tolist()
            if groups:
                by_group = [its[groups].astype(int).tolist() for its in (k, n)]
                total, sessions = int(series.totals[place, day]), int(series.sessions[place, day])
                row = (
                    rate,
                    f"{dimension}{owner}",
                    when.isoformat(),
                    int(k.sum()),
                    int(n.sum()),
                    total,
                    sessions,
                )
                found[dimension].append((*row, groups, *by_group))
    yield from found.items()


def _choose_dimension(owner: int, models: int) -> str:
    if owner < models // 2 or models < 4:
        return "model"
    return "prompt" if owner < 3 * models // 4 else "tool"
