"""The entries of one pi session in file order in, turns, steps, calls and results out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from ingest.events import ArgsSource, Event, FaultLayer, ResultSeen, Seen, SessionSeen, Where
from ingest.fields import epoch_ms, moment, table, tables, text, whole
from ingest.records import Record
from ingest.shapes.chat import Flag, content_text
from ingest.shapes.dialogue import CANCELLED, ERROR, Dialogue, decoded, native
from ingest.shapes.verdicts import PASSED, Texts, failed, layer_in

_CUT_OFF = frozenset({"aborted", "error"})
_TEXTS: Texts = (
    (FaultLayer.SCHEMA, re.compile(r'Validation failed for tool "|Tool \S{1,200} not found\s*\Z')),
    (
        FaultLayer.TOOL_REJECTED,
        re.compile(
            r"Could not find (?:the exact text|edits\[\d+\]) in |Found \d+ occurrences of "
            r"|No changes made to |(?:File|Path) not found: |Offset \d+ is beyond end of file"
        ),
    ),
    (FaultLayer.REFUSED, re.compile(r"(?:Operation|Command) aborted|Skipped due to queued user message")),
)
_TAIL = 200  # characters at the end of a result in which a command is said to be aborted
_ABORTED = re.compile(r"(?:^|\n)Command aborted\s*\Z")  # below what the command had printed


class Session:
    """One file: one session."""

    def __init__(self, identity: str) -> None:
        self._dialogue = Dialogue(identity)
        self._where = Where(1, 0)
        self._ts: datetime | None = None
        self._harness = "pi"

    def take(self, record: Record) -> Iterable[Event]:
        entry = record.value
        rule = _RULES.get(text(entry.get("type")) or "")
        if rule is None:
            return ()
        self._where, self._ts = record.where, moment(entry.get("timestamp"))
        return rule(self, entry)

    def finish(self) -> Iterator[Event]:
        return self._dialogue.end()

    def close(self) -> None:
        """Nothing is kept outside of memory."""

    def _session(self, entry: Mapping[str, Any]) -> Iterator[Event]:
        self._dialogue.session_id = text(entry.get("id")) or self._dialogue.session_id
        yield SessionSeen(
            **self._here,
            harness=self._harness,
            provider=text(entry.get("provider")),
            model=text(entry.get("modelId")),
        )

    def _model_change(self, entry: Mapping[str, Any]) -> Iterator[Event]:
        provider, model = text(entry.get("provider")), text(entry.get("modelId"))
        yield SessionSeen(**self._here, provider=provider, model=model)

    def _custom(self, entry: Mapping[str, Any]) -> Iterator[Event]:
        if self._harness == "pi" and (text(entry.get("customType")) or "").startswith("openclaw"):
            self._harness = "openclaw"
            yield SessionSeen(**self._here, harness=self._harness)

    def _message(self, entry: Mapping[str, Any]) -> Iterable[Event]:
        message = table(entry.get("message"))
        self._ts = epoch_ms(message.get("timestamp")) or self._ts
        role = message.get("role")
        if role == "assistant":
            return self._assistant(message)
        if role == "toolResult":
            return (self._result(message),)
        if role == "user":
            said = content_text(message.get("content"))
            self._dialogue.ask(self._where, self._ts, said, _key(entry, message))
        return ()

    def _assistant(self, message: Mapping[str, Any]) -> Iterator[Event]:
        stop, blocks = text(message.get("stopReason")), tables(message.get("content"))
        usage = {} if stop in _CUT_OFF else table(message.get("usage"))
        words = [text(block.get("text")) or "" for block in blocks if block.get("type") == "text"]
        yield from self._dialogue.step(
            self._where,
            self._ts,
            "\n".join(words),
            provider=text(message.get("provider")),
            model=text(message.get("model")),
            input_tokens=_input_tokens(usage),
            output_tokens=whole(usage.get("output")) or None,
            answers=stop == "stop",
        )
        for block in blocks:
            if block.get("type") == "toolCall":
                yield self._dialogue.call(self._where, self._ts, **_call(block, stop))
        if stop == "aborted":
            self._dialogue.stopped(self._where, self._ts, CANCELLED)
        elif stop == "error":
            self._dialogue.stopped(self._where, self._ts, ERROR, ok=False)
        elif stop not in (None, "toolUse"):
            self._dialogue.stopped(self._where, self._ts, stop)

    def _result(self, message: Mapping[str, Any]) -> ResultSeen:
        content = content_text(message.get("content"))
        flag = _flag(message.get("isError"), content or "")
        return ResultSeen(
            **self._here,
            tool_call_id=text(message.get("toolCallId")),
            tool=text(message.get("toolName")),
            content=content,
            **flag.fields,
        )

    @property
    def _here(self) -> dict[str, Any]:
        return {"session_id": self._dialogue.session_id, "where": self._where, "ts": self._ts}


def _call(block: Mapping[str, Any], stop: str | None) -> dict[str, Any]:
    """The fields of a call. Where the message ran into its limit of tokens, the model itself cut it off."""
    call_id, cut = text(block.get("id")), text(block.get("partialJson"))
    sent = decoded(block.get("arguments"))
    if cut is not None:
        sent = {"raw_arguments": cut, "args_source": ArgsSource.TRUNCATED}
    if cut is not None and stop == "length":
        sent["refused_by_harness"] = FaultLayer.EMISSION
        sent["harness_message"] = "the message ran into the limit of tokens within the call"
    return {
        **sent,
        "tool": text(block.get("name")),
        **native(call_id),
        "schema_seen": Seen.FAILURES if cut is None else Seen.NONE,
    }


def _flag(is_error: Any, content: str) -> Flag:
    if is_error is True:
        layer = FaultLayer.REFUSED if _ABORTED.search(content[-_TAIL:]) else layer_in(content, _TEXTS)
        return failed(content, layer or FaultLayer.EXECUTION)
    return PASSED if is_error is False else Flag()


def _input_tokens(usage: Mapping[str, Any]) -> int | None:
    """All tokens the model read, from the cache or not; zeros are no measurement."""
    return sum(whole(usage.get(name)) or 0 for name in ("input", "cacheRead", "cacheWrite")) or None


def _key(entry: Mapping[str, Any], message: Mapping[str, Any]) -> str | None:
    """A prompt in the world: the millisecond in which it was sent, and its entry's short id."""
    sent = whole(message.get("timestamp"))
    return f"{text(entry.get('id')) or ''}:{sent}" if sent is not None else None


_RULES: Mapping[str, Callable[[Session, Mapping[str, Any]], Iterable[Event]]] = {
    "session": Session._session,
    "model_change": Session._model_change,
    "custom": Session._custom,
    "custom_message": Session._custom,
    "message": Session._message,
}
