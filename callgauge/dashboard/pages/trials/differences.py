"""Draws how the variants of a trial run differ by tool, parameter or diagnostic code."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping
from typing import Any

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.measures.trials import TrialRun
from callgauge.analysis.verdicts import trials
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.rate_choice import choose_segment
from callgauge.dashboard.components.slice_table import part_cell
from callgauge.dashboard.components.table import Cell, Column, draw_table

_BY = {"tool": "By tool", "parameter": "By parameter", "code": "By diagnostic"}
_SAYS = {
    "tool": "Invalid calls, of all calls of the tool by the variant.",
    "parameter": "Calls with the parameter repaired or invalid, of all calls of the tool by the variant.",
    "code": "Calls with this diagnostic, of all calls of the variant.",
}
_SHOWN = 20  # rows before "Show all"
_NO_VERDICT = "The largest differences come first. They are hints, not verdicts."


def draw_differences(run: TrialRun) -> None:
    """Draw the table of differences that the URL key `differ_by` names."""
    with cards.draw_card(
        "Where they differ" if run.others else "By tool and parameter", "trial_differences", height=420
    ):
        by = choose_segment("By", "differ_by", list(_BY), _BY.__getitem__)
        st.caption(f"{_SAYS[by]} {_NO_VERDICT}" if run.others else _SAYS[by])
        rows = store_queries.ask("trial_differences", run=run.run, by=by).to_dict("records")
        if not rows:
            st.caption("No calls were made." if by == "tool" else "No call was repaired or invalid.")
            return
        by_value: dict[str, dict[str, Mapping[Hashable, Any]]] = defaultdict(dict)
        for row in rows:
            by_value[row["value"]][row["arm"]] = row
        names = sorted(by_value, key=lambda value: -_spread(by_value[value]))
        columns = [Column({"tool": "Tool", "parameter": "Parameter", "code": "Diagnostic"}[by], "name")]
        columns += [Column(wording.one_line(name, 24), "cell", full=name) for name in run.arm_names]
        draw_table(
            "differences",
            f"Differences {_BY[by].lower()}",
            columns,
            [_row(run, by, value, by_value[value]) for value in names],
            shown=_SHOWN,
        )


def _spread(arms: Mapping[str, Mapping[Hashable, Any]]) -> float:
    rates = [row["k"] / row["n"] for row in arms.values() if row["n"]]
    return max(rates) - min(rates) if rates else 0.0


def _row(run: TrialRun, by: str, value: str, arms: Mapping[str, Mapping[Hashable, Any]]) -> list[Cell]:
    cells = [Cell(wording.one_line(value, 60), title=wording.one_line(value, 400), mono=True, order=value)]
    for name in run.arm_names:
        row = arms.get(name)
        if row is None:
            cells.append(Cell("–", title=f"No call in {trials.name_arm(name)}"))
            continue
        cells.append(
            part_cell(row["k"], row["n"], counts=True, href=_calls_link(run, by, row) if row["k"] else None)
        )
    return cells


def _calls_link(run: TrialRun, by: str, row: Mapping[Hashable, Any]) -> str | None:
    """Return a link to the calls that a cell counts.

    Return None if no page can list exactly these calls.
    """
    narrowed = {"run": run.run, "arm": str(row["arm"])}
    if by == "tool":
        return filters.page_link(
            "calls", narrowed | {"tool": str(row["tool"])}, {"fault": "arguments"}, run.days
        )
    if by == "code":
        return filters.page_link("calls", narrowed, {"code": str(row["value"])}, run.days)
    return None
