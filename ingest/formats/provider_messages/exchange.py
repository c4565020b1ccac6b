"""Data classes for one request to a model and its replies, the same for every API."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum
from typing import Any, NamedTuple

import msgspec
import orjson

from ingest.decoding.fields import read_text, read_time
from ingest.events import ArgsSource, FaultLayer, FlagSource, LogLine, ResultStatus
from lenient.calls import leaked_tool_calls

_NOWHERE = LogLine(1, 0)
_CUT = "the reply was cut off at the token limit in the middle of this call"


class ItemKind(Enum):
    USER = "user"
    MODEL = "model"
    RESULT = "result"


class ConversationItem(NamedTuple):
    """One user message, model message or tool result in the conversation that a request repeats.

    `marks` are strings from `message_hashes` that identify a repeated item.
    """

    kind: ItemKind
    marks: tuple[str, ...] = ()
    ids: tuple[str | None, ...] = ()  # ids of the model's calls, or the id of the call that a result answers
    text: str | None = None  # the text of a user message
    body: Mapping[str, Any] = {}  # the body of a result, which `ModelRequest.result` reads


class RequestResult(NamedTuple):
    """The result of a tool call in a later request. The fields are those of `ResultSeen`."""

    content: str | None
    tool: str | None = None
    status: ResultStatus = ResultStatus.UNKNOWN
    flag_source: FlagSource = FlagSource.ABSENT
    fault_layer: FaultLayer | None = None


def read_no_items(_part: Mapping[str, Any]) -> Iterable[ConversationItem]:
    return ()


class ModelRequest(msgspec.Struct, kw_only=True):
    """A request to a model.

    `previous` is the id of the reply that the request continues, if the provider stores the history. `parts`
    are the messages in the API's format. `read` returns the conversation items of one part. `result` returns
    the `RequestResult` of a result item.
    """

    parts: list[Mapping[str, Any]] = []
    read: Callable[[Mapping[str, Any]], Iterable[ConversationItem]] = read_no_items
    prompt: str | None = None
    prompt_name: str | None = None
    prompt_version: str | None = None
    tools: list[Mapping[str, Any]] = []
    model: str | None = None
    user: str | None = None
    max_tokens: int | None = None
    previous: str | None = None
    result: Callable[[Mapping[str, Any]], RequestResult] = lambda _body: RequestResult(None)

    def read_items(self, start: int = 0) -> list[ConversationItem]:
        """Return the conversation items of the parts from index `start` on."""
        return [item for part in self.parts[start:] for item in self.read(part)]


class ModelCall(msgspec.Struct):
    """A tool call in a model's reply.

    `arguments` contains the `CallMade` fields for the call's arguments.
    """

    tool: str | None
    id: str | None
    arguments: dict[str, Any]
    message: str | None = None
    # EMISSION: the text never became a call. SYNTAX: the server could not parse the text.
    refused_at: FaultLayer | None = None

    @classmethod
    def from_api(
        cls, name: Any, id_: Any, arguments: dict[str, Any], message: str | None = None
    ) -> ModelCall:
        """Return a tool call made from an API's fields. A name or id that is not a string becomes None."""
        return cls(read_text(name), read_text(id_) or None, arguments, message)

    @classmethod
    def from_stop_reason(cls, words: str | None, reason: str) -> list[ModelCall]:
        """Return a list with one lost call: the stop reason announces a call, but the reply contains no call.

        `reason` is the message stored with the call. The list is empty when the text `words` contains the
        call, because `ingest.sessions.turns` adds this call.
        """
        if words and leaked_tool_calls(words):
            return []
        return [cls(None, None, {"args_source": ArgsSource.MISSING}, reason, FaultLayer.EMISSION)]


class StopReason(Enum):
    """The reason why a model stopped. The values are the same for every API."""

    ANSWER = "answer"
    CALLS = "calls"
    CUT = "cut"
    REFUSED = "refused"
    PAUSED = "paused"
    BROKEN = "broken"  # the log ends before the end of the reply
    UNKNOWN = "unknown"


_ENDS: Mapping[str, StopReason] = {
    **dict.fromkeys(("stop", "end_turn", "stop_sequence", "complete", "completed", "eos"), StopReason.ANSWER),
    **dict.fromkeys(("tool_calls", "function_call", "tool_use", "tool_call"), StopReason.CALLS),
    **dict.fromkeys(
        ("length", "max_tokens", "model_length", "max_output_tokens", "model_context_window_exceeded"),
        StopReason.CUT,
    ),
    **dict.fromkeys(
        (
            "refusal",
            "content_filter",
            "safety",
            "recitation",
            "prohibited_content",
            "blocklist",
            "spii",
            "content_filtered",
            "guardrail_intervened",
        ),
        StopReason.REFUSED,
    ),
    **dict.fromkeys(("pause_turn", "compaction"), StopReason.PAUSED),
}


def read_stop_reason(word: str | None) -> StopReason:
    """Return the `StopReason` for an API's stop reason. Return UNKNOWN for None and for unknown values."""
    return _ENDS.get(word.lower(), StopReason.UNKNOWN) if word else StopReason.UNKNOWN


class ModelReply(msgspec.Struct, kw_only=True):
    """One reply of a model.

    `word` is the API's own stop reason. `end` is the same reason as a `StopReason`.
    """

    id: str | None = None
    model: str | None = None
    ts: datetime | None = None
    text: str | None = None
    calls: list[ModelCall] = []
    word: str | None = None
    end: StopReason = StopReason.UNKNOWN
    input_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    output_tokens: int | None = None
    marks: tuple[str, ...] = ()
    ties: tuple[str, ...] = ()  # ids in this reply that a later reply may refer to
    refers: tuple[str, ...] = ()  # ids of an earlier reply that this reply refers to
    prescribed: bool = False  # The prompt asks for calls as text, and `calls` was read from the text.

    def seal(self, max_tokens: int | None = None) -> ModelReply:
        """Mark incomplete tool calls and return the reply.

        A call that was cut off at the token limit is marked as lost, which counts as the model's fault. A
        call is marked as truncated, which does not count, if the log stops in the middle of a stream. The
        limit is also reached when the output tokens reach `max_tokens`.
        """
        at_limit = self.end is StopReason.CUT or (
            max_tokens is not None and self.output_tokens is not None and self.output_tokens >= max_tokens
        )
        if self.calls and (at_limit or self.end is StopReason.BROKEN):
            # Earlier calls may be cut off, too, if the pieces of several calls alternate.
            for call in self.calls[:-1]:
                if _ends_early(call.arguments):
                    mark_cut(call, by_limit=at_limit)
            last = self.calls[-1]
            if not _is_whole(last.arguments):
                mark_cut(last, by_limit=at_limit)
        return self


class Exchange(msgspec.Struct, kw_only=True):
    """A request and its replies.

    A request for several choices has several replies. `session` is the conversation's id, if the log contains
    one. `failure` is the reason why a request has no reply.
    """

    request: ModelRequest | None = None
    replies: Sequence[ModelReply] = ()
    where: LogLine = _NOWHERE
    ts: datetime | None = None
    provider: str | None = None
    session: str | None = None
    latency_ms: float | None = None
    failure: str | None = None
    harness: str | None = None
    harness_version: str | None = None
    task: str | None = None
    # the reply's line, if it is not the request's line
    reply_where: LogLine | None = None
    # call id → the call's line, if it is not the reply's line
    places: Mapping[str, LogLine] = {}


def decoded_argument_fields(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the `CallMade` fields with decoded arguments instead of raw arguments.

    Call this when a program wrote the argument text from a decoded object. Fields are returned unchanged if
    their raw arguments are not JSON.
    """
    try:
        value = orjson.loads(arguments.get("raw_arguments") or "")
    except orjson.JSONDecodeError:
        return arguments
    return {"arguments": value, "args_source": ArgsSource.RESERIALISED}


def _is_whole(arguments: Mapping[str, Any]) -> bool:
    """Return True when the raw arguments are complete JSON.

    Return False for decoded arguments, because something may be missing from them.
    """
    raw = arguments.get("raw_arguments")
    if raw is None:
        return False
    try:
        orjson.loads(raw)
    except orjson.JSONDecodeError:
        return False
    return True


def _ends_early(arguments: Mapping[str, Any]) -> bool:
    """Return True when the raw arguments are the beginning of valid JSON, but incomplete."""
    raw = arguments.get("raw_arguments")
    if not raw:  # There are no arguments, or only a decoded object.
        return False
    try:
        msgspec.json.decode(raw)
    except msgspec.DecodeError as problem:
        return "truncated" in str(problem)
    except UnicodeError:
        return False
    return False


def mark_cut(call: ModelCall, *, by_limit: bool) -> None:
    if by_limit:
        call.refused_at, call.message = call.refused_at or FaultLayer.EMISSION, call.message or _CUT
        if call.arguments.get("args_source") is ArgsSource.RESERIALISED and not call.arguments.get(
            "arguments"
        ):
            call.arguments = {"args_source": ArgsSource.MISSING}  # An empty object is not the model's text.
    elif call.arguments.get("args_source") is ArgsSource.RAW:
        call.arguments["args_source"] = ArgsSource.TRUNCATED


def parse_instant(value: Any) -> datetime | None:
    """Return a time from an API or a logger as a datetime. Return None when the value is not a time.

    The value may be ISO 8601 text, an HTTP date, or seconds or milliseconds since 1970.
    """
    if isinstance(value, str):
        return read_time(value) or parse_http_date(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return datetime.fromtimestamp(value / 1000 if value > 1e11 else value, UTC) if value > 1e8 else None
    except (OverflowError, ValueError, OSError):
        return None


def parse_http_date(value: str) -> datetime | None:
    try:
        read = parsedate_to_datetime(value)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)


def join_texts(parts: Iterable[str | None]) -> str | None:
    """Join the non-empty texts with newlines. Return None when all texts are empty."""
    return "\n".join(part for part in parts if part) or None
