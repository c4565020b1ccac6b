"""One call in full: its text with the faults marked, what became of it, who said what, its turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import streamlit as st

from dashboard import answers, wording
from dashboard.pages import call_actions, call_chain, call_reading
from dashboard.rereading import reread, stored_definition
from dashboard.widgets import call_words, cards
from dashboard.widgets.call_words import Row
from dashboard.widgets.findings import OUTCOME_TONES, Finding, finding_list, json_text, marked_text
from dashboard.widgets.session_links import call_link, session_link
from dashboard.widgets.sheet import Cell, Column, sheet

_SHOWN = 20_000  # characters of a result or an answer

_COLOURS: dict[str, Literal["green", "red", "gray"]] = {
    "clean": "green",
    "failed": "red",
    "unmeasured": "gray",
}


def show(call_id: str, back: Mapping[str, str]) -> None:
    st.page_link(
        "dashboard/pages/calls.py",
        label="All calls",
        icon=":material/arrow_back:",
        query_params=back,
        width="content",
    )
    found = answers.ask("call", call=call_id)
    if found.empty:
        st.title("No such call", anchor=False)
        st.caption("The store holds no call with this id. It may have been loaded into another store.")
        return
    row: Row = found.iloc[0].to_dict()
    records = answers.ask("call_findings", call=call_id, file=row["file_id"]).to_dict("records")
    findings = [_finding(record) for record in records]
    description = _description(row)
    tool = stored_definition(row, description)
    _heading(row)
    call_actions.show(row, tool, description)
    _facts(row)
    _raw(row, findings)
    call_reading.show(reread(row, tool), tool)
    _verdicts(row)
    left, right = st.columns(2, gap="small")
    with left, cards.card("Resulting arguments", stretch=True):
        _arguments(row)
    with right, cards.card("Result", stretch=True):
        _result(row)
    _definition(row)
    call_chain.show(row)
    _turn(row)


def _description(row: Row) -> str | None:
    """Of the tool, as its definition has it."""
    if row["definition_id"] is None:
        return None
    told = answers.ask("version_text", kind="tool", id=row["definition_id"])
    return None if told.empty else told.iloc[0].text


def _finding(record: Row) -> Finding:
    return Finding(
        code=record["code"],
        stage=record["stage"],
        severity=record["severity"],
        lossy=record["lossy"],
        path=record["path"],
        start=record["span_start"],
        end=record["span_end"],
        found=record["found"],
        became=record["became"],
        detail=record["detail"],
        summary=record["summary"],
        why=record["why"],
    )


def _heading(row: Row) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.title(wording.in_markdown(row["tool"] or "unknown tool"), anchor=False, width="content")
        st.badge(str(row["outcome"]), color=_COLOURS.get(row["outcome"], "blue"))
        if row["fault_layer"]:
            st.badge(f"fault at {row['fault_layer'].replace('_', ' ')}", color="orange")
        if row["lossy"]:
            st.badge("lossy", color="red")


def _facts(row: Row) -> None:
    columns = ("Time", "Model", "Prompt", "Session", "Place in the session", "Attempt", "Place in the log")
    path = wording.visible(row["file"] or "unknown file")
    cells = [
        Cell(wording.utc_to_the_second(row["ts"])),
        Cell(call_words.one_name(row["model"]), sub=wording.one_line(row["provider"] or "", 60) or None),
        Cell(call_words.one_name(row["prompt"])),
        Cell(
            call_words.one_name(row["session_id"]),
            mono=True,
            href=session_link(row["session_id"], call=row["call_id"]) if row["session_id"] else None,
        ),
        Cell(call_words.place_in_turn(row), sub=call_words.STRATEGIES.get(row["strategy"], row["strategy"])),
        Cell(call_words.attempt(row), sub=row["chain_outcome"]),
        Cell(
            f"{path.rpartition('/')[2]}:{row['line']}",
            sub=f"byte {row['byte_offset']:,} · {row['source']}",
            title=path,
            mono=True,
        ),
    ]
    sheet("call_facts", "Where the call stands", [Column(title, "name") for title in columns], [cells])


def _raw(row: Row, findings: Sequence[Finding]) -> None:
    said = call_words.TEXT_IS.get(row["args_source"], row["args_source"])
    with cards.card("Raw arguments", caption=f"The text is {said}."):
        raw = row["raw_arguments"]
        if raw is None:
            st.caption("The log kept no text to show.")
        else:
            marked_text("call", raw, findings, call_words.harness_marks(row))
        reason = call_words.not_judged(row)
        if findings or reason is None:
            finding_list("call_findings", raw, findings)
        else:
            st.caption(f"The parser did not judge this: {reason}.")


def _verdicts(row: Row) -> None:
    with cards.card("Who said what"):
        rows = [
            _parser_row(row),
            [
                Cell("The harness"),
                Cell(call_words.harness(row["harness_verdict"])),
                Cell(wording.one_line(row["harness_message"] or "–", 400), mono=True),
                Cell(""),
            ],
            [
                Cell("The tool"),
                Cell(wording.result_status(row["result_status"])),
                Cell(""),
                Cell(call_words.error_flag(row["error_flag_source"])),
            ],
        ]
        columns = [
            Column("Judge", "tight"),
            Column("Verdict", "tight"),
            Column("Message"),
            Column("Known by", "tight"),
        ]
        sheet("call_verdicts", "Verdicts on the call", columns, rows)


def _parser_row(row: Row) -> list[Cell]:
    reason = call_words.not_judged(row)
    if reason:
        return [Cell("The parser"), Cell("could not judge", tone="calm"), Cell(reason), Cell("")]
    return [
        Cell("The parser"),
        Cell(row["outcome"] or "–", tone=OUTCOME_TONES.get(row["outcome"])),
        Cell(wording.one_line(call_words.parser_message(row), 400), mono=True),
        Cell("", sub=call_words.known_by(row)),
    ]


def _arguments(row: Row) -> None:
    if row["arguments"] is None:
        st.caption(call_words.no_arguments(row))
        return
    json_text(row["arguments"])
    if row["rejected"] not in (None, "{}"):
        st.caption("Values that could not be converted, as they were sent:")
        json_text(row["rejected"])


def _result(row: Row) -> None:
    text = row["result_text"]
    size = f" · {wording.size(row['result_bytes'])}" if row["result_bytes"] is not None else ""
    st.caption(f"{wording.result_status(row['result_status']).capitalize()}{size}")
    if text:
        st.code(
            wording.visible(text[:_SHOWN]),
            language=None,
            wrap_lines=True,
            height=320 if len(text) > 1200 else "content",
        )


def _definition(row: Row) -> None:
    if row["definition"] is None:
        st.caption("No tool definition is known for this call.")
        return
    with st.expander("Tool definition"):
        st.caption("What the arguments were judged by.")
        json_text(row["definition"])


def _turn(row: Row) -> None:
    with cards.card(f"Turn {row['turn']}", "turn_calls", caption=call_words.turn_end(row)):
        calls = answers.ask("turn_calls", turn=row["turn_id"]).to_dict("records")
        columns = [
            Column("Step", "number", width="4%"),
            Column("Tool", "name"),
            Column("Outcome", "tight"),
            Column("Fault layer", "tight"),
            Column("Result", "tight"),
            Column("Chain", "tight", "Calls that try the same thing again"),
            Column("Raw arguments", "clip"),
        ]
        sheet(
            "turn_calls",
            "Calls of the turn in order",
            columns,
            [_turn_row(call, row["call_id"]) for call in calls],
        )


def _turn_row(call: Row, current: str) -> list[Cell]:
    chain = ""
    if call["attempt"]:
        kind = f", {call['retry_kind']}" if call["retry_kind"] else ""
        chain = f"{call['chain']}: attempt {call['attempt']}{kind}"
    this = call["call_id"] == current
    return [
        Cell(str(call["step"]), sub=None),
        Cell(
            wording.one_line(call["tool"] or "unknown", 60),
            sub="this call" if this else None,
            href=None if this else call_link(call["call_id"]),
        ),
        Cell(call["outcome"] or "–", tone=OUTCOME_TONES.get(call["outcome"])),
        Cell((call["fault_layer"] or "–").replace("_", " "), tone="warn" if call["fault_layer"] else None),
        Cell(wording.result_status(call["result_status"])),
        Cell(chain, sub=call["chain_outcome"]),
        Cell(wording.one_line(call["preview"], 160), mono=True),
    ]
