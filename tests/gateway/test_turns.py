"""Tests complete turns."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from callgauge.gateway import (
    WIRES,
    Call,
    CallSource,
    Capabilities,
    ChatMessage,
    Gateway,
    Limits,
    Prompt,
    Reply,
    Tokens,
    Tool,
    Toolbox,
    ToolContext,
    ToolRejected,
    Turn,
    tool,
)
from callgauge.gateway.read_calls import read_native_calls
from callgauge.gateway.sentences import FALLBACK_IS_DEPRECATED, NO_CALL_READ, NOT_RUN
from callgauge.gateway.session_log import SessionLog, TurnLog
from tests.event_loops import run
from tests.gateway.served.brain import Asked, Brain, Emitted
from tests.gateway.served.in_process import BrainEndpoint

NATIVE = Capabilities(supports_tool_use=True, supports_parallel_tools=True)
SERIAL = Capabilities(supports_tool_use=True, supports_parallel_tools=False)
TEXT_ONLY = Capabilities(supports_tool_use=False)


@tool
def search_orders(customer: str, limit: int = 10) -> str:
    """Orders of a customer."""
    if limit > 100:
        raise ToolRejected("limit_out_of_range", "limit must be between 1 and 100.")
    return f"{customer} has {limit} orders."


@tool
def get_weather(city: str) -> str:
    """The weather of a city."""
    return f"It rains in {city}."


TOOLS = (search_orders, get_weather)


def converse(
    brain: Brain,
    *texts: str,
    wire: str = "openai-chat",
    tools: Sequence[Tool] = TOOLS,
    server: str | None = None,
    **options: Any,
) -> tuple[list[Turn], BrainEndpoint]:
    """Run a conversation with a scripted model. Return the turns, and the endpoint with its requests."""
    endpoint = BrainEndpoint(brain, wire, server=server)

    async def talk() -> list[Turn]:
        async with Gateway(endpoint, tools, model="m", **{"capabilities": NATIVE, **options}) as gateway:
            return [await gateway.run(text) for text in texts or ("Go.",)]

    return run(talk()), endpoint


def script(*emitted: Emitted) -> Brain:
    """Return a scripted model that gives these replies in order, and then repeats the last reply."""
    waiting = list(emitted)
    return lambda _asked: waiting.pop(0) if len(waiting) > 1 else waiting[0]


def statuses(turn: Turn) -> list[str]:
    return [call.result.status for call in turn.calls]


GOOD = ("search_orders", '{"customer": "Acme", "limit": 3}')
DONE = Emitted("All done.")
BAD_KEY = {"error": {"message": "bad key sk-canary-7f3a"}}
TOO_LONG = {"error": {"message": "maximum context length"}}
FAILED_GENERATION = '{"name": "search_orders", "arguments": {"customer": }}'


@pytest.mark.parametrize("streams", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("wire", WIRES)
def test_a_good_call_is_run_and_its_result_leads_to_the_answer(wire: str, streams: bool) -> None:
    [turn], endpoint = converse(
        script(Emitted(calls=[GOOD]), DONE),
        wire=wire,
        capabilities=replace(NATIVE, streams_calls=streams),
    )
    assert (turn.status, turn.answer, statuses(turn)) == ("ok", "All done.", ["success"])
    assert "Acme has 3 orders." in endpoint.asked[1].messages[-1].text
    assert (turn.tokens.read, turn.tokens.written, turn.tokens.cached) == (100, 40, 20)


def test_one_bad_call_among_parallel_ones_breaks_nothing() -> None:
    bad = Emitted(
        "Both.", [GOOD, ("search_orders", '{"customer": '), ("nope", "{}"), ("get_weather", '{"city": 5}')]
    )
    [turn], _ = converse(script(bad, DONE))
    assert turn.status == "ok"
    assert statuses(turn)[0] == "success"
    assert (
        set(statuses(turn)[1:3]) == {"input_unparsable", "tool_not_found"}
        or statuses(turn)[1] == "input_invalid"
    )
    assert len(turn.calls_not_run) >= 2


def test_broken_text_never_goes_back_as_arguments() -> None:
    broken = Emitted("Hm.", [("search_orders", "{'customer': 'Acme'}"), ("search_orders", "我想查询一下")])
    [_], endpoint = converse(script(broken, DONE))
    _, assistant, result, words = endpoint.asked[1].body["messages"][-4:]
    [call] = assistant["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == {"customer": "Acme"}
    assert (
        assistant["content"]
        == "Hm.\n[tool_use parse error] json_parse_error:no_object_found; raw: 我想查询一下"
    )
    assert result["tool_call_id"] == call["id"]
    assert words["role"] == "user"
    assert words["content"].startswith("The tool was not run. json_parse_error")


def test_a_call_of_which_nothing_can_be_read_is_answered_once_by_the_parsers_sentences() -> None:
    unreadable = Emitted(calls=[("search_orders", "我想查询一下")])
    [mended], _ = converse(script(unreadable, Emitted(calls=[GOOD]), DONE))
    assert (mended.status, mended.compensations, statuses(mended)) == (
        "ok",
        1,
        ["input_unparsable", "success"],
    )
    [lost], endpoint = converse(script(unreadable))
    assert (lost.status, lost.compensations, len(endpoint.asked)) == ("error", 1, 2)
    assert lost.answer == (
        f"{NOT_RUN}The model's arguments for search_orders could not be read: "
        "json_parse_error:no_object_found"
    )
    [at_once], endpoint = converse(script(unreadable), limits=Limits(compensations=0))
    assert (at_once.status, len(endpoint.asked)) == ("error", 1)


def test_a_call_in_the_text_is_asked_for_by_the_interface() -> None:
    leaked = Emitted(
        f"<tool_call>{json.dumps({'name': GOOD[0], 'arguments': json.loads(GOOD[1])})}</tool_call>"
    )
    [turn], endpoint = converse(script(leaked, Emitted(calls=[GOOD]), DONE))
    assert (turn.status, turn.compensations) == ("ok", 1)
    assert turn.steps[0].fault == "a call of search_orders in the text"
    assert endpoint.asked[1].last.text.endswith("Call the tool through its interface instead.")
    assert endpoint.asked[1].last.role == "user"
    with_system = Capabilities(
        supports_tool_use=True, supports_parallel_tools=True, allows_midturn_system=True
    )
    _, endpoint = converse(script(leaked, DONE), capabilities=with_system)
    assert endpoint.asked[1].last.role == "system"


@pytest.mark.parametrize("wire", WIRES)
def test_a_serial_model_has_all_its_calls_run_one_after_another(wire: str) -> None:
    order: list[str] = []

    @tool
    async def note(word: str) -> str:
        order.append(f"+{word}")
        order.append(f"-{word}")
        return word

    both = Emitted("Two.", [("note", '{"word": "a"}'), ("note", '{"word": "b"}')])
    [turn], endpoint = converse(script(both, DONE), wire=wire, tools=[note], capabilities=SERIAL)
    assert (turn.status, order) == ("ok", ["+a", "-a", "+b", "-b"])
    roles = [
        message.role for message in endpoint.asked[1].messages if message.calls or message.role == "tool"
    ]
    assert roles == ["assistant", "tool", "assistant", "tool"]
    if wire == "openai-chat":
        assert endpoint.asked[0].body["parallel_tool_calls"] is False


def test_ids_that_cannot_be_used_are_replaced_and_both_are_logged(tmp_path: Path) -> None:
    same = Emitted(calls=[GOOD, GOOD, GOOD], ids=["call_a", "call_a", ""])
    converse(script(same, DONE), log=tmp_path, session_id="s")
    blocks = next(event for event in read_log(tmp_path) if event["type"] == "action")["meta"]["toolBlocks"]
    assert [block["id"] for block in blocks] == ["call_a", "call_1_0_1", "call_1_0_2"]
    assert [block.get("id_sent") for block in blocks] == [None, "call_a", None]
    nine = Capabilities(
        supports_tool_use=True, supports_parallel_tools=True, tool_id_pattern="[A-Za-z0-9]{9}"
    )
    [turn], _ = converse(
        script(Emitted(calls=[GOOD, GOOD], ids=["call_long_one", "abc123XYZ"]), DONE), capabilities=nine
    )
    assert [re.fullmatch("[A-Za-z0-9]{9}", call.read.call.id) is not None for call in turn.calls] == [
        True,
        True,
    ]


@pytest.mark.parametrize(
    ("emitted", "capabilities"),
    [
        (Emitted(calls=[("search_orders", "我想查询一下")]), NATIVE),
        (Emitted(calls=[("search_orders", '{"limit": 3}')]), NATIVE),
        (Emitted('<tool_call>{"name": "search_orders", "arguments": {}}</tool_call>'), NATIVE),
        (Emitted("```json\n[1\n```"), TEXT_ONLY),
        (
            Emitted(status=500, body={"error": "error parsing tool call: raw='{', err=unexpected end"}),
            NATIVE,
        ),
    ],
)
def test_the_hint_is_said_once_and_to_the_user(emitted: Emitted, capabilities: Capabilities) -> None:
    [turn], _ = converse(script(emitted), capabilities=capabilities)
    assert turn.answer.startswith(NOT_RUN)
    words = turn.answer.removeprefix(NOT_RUN)
    assert (
        re.search(r"not? (tool was )?run|\byour?\b|Call the tool|Answer with", words, re.IGNORECASE) is None
    )


def test_the_same_refused_call_again_and_again_ends_the_turn() -> None:
    [turn], endpoint = converse(script(Emitted(calls=[("search_orders", '{"limit": 3}')])))
    assert (turn.status, len(endpoint.asked)) == ("max_steps", 3)
    assert turn.answer.startswith(NOT_RUN + "The model sent the same invalid call of search_orders 3 times: ")


def test_a_turn_ends_after_the_steps_it_may_have() -> None:
    numbers = iter(range(1, 100))
    [turn], endpoint = converse(
        lambda _: Emitted(calls=[("search_orders", json.dumps({"customer": "A", "limit": next(numbers)}))]),
        limits=Limits(max_steps=4),
    )
    assert (turn.status, turn.answer, len(endpoint.asked)) == ("max_steps", "(no answer after 4 steps)", 4)


@pytest.mark.parametrize(
    ("emitted", "status", "words"),
    [
        (Emitted(status=503, body={}), "error", "(no reply) models.test gave no reply in 3 attempts"),
        (Emitted(status=401, body=BAD_KEY), "error", "(no reply) models.test: HTTP 401: bad key [key]"),
        (Emitted(status=400, body=TOO_LONG), "prompt_limit", "(no reply)"),
        (Emitted("cut of", stop="length"), "prompt_limit", "cut of"),
    ],
)
def test_an_endpoint_that_fails_ends_the_turn_and_nothing_raises(
    emitted: Emitted, status: str, words: str
) -> None:
    [turn], _ = converse(script(emitted))
    assert turn.status == status
    assert turn.answer.startswith(words)


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "Failed.", "failed_generation": FAILED_GENERATION}},
        {"error": "error parsing tool call: raw='{\"customer\": ', err=unexpected end of JSON input"},
        {
            "error": {
                "message": "Failed to parse tool call arguments as JSON: [json.exception.parse_error.101]"
            }
        },
    ],
    ids=["groq", "ollama", "llama-server"],
)
def test_a_call_that_the_server_could_not_parse_is_a_step_and_is_compensated(
    body: Any, tmp_path: Path
) -> None:
    [turn], endpoint = converse(
        script(Emitted(status=500, body=body), Emitted(calls=[GOOD]), DONE), log=tmp_path
    )
    assert (turn.status, turn.compensations, len(turn.steps)) == ("ok", 1, 3)
    assert turn.steps[0].fault
    assert (
        endpoint.asked[1]
        .messages[-1]
        .text.startswith("The tool was not run: the server could not read your call")
    )
    events = [event for event in read_log(tmp_path) if "parse_error" in json.dumps(event)]
    assert events


# --- the JSON fallback


def block(name: str, raw: str) -> str:
    return f'```json\n{{"tool": "{name}", "input": {raw}}}\n```'


def test_a_model_without_tools_is_given_the_template_and_its_block_is_a_call() -> None:
    [turn], endpoint = converse(script(Emitted(block(*GOOD)), DONE), capabilities=TEXT_ONLY)
    assert (turn.status, turn.answer, statuses(turn)) == ("ok", "All done.", ["success"])
    assert not endpoint.asked[0].has_tools
    assert "```json" in endpoint.asked[0].system
    assert "search_orders" in endpoint.asked[0].system
    assert endpoint.asked[1].last.text == "[success] search_orders: Acme has 3 orders."
    assert turn.steps[0].strategy == "json_fallback"


def test_the_template_does_not_tell_the_defaults() -> None:
    @tool
    def list_orders(limit: int = 77) -> str:
        """List the orders."""
        return str(limit)

    _, endpoint = converse(script(DONE), tools=[list_orders], capabilities=TEXT_ONLY)
    assert "limit" in endpoint.asked[0].system
    assert "77" not in endpoint.asked[0].system


def test_narration_around_the_block_is_a_finding_and_no_failure() -> None:
    [turn], _ = converse(
        script(Emitted(f"Sure, let me look!\n{block(*GOOD)}\nOne moment."), DONE), capabilities=TEXT_ONLY
    )
    assert (turn.status, statuses(turn), turn.compensations) == ("ok", ["success"], 0)


@pytest.mark.parametrize(
    "text",
    [
        '```json\n{"tool": "search_orders", "input": \n',
        '```json\n["search_orders"\n```',
        "<tool_call>\nsearch",
    ],
)
def test_an_attempt_that_cannot_be_read_is_told_once_and_never_raises(text: str, tmp_path: Path) -> None:
    [turn], endpoint = converse(
        script(Emitted(text), Emitted(block(*GOOD)), DONE), capabilities=TEXT_ONLY, log=tmp_path
    )
    assert (turn.status, statuses(turn)[-1]) == ("ok", "success")
    assert len(endpoint.asked) == 3
    [lost], _ = converse(script(Emitted("```json\n[1\n```")), capabilities=TEXT_ONLY)
    assert lost.status == "error"
    assert lost.answer == NO_CALL_READ


def test_a_block_that_the_end_cuts_off_is_not_run() -> None:
    cut = '```json\n{"tool": "search_orders", "input": {"customer": "Acme"'
    [turn], _ = converse(script(Emitted(cut), DONE), capabilities=TEXT_ONLY)
    assert "success" not in statuses(turn)


def test_an_answer_that_explains_json_is_an_answer() -> None:
    answer = 'The file holds an object such as `{"a": 1}`, and a list.'
    [turn], _ = converse(script(Emitted(answer)), capabilities=TEXT_ONLY)
    assert (turn.status, turn.answer) == ("ok", answer)


# --- routing


def test_without_tools_no_text_is_a_call_and_nothing_is_probed() -> None:
    example = 'So:\n```json\n{"tool": "search", "input": {"q": 1}}\n```'
    [turn], endpoint = converse(script(Emitted(example)), tools=(), capabilities=None)
    assert (turn.status, turn.answer, len(endpoint.asked)) == ("ok", example, 1)


def probed_brain(request: Asked) -> Emitted:
    """Answer a probe with a tool call, and a user with text."""
    if "Report" in request.user:
        return Emitted(calls=[("report_number", '{"number": 7}')])
    return DONE


def test_what_is_declared_is_never_asked() -> None:
    declared = Capabilities(
        supports_tool_use=True, supports_parallel_tools=False, allows_midturn_system=False
    )
    _, endpoint = converse(script(DONE), capabilities=declared)
    assert len(endpoint.asked) == 1


def test_what_nobody_declared_is_probed_once_before_the_first_turn() -> None:
    turns, endpoint = converse(probed_brain, "a", "b", capabilities=None)
    assert [turn.status for turn in turns] == ["ok", "ok"]
    assert ["Report" in request.user for request in endpoint.asked] == [True] * 4 + [False] * 3


def test_a_server_that_drops_calls_from_streams_does_not_get_the_fallback() -> None:
    def brain(request: Asked) -> Emitted:
        return Emitted("Done.") if request.body.get("stream") else probed_brain(request)

    [turn], endpoint = converse(brain, capabilities=None)
    assert {step.strategy for step in turn.steps} == {"tool_use"}
    assert not endpoint.asked[-1].body.get("stream")


def test_a_server_that_was_not_reached_is_not_a_model_without_tools() -> None:
    [turn], endpoint = converse(script(Emitted(status=503, body={})), capabilities=None)
    assert turn.status == "error"
    assert turn.answer.startswith("(no reply) models.test gave no reply")
    assert all(request.has_tools for request in endpoint.asked)


@pytest.mark.parametrize("status", [429, 503])
def test_the_strategy_of_an_unreached_server_is_logged_as_unknown(
    status: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    converse(script(Emitted(status=status, body={})), capabilities=None, log=tmp_path)
    [log] = tmp_path.iterdir()
    start = json.loads(log.read_text().splitlines()[0])
    assert start["type"] == "session_start"
    assert "strategy" not in start["meta"]
    assert "```json" not in start.get("content", "")
    assert FALLBACK_IS_DEPRECATED not in caplog.text


def test_a_server_that_refuses_tools_after_all_is_asked_by_the_fallback() -> None:
    def brain(request: Asked) -> Emitted:
        if request.has_tools:
            return Emitted(status=400, body={"error": {"message": "m does not support tools"}})
        return Emitted(block(*GOOD)) if request.last.text == "Go." else DONE

    [turn], _ = converse(brain)
    assert (turn.status, statuses(turn), turn.steps[0].strategy) == ("ok", ["success"], "json_fallback")
    [fixed], _ = converse(brain, strategy="tool_use")
    assert fixed.status == "error"


def test_the_prompt_stands_alone_where_the_template_is_switched_off() -> None:
    _, endpoint = converse(script(DONE), prompt=Prompt("You help.", "agent", "12"), adds_template=False)
    assert endpoint.asked[0].system == "You help."
    _, endpoint = converse(script(DONE), prompt="You help.")
    assert endpoint.asked[0].system.startswith("You help.\n\nUse the tools by calling them.")


def test_a_conversation_goes_on_over_turns() -> None:
    turns, endpoint = converse(script(Emitted(calls=[GOOD]), DONE, Emitted("Again.")), "first", "second")
    assert [turn.number for turn in turns] == [1, 2]
    assert [message.role for message in endpoint.asked[2].messages][1:] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
    ]


@pytest.mark.parametrize("wire", WIRES)
def test_a_turn_goes_on_after_a_tools_result(wire: str, tmp_path: Path) -> None:
    past = [
        ChatMessage("user", "What did Acme order?"),
        ChatMessage("assistant", calls=(Call("call_a", *GOOD),)),
        ChatMessage("tool", "Acme has 3 orders.", call_id="call_a", name="search_orders"),
    ]

    endpoint = BrainEndpoint(script(DONE), wire)

    async def go_on() -> Turn:
        async with Gateway(
            endpoint, TOOLS, "m", capabilities=NATIVE, log=tmp_path, session_id="s"
        ) as gateway:
            gateway.history += past
            return await gateway.run(None)

    turn = run(go_on())
    assert (turn.status, turn.answer) == ("ok", "All done.")
    [request] = endpoint.asked
    assert [message.role for message in request.messages if message.role != "system"] == [
        "user",
        "assistant",
        "tool",
    ]
    assert "Acme has 3 orders." in request.last.text
    events = read_log(tmp_path)
    assert [event["type"] for event in events] == [
        "session_start", "turn_start", "assistant", "final", "turn_end", "session_end",
    ]  # fmt: skip
    assert events[1]["content"] == "What did Acme order?"


# --- the log


def read_log(folder: Path) -> list[dict[str, Any]]:
    [path] = folder.glob("*.jsonl")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_every_event_of_a_turn_is_logged_in_order(tmp_path: Path) -> None:
    broken = Emitted("Hm.", [GOOD, ("search_orders", "我想")])
    converse(
        script(broken, DONE), log=tmp_path, prompt=Prompt("You help.", "agent", "12"), meta={"task": "t1"}
    )
    events = read_log(tmp_path)
    assert [event["type"] for event in events] == [
        "session_start", "turn_start", "assistant", "action", "observation", "observation", "assistant",
        "final", "turn_end", "session_end",
    ]  # fmt: skip
    start = events[0]["meta"]
    assert start["prompt"] == {"name": "agent", "version": "12"}
    assert start["capabilities"]["supports_tool_use"] == {"value": True, "known_by": "declared"}
    assert (start["task"], start["endpoint"]) == ("t1", {"wire": "openai-chat"})
    assert events[3]["meta"]["toolBlocks"][1]["parse_error"]["mode"] == "tool_use"
    assert events[-2]["meta"]["status"] == "ok"
    assert not any("sk-canary" in line for line in next(tmp_path.glob("*")).read_text().splitlines())


@pytest.mark.parametrize(
    ("declared", "server", "writer"),
    [(None, None, "unknown"), (True, None, "model"), (False, None, "server"), (None, "ollama", "server")],
)
def test_the_log_says_who_wrote_the_arguments(
    declared: bool | None, server: str | None, writer: str, tmp_path: Path
) -> None:
    capabilities = Capabilities(supports_tool_use=True, keeps_argument_text=declared)
    converse(script(Emitted(calls=[GOOD]), DONE), log=tmp_path, capabilities=capabilities, server=server)
    [action] = [event for event in read_log(tmp_path) if event["type"] == "action"]
    assert action["meta"]["toolBlocks"][0]["raw_is"] == writer


def test_the_text_of_an_answer_is_the_models_own(tmp_path: Path) -> None:
    answer = Emitted(block(*GOOD))
    converse(
        script(answer, DONE),
        log=tmp_path,
        capabilities=Capabilities(supports_tool_use=False),
        server="ollama",
    )
    [action] = [event for event in read_log(tmp_path) if event["type"] == "action"]
    assert action["meta"]["toolBlocks"][0]["raw_is"] == "model"


def test_the_log_has_what_each_reply_and_the_turn_cost_and_who_read_the_calls(tmp_path: Path) -> None:
    def price(tokens: Tokens) -> float:
        return (tokens.read or 0) / 1000

    converse(script(Emitted(calls=[GOOD]), DONE), log=tmp_path, price=price)
    events = read_log(tmp_path)
    replies = [event["meta"] for event in events if event["type"] == "assistant"]
    assert [(meta["cost"], meta["reader"]) for meta in replies] == [(0.05, "server")] * 2
    assert events[-2]["meta"]["cost"] == 0.1


def test_a_turn_with_a_reply_that_has_no_price_has_none(tmp_path: Path) -> None:
    prices = iter([0.05, None])
    converse(script(Emitted(calls=[GOOD]), DONE), log=tmp_path, price=lambda _: next(prices))
    events = read_log(tmp_path)
    assert ["cost" in event["meta"] for event in events if event["type"] == "assistant"] == [True, False]
    assert "cost" not in events[-2]["meta"]


@pytest.mark.parametrize("wire", WIRES)
def test_the_log_says_a_seed_only_where_it_was_sent(wire: str, tmp_path: Path) -> None:
    _, endpoint = converse(
        script(DONE), wire=wire, tools=(), log=tmp_path, sampling={"temperature": 0.5, "seed": 7}
    )
    sent = '"seed": 7' in json.dumps(endpoint.asked[0].body)
    assert sent is (wire in ("openai-chat", "gemini"))
    assert read_log(tmp_path)[0]["meta"]["sampling"] == {"temperature": 0.5} | ({"seed": 7} if sent else {})


def test_who_looks_on_and_fails_does_not_end_the_turn() -> None:
    def fall_over(_step: object) -> None:
        raise ZeroDivisionError

    [turn], _ = converse(script(Emitted(calls=[GOOD]), DONE), watch=fall_over)
    assert (turn.status, len(turn.steps)) == ("ok", 2)


def test_a_server_that_takes_tools_but_not_their_results_is_asked_by_the_fallback(
    caplog: pytest.LogCaptureFixture,
) -> None:
    capabilities = Capabilities(supports_tool_use=True, takes_tool_results=False)
    _, endpoint = converse(script(DONE), capabilities=capabilities)
    assert not endpoint.asked[0].has_tools
    assert "deprecated, for models without tool use only" in caplog.text


def test_a_reply_whose_calls_cannot_be_read_does_not_stop_for_tools(tmp_path: Path) -> None:
    converse(script(Emitted(calls=[("search_orders", "我想")]), Emitted(calls=[GOOD]), DONE), log=tmp_path)
    replies = [event["meta"] for event in read_log(tmp_path) if event["type"] == "assistant"]
    assert [meta["stop_reason"] for meta in replies] == ["end_turn", "tool_use", "end_turn"]


def test_a_log_that_cannot_be_written_breaks_no_conversation(tmp_path: Path) -> None:
    folder = tmp_path / "log"
    folder.mkdir()
    (folder / "s.jsonl").mkdir()
    [turn], _ = converse(script(DONE), log=folder, session_id="s")
    assert turn.status == "ok"


def test_a_log_whose_folder_cannot_be_made_breaks_no_conversation(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    [turn], _ = converse(script(DONE), log=tmp_path / "file")
    assert turn.status == "ok"


def test_a_tool_knows_its_session_and_what_the_program_gave_it() -> None:
    @tool
    def where(context: ToolContext) -> str:
        return f"{context.session_id} {context.turn} {context.step} {context.environment['debug']}"

    [turn], _ = converse(
        script(Emitted(calls=[("where", "{}")]), DONE),
        tools=[where],
        session_id="s7",
        environment={"debug": True},
    )
    assert turn.calls[0].result.text == "s7 1 0 True"


@pytest.mark.parametrize("wire", WIRES)
def test_values_come_in_their_declared_types_on_every_wire(wire: str) -> None:
    values: list[object] = []

    @tool
    def save(flag: bool, note: str, count: int) -> None:
        values.extend((flag, note, count))

    mixed = '{"flag": "true", "note": true, "count": "3"}'
    [turn], _ = converse(script(Emitted(calls=[("save", mixed)]), DONE), wire=wire, tools=[save])
    assert values == [True, "true", 3]
    assert "string_literal_converted_to_boolean" in turn.calls[0].result.text
    assert "non_string_literal_retained" in turn.calls[0].result.text


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize(
    "raw", ["{'customer': 'A', 'id': 100000000000000000000}", '{"customer": "half \\ud83d"}']
)
def test_numbers_and_emoji_that_few_readers_take_break_no_turn(wire: str, raw: str, tmp_path: Path) -> None:
    [turn], endpoint = converse(
        script(Emitted(calls=[("search_orders", raw)]), DONE), wire=wire, log=tmp_path
    )
    assert turn.status in ("ok", "error")
    for request in endpoint.asked:
        VALID[wire](request.body)
    assert read_log(tmp_path)


def test_arguments_that_a_wire_sends_in_pieces_of_objects_are_logged_as_text(tmp_path: Path) -> None:
    call = Call("a", "search_orders", '{"customer":"A"}{"limit":1}', CallSource.RESERIALISED)
    read = read_native_calls(
        Reply("", (call,)), Toolbox(TOOLS).catalog, id_pattern=None, new_id=lambda place: f"n{place}"
    )
    TurnLog(SessionLog(tmp_path / "s.jsonl", "s"), 1, "host", "m", "unknown").write_calls(0, read, "tool_use")
    [block] = read_log(tmp_path)[0]["meta"]["toolBlocks"]
    assert (block["raw"], block["raw_is"]) == (call.raw, "server")


# --- whatever a model sends

_RAW = st.sampled_from(
    ['{"customer": "A"}', "{'customer': 'A'}", '{"customer": ', "", "null", "[1]", "我想", '"{}"']
) | st.text(max_size=12)
_NAMES = st.sampled_from(
    ["search_orders", "get_weather", "nope", "", "search orders!", "functions.get_weather:0"]
)
_IDS = st.sampled_from(["call_a", "call_b", "", "x" * 80])
_REPLIES = st.builds(
    lambda text, calls: Emitted(
        text, [(name, raw) for name, raw, _ in calls], ids=[label for *_, label in calls]
    ),
    st.sampled_from(
        ["", " ", "Hm.", '```json\n{"tool": "get_weather", "input": {"city": "B"}}\n```', "<tool_call>"]
    ),
    st.lists(st.tuples(_NAMES, _RAW, _IDS), max_size=3),
)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("wire", WIRES)
@given(
    replies=st.lists(_REPLIES, min_size=1, max_size=3),
    capabilities=st.sampled_from([NATIVE, SERIAL, TEXT_ONLY]),
)
@settings(max_examples=40)
def test_no_reply_raises_or_loses_a_call_and_the_history_stays_valid(
    wire: str, replies: list[Emitted], capabilities: Capabilities
) -> None:
    [turn], endpoint = converse(script(*replies, DONE), wire=wire, capabilities=capabilities)
    assert turn.status in ("ok", "error", "max_steps", "prompt_limit")
    for request in endpoint.asked:
        VALID[wire](request.body)
    native = [step for step in turn.steps if step.strategy == "tool_use" and step.reply.refused is None]
    assert sum(len(step.calls) for step in native) == sum(len(step.reply.calls) for step in native)


def _check_chat(body: Mapping[str, Any]) -> None:
    open_calls: list[str] = []
    for message in body["messages"]:
        if message["role"] == "tool":
            assert message["tool_call_id"] in open_calls
            open_calls.remove(message["tool_call_id"])
            continue
        assert not open_calls, "every call has its result before anything else is said"
        ids = [call["id"] for call in message.get("tool_calls", ())]
        assert len(set(ids)) == len(ids)
        open_calls = [*ids]
        for call in message.get("tool_calls", ()):
            assert isinstance(json.loads(call["function"]["arguments"]), dict)
            assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", call["function"]["name"])
        assert message["content"] or message.get("tool_calls") or message["role"] == "assistant"
    assert not open_calls


def _check_responses(body: Mapping[str, Any]) -> None:
    calls = [item["call_id"] for item in body["input"] if item.get("type") == "function_call"]
    outputs = [item["call_id"] for item in body["input"] if item.get("type") == "function_call_output"]
    assert sorted(calls) == sorted(outputs)
    for item in body["input"]:
        if item.get("type") == "function_call":
            assert isinstance(json.loads(item["arguments"]), dict)


def _check_anthropic(body: Mapping[str, Any]) -> None:
    roles = [message["role"] for message in body["messages"]]
    assert roles == [("user", "assistant")[place % 2] for place in range(len(roles))]
    call_ids: list[str] = []
    for message in body["messages"]:
        blocks = message["content"]
        assert blocks
        assert all(block["text"].strip() for block in blocks if block["type"] == "text")
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        assert sorted(results) == sorted(call_ids)
        call_ids = [block["id"] for block in blocks if block["type"] == "tool_use"]
        assert all(isinstance(block["input"], dict) for block in blocks if block["type"] == "tool_use")
    assert not call_ids


def _check_gemini(body: Mapping[str, Any]) -> None:
    waiting = 0
    for content in body["contents"]:
        assert content["parts"]
        answers = sum("functionResponse" in part for part in content["parts"])
        assert answers == waiting
        waiting = sum("functionCall" in part for part in content["parts"])
    assert not waiting


VALID: dict[str, Callable[[Mapping[str, Any]], None]] = {
    "openai-chat": _check_chat,
    "openai-responses": _check_responses,
    "anthropic": _check_anthropic,
    "gemini": _check_gemini,
}
