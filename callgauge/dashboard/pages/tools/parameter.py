"""Draws the parameters with failures.

For the parameter in the URL, the page shows the sent values and who sent them.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.replay.definition_edits import describe_type, find_declaration
from callgauge.analysis.verdicts.parameter_faults import (
    FaultKind,
    ToolFaults,
    WrongParameter,
    read_tool_faults,
)
from callgauge.analysis.verdicts.sentences import LESS
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.links import draw_link
from callgauge.dashboard.components.controls.rate_choice import DIMENSIONS, choose_dimension
from callgauge.dashboard.components.finding_list import SEVERITY_TONES
from callgauge.dashboard.components.slice_table import FILTERED, make_scale, share_cell
from callgauge.dashboard.components.table import Cell, Column, draw_table

OPEN = "parameter"
"""The URL key that names the open parameter. It is empty for the arguments as a whole."""
WHOLE = "the arguments as a whole"
_BY = ("model", "provider", "prompt", "definition", "source", "day")
_SHOWN, _FIRST, _MOST_SLICES, _VALUES = 100, 8, 60, 6
_OF_CALLS = (
    "Share of judged calls with any error at the parameter, also in repaired JSON, with the 95% interval"
)
_SENT = {
    FaultKind.TEXT: "broken JSON",
    FaultKind.TYPE: "another type",
    FaultKind.MISSING: "nothing",
    FaultKind.VALUE: "a value not allowed",
    FaultKind.UNDECLARED: "a value, undeclared",
    FaultKind.NAME: "another spelling",
}
Row = Mapping[Hashable, Any]


def link_parameter(tool: str, parameter: str) -> str:
    """Return the link that opens a parameter of a tool."""
    return filters.page_link("tools", {}, {"tool_open": tool, OPEN: parameter})


def draw_parameters(
    tool: str, faults: ToolFaults, newest: Row | None, chosen: Mapping[str, Any], since: str | None
) -> None:
    """Draw one row for each parameter with failures, sorted by the number of failed calls.

    `since` is the first counted day if there are too many calls to count all. Otherwise it is None.
    """
    listed = list(faults.parameters[:_SHOWN])
    more = len(faults.parameters) - len(listed)
    notes = [
        f"Calls since {since}." if since else "",
        f"The first {len(listed)} of {len(faults.parameters):,} parameters." if more else "",
    ]
    with cards.draw_card(
        "What calls get wrong, by parameter",
        "parameter_faults",
        take=cards.Download("parameter_faults", store_queries.ask_later("parameter_faults", **chosen)),
        caption=" ".join(filter(None, notes)) or None,
    ):
        if not listed:
            st.caption("No diagnostic in the arguments of the calls that could be judged.")
            return
        scale = make_scale([parameter.count.share for parameter in listed])
        columns = [
            Column("Parameter", "name"),
            Column("Declared", "tight"),
            Column("Sent instead", "short", "What calls send where it is wrong, and in how many calls"),
            Column("Calls affected", "rate", _OF_CALLS, scale=scale.ends()),
            Column("Repaired", "number"),
            Column("Failed", "number"),
            Column("Top model", "short"),
        ]
        open_name = st.query_params.get(OPEN)
        names = [parameter.name for parameter in listed]
        draw_table(
            "parameters",
            "What calls get wrong by parameter",
            columns,
            [_build_row(tool, parameter, newest, scale) for parameter in listed],
            opens=True,
            chosen=names.index(open_name) if open_name in names else None,
            shown=_FIRST,
        )


def _build_row(tool: str, parameter: WrongParameter, newest: Row | None, scale: Any) -> list[Cell]:
    count = parameter.count
    declared = find_declaration(newest["definition"], parameter.name) if newest else None
    sent = _list_sent(parameter) or ["–"]
    return [
        Cell(
            wording.one_line(parameter.name, 60) or WHOLE,
            mono=bool(parameter.name),
            href=link_parameter(tool, parameter.name),
            title=wording.one_line(parameter.name, 400) or None,
            order=parameter.name,
        ),
        Cell(wording.one_line(describe_type(declared), 40)),
        Cell(sent[0], sub="\n".join(sent[1:]) or None),
        share_cell(count.share, scale),
        Cell(f"{count.repaired:,}", order=count.repaired),
        Cell(f"{count.failed:,}", order=count.failed),
        _top_cell(tool, parameter),
    ]


def _list_sent(parameter: WrongParameter) -> list[str]:
    counts: list[tuple[int, str]] = []
    for fault in parameter.faults:
        sent = fault.sent.items() if fault.kind is FaultKind.TYPE else ()
        counts += [(calls, kind) for kind, calls in sent]
        rest = fault.count.calls - sum(calls for _, calls in sent)
        if rest > 0:
            counts.append((rest, _SENT[fault.kind]))
    counts.sort(key=lambda pair: -pair[0])
    return [f"{words} ({calls:,})" for calls, words in counts[:4]]


def _top_cell(tool: str, parameter: WrongParameter) -> Cell:
    name = parameter.count.top_slice
    if name is None:
        return Cell("–")
    share = parameter.count.by_slice[name]
    return Cell(
        wording.one_line(name, 60),
        sub=f"{share.k:,} of its {share.n:,} calls",
        href=filters.page_link("calls", {"tool": tool, "model": name}, {}),
        title=wording.one_line(name, 400),
        order=name,
    )


def show(tool: str, faults: ToolFaults, chosen: Mapping[str, Any]) -> None:
    """Draw the parameter in the URL: the sent values, and the models that sent them."""
    name = st.query_params.get(OPEN)
    if name is None:
        return
    title = wording.in_markdown(name, 80) if name else WHOLE.capitalize()
    parameter_faults = next((parameter for parameter in faults.parameters if parameter.name == name), None)
    close = filters.page_link("tools", {}, {"tool_open": tool})
    with cards.draw_card(
        title,
        "parameter_values",
        "parameter_faults",
        beside=lambda: draw_link("close_parameter", "Close", close, arrives=True),
    ):
        if parameter_faults is None:
            st.caption("No call of this selection gets this parameter wrong.")
            return
        _draw_values(name, chosen)
        _draw_slices(tool, name, chosen)


def _draw_values(name: str, chosen: Mapping[str, Any]) -> None:
    rows = store_queries.ask("parameter_values", parameter=name, limit=_VALUES, **chosen).to_dict("records")
    columns = [
        Column("Sent", "text"),
        Column("Read as", "text"),
        Column("Diagnostic", "tight"),
        Column("Calls", "number"),
        Column("Newest", "tight"),
    ]
    draw_table(
        "parameter_values", "Values sent at this parameter", columns, [_build_value(row) for row in rows]
    )


def _build_value(row: Row) -> list[Cell]:
    return [
        Cell("nothing") if row["code"] == "missing_required" else Cell(_show_value(row["found"]), mono=True),
        Cell(_show_value(row["became"]), mono=True),
        Cell(
            row["severity"] or "–",
            tone=SEVERITY_TONES.get(row["severity"]),
            sub=row["code"],
            title=row["summary"] if isinstance(row["summary"], str) else None,
            order=row["code"],
        ),
        Cell(f"{row['calls']:,}", order=row["calls"]),
        Cell("open", href=filters.page_link("calls", {}, {"call": row["example"]})),
    ]


def _show_value(text: Any) -> str:
    return wording.one_line(text, 60) if isinstance(text, str) else "–"


def _draw_slices(tool: str, name: str, chosen: Mapping[str, Any]) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="parameter_by"):
        by = choose_dimension("Whose calls, by", among=_BY)
    rows = store_queries.ask("parameter_faults", by=by, parameter=name, **chosen).to_dict("records")
    parameter_faults = next(iter(read_tool_faults(rows).parameters), None)
    if parameter_faults is None:
        return
    shares = parameter_faults.count.by_slice
    listed: Sequence[str] = [*shares][:_MOST_SLICES]
    scale = make_scale([shares[each] for each in listed])
    columns = [
        Column(DIMENSIONS[by], "name"),
        Column("Calls affected", "rate", _OF_CALLS, scale=scale.ends()),
    ]
    cells = [
        [
            Cell(
                filters.short_label(by, each),
                title=wording.one_line(filters.value_label(by, each), 400),
                href=filters.page_link("calls", {"tool": tool, by: each}, {}) if by in FILTERED else None,
                order=each,
            ),
            share_cell(shares[each], scale),
        ]
        for each in listed
    ]
    draw_table("parameter_slices", f"Calls affected by {DIMENSIONS[by].lower()}", columns, cells, shown=6)
    more = f" The first {_MOST_SLICES} of {len(shares):,}." if len(shares) > _MOST_SLICES else ""
    st.caption(f"Pale: {LESS}.{more}")
