"""Draws a parsed text: verdict, text with marked findings, arguments, steps and other parsers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from callgauge.dashboard import wording
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.finding_list import (
    OUTCOME_TONES,
    Finding,
    draw_finding_list,
    draw_json,
    draw_marked_text,
)
from callgauge.dashboard.components.parser_steps import draw_parser_steps
from callgauge.dashboard.components.table import Cell, Column, Tone, draw_table
from callgauge.dashboard.pages.playground.other_parsers import ParserReading, read_with_others
from callgauge.dashboard.pages.playground.parsing import parse_request
from lenient import CODES, Diagnostic, Policy, ToolCallRequest

_POLICIES = (
    (Policy.STRICT, "takes no finding at all"),
    (Policy.SAFE, "takes notes: the meaning is provably kept"),
    (Policy.LENIENT, "takes warnings too: guesses"),
)
_PEER_TONES: dict[str, Tone] = {"read": "good", "refused": "bad"}


def draw_verdict(request: ToolCallRequest) -> None:
    tones: dict[bool, Tone] = {True: "good", False: "bad"}
    cells = [Cell(request.outcome, tone=OUTCOME_TONES.get(request.outcome))]
    for policy, meaning in _POLICIES:
        accepted = request.accepted_under(policy)
        against = [found.code for found in request.diagnostics if not policy.accepts([found])]
        sub = f"{meaning}\nagainst it: {', '.join(dict.fromkeys(against))}" if against else meaning
        cells.append(Cell("accepted" if accepted else "refused", tone=tones[accepted], sub=sub))
    unknown = "Checked without a tool definition: no type, no required parameter is known."
    with cards.draw_card("Verdict", caption=None if request.tool else unknown):
        columns = [
            Column("Outcome", "tight"),
            *(Column(policy.capitalize(), "name") for policy, _ in _POLICIES),
        ]
        draw_table("verdict", "Verdict under each policy", columns, [cells])


def draw_raw(request: ToolCallRequest, around: Sequence[Diagnostic] = ()) -> None:
    """Draw the raw text with its findings; `around` holds findings on the reply around the arguments."""
    text = request.raw_arguments if isinstance(request.raw_arguments, str) else ""
    findings = [make_finding(found) for found in request.diagnostics]
    # Their spans point into the reply, not into this text.
    outside = [replace(make_finding(found), start=None, end=None) for found in around]
    with cards.draw_card("Raw arguments"):
        draw_marked_text("playground", text, findings)
        draw_finding_list("playground_findings", text, [*outside, *findings])


def make_finding(found: Diagnostic) -> Finding:
    return Finding(
        code=found.code,
        stage=found.stage,
        severity=found.severity,
        lossy=found.lossy,
        path=found.path,
        start=found.start,
        end=found.end,
        found=found.found,
        became=found.became,
        detail=found.detail,
        summary=CODES[found.code].summary,
        why=CODES[found.code].why,
    )


def draw_arguments(request: ToolCallRequest) -> None:
    with cards.draw_card("Resulting arguments"):
        if request.arguments is None:
            st.caption("None: nothing that a tool could run on.")
        else:
            # Values of Python that JSON does not know, times above all, show as their text.
            draw_json(json.dumps(request.arguments, default=str, ensure_ascii=False))
        if request.rejected:
            st.caption("Values that could not be converted, as they were sent:")
            draw_json(json.dumps(dict(request.rejected), default=str, ensure_ascii=False))


def draw_steps(request: ToolCallRequest) -> None:
    with cards.draw_card("Steps"):
        draw_parser_steps("steps", request.steps)


def _show_text(text: str) -> str:
    return wording.visible(wording.shorten(text, 1_000))


def draw_other_parsers(text: str, definition: str, which: int | None) -> None:
    with cards.draw_card(
        "How others read it", caption="The same text; pydantic by a model of the same definition."
    ):
        columns = [
            Column("Reader", "tight"),
            Column("Verdict", "tight"),
            Column("Beside ours", "tight"),
            Column("What it made of it, or says"),
        ]
        rows = [_build_parser_row(one) for one in _read_others(text, definition, which)]
        draw_table("peers", "How other readers read the text", columns, rows)


@st.cache_resource(scope="session", max_entries=8, show_spinner=False)
def _read_others(text: str, definition: str, which: int | None) -> list[ParserReading]:
    return read_with_others(text, parse_request(text, definition, which))


def _build_parser_row(one: ParserReading) -> list[Cell]:
    beside = {True: "the same value", False: "another value", None: "–"}[one.same]
    tone: Tone | None = "warn" if one.same is False else None
    return [
        Cell(one.reader, sub=one.version or None),
        Cell(one.verdict, tone=_PEER_TONES.get(one.verdict, "calm")),
        Cell(beside, tone=tone),
        Cell(_show_text(one.value if one.value is not None else one.said), mono=one.value is not None),
    ]
