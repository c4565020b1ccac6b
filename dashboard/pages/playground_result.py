"""A text as the parser read it in: verdict, marked text, arguments, steps and other readers out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from dashboard import wording
from dashboard.pages.playground_read import request_of
from dashboard.peers import PeerReading, peer_readings
from dashboard.widgets import cards
from dashboard.widgets.findings import OUTCOME_TONES, Finding, finding_list, json_text, marked_text
from dashboard.widgets.parser_steps import parser_steps
from dashboard.widgets.sheet import Cell, Column, Tone, sheet
from lenient import CODES, Diagnostic, Policy, ToolCallRequest

_POLICIES = (
    (Policy.STRICT, "takes no finding at all"),
    (Policy.SAFE, "takes notes: the meaning is provably kept"),
    (Policy.LENIENT, "takes warnings too: guesses"),
)
_PEER_TONES: dict[str, Tone] = {"read": "good", "refused": "bad"}


def verdict(request: ToolCallRequest) -> None:
    tones: dict[bool, Tone] = {True: "good", False: "bad"}
    cells = [Cell(request.outcome, tone=OUTCOME_TONES.get(request.outcome))]
    for policy, meaning in _POLICIES:
        accepted = request.accepted_under(policy)
        against = [found.code for found in request.diagnostics if not policy.accepts([found])]
        sub = f"{meaning}\nagainst it: {', '.join(dict.fromkeys(against))}" if against else meaning
        cells.append(Cell("accepted" if accepted else "refused", tone=tones[accepted], sub=sub))
    unknown = "Checked without a tool definition: no type, no required parameter is known."
    with cards.card("Verdict", caption=None if request.tool else unknown):
        columns = [
            Column("Outcome", "tight"),
            *(Column(policy.capitalize(), "name") for policy, _ in _POLICIES),
        ]
        sheet("verdict", "Verdict under each policy", columns, [cells])


def raw(request: ToolCallRequest, around: Sequence[Diagnostic] = ()) -> None:
    """`around`: findings about what stands around the arguments, in the reply they were found in."""
    text = request.raw_arguments if isinstance(request.raw_arguments, str) else ""
    findings = [finding(found) for found in request.diagnostics]
    # Their spans point into the reply, not into this text.
    outside = [replace(finding(found), start=None, end=None) for found in around]
    with cards.card("Raw arguments"):
        marked_text("playground", text, findings)
        finding_list("playground_findings", text, [*outside, *findings])


def finding(found: Diagnostic) -> Finding:
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


def arguments(request: ToolCallRequest) -> None:
    with cards.card("Resulting arguments"):
        if request.arguments is None:
            st.caption("None: nothing that a tool could run on.")
        else:
            # Values of Python that JSON does not know, times above all, show as their text.
            json_text(json.dumps(request.arguments, default=str, ensure_ascii=False))
        if request.rejected:
            st.caption("Values that could not be converted, as they were sent:")
            json_text(json.dumps(dict(request.rejected), default=str, ensure_ascii=False))


def steps(request: ToolCallRequest) -> None:
    with cards.card("Steps"):
        parser_steps("steps", request.steps)


def _shown(text: str) -> str:
    return wording.visible(wording.shortened(text, 1_000))


def peers(text: str, definition: str, which: int | None) -> None:
    with cards.card(
        "How others read it", caption="The same text; pydantic by a model of the same definition."
    ):
        columns = [
            Column("Reader", "tight"),
            Column("Verdict", "tight"),
            Column("Beside ours", "tight"),
            Column("What it made of it, or says"),
        ]
        rows = [_peer(one) for one in _readings(text, definition, which)]
        sheet("peers", "How other readers read the text", columns, rows)


@st.cache_resource(scope="session", max_entries=8, show_spinner=False)
def _readings(text: str, definition: str, which: int | None) -> list[PeerReading]:
    return peer_readings(text, request_of(text, definition, which))


def _peer(one: PeerReading) -> list[Cell]:
    beside = {True: "the same value", False: "another value", None: "–"}[one.same]
    tone: Tone | None = "warn" if one.same is False else None
    return [
        Cell(one.reader, sub=one.version or None),
        Cell(one.verdict, tone=_PEER_TONES.get(one.verdict, "calm")),
        Cell(beside, tone=tone),
        Cell(_shown(one.value if one.value is not None else one.said), mono=one.value is not None),
    ]
