"""Raw arguments and a tool definition, edited; the parser's steps, findings and verdict, as one types."""

from __future__ import annotations

import json
from collections.abc import Sequence

import streamlit as st

from dashboard import wording
from dashboard.pages.playground_examples import EXAMPLES, Example
from dashboard.widgets import cards
from dashboard.widgets.editor import editor
from dashboard.widgets.findings import OUTCOME_TONES, Finding, finding_list, json_text, marked_text
from dashboard.widgets.sheet import Cell, Column, Tone, sheet
from lenient import (
    CODES,
    Diagnostic,
    Policy,
    ToolCallRequest,
    ToolCatalog,
    ToolDefinition,
    ToolDefinitionError,
    parse_arguments,
)

_POLICIES = (
    (Policy.STRICT, "takes no finding at all"),
    (Policy.SAFE, "takes notes: the meaning is provably kept"),
    (Policy.LENIENT, "takes warnings too: guesses"),
)
_LONGEST = 1_000_000  # characters; more is not parsed, so that one tab cannot busy the server


def show() -> None:
    st.title("Playground", anchor=False)
    st.caption("What the parser makes of a call. Nothing leaves this server; nothing is stored.")
    left, right = st.columns([5, 7], gap="medium")
    with left:
        raw, tool = _inputs()
    with right:
        if len(raw) > _LONGEST:
            _too_long(len(raw))
        else:
            _outputs(raw, parse_arguments(raw, tool), tool)


def _too_long(characters: int) -> None:
    with cards.card("Not parsed"):
        st.text(
            f"The text has {characters:,} characters; the playground takes {_LONGEST:,} at most. "
            "A verdict on a part of it would be wrong for the whole."
        )
        st.code("callgauge parse < FILE", language=None)


def _inputs() -> tuple[str, ToolDefinition | None]:
    titles = [example.title for example in EXAMPLES]
    title = st.selectbox("Start from an example", titles, key="example", bind="query-params")
    number = titles.index(title)
    example: Example = EXAMPLES[number]
    raw = editor(f"raw_{number}", "Raw arguments, as the model sent them", example.raw, height=170)
    definition = editor(
        f"definition_{number}",
        "Tool definition, in any supported shape",
        example.definition,
        height=300,
    )
    st.caption(
        "Anthropic, OpenAI, MCP, Gemini or JSON Schema; empty for none. "
        "The result follows while you type; Ctrl+Enter asks at once."
    )
    return raw, _definition(definition)


def _definition(text: str) -> ToolDefinition | None:
    """The tool that the text defines, chosen where there are several; None, and why, where there is none."""
    if not text.strip():
        return None
    try:
        # Decoded here: the catalog would take a text that is not JSON for the path of a file.
        decoded = json.loads(text)
        tools = list(ToolCatalog.load(decoded)) if isinstance(decoded, dict | list) else []
    except (ValueError, RecursionError, ToolDefinitionError) as unreadable:
        st.error(f"The tool definition cannot be read: {wording.in_markdown(str(unreadable), 300)}")
        return None
    if not tools:
        st.error("The tool definition holds no tool: it must be a JSON object or a list of them.")
        return None
    if len(tools) == 1:
        return tools[0]
    chosen = st.selectbox(
        "Tool", range(len(tools)), format_func=lambda index: tools[index].name, key="tool_of_many"
    )
    return tools[chosen]


def _outputs(raw: str, request: ToolCallRequest, tool: ToolDefinition | None) -> None:
    _verdict(request, tool)
    findings = [_finding(found) for found in request.diagnostics]
    with cards.card("Raw arguments"):
        marked_text("playground", raw, findings)
        finding_list("playground_findings", raw, findings)
    with cards.card("Resulting arguments"):
        _arguments(request)
    _steps(request)


def _verdict(request: ToolCallRequest, tool: ToolDefinition | None) -> None:
    tones: dict[bool, Tone] = {True: "good", False: "bad"}
    cells = [Cell(request.outcome, tone=OUTCOME_TONES.get(request.outcome))]
    for policy, meaning in _POLICIES:
        accepted = request.accepted_under(policy)
        against = [found.code for found in request.diagnostics if not policy.accepts([found])]
        sub = f"{meaning}\nagainst it: {', '.join(dict.fromkeys(against))}" if against else meaning
        cells.append(Cell("accepted" if accepted else "refused", tone=tones[accepted], sub=sub))
    without = None if tool else "Checked without a tool definition: no type, no required parameter is known."
    with cards.card("Verdict", caption=without):
        columns = [
            Column("Outcome", "tight"),
            *(Column(policy.capitalize(), "name") for policy, _ in _POLICIES),
        ]
        sheet("verdict", "Verdict under each policy", columns, [cells])


def _finding(found: Diagnostic) -> Finding:
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


def _arguments(request: ToolCallRequest) -> None:
    if request.arguments is None:
        st.caption("None: nothing that a tool could run on.")
    else:
        # Values of Python that JSON does not know, times above all, show as their text.
        json_text(json.dumps(request.arguments, default=str, ensure_ascii=False))
    if request.rejected:
        st.caption("Values that could not be converted, as they were sent:")
        json_text(json.dumps(request.rejected, default=str, ensure_ascii=False))


def _steps(request: ToolCallRequest) -> None:
    with cards.card("Steps"):
        if not request.steps:
            st.caption("None: the text was read as it is.")
            return
        rows = [
            [
                Cell(str(number), sub=None),
                Cell(step.title, sub=step.stage),
                Cell(_shown(step.before), mono=True),
                Cell(_shown(step.after), mono=True),
            ]
            for number, step in enumerate(request.steps, start=1)
        ]
        columns: Sequence[Column] = (
            Column("", "number"),
            Column("Step", "name"),
            Column("Before"),
            Column("After"),
        )
        sheet("steps", "Steps of the parser in order", columns, rows)


def _shown(text: str) -> str:
    return wording.visible(wording.shortened(text, 1_000))


show()
