"""Draws the result of parsing: the outcome, the change of each parameter, and the diagnostics.

Details are in expanders.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

import streamlit as st

from callgauge.analysis import wording
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.url_widgets import draw_fold
from callgauge.dashboard.components.finding_list import (
    SEVERITY_TONES,
    Finding,
    draw_finding_list,
    draw_json,
    draw_marked_text,
    name_numbers,
    outcome_cell,
)
from callgauge.dashboard.components.parser_steps import draw_parser_steps
from callgauge.dashboard.components.table import Cell, Column, Tone, draw_table
from callgauge.dashboard.pages.playground.other_parsers import ParserReading, read_with_others
from callgauge.dashboard.pages.playground.parameter_changes import (
    ParameterChange,
    describe_outcome,
    list_changes,
    names_not_sent,
)
from callgauge.dashboard.pages.playground.parsing import parse_request
from lenient import CODES, Diagnostic, Outcome, Policy, ToolCallRequest

_POLICIES = (
    (Policy.STRICT, "no diagnostic"),
    (Policy.SAFE, "only notes, which keep the meaning"),
    (Policy.LENIENT, "notes and warnings, which are guesses"),
)
_PEER_TONES: dict[str, Tone] = {"parsed": "good", "rejected": "bad"}
_NAMED = 12  # maximum number of listed parameters that were not sent
_SHORT = 1_000  # arguments up to this number of characters are written on one line
_REASONS = 3  # codes that are listed for a parameter; further codes are only counted


def draw_result(request: ToolCallRequest) -> None:
    """Draw the outcome in a sentence, the policies, each parameter, and the typed arguments."""
    changes = list_changes(request)
    with st.container(border=True, gap="xsmall", key="result"):
        cards.draw_answer(describe_outcome(request, changes), 300)
        _warn_of_guesses(request)
        _draw_policies(request)
        _draw_changes(request, changes)
        _draw_arguments(request)


def _warn_of_guesses(request: ToolCallRequest) -> None:
    """Warn when the parser had to guess, so that meaning may be lost or invented."""
    guesses = list(dict.fromkeys(diagnostic.code for diagnostic in request.diagnostics if diagnostic.lossy))
    if guesses and request.outcome is not Outcome.FAILED:
        meanings = " ".join(CODES[code].summary for code in guesses[:_REASONS])
        st.warning(f"A guess that may lose meaning. {meanings} Check the arguments before a tool runs.")


def _draw_policies(request: ToolCallRequest) -> None:
    tones: dict[bool, Tone] = {True: "good", False: "bad"}
    cells = [outcome_cell(request.outcome)]
    for policy, meaning in _POLICIES:
        accepted = request.accepted_under(policy)
        against = dict.fromkeys(
            diagnostic.code for diagnostic in request.diagnostics if not policy.accepts([diagnostic])
        )
        title = f"{policy.capitalize()} accepts {meaning}."
        cells.append(
            Cell(
                "accepted" if accepted else "not accepted",
                tone=tones[accepted],
                title=f"{title} Not accepted: {', '.join(against)}" if against else title,
            )
        )
    columns = [
        Column("Outcome", "tight"),
        *(Column(policy.capitalize(), "tight", f"Accepts {meaning}.") for policy, meaning in _POLICIES),
    ]
    draw_table("policies", "Verdict under each policy", columns, [cells])
    if request.tool is None:
        st.caption("Checked without a tool definition, so types and required parameters are unknown.")


def _draw_changes(request: ToolCallRequest, changes: Sequence[ParameterChange]) -> None:
    columns = [
        Column("Parameter", "name", width="20%"), Column("Sent", "text", width="22%"),
        Column("Became", "text", width="22%"), Column("Why", "text"),
    ]  # fmt: skip
    if changes:
        numbers = {id(diagnostic): number for number, diagnostic in enumerate(request.diagnostics, start=1)}
        undeclared = "no definition" if request.tool is None else "not declared"
        rows = [_build_change_row(change, numbers, undeclared) for change in changes]
        draw_table("changes", "Parameters, sent and read", columns, rows)
    else:
        st.caption("No parameter was sent.")
    absent = names_not_sent(request, changes)
    if absent:
        named = ", ".join(wording.in_markdown(name, 40) for name in absent[:_NAMED])
        more = f" and {len(absent) - _NAMED:,} more" if len(absent) > _NAMED else ""
        st.caption(f"Not sent: {named}{more}.")


def _build_change_row(change: ParameterChange, numbers: Mapping[int, int], undeclared: str) -> list[Cell]:
    """Return the row of a parameter. `numbers` maps the id() of each diagnostic to its number."""
    by_code: dict[str, list[Diagnostic]] = {}
    for finding in change.findings:
        by_code.setdefault(finding.code, []).append(finding)
    most_first = sorted(by_code.items(), key=lambda pair: -len(pair[1]))
    reasons = [
        f"{', '.join(name_numbers(numbers[id(each)] for each in several))} · "
        f"{_explain_code(code, several[0])}"
        for code, several in most_first[:_REASONS]
    ]
    if len(by_code) > _REASONS:
        reasons.append(f"and {wording.plural(len(by_code) - _REASONS, 'more code')}")
    if change.name is None:
        name = Cell("the text itself")
    else:
        shown = wording.one_line(change.name, 80)
        name = Cell(shown, mono=True, sub=change.declared or undeclared)
    why = Cell(change.verdict, tone=_choose_tone(change), sub="\n".join(reasons) or None)
    return [name, _value_cell(change.sent, exact=change.is_exact), _value_cell(change.became), why]


def _explain_code(code: str, first: Diagnostic) -> str:
    return " ".join(filter(None, (CODES[code].summary, first.hint)))


def _choose_tone(change: ParameterChange) -> Tone | None:
    """Return the colour of a change. A note is not a problem."""
    if change.severity is None:
        return None
    return "info" if change.severity == "note" else SEVERITY_TONES[change.severity]


def _value_cell(text: str | None, *, exact: bool = True) -> Cell:
    if text is None:
        return Cell("–")
    note = None if exact else "after repair"
    return Cell(wording.one_line(text, 160), mono=True, title=wording.one_line(text, 400), sub=note)


def _draw_arguments(request: ToolCallRequest) -> None:
    if request.arguments is None:
        st.caption("Typed arguments: none. A tool could not run on this text.")
        return
    st.caption("Typed arguments")
    text = json.dumps(request.arguments, ensure_ascii=False)
    st.code(wording.visible(wording.shorten(text, _SHORT)), language=None, wrap_lines=True, height="content")


def draw_details(request: ToolCallRequest, around: Sequence[Diagnostic] = ()) -> None:
    """Draw the diagnostics. Expanders contain the formatted arguments and the parser's steps.

    `around` holds diagnostics on the reply outside the arguments. They come last.
    """
    text = _raw_text(request)
    findings = [make_finding(diagnostic) for diagnostic in request.diagnostics]
    outside = [replace(make_finding(diagnostic), start=None, end=None) for diagnostic in around]
    with cards.draw_card(wording.plural(len(findings) + len(outside), "diagnostic")):
        draw_finding_list("playground_findings", text, [*findings, *outside])
    if laid_out := draw_fold("Arguments, indented", "laid_out"):
        with laid_out:
            _draw_laid_out(request)
    steps = len(request.steps)
    if parser_steps := draw_fold(f"Parser steps ({steps})", "steps"):
        with parser_steps:
            draw_parser_steps("parser_steps", request.steps)


def draw_raw(request: ToolCallRequest) -> None:
    """Draw the raw text with marks, which have the same numbers as the diagnostics."""
    draw_marked_text(
        "playground",
        _raw_text(request),
        [make_finding(diagnostic) for diagnostic in request.diagnostics],
        narrow=True,
    )


def _raw_text(request: ToolCallRequest) -> str:
    return request.raw_arguments if isinstance(request.raw_arguments, str) else ""


def make_finding(diagnostic: Diagnostic) -> Finding:
    return Finding(
        code=diagnostic.code,
        stage=diagnostic.stage,
        severity=diagnostic.severity,
        lossy=diagnostic.lossy,
        path=diagnostic.path,
        start=diagnostic.start,
        end=diagnostic.end,
        found=diagnostic.found,
        became=diagnostic.became,
        detail=" · ".join(filter(None, (diagnostic.detail, diagnostic.hint))) or None,
        summary=CODES[diagnostic.code].summary,
        why=CODES[diagnostic.code].why,
    )


def _draw_laid_out(request: ToolCallRequest) -> None:
    if request.arguments is None:
        st.caption("None. A tool could not run on this text.")
    else:
        draw_json(json.dumps(request.arguments, ensure_ascii=False))
    if request.rejected:
        st.caption("Values that could not be converted:")
        draw_json(json.dumps(dict(request.rejected), ensure_ascii=False))


def _show_text(text: str) -> str:
    return wording.visible(wording.shorten(text, 1_000))


def draw_other_parsers(text: str, definition: str, which: int | None) -> None:
    """Draw an expander with the results of other parsers.

    Parsing starts when the expander is opened.
    """
    others = draw_fold("Other parsers", "others")
    if others is None:
        return
    with others:
        st.caption("The same text. Pydantic uses a model made from the same definition.")
        columns = [
            Column("Parser", "tight"),
            Column("Verdict", "tight"),
            Column("Compared with ours", "tight"),
            Column("Value or error"),
        ]
        rows = [_build_parser_row(reading) for reading in _read_others(text, definition, which)]
        draw_table("peers", "Results of other parsers", columns, rows)


@st.cache_resource(scope="session", max_entries=8, show_spinner=False)
def _read_others(text: str, definition: str, which: int | None) -> list[ParserReading]:
    return read_with_others(text, parse_request(text, definition, which))


def _build_parser_row(reading: ParserReading) -> list[Cell]:
    compared = {True: "same value", False: "another value", None: "–"}[reading.same]
    tone: Tone | None = "warn" if reading.same is False else None
    return [
        Cell(reading.reader, sub=reading.version or None),
        Cell(reading.verdict, tone=_PEER_TONES.get(reading.verdict, "calm")),
        Cell(compared, tone=tone),
        Cell(
            _show_text(reading.value if reading.value is not None else reading.reason),
            mono=reading.value is not None,
        ),
    ]
