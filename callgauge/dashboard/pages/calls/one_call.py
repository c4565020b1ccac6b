"""Draws one call in full: raw arguments with diagnostics, outcome, verdicts, result, definition and turn."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.reparsed_call import reparse_call
from callgauge.analysis.verdicts.calls import describe_call
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components import call_descriptions, cards
from callgauge.dashboard.components.call_descriptions import Row
from callgauge.dashboard.components.controls.links import call_link, draw_link, session_link
from callgauge.dashboard.components.controls.paging import draw_steps
from callgauge.dashboard.components.finding_list import (
    Finding,
    draw_finding_list,
    draw_json,
    draw_marked_text,
    outcome_cell,
)
from callgauge.dashboard.components.memory.note_list import draw_notes
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.pages.calls import actions, attempts, parser_reading
from callgauge.dashboard.pages.calls.heading_and_result import draw_heading, draw_result
from callgauge.dashboard.pages.calls.loaded_call import load_call

_CALLS_SHOWN = 12  # calls of the turn that are shown before "Show all"


def show(call_id: str, back: str, steps: tuple[str | None, str | None] | None) -> None:
    """Draw the tool call.

    `back` links to the list from which the call was opened. `steps` links to the previous and the next call
    in that list, or is None if the call was opened from another place.
    """
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        draw_link("all_calls", "← All calls", back)
        if steps is not None:
            draw_steps(*steps)
    loaded = load_call(call_id)
    if loaded is None:
        st.title("No such call", anchor=False)
        st.caption(_say_no_such_call())
        return
    row, findings, tool, description = loaded.row, loaded.findings, loaded.tool, loaded.description
    draw_heading(row)
    sequence = attempts.list_attempts(row)
    cards.draw_answer(describe_call(row, len(sequence), call_descriptions.describe_not_judged(row)), 400)
    actions.draw_links(row)
    _draw_raw(row, findings)
    attempts.show(row, sequence)
    left, right = st.columns(2, gap="small")
    with left, cards.draw_card("Resulting arguments", stretch=True):
        _draw_arguments(row)
    with right, cards.draw_card("Result", stretch=True):
        draw_result(row)
    _draw_facts(row)
    actions.draw_copies(row, tool, description)
    draw_notes("call", row["call_id"])
    parser_reading.show(reparse_call(row, tool), tool)
    _draw_verdicts(row)
    _draw_definition(row)
    _draw_turn(row)


def _say_no_such_call() -> str:
    facts_before = store_queries.ask("kept_since").iloc[0].facts_before
    # NaT is not equal to itself.
    if facts_before is not None and facts_before == facts_before:
        return f"The store keeps no calls before {facts_before:%Y-%m-%d}; this one may be older."
    return "The store has no call with this id. It may have been loaded into another store."


def _draw_facts(row: Row) -> None:
    columns = ("Time", "Model", "Prompt", "Session", "Place in the session", "Place in the log")
    cells = [
        Cell(wording.utc_to_the_second(row["ts"])),
        Cell(
            call_descriptions.shorten_name(row["model"]),
            sub=wording.one_line(row["provider"] or "", 60) or None,
        ),
        Cell(filters.short_label("prompt", row["prompt_id"] or "unknown")),
        Cell(
            call_descriptions.shorten_name(row["session_id"]),
            mono=True,
            href=session_link(row["session_id"], call=row["call_id"]) if row["session_id"] else None,
        ),
        Cell(
            call_descriptions.place_in_turn(row),
            sub=call_descriptions.STRATEGIES.get(row["strategy"], row["strategy"]),
        ),
        Cell(
            f"{call_descriptions.log_name(row)}:{row['line']}",
            sub=f"byte {row['byte_offset']:,} · {row['source']}",
            title=wording.visible(row["file"] or "unknown file"),
            mono=True,
        ),
    ]
    draw_table("call_facts", "Where the call is", [Column(title, "name") for title in columns], [cells])


def _draw_raw(row: Row, findings: Sequence[Finding]) -> None:
    description = call_descriptions.TEXT_IS.get(row["args_source"], row["args_source"])
    verb = "was" if call_descriptions.is_text_removed(row) else "is"
    with cards.draw_card("Raw arguments", caption=f"The text {verb} {description}."):
        raw = row["raw_arguments"]
        if raw is None:
            st.caption(call_descriptions.describe_no_text(row))
        else:
            draw_marked_text("call", raw, findings, call_descriptions.harness_marks(row))
        reason = call_descriptions.describe_not_judged(row)
        if findings or reason is None:
            draw_finding_list("call_findings", raw, findings)
        else:
            st.caption(call_descriptions.say_not_judged(row, reason))


def _draw_verdicts(row: Row) -> None:
    with st.expander("Verdicts of parser, agent and tool"):
        rows = [
            _parser_row(row),
            [
                Cell("The agent"),
                Cell(call_descriptions.describe_harness(row["harness_verdict"])),
                Cell(wording.one_line(row["harness_message"] or "–", 400), mono=True),
                Cell(""),
            ],
            [
                Cell("The tool"),
                Cell(wording.result_status(row["result_status"])),
                Cell(""),
                Cell(call_descriptions.describe_error_flag(row["error_flag_source"])),
            ],
        ]
        columns = [
            Column("Judge", "tight"),
            Column("Verdict", "tight"),
            Column("Message"),
            Column("Source", "tight"),
        ]
        draw_table("call_verdicts", "Verdicts on the call", columns, rows)


def _parser_row(row: Row) -> list[Cell]:
    reason = call_descriptions.describe_not_judged(row)
    if reason:
        return [Cell("The parser"), Cell("could not judge", tone="calm"), Cell(reason), Cell("")]
    return [
        Cell("The parser"),
        outcome_cell(row["outcome"], row["fault_layer"]),
        Cell(wording.one_line(call_descriptions.parser_message(row), 400), mono=True),
        Cell("", sub=call_descriptions.describe_visibility(row)),
    ]


def _draw_arguments(row: Row) -> None:
    if row["arguments"] is None:
        st.caption(call_descriptions.describe_no_arguments(row))
        return
    draw_json(row["arguments"])
    if row["rejected"] not in (None, "{}"):
        st.caption("Values that could not be converted, as they were sent:")
        draw_json(row["rejected"])


def _draw_definition(row: Row) -> None:
    if row["definition"] is None:
        st.caption("The store has no tool definition for this call.")
        return
    with st.expander("Tool definition"):
        st.caption("The arguments were checked against it.")
        draw_json(row["definition"])


def _draw_turn(row: Row) -> None:
    with st.expander(f"All calls of turn {row['turn']}"):
        st.caption(call_descriptions.describe_turn_end(row))
        calls = store_queries.ask("turn_calls", turn=row["turn_id"]).to_dict("records")
        place = next((at for at, call in enumerate(calls) if call["call_id"] == row["call_id"]), 0)
        columns = [
            Column("Step", "number", width="4%"),
            Column("Tool", "name"),
            Column("Outcome", "tight"),
            Column("Failure stage", "tight"),
            Column("Result", "tight"),
            Column("Raw arguments", "clip"),
        ]
        draw_table(
            "turn_calls",
            "Calls of the turn in order",
            columns,
            [_turn_row(call, row["call_id"]) for call in calls],
            shown=max(_CALLS_SHOWN, place + 3),
        )


def _turn_row(call: Row, current: str) -> list[Cell]:
    this = call["call_id"] == current
    return [
        Cell(str(call["step"])),
        Cell(
            wording.one_line(call["tool"] or "unknown", 60),
            sub="this call" if this else None,
            href=None if this else call_link(call["call_id"]),
        ),
        outcome_cell(call["outcome"], call["fault_layer"]),
        Cell(wording.failure_stage(call["fault_layer"]), tone="warn" if call["fault_layer"] else None),
        Cell(wording.result_status(call["result_status"])),
        Cell(wording.one_line(call["preview"], 160), mono=True),
    ]
