"""Draws a card that sends a request with the edited definition several times, and counts clean calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.metrics import MetricError
from callgauge.analysis.testsets import REASONS, find_case
from callgauge.analysis.testsets.cases import NotExportedError, TestsetCase
from callgauge.dashboard import store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.finding_list import outcome_cell
from callgauge.dashboard.components.money.page_costs import read_prices
from callgauge.dashboard.components.shell.live_requests import (
    MOST_AT_ONCE,
    LiveReply,
    LiveRequest,
    LiveSender,
    find_sender,
)
from callgauge.dashboard.components.table import Cell, Column, draw_table
from lenient import ToolCallRequest, ToolCatalog, ToolDefinition, parse_arguments

_SENT = "live_replies"
_USUAL = 5


def show(tool: ToolDefinition, call_id: str) -> None:
    """Draw the card. Draw nothing if the server cannot send requests to a model."""
    sender = find_sender()
    if sender is None or not store_queries.is_open():
        return
    with cards.draw_card(
        "Ask the model again",
        caption=f"Repeats the request of this call with the edited definition. Each request goes to "
        f"{wording.in_markdown(sender.endpoint, 80)} and is paid with the server's key. No tool runs.",
    ):
        try:
            case = _find_case(call_id)
        except NotExportedError as refused:
            st.caption(f"This request cannot be repeated: {REASONS[refused.reason]}.")
            return
        except MetricError as problem:
            st.error(wording.in_markdown(str(problem), 600))
            return
        key = (call_id, tool.name, repr(tool.to_json_schema()), tool.description)
        _draw_controls(sender, case, tool, key)
        sent = st.session_state.get(_SENT)
        if sent is not None and sent[0] == key:
            _draw_replies(sent[1], sent[2], tool)


def _find_case(call_id: str) -> TestsetCase:
    return find_case(
        call_id, lambda name, parameters: store_queries.ask(name, **parameters).to_dict("records")
    )


def _draw_controls(sender: LiveSender, case: TestsetCase, tool: ToolDefinition, key: tuple[str, ...]) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        names = list(sender.models) or [case.model or ""]
        model = st.selectbox("Model", names, key="live_model", width=260, accept_new_options=True)
        times = st.number_input("Requests", 1, MOST_AT_ONCE, _USUAL, key="live_times", width=120)
        label = f"Send {wording.plural(int(times), 'live request')}"
        if not st.button(label, key="send_live", disabled=not model):
            return
    request = LiveRequest(
        str(model),
        case.messages,
        [tool.to_anthropic(), *(other.to_anthropic() for other in case.tools if other.name != tool.name)],
    )
    with st.spinner(f"Asking {wording.one_line(str(model), 60)} …"):
        replies = sender.send(request, min(int(times), MOST_AT_ONCE))
    st.session_state[_SENT] = (key, replies, str(model))


def _draw_replies(replies: Sequence[LiveReply], model: str, tool: ToolDefinition) -> None:
    catalog = ToolCatalog.from_definitions([tool])
    read = [_read_reply(reply, catalog) for reply in replies]
    answered = [reading for reply, reading in zip(replies, read, strict=True) if reply.error is None]
    clean = sum(reading is not None and reading.outcome == "clean" for reading in answered)
    st.markdown(
        f"**{clean} of {wording.plural(len(answered), 'reply')} with a clean call.** "
        f"{_describe_rest(replies, read)}{_describe_cost(replies, model)}"
    )
    columns = [
        Column("No.", "number"), Column("Arguments", "tight"), Column("Raw arguments or answer", "clip"),
        Column("Diagnostics"), Column("Seconds", "number"), Column("Tokens", "number", "Input / output."),
    ]  # fmt: skip
    rows = [
        _build_row(number, reply, reading)
        for number, (reply, reading) in enumerate(zip(replies, read, strict=True), start=1)
    ]
    draw_table("live_replies", "Replies of the model", columns, rows)


def _read_reply(reply: LiveReply, catalog: ToolCatalog) -> ToolCallRequest | None:
    if not reply.calls:
        return None
    name, raw = reply.calls[0]
    return parse_arguments(raw, catalog, tool_name=name or next(iter(catalog)).name)


def _describe_rest(replies: Sequence[LiveReply], read: Sequence[ToolCallRequest | None]) -> str:
    outcomes = Counter(map(_name_end, replies, read))
    outcomes.pop("clean", None)
    others = ", ".join(f"{count} {name}" for name, count in outcomes.most_common())
    return f"The others: {others}. " if others else ""


def _name_end(reply: LiveReply, read: ToolCallRequest | None) -> str:
    if reply.error is not None:
        return "without an answer"
    return "without a call" if read is None else str(read.outcome)


def _describe_cost(replies: Sequence[LiveReply], model: str) -> str:
    counted = [reply for reply in replies if reply.tokens_read is not None]
    read = sum(reply.tokens_read or 0 for reply in counted)
    written = sum(reply.tokens_written or 0 for reply in counted)
    if not counted:
        return "The endpoint reports no tokens."
    prices = read_prices()
    match = prices.match(model)
    if match is None:
        return f"{read:,} input and {written:,} output tokens; the model has no price."
    price = match.prices[-1]
    cost = (read * price.input + written * price.output) / 1_000_000
    amount = wording.money(cost, prices.currency, wording.money_places(cost))
    return f"{read:,} input and {written:,} output tokens: {amount}."


def _build_row(number: int, reply: LiveReply, read: ToolCallRequest | None) -> list[Cell]:
    if reply.error is not None:
        why = Cell(wording.one_line(reply.error, 200))
        return [Cell(str(number)), Cell("no answer"), why, Cell("–"), Cell("–"), Cell("–")]
    text = reply.calls[0][1] if reply.calls else reply.text
    codes = (
        list(dict.fromkeys(diagnostic.code for diagnostic in read.diagnostics)) if read is not None else []
    )
    tokens = "–" if reply.tokens_read is None else f"{reply.tokens_read:,} / {reply.tokens_written or 0:,}"
    return [
        Cell(str(number)),
        Cell("no call") if read is None else outcome_cell(read.outcome),
        Cell(wording.one_line(text, 200), mono=read is not None),
        Cell(", ".join(codes) or "none", mono=bool(codes)),
        Cell(f"{reply.seconds:.1f}"),
        Cell(tokens),
    ]
