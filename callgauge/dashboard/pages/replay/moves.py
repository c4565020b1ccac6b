"""Draws the result of a replay: sentence, flow of outcomes, rates with intervals, codes, changed calls."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from callgauge.dashboard import charts, filters, testsets, wording
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.paging import PER_PAGE, draw_pager
from callgauge.dashboard.components.finding_list import OUTCOME_TONES
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.components.testset_export import draw_testset_export
from callgauge.dashboard.measures import verdicts
from callgauge.dashboard.pages.replay.sentences import describe_replay
from callgauge.dashboard.reparsed_call import NOT_READ
from callgauge.dashboard.replay.jobs import ReplayJob
from callgauge.dashboard.replay.tally import CodeMoves, ReplayedRate, ReplaySummary

_TITLES = {"failed": "Refused", "mended": "Mended (coerced or repaired)", "clean": "Clean"}
_BETTER = {"failed": -1, "mended": 0, "clean": 1}


def show(job: ReplayJob, found: ReplaySummary) -> None:
    _draw_verdict(job, found)
    if found.replayed_calls:
        wide, narrow = st.columns([7, 6], gap="small")
        with wide:
            _draw_flow(found)
        with narrow:
            _draw_rates(found)
            _draw_codes(found)
        _draw_changed(job, found)


def _draw_verdict(job: ReplayJob, found: ReplaySummary) -> None:
    with cards.draw_card("What would move"):
        with st.container(key="verdict"):
            st.subheader(wording.in_markdown(describe_replay(job.asked.scenario, found), 600), anchor=False)
        told = [f"{found.changed:,} of {found.replayed_calls:,} calls read otherwise."]
        for reason, calls in sorted(found.not_read.items(), key=lambda pair: -pair[1]):
            told.append(f"Not read again: {calls:,} ({NOT_READ.get(reason, reason)}).")
        if job.asked.every > 1:
            told.append(f"A sample: every {job.asked.every}th session.")
        st.caption(" ".join(told))


def _draw_flow(found: ReplaySummary) -> None:
    moved = [(before, after, calls) for before, after, calls in found.flows if before != after]
    with cards.draw_card("Outcomes, before and after", stretch=True):
        if moved:
            st.plotly_chart(
                charts.draw_flow(moved),
                config=charts.CONFIG,
                key="replay_flow",
                alt="Calls whose outcome moved, from before to after; the table below has the numbers",
            )
        still = found.replayed_calls - sum(calls for _, _, calls in moved)
        st.caption(
            f"Drawn are the calls whose outcome moves; {still:,} of {found.replayed_calls:,} keep theirs."
            if moved
            else "No call moves to another outcome."
        )
        rows = [
            [
                Cell(before, tone=OUTCOME_TONES.get(before), order=before),
                Cell(after, tone=OUTCOME_TONES.get(after), order=after),
                Cell(f"{calls:,}", share=calls / found.replayed_calls, order=calls),
                Cell(wording.rate(calls, found.replayed_calls), order=calls),
                Cell("stays" if before == after else "moves"),
            ]
            for before, after, calls in sorted(found.flows, key=lambda flow: (flow[0] == flow[1], -flow[2]))
        ]
        heads = [
            Column("Before", "tight"),
            Column("After", "tight"),
            Column("Calls", "number"),
            Column("Of those read", "number"),
            Column("Outcome", "tight"),
        ]
        draw_table("replay_flows", "Outcomes before and after", heads, rows)


def _draw_rates(found: ReplaySummary) -> None:
    with cards.draw_card("Rates over the same calls"):
        heads = [
            Column("Outcome", "name"),
            Column("Before", "number"),
            Column("After", "number"),
            Column("Difference", "number", "In points, with its 95% interval over sessions"),
        ]
        draw_table(
            "replay_rates",
            "Rates before and after",
            heads,
            [_build_rate_row(name, rate) for name, rate in found.rates.items()],
        )
        n = next(iter(found.rates.values())).n
        st.caption(
            f"Over the {wording.plural(n, 'call')} that can be measured on both sides"
            f"{f'; {found.replayed_calls - n:,} cannot' if found.replayed_calls > n else ''}. "
            "Calls of one session are alike: sessions, not calls, are the units of the interval."
        )


def _build_rate_row(name: str, rate: ReplayedRate) -> list[Cell]:
    difference = rate.difference
    if difference is None:
        change = Cell("–", sub="fewer than two sessions")
    else:
        sub = f"{verdicts.format_points(difference.low)} to {verdicts.format_points(difference.high)}"
        way = _BETTER[name] * difference.estimate
        decisive = difference.is_decisive and rate.has_enough
        change = Cell(
            f"{verdicts.format_points(difference.estimate)} points",
            sub=sub,
            tone=("good" if way > 0 else "bad") if decisive and way else None,
            title=f"{difference.method}; p {difference.p:.3f}",
            pale=not rate.has_enough,
        )
    return [
        Cell(_TITLES[name]),
        Cell(wording.rate(rate.before, rate.n), sub=wording.fraction(rate.before, rate.n)),
        Cell(wording.rate(rate.after, rate.n), sub=wording.fraction(rate.after, rate.n)),
        change,
    ]


def _draw_codes(found: ReplaySummary) -> None:
    with cards.draw_card("Findings, by code"):
        moved = {code: moves for code, moves in found.codes.items() if _count_moved(moves)}
        if not moved:
            st.caption("No finding comes or goes, and none refuses a call that passed.")
            return
        heads = [
            Column("Code", "name"),
            Column("Before", "number", "Findings"),
            Column("After", "number", "Findings"),
            Column("Went", "number", "Calls in which some went"),
            Column("Came", "number", "Calls in which some came"),
            Column("Refused", "number", "Calls with it that passed before and would be refused"),
        ]
        ordered = sorted(moved.items(), key=lambda pair: -_count_moved(pair[1]))
        draw_table(
            "replay_codes",
            "Findings before and after by code",
            heads,
            [_build_code_row(*pair) for pair in ordered],
        )


def _count_moved(moves: CodeMoves) -> int:
    return moves.calls_gone + moves.calls_came + moves.calls_refused


def _build_code_row(code: str, moves: CodeMoves) -> list[Cell]:
    numbers = (moves.before, moves.after, moves.calls_gone, moves.calls_came, moves.calls_refused)
    return [Cell(code, mono=True, order=code), *(Cell(f"{number:,}", order=number) for number in numbers)]


def _draw_changed(job: ReplayJob, found: ReplaySummary) -> None:
    if not found.changed:
        return
    listed = sum(1 for _ in job.read_changed_calls())
    pages = -(-listed // PER_PAGE)
    asked = st.query_params.get("moved_page")
    page = min(pages, int(asked)) if asked and asked.isdecimal() and int(asked) else 1
    cut = "" if listed == found.changed else f"The first {listed:,} are listed and exported; all are counted."
    with cards.draw_card(
        f"{wording.plural(found.changed, 'changed call')}",
        caption=cut or None,
        beside=lambda: _draw_lines(job, listed),
        take=cards.Download("replay_changed", lambda: _changed_frame(job), "all rows"),
    ):
        heads = [
            Column("Time (UTC)", "tight"),
            Column("Outcome", "tight"),
            Column("Tool", "short"),
            Column("Model", "short"),
            Column("Findings", "text", "− went, + came; the others stay"),
            Column("Values that moved", "text"),
        ]
        rows = [_build_row(row) for row in job.read_changed_calls(PER_PAGE * (page - 1), PER_PAGE)]
        draw_table("replay_changed", "Calls that read otherwise", heads, rows)
        draw_pager("moved_page", pages)


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
        Cell(after, tone=OUTCOME_TONES.get(after), sub=f"was {before}" if before != after else "as before"),
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
    """Return the changed calls as a DataFrame; lists are written as JSON text."""
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
