"""Tests recorded requests that repeat the conversation. Each call and each result must count exactly once."""

from __future__ import annotations

import pickle
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.events import (
    ArgsSource,
    CallMade,
    Event,
    Rejected,
    ResultSeen,
    SessionSeen,
    StepMade,
    TurnEnded,
    TurnStarted,
)
from ingest.formats import formats
from ingest.formats.conversations import conversation_matching
from ingest.formats.conversations.exchange_translator import ExchangeTranslator
from ingest.formats.provider_messages.api_detection import make_exchange
from ingest.formats.provider_messages.exchange import parse_instant
from ingest.formats.provider_messages.http_bodies import HttpBody
from ingest.log_format import About, Record
from tests.formats.test_cases import LOGS, case_name, events_of, records_of

TRAFFIC = ("api_response", "api_stream", "claude_trace", "http_cassette", "litellm", "request_log")
Message = dict[str, Any]
_CREATED = 1_794_300_000  # seconds since 1970


def user(words: str) -> Message:
    return {"role": "user", "content": words}


def system(words: str) -> Message:
    return {"role": "system", "content": words}


def model(words: str | None, *calls: tuple[str, str]) -> Message:
    made = [
        {"id": id_, "type": "function", "function": {"name": "ls", "arguments": sent}} for id_, sent in calls
    ]
    return {"role": "assistant", "content": words, **({"tool_calls": made} if made else {})}


def result(id_: str, words: str) -> Message:
    return {"role": "tool", "tool_call_id": id_, "content": words}


def reply(message: Message, id_: str, finish: str | None = None) -> dict[str, Any]:
    finish = finish or ("tool_calls" if "tool_calls" in message else "stop")
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return {"object": "chat.completion", "id": id_, "model": "m", "choices": [choice]}


class Log:
    """Translates requests and responses one after another, and collects their events."""

    def __init__(self) -> None:
        self.traffic = ExchangeTranslator("file")
        self.events: list[Event] = []
        self.replies = 0

    def say(
        self, messages: list[Message], answer: Message | None, id_: str | None = None, **facts: Any
    ) -> None:
        self.replies += 1
        body = (
            reply(answer, id_ or f"chatcmpl-Ab3dEf6hIj9lMn{self.replies:04d}") if answer is not None else {}
        )
        response = HttpBody((body,)) if body else HttpBody()
        exchange = make_exchange(HttpBody(({"model": "m", "messages": messages},)), response, **facts)
        assert exchange is not None
        self.events += self.traffic.take(exchange)

    def end(self) -> Log:
        self.events += self.traffic.finish()
        return self

    def list_events(self, kind: type[Event]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def calls(self) -> list[tuple[str, str | None]]:
        return [(event.session_id[-1], event.tool_call_id) for event in self.list_events(CallMade)]

    @property
    def results(self) -> list[tuple[str, str | None, str | None]]:
        return [
            (event.session_id[-1], event.tool_call_id, event.content)
            for event in self.list_events(ResultSeen)
        ]


C1, C2, C3 = "call_Q8wErTy1uIoPaSdFgHjK0001", "call_Q8wErTy1uIoPaSdFgHjK0002", "call_Q8wErTy1uIoPaSdFgHjK0003"


def test_a_call_counts_once_and_its_result_comes_from_the_next_request() -> None:
    log = Log()
    first = [user("list")]
    second = [*first, model(None, (C1, "{}")), result(C1, "a.txt")]
    log.say(first, model(None, (C1, "{}")))
    log.say(second, model(None, (C2, "{}")))
    log.say([*second, model(None, (C2, "{}")), result(C2, "b.txt")], model("Both."))
    assert log.calls == [("1", C1), ("1", C2)]
    assert log.results == [("1", C1, "a.txt"), ("1", C2, "b.txt")]
    assert [len(log.list_events(kind)) for kind in (TurnStarted, StepMade, TurnEnded)] == [1, 3, 1]


@pytest.mark.parametrize(
    ("logged", "began"),
    [(None, 0), (5, 0), (-5, -5), (9_000, 9_000)],
    ids=["undated", "logged after the reply", "logged before it", "a reply of a constant time"],
)
def test_a_request_is_no_later_than_its_reply(logged: int | None, began: int) -> None:
    log = Log()
    body = {**reply(model("Hello!"), "chatcmpl-Ab3dEf6hIj9lMn0001"), "created": _CREATED}
    ts = None if logged is None else parse_instant(_CREATED + logged)
    exchange = make_exchange(HttpBody(({"model": "m", "messages": [user("hi")]},)), HttpBody((body,)), ts=ts)
    assert exchange is not None
    log.events += log.traffic.take(exchange)
    assert [turn.ts for turn in log.list_events(TurnStarted)] == [parse_instant(_CREATED + began)]


def test_calls_of_a_history_that_nobody_recorded_are_not_counted() -> None:
    log = Log()
    log.say([user("list"), model(None, (C1, "{}")), result(C1, "a.txt")], model("a.txt"))
    assert (log.calls, log.results) == ([], [])
    assert [turn.text for turn in log.list_events(TurnStarted)] == ["list"]


def test_two_users_who_say_the_same_stay_apart() -> None:
    log = Log()
    hello = [user("hi"), model("Hello!")]
    log.say(hello[:1], hello[1])
    log.say(hello[:1], hello[1])
    log.say([*hello, user("list a")], model(None, ("call_1", '{"path": "a"}')))
    log.say([*hello, user("list b")], model(None, ("call_1", '{"path": "b"}')))
    log.say(
        [*hello, user("list b"), model(None, ("call_1", '{"path":"b"}')), result("call_1", "B")], model("B")
    )
    log.say(
        [*hello, user("list a"), model(None, ("call_1", '{"path":"a"}')), result("call_1", "A")], model("A")
    )
    assert log.calls == [("3", "call_1"), ("4", "call_1")]
    assert log.results == [("4", "call_1", "B"), ("3", "call_1", "A")]


def test_an_id_that_comes_again_is_answered_by_its_last_result() -> None:
    log = Log()
    history = [user("list")]
    for path in ("a", "b"):
        log.say(history, model(None, ("call_0", f'{{"path": "{path}"}}')))
        history = [*history, model(None, ("call_0", f'{{"path": "{path}"}}')), result("call_0", path.upper())]
    log.say(history, model("done"))
    assert log.results == [("1", "call_0", "A"), ("1", "call_0", "B")]


@pytest.mark.parametrize(
    "repeated",
    [
        [system("It is 10:01."), user("list"), model(None, (C1, "{}")), result(C1, "a")],
        [system("It is 10:00."), user("list"), model("", (C1, '{"changed": 1}')), result(C1, "a")],
        [system("It is 10:00."), user("[compacted]"), model(None, (C1, "{}")), result(C1, "a")],
    ],
    ids=["dynamic prompt", "arguments written anew", "history replaced"],
)
def test_a_unique_call_id_names_the_conversation_whatever_else_changed(repeated: list[Message]) -> None:
    log = Log()
    log.say([system("It is 10:00."), user("list")], model("I look.", (C1, "{}")))
    log.say(repeated, model("done"))
    assert (log.calls, log.results) == ([("1", C1)], [("1", C1, "a")])


def test_thoughts_and_white_space_that_a_client_takes_out_do_not_part_a_conversation() -> None:
    log = Log()
    log.say([user("hi")], model("<think>hm</think>\n\nHello,\nyou."))
    log.say([user("hi"), model("Hello, you."), user("more")], model("More."))
    assert {event.session_id[-1] for event in log.events} == {"1"}
    assert [turn.text for turn in log.list_events(TurnStarted)] == ["hi", "more"]


def test_results_under_ids_that_the_client_changed_answer_in_order() -> None:
    log = Log()
    log.say([user("list")], model(None, (C1, "{}"), (C2, "{}")))
    shown = [user("list"), model(None, (C1, "{}"), (C2, "{}"))]
    log.say([*shown, result("9chars001", "a"), result("9chars002", "b")], model("done"))
    assert log.results == [("1", C1, "a"), ("1", C2, "b")]


def test_a_request_sent_again_after_an_error_is_no_retry_of_the_model() -> None:
    log = Log()
    log.say([user("list")], None, status=429)
    log.say([user("list")], model(None, (C1, "{}")))
    messages = [user("list"), model(None, (C1, "{}")), result(C1, "a")]
    log.say(messages, None, status=503)
    log.say(messages, model("done"))
    log.end()
    assert [len(log.list_events(kind)) for kind in (TurnStarted, StepMade, CallMade, ResultSeen)] == [
        1,
        2,
        1,
        1,
    ]
    assert [end.status for end in log.list_events(TurnEnded)] == ["stop"]


def test_a_request_that_was_never_answered_ends_its_turn() -> None:
    log = Log()
    log.say([user("list")], None, status=500)
    log.end()
    assert [turn.text for turn in log.list_events(TurnStarted)] == ["list"]
    assert [(end.status, end.answer) for end in log.list_events(TurnEnded)] == [("http_500", "")]


def test_asked_once_more_within_a_conversation_is_another_step_of_its_turn() -> None:
    log = Log()
    messages = [user("list"), model(None, (C1, "{}")), result(C1, "a")]
    log.say(messages[:1], messages[1])
    log.say(messages, model(None, (C2, "{")))
    log.say(messages, model(None, (C3, "{}")))
    log.say([*messages, model(None, (C3, "{}")), result(C3, "c")], model("done"))
    assert log.calls == [("1", C1), ("1", C2), ("1", C3)]
    assert log.results == [("1", C1, "a"), ("1", C3, "c")]
    assert len(log.list_events(TurnStarted)) == 1


def test_a_reply_that_was_dropped_is_followed_by_what_the_user_said_instead() -> None:
    log = Log()
    messages = [user("list"), model(None, (C1, "{}")), result(C1, "a")]
    log.say(messages[:1], messages[1])
    log.say(messages, model(None, (C2, "{")))
    log.say([*messages, user("Your call was no JSON.")], model(None, (C3, "{}")))
    assert {session for session, _ in log.calls} == {"1"}
    assert [turn.text for turn in log.list_events(TurnStarted)] == ["list", "Your call was no JSON."]


def test_the_same_reply_twice_in_a_log_counts_once() -> None:
    log = Log()
    for _ in range(2):
        log.say([user("list")], model(None, (C1, "{}")), id_="chatcmpl-Zz9yXx8wVv7u")
    assert log.calls == [("u", C1)]


def test_a_server_that_gives_every_reply_one_id_loses_none() -> None:
    log = Log()
    for call in (C1, C2):
        log.say([user("list")], model(None, (call, "{}")), id_="chatcmpl-aaaa1111bbbb")
    assert [(call.session_id, call.tool_call_id) for call in log.list_events(CallMade)] == [
        ("chatcmpl-aaaa1111bbbb", C1),
        ("chatcmpl-aaaa1111bbbb/2", C2),
    ]


def test_the_log_s_own_session_holds_conversations_apart() -> None:
    log = Log()
    for session in ("s1", "s2"):
        log.say([user("hi")], model("Hello!"), session=session)
    for session in ("s2", "s1"):
        log.say(
            [user("hi"), model("Hello!"), user("list")], model(None, (C1 + session, "{}")), session=session
        )
    log.say([user("a title, please")], model("Lists"), session="s1")
    assert [(event.session_id, event.tool_call_id) for event in log.list_events(CallMade)] == [
        ("s2", C1 + "s2"),
        ("s1", C1 + "s1"),
    ]
    assert [(event.session_id, event.parent_session_id) for event in log.list_events(SessionSeen)] == [
        ("s1/2", "s1")
    ]


def test_conversations_beyond_the_bound_go_on_as_new_ones_and_tell_what_failed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(conversation_matching, "OPEN", 2)
    log = Log()
    log.say([user("fails")], None, status=500)
    for word in ("a", "b", "c", "d"):
        log.say([user(word)], model(None, (C1 + word, "{}")))
    log.say([user("a"), model(None, (C1 + "a", "{}")), result(C1 + "a", "A")], model("done"))
    assert [end.status for end in log.list_events(TurnEnded)] == ["http_500", "stop"]
    assert log.results == []
    assert len(log.traffic._threads._open) == 2
    assert len(log.traffic._threads._heads) <= 2
    assert len(log.traffic._threads._names) <= 4


@pytest.mark.parametrize(
    "path",
    [path for path in LOGS if path.parent.name in TRAFFIC],
    ids=case_name,
)
def test_a_file_that_grew_goes_on_where_it_stopped(path: Path) -> None:
    name = path.parent.name
    translator = formats()[name].translator(About(path.name, "0" * 16))
    events: list[Event | Rejected] = []
    for record in records_of(path, name):
        if isinstance(record, Record):
            translator = pickle.loads(pickle.dumps(translator))  # noqa: S301  # our own
            events += translator.take(record)
    events += translator.finish()
    translator.close()
    at_once = [event for event in events_of(name, path) if getattr(event, "code", "") != "not_json"]
    assert events == at_once


# --- any number of conversations in any order ----------------------------------------------------------


def make_id(number: int, turn: int) -> str:
    return f"call_Xy7zAb3cDe{number:03d}n{turn:03d}"


@settings(max_examples=150, deadline=None)
@given(
    order=st.lists(st.integers(0, 5), min_size=1, max_size=60),
    same=st.booleans(),
    unique=st.booleans(),
    fails=st.sets(st.integers(0, 59)),
    between=st.integers(0, 7),
)
def test_interleaved_conversations_are_each_told_once(
    order: list[int], same: bool, unique: bool, fails: set[int], between: int
) -> None:
    """Six conversations are mixed in any order. Some start with the same words, and some have the same call
    ids.
    """
    log = Log()
    histories = [[user("list" if same else f"list {number}")] for number in range(6)]
    made: Counter[str] = Counter()
    answered: set[str] = set()
    for position, number in enumerate(order):
        history = histories[number]
        if position in fails:
            log.say(history, None, status=529)
            continue
        answered |= {message["content"] for message in history if message["role"] == "tool"}
        id_ = make_id(number, len(history)) if unique else "call_0"
        sent = f'{{"who": {number}, "turn": {len(history)}}}'
        log.say(history, model(None, (id_, sent)))
        made[sent] += 1
        history += [model(None, (id_, sent)), result(id_, f"of {number} in {len(history)}")]
        if position == between:
            log.traffic = pickle.loads(pickle.dumps(log.traffic))  # noqa: S301  # our own
    whose: dict[str, set[str]] = {}
    for call in log.list_events(CallMade):
        whose.setdefault(call.session_id, set()).add(str(call.raw_arguments).split(",")[0])
    results = [event.content for event in log.list_events(ResultSeen)]
    assert Counter(call.raw_arguments for call in log.list_events(CallMade)) == made
    assert all(len(who) == 1 for who in whose.values())
    assert len(results) == len(set(results))
    assert set(results) <= answered
    if unique:
        assert len(whose) == len({number for position, number in enumerate(order) if position not in fails})
        assert set(results) == answered


def test_a_call_without_a_text_of_its_own_is_not_called_raw() -> None:
    log = Log()
    decoded = model(None, (C1, "{}"))
    decoded["tool_calls"][0]["function"]["arguments"] = {"path": "."}
    log.say([user("list")], decoded)
    assert [call.args_source for call in log.list_events(CallMade)] == [ArgsSource.RESERIALISED]
