"""What a replay moved: in a sentence, as a flow, as rates with their intervals, by code, and call by call."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import charts, filters, testsets, verdicts, wording
from dashboard.replay_jobs import Job
from dashboard.replay_tally import CodeMoves, Rate, Summary
from dashboard.replay_words import sentence
from dashboard.rereading import NOT_READ
from dashboard.statistics import ENOUGH
from dashboard.widgets import cards
from dashboard.widgets.findings import OUTCOME_TONES
from dashboard.widgets.paging import PER_PAGE, pager
from dashboard.widgets.sheet import Cell, Column, sheet
from dashboard.widgets.testset_export import testset_export

_TITLES = {"failed": "Refused", "mended": "Mended (coerced or repaired)", "clean": "Clean"}
_BETTER = {"failed": -1, "mended": 0, "clean": 1}


def show(job: Job, found: Summary) -> None:
    _verdict(job, found)
    if found.replayed:
        wide, narrow = st.columns([7, 6], gap="small")
        with wide:
            _flow(found)
        with narrow:
            _rates(found)
            _codes(found)
        _changed(job, found)


def _verdict(job: Job, found: Summary) -> None:
    with cards.card("What would move"):
        with st.container(key="verdict"):
            st.subheader(wording.in_markdown(sentence(job.asked.scenario, found), 600), anchor=False)
        told = [f"{found.changed:,} of {found.replayed:,} calls read otherwise."]
        for reason, calls in sorted(found.not_read.items(), key=lambda pair: -pair[1]):
            told.append(f"Not read again: {calls:,} ({NOT_READ.get(reason, reason)}).")
        if job.asked.every > 1:
            told.append(f"A sample: every {job.asked.every}th session.")
        st.caption(" ".join(told))


def _flow(found: Summary) -> None:
    moved = [(before, after, calls) for before, after, calls in found.flows if before != after]
    with cards.card("Outcomes, before and after", stretch=True):
        if moved:
            st.plotly_chart(
                charts.flow(moved),
                config=charts.CONFIG,
                key="replay_flow",
                alt="Calls whose outcome moved, from before to after; the table below has the numbers",
            )
        still = found.replayed - sum(calls for _, _, calls in moved)
        st.caption(
            f"Drawn are the calls whose outcome moves; {still:,} of {found.replayed:,} keep theirs."
            if moved
            else "No call moves to another outcome."
        )
        rows = [
            [
                Cell(before, tone=OUTCOME_TONES.get(before), order=before),
                Cell(after, tone=OUTCOME_TONES.get(after), order=after),
                Cell(f"{calls:,}", share=calls / found.replayed, order=calls),
                Cell(wording.rate(calls, found.replayed), order=calls),
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
        sheet("replay_flows", "Outcomes before and after", heads, rows)


def _rates(found: Summary) -> None:
    with cards.card("Rates over the same calls"):
        heads = [
            Column("Outcome", "name"),
            Column("Before", "number"),
            Column("After", "number"),
            Column("Difference", "number", "In points, with its 95% interval over sessions"),
        ]
        sheet(
            "replay_rates",
            "Rates before and after",
            heads,
            [_rate(name, rate) for name, rate in found.rates.items()],
        )
        n = next(iter(found.rates.values())).n
        st.caption(
            f"Over the {wording.plural(n, 'call')} that can be measured on both sides"
            f"{f'; {found.replayed - n:,} cannot' if found.replayed > n else ''}. Calls of one session are "
            "alike: sessions, not calls, are the units of the interval."
        )


def _rate(name: str, rate: Rate) -> list[Cell]:
    difference = rate.difference
    if difference is None:
        change = Cell("–", sub="fewer than two sessions")
    else:
        sub = f"{verdicts.points(difference.low)} to {verdicts.points(difference.high)}"
        way = _BETTER[name] * difference.estimate
        decisive = difference.decisive and rate.n >= ENOUGH
        change = Cell(
            f"{verdicts.points(difference.estimate)} points",
            sub=sub,
            tone=("good" if way > 0 else "bad") if decisive and way else None,
            title=f"{difference.method}; p {difference.p:.3f}",
            pale=rate.n < ENOUGH,
        )
    return [
        Cell(_TITLES[name]),
        Cell(wording.rate(rate.before, rate.n), sub=wording.of(rate.before, rate.n)),
        Cell(wording.rate(rate.after, rate.n), sub=wording.of(rate.after, rate.n)),
        change,
    ]


def _codes(found: Summary) -> None:
    with cards.card("Findings, by code"):
        moved = {code: moves for code, moves in found.codes.items() if _moved(moves)}
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
        ordered = sorted(moved.items(), key=lambda pair: -_moved(pair[1]))
        sheet("replay_codes", "Findings before and after by code", heads, [_code(*pair) for pair in ordered])


def _moved(moves: CodeMoves) -> int:
    return moves.calls_gone + moves.calls_came + moves.calls_refused


def _code(code: str, moves: CodeMoves) -> list[Cell]:
    numbers = (moves.before, moves.after, moves.calls_gone, moves.calls_came, moves.calls_refused)
    return [Cell(code, mono=True, order=code), *(Cell(f"{number:,}", order=number) for number in numbers)]


def _changed(job: Job, found: Summary) -> None:
    if not found.changed:
        return
    listed = sum(1 for _ in job.changed())
    pages = -(-listed // PER_PAGE)
    asked = st.query_params.get("moved_page")
    page = min(pages, int(asked)) if asked and asked.isdecimal() and int(asked) else 1
    cut = "" if listed == found.changed else f"The first {listed:,} are listed and exported; all are counted."
    with cards.card(
        f"{wording.plural(found.changed, 'changed call')}",
        caption=cut or None,
        beside=lambda: _lines(job, listed),
        take=cards.Take("replay_changed", lambda: _frame(job)),
    ):
        heads = [
            Column("Time (UTC)", "tight"),
            Column("Outcome", "tight"),
            Column("Tool", "short"),
            Column("Model", "short"),
            Column("Findings", "text", "− went, + came; the others stay"),
            Column("Values that moved", "text"),
        ]
        rows = [_row(row) for row in job.changed(PER_PAGE * (page - 1), PER_PAGE)]
        sheet("replay_changed", "Calls that read otherwise", heads, rows)
        pager("moved_page", pages)


def _row(row: Mapping[str, Any]) -> list[Cell]:
    findings = [f"− {text}" for text in row["findings_gone"]] + [f"+ {text}" for text in row["findings_came"]]
    findings += row["findings_kept"]
    values = [f"{path}: {_value(before)} → {_value(after)}" for path, before, after in row["values"]]
    before, after = row["outcome_before"], row["outcome_after"]
    return [
        Cell(
            row["ts"][:19].replace("T", " ") if row["ts"] else "no time",
            href=filters.link("calls", {}, {"call": row["call_id"]}),
        ),
        Cell(after, tone=OUTCOME_TONES.get(after), sub=f"was {before}" if before != after else "as before"),
        _named(row["tool"]),
        _named(row["model"]),
        Cell(_lines_of(findings), mono=True),
        Cell(_lines_of(values), mono=True),
    ]


def _value(text: str | None) -> str:
    return "absent" if text is None else wording.one_line(text, 80)


def _lines_of(texts: list[str]) -> str:
    shown = [wording.one_line(text, 200) for text in texts[:6]]
    more = [f"… {len(texts) - 6:,} more"] if len(texts) > 6 else []
    return "\n".join(shown + more) or "–"


def _named(name: str | None) -> Cell:
    shown = wording.one_line(name or "unknown", 120)
    return Cell(shown, title=shown)


def _lines(job: Job, listed: int) -> None:
    testset_export("replay", lambda: [row["call_id"] for row in job.changed(0, testsets.MOST)], listed)
    st.download_button(
        "JSON Lines",
        lambda: b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in job.changed()),
        "replay_changed.jsonl",
        "application/jsonl",
        type="tertiary",
        icon=":material/download:",
        on_click="ignore",
        key="replay_jsonl",
    )


def _frame(job: Job) -> pd.DataFrame:
    """The changed calls with a text in each cell: lists as JSON."""
    return pd.DataFrame(
        [
            {
                name: json.dumps(value, ensure_ascii=False) if isinstance(value, list) else value
                for name, value in row.items()
            }
            for row in job.changed()
        ],
        dtype=object,
    )
