"""Draws the result of a replay: a sentence, outcomes before and after, and the calls that changed.

Details are in expanders.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import pandas as pd
import streamlit as st

from callgauge.analysis import testsets, wording
from callgauge.analysis.reparsed_call import NOT_READ
from callgauge.analysis.replay.jobs import ReplayJob
from callgauge.analysis.replay.tally import CodeMoves, ReplayedRate, ReplaySummary
from callgauge.analysis.verdicts import sentences
from callgauge.dashboard import charts, filters
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.paging import PER_PAGE, draw_pager
from callgauge.dashboard.components.controls.rate_choice import choose_one
from callgauge.dashboard.components.controls.url_widgets import draw_fold, reset_page_number
from callgauge.dashboard.components.finding_list import outcome_cell
from callgauge.dashboard.components.slice_table import part_cell
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.components.testset_export import draw_testset_export
from callgauge.dashboard.pages.playground.replay.sentences import (
    describe_order,
    describe_replay,
    describe_settings,
)
from callgauge.dashboard.viewer import refuse_file

_TITLES = {"failed": "Failed", "mended": "Needed repair", "clean": "Clean"}
_BETTER = {"failed": -1, "mended": 0, "clean": 1}


def draw_answer(job: ReplayJob, summary: ReplaySummary) -> None:
    """Draw the result of a replay in a sentence, all settings, and how many calls could not be parsed."""
    answer, conditions = (
        describe_replay(job.request.scenario, summary),
        describe_settings(job.request.scenario),
    )
    cards.draw_answer(answer, 600)
    notes = [
        "" if answer.startswith(conditions.removesuffix(".")) else wording.in_markdown(conditions, 600),
        f"{wording.plural(summary.replayed_calls, 'call')} parsed again.",
    ]
    for reason, calls in sorted(summary.not_read.items(), key=lambda pair: -pair[1]):
        notes.append(f"Not parsed: {calls:,} ({NOT_READ.get(reason, reason)}).")
    if job.request.every > 1:
        notes.append(f"A sample: 1 of {job.request.every} sessions.")
    st.caption(" ".join(filter(None, notes)))


def show(job: ReplayJob, summary: ReplaySummary) -> None:
    """Draw the outcomes before and after, the changed calls, and details in expanders."""
    if not summary.replayed_calls:
        return
    _draw_flows(summary)
    _draw_changed(job, summary)
    _draw_rates(summary)
    _draw_codes(summary)
    _draw_picture(summary)


def _draw_flows(summary: ReplaySummary) -> None:
    moved = sum(calls for before, after, calls in summary.flows if before != after)
    with cards.draw_card("Outcomes before and after"):
        rows = [
            [
                outcome_cell(before, order=before),
                outcome_cell(after, order=after),
                Cell(
                    f"{calls:,}",
                    href=None if before == after else _flow_link(before, after),
                    order=calls,
                ),
                part_cell(calls, summary.replayed_calls),
                Cell("unchanged" if before == after else "changed", order=str(before == after)),
            ]
            for before, after, calls in sorted(summary.flows, key=lambda flow: (flow[0] == flow[1], -flow[2]))
        ]
        heads = [
            Column("Before", "tight"),
            Column("After", "tight"),
            Column("Calls", "number", "A number opens the list of these calls below."),
            Column("Share", "number", "Of the calls parsed again."),
            Column("Outcome", "tight"),
        ]
        draw_table("replay_flows", "Outcomes before and after", heads, rows)
        if not moved:
            st.caption("No outcome changes.")


def _flow_link(before: str, after: str) -> str:
    query = {key: value for key, value in st.query_params.items() if key not in ("moved_page", "flow")}
    return f"playground?{urlencode({**query, 'flow': f'{before}-{after}'})}"


def _draw_picture(summary: ReplaySummary) -> None:
    moved = [(before, after, calls) for before, after, calls in summary.flows if before != after]
    if not moved:
        return
    picture = draw_fold("Changes as a chart", "picture")
    if picture is not None:
        with picture:
            st.plotly_chart(
                charts.draw_flow(moved),
                config=charts.CONFIG,
                key="replay_flow",
                alt="Calls whose outcome changed, from before to after; the table above has the numbers",
            )


def _draw_rates(summary: ReplaySummary) -> None:
    rates = draw_fold("Rates before and after", "rates")
    if rates is None:
        return
    with rates:
        heads = [
            Column("Outcome", "name"),
            Column("Before", "number"),
            Column("After", "number"),
            Column("Difference", "number", "In percentage points, with the 95 % interval."),
        ]
        draw_table(
            "replay_rates",
            "Rates before and after",
            heads,
            [_build_rate_row(name, rate) for name, rate in summary.rates.items()],
        )
        n = next(iter(summary.rates.values())).n
        st.caption(
            f"Measured before and after on {wording.plural(n, 'call')}"
            f"{f'; not measured on {summary.replayed_calls - n:,}' if summary.replayed_calls > n else ''}. "
            "The interval counts sessions, because calls of one session are alike."
        )


def _build_rate_row(name: str, rate: ReplayedRate) -> list[Cell]:
    difference = rate.difference
    if difference is None:
        change = Cell("–", sub="fewer than two sessions")
    else:
        sub = f"{sentences.format_points(difference.low)} to {sentences.format_points(difference.high)}"
        way = _BETTER[name] * difference.estimate
        decisive = difference.is_decisive and rate.has_enough
        change = Cell(
            f"{sentences.format_points(difference.estimate)} points",
            sub=sub,
            tone=("good" if way > 0 else "bad") if decisive and way else None,
            title=f"{difference.method}; p {difference.p:.3f}",
            pale=not rate.has_enough,
        )
    return [
        Cell(_TITLES[name]),
        part_cell(rate.before, rate.n, counts=True),
        part_cell(rate.after, rate.n, counts=True),
        change,
    ]


def _draw_codes(summary: ReplaySummary) -> None:
    moved = {code: moves for code, moves in summary.codes.items() if _count_moved(moves)}
    title = f"Changed diagnostics by code ({len(moved)})"
    codes = draw_fold(title, "codes")
    if codes is None:
        return
    with codes:
        if not moved:
            st.caption("No diagnostic changes, and none makes a call fail that passed.")
            return
        heads = [
            Column("Code", "name"),
            Column("Before", "number", "Diagnostics with this code before."),
            Column("After", "number", "Diagnostics with this code after."),
            Column("Gone", "number", "Calls that lose at least one."),
            Column("New", "number", "Calls that get at least one more."),
            Column("Newly failed", "number", "Calls with it that passed before and would fail."),
        ]
        ordered = sorted(moved.items(), key=lambda pair: -_count_moved(pair[1]))
        draw_table(
            "replay_codes",
            "Diagnostics before and after by code",
            heads,
            [_build_code_row(*pair) for pair in ordered],
        )


def _count_moved(moves: CodeMoves) -> int:
    return moves.calls_gone + moves.calls_came + moves.calls_refused


def _build_code_row(code: str, moves: CodeMoves) -> list[Cell]:
    numbers = (moves.before, moves.after, moves.calls_gone, moves.calls_came, moves.calls_refused)
    return [Cell(code, mono=True, order=code), *(Cell(f"{number:,}", order=number) for number in numbers)]


def _draw_changed(job: ReplayJob, summary: ReplaySummary) -> None:
    if not summary.changed:
        return
    flow = _choose_flow(summary)
    listed = sum(1 for _ in job.read_changed_calls(flow=flow))
    pages = -(-listed // PER_PAGE)
    page_text = st.query_params.get("moved_page")
    page = min(pages, int(page_text)) if page_text and page_text.isdecimal() and int(page_text) else 1
    matching = next((calls for *pair, calls in summary.flows if tuple(pair) == flow), summary.changed)
    notes = [] if flow else [describe_order(summary)]
    if listed != matching:
        notes.append(f"The first {listed:,} are listed and exported; all are counted.")
    with cards.draw_card(
        wording.plural(matching, "changed call"),
        caption=" ".join(notes) or None,
        beside=lambda: _draw_lines(job, listed),
        take=cards.Download("replay_changed", lambda: _changed_frame(job), "all rows"),
    ):
        heads = [
            Column("Time (UTC)", "tight"),
            Column("Outcome", "tight"),
            Column("Tool", "short"),
            Column("Model", "short"),
            Column("Diagnostics", "text", "− is gone, + is new; the others are unchanged."),
            Column("Changed values", "text"),
        ]
        rows = [_build_row(row) for row in job.read_changed_calls(PER_PAGE * (page - 1), PER_PAGE, flow)]
        draw_table("replay_changed", "Changed calls", heads, rows)
        draw_pager("moved_page", pages)


def _choose_flow(summary: ReplaySummary) -> tuple[str, str] | None:
    """Draw the selector of changed calls.

    Return the chosen outcomes before and after, or None for all changed calls.
    """
    moved = {
        f"{before}-{after}": (before, after, calls)
        for before, after, calls in summary.flows
        if before != after
    }
    if len(moved) < 2:
        return None

    def name_flow(flow: str) -> str:
        if flow not in moved:
            return f"All changed calls ({summary.changed:,})"
        before, after, calls = moved[flow]
        return f"{wording.outcome(before)} → {wording.outcome(after)} ({calls:,})"

    ordered = sorted(moved, key=lambda flow: -moved[flow][2])
    chosen = choose_one("Changed calls", "flow", ["", *ordered], "", name_flow, width=280)
    reset_page_number("moved_page", {"flow": chosen})
    return moved[chosen][:2] if chosen else None


def _build_row(row: Mapping[str, Any]) -> list[Cell]:
    findings = [f"− {text}" for text in row["findings_gone"]] + [f"+ {text}" for text in row["findings_came"]]
    findings += row["findings_kept"]
    values = [
        f"{path}: {_format_value(before)} → {_format_value(after)}" for path, before, after in row["values"]
    ]
    before, after = row["outcome_before"], row["outcome_after"]
    return [
        Cell(
            row["ts"][:19].replace("T", " ") if row["ts"] else "no time",
            href=filters.page_link("calls", {}, {"call": row["call_id"]}),
        ),
        outcome_cell(after, sub=f"was {wording.outcome(before)}" if before != after else "unchanged"),
        _name_cell(row["tool"]),
        _name_cell(row["model"]),
        Cell(_join_lines(findings), mono=True),
        Cell(_join_lines(values), mono=True),
    ]


def _format_value(text: str | None) -> str:
    return "absent" if text is None else wording.one_line(text, 80)


def _join_lines(texts: list[str]) -> str:
    shown = [wording.one_line(text, 200) for text in texts[:6]]
    more = [f"… {len(texts) - 6:,} more"] if len(texts) > 6 else []
    return "\n".join(shown + more) or "–"


def _name_cell(name: str | None) -> Cell:
    shown = wording.one_line(name or "unknown", 120)
    return Cell(shown, title=shown)


def _draw_lines(job: ReplayJob, listed: int) -> None:
    draw_testset_export(
        "replay", lambda: [row["call_id"] for row in job.read_changed_calls(0, testsets.MOST)], listed
    )
    if refuse_file(of_texts=True):
        return
    st.download_button(
        "JSON Lines",
        lambda: b"".join(
            json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in job.read_changed_calls()
        ),
        "replay_changed.jsonl",
        "application/jsonl",
        type="tertiary",
        icon=":material/download:",
        on_click="ignore",
        key="replay_jsonl",
    )


def _changed_frame(job: ReplayJob) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                name: json.dumps(value, ensure_ascii=False) if isinstance(value, list) else value
                for name, value in row.items()
            }
            for row in job.read_changed_calls()
        ],
        dtype=object,
    )
