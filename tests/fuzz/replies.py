"""Fuzzes the readers of the four APIs with damaged responses, which are made from bytes.

A reader must return a reply or raise one of its two errors, and must do the same when called again. The API
must be able to write the reply into a conversation history.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from callgauge.gateway.apis import WIRES, BrokenReplyError, ErrorInReplyError, Wire
from callgauge.gateway.apis.messages import ChatMessage, ChatRequest, Reply
from callgauge.gateway.read_calls import native_history, read_native_calls
from callgauge.gateway.session_log import TurnLog
from callgauge.gateway.tools.executor import ToolResult
from tests.fuzz.choices import Choices
from tests.fuzz.definitions import CATALOG
from tests.fuzz.texts import corrupted, json_value, raw_arguments
from tests.gateway.served.brain import Emitted
from tests.gateway.served.dressed import DRESSES, read_events

_NAMES = tuple(tool.name for tool in CATALOG)
_FIELDS = (
    "type", "index", "output_index", "choices", "delta", "message", "tool_calls", "function", "arguments",
    "finish_reason", "usage", "item", "response", "output", "error", "content_block", "partial_json",
    "stop_reason", "candidates", "content", "parts", "functionCall", "args", "text", "id", "call_id", "name",
)  # fmt: skip


def replies(data: bytes) -> None:
    """Test one API with the events of a stream, and with the body of a complete response."""
    choices = Choices(data)
    wire = WIRES[choices.one_of(tuple(WIRES))]
    events, body = _answer(choices, wire.name)
    try:
        for reply in (_read(wire, events), _read(wire, body)):
            if reply is not None:
                _check_history(wire, reply)
    except Exception as error:
        error.add_note(f"wire: {wire.name}\nevents: {events!r:.3000}\nbody: {body!r:.2000}")
        raise


def _answer(choices: Choices, wire: str) -> tuple[list[str], bytes]:
    calls = [(choices.one_of((*_NAMES, "", "nope")), _text(choices)) for _ in range(choices.below(3))]
    stop = choices.one_of((None, "length", "refusal"))
    ids = [choices.one_of(("call_a", "call_b", "")) for _ in calls]
    emitted = Emitted(choices.one_of(("", "Hm.", "你好 \ud83d")), calls, stop, ids=ids)
    sent, whole = DRESSES[wire].write("m", emitted)
    events = [event for _, event in sent]
    for _ in range(choices.below(4)):
        _damage(choices, events)
    written = [event if isinstance(event, str) else json.dumps(event) for event in events]
    if choices.below(4) == 1 and written:
        at = choices.below(len(written))
        written[at] = corrupted(choices, written[at])
    _spoil(choices, whole)
    return written, json.dumps(whole).encode()


def _text(choices: Choices) -> str:
    raw = raw_arguments(choices)
    return (raw if isinstance(raw, str) else raw.decode("utf-8", "replace"))[:400]


def _damage(choices: Choices, events: list[Any]) -> None:
    """Remove, repeat or move an event, end the stream early, or corrupt a field."""
    if not events:
        return
    at, how = choices.below(len(events)), choices.below(6)
    if how == 0:
        del events[at]
    elif how == 1:
        events.insert(at, events[at])
    elif how == 2:
        events.insert(choices.below(len(events)), events.pop(at))
    elif how == 3:
        del events[at:]
    else:
        # copied, because several events share the same values
        events[at] = json.loads(json.dumps(events[at]))
        _spoil(choices, events[at])


def _spoil(choices: Choices, value: Any) -> None:
    inner = [value]
    for part in inner:
        children = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
        inner += [child for child in children if isinstance(child, (dict, list))]
    if choices.below(2) == 0:
        return
    part = choices.one_of(inner)
    if isinstance(part, dict):
        part[choices.one_of((*part, *_FIELDS))] = json_value(choices)
    elif isinstance(part, list):
        part.insert(choices.below(len(part) + 1), json_value(choices))


def _read(wire: Wire, answer: Sequence[str] | bytes) -> Reply | None:
    """Return the reply. Return None if the reader rejects the response. Check that a second call gives the
    same.
    """
    answers = [_read_once(wire, answer) for _ in range(2)]
    assert repr(answers[0]) == repr(answers[1]), "the same answer reads alike"
    return answers[0] if isinstance(answers[0], Reply) else None


def _read_once(wire: Wire, answer: Sequence[str] | bytes) -> Reply | str:
    try:
        reply = wire.read_body(answer) if isinstance(answer, bytes) else read_events(wire, answer)
    except (BrokenReplyError, ErrorInReplyError) as refused:
        return f"{type(refused).__name__}: {refused}"
    assert isinstance(reply, Reply)
    return reply


def _check_history(wire: Wire, reply: Reply) -> None:
    read = read_native_calls(reply, CATALOG, id_pattern=None, new_id=lambda place: f"new_{place}")
    assert len(read) == len(reply.calls), "no call is lost"
    ids = [item.call.id for item in read]
    assert len(set(ids)) == len(ids), "no two calls share an id"
    TurnLog(None, 1, "host", "m", "unknown").write_calls(0, read, "tool_use")
    results = [ToolResult("success", "done") for _ in read]
    history = native_history(reply, read, results, is_serial=False)
    for message in history:
        assert all(isinstance(json.loads(call.raw), dict) for call in message.calls), (
            "arguments are an object"
        )
    request = ChatRequest("m", (ChatMessage("user", "Go."), *history), tuple(CATALOG))
    json.dumps(wire.write(request).body)
