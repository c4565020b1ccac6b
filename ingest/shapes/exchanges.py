"""One request to a model and what came back, whatever API they speak: the shapes that the readers of each
API fill and `ingest.shapes.traffic` turns into events; knows no API and no file.

Marks are what tells the parts of a conversation apart in whatever way a client repeats them: a user's
words, the ids of calls (their names and arguments where ids are not unique), the model's words. Results
have none: clients cut and clear them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum
from typing import Any, NamedTuple

import orjson

from ingest.events import ArgsSource, FaultLayer, FlagSource, ResultStatus, Where
from ingest.fields import moment, text
from lenient.calls import leaked_tool_calls

_NOWHERE = Where(1, 0)
_UNIQUE = re.compile(
    r"(?<![A-Za-z0-9])(?=[a-zA-Z]*[0-9])(?=[0-9]*[a-zA-Z])[A-Za-z0-9]{9,}"
    r"|^(?:call|chatcmpl|fc|gen|msg|resp|toolu|tooluse)[-_][A-Za-z0-9]{20,}"
)
_THOUGHTS = (("<think>", "</think>"), ("<thinking>", "</thinking>"))
_CUT = "the reply was cut off at the token limit in the middle of this call"


class Kind(Enum):
    USER = "user"
    MODEL = "model"
    RESULT = "result"


class Item(NamedTuple):
    """One part of a conversation as a request repeats it."""

    kind: Kind
    marks: tuple[str, ...] = ()
    ids: tuple[str | None, ...] = ()  # of the model's calls, or of the call that a result answers
    text: str | None = None  # what the user said
    body: Mapping[str, Any] = {}  # of a result, for `Asked.result`


class Result(NamedTuple):
    """What a request tells of the result of a call; see `ResultSeen`."""

    content: str | None
    tool: str | None = None
    status: ResultStatus = ResultStatus.UNKNOWN
    flag_source: FlagSource = FlagSource.ABSENT
    fault_layer: FaultLayer | None = None


@dataclass(slots=True, kw_only=True)
class Asked:
    """A request. `previous` is the id of the reply that it goes on from, where the API keeps the history."""

    items: list[Item] = field(default_factory=list)
    prompt: str | None = None
    prompt_name: str | None = None
    prompt_version: str | None = None
    tools: list[Mapping[str, Any]] = field(default_factory=list)
    model: str | None = None
    max_tokens: int | None = None
    previous: str | None = None
    result: Callable[[Mapping[str, Any]], Result] = lambda _body: Result(None)


@dataclass(slots=True)
class Call:
    """A call of the model. `arguments` are the fields of `CallMade` that hold them."""

    tool: str | None
    id: str | None
    arguments: dict[str, Any]
    message: str | None = None
    lost: bool = False  # never became a call: cut off, leaked or announced only

    @classmethod
    def of(cls, name: Any, id_: Any, arguments: dict[str, Any], message: str | None = None) -> Call:
        """A call as an API states it."""
        return cls(text(name), text(id_) or None, arguments, message)

    @classmethod
    def announced(cls, words: str | None, reason: str) -> list[Call]:
        """The call that a stop reason speaks of and the reply lacks, unless it stands in the words."""
        if words and leaked_tool_calls(words):
            return []  # ingest.emission finds it there
        return [cls(None, None, {"args_source": ArgsSource.MISSING}, reason, lost=True)]


class End(Enum):
    """Why the model stopped."""

    ANSWER = "answer"
    CALLS = "calls"
    CUT = "cut"
    REFUSED = "refused"
    PAUSED = "paused"
    BROKEN = "broken"  # the log ends before the reply does
    UNKNOWN = "unknown"


_ENDS: Mapping[str, End] = {
    **dict.fromkeys(("stop", "end_turn", "stop_sequence", "complete", "completed", "eos"), End.ANSWER),
    **dict.fromkeys(("tool_calls", "function_call", "tool_use", "tool_call"), End.CALLS),
    **dict.fromkeys(
        ("length", "max_tokens", "model_length", "max_output_tokens", "model_context_window_exceeded"),
        End.CUT,
    ),
    **dict.fromkeys(
        ("refusal", "content_filter", "safety", "recitation", "prohibited_content", "blocklist", "spii"),
        End.REFUSED,
    ),
    **dict.fromkeys(("pause_turn", "compaction"), End.PAUSED),
}


def end_of(word: str | None) -> End:
    """What a finish or stop reason of any API means."""
    return _ENDS.get(word.lower(), End.UNKNOWN) if word else End.UNKNOWN


@dataclass(slots=True, kw_only=True)
class Reply:
    """What the model sent back. `word` is the API's own stop reason."""

    id: str | None = None
    model: str | None = None
    ts: datetime | None = None
    text: str | None = None
    calls: list[Call] = field(default_factory=list)
    word: str | None = None
    end: End = End.UNKNOWN
    input_tokens: int | None = None
    output_tokens: int | None = None
    marks: tuple[str, ...] = ()
    ties: tuple[str, ...] = ()  # ids by which a later reply refers to this one …
    refers: tuple[str, ...] = ()  # … and by which this one refers to an earlier one

    def seal(self, max_tokens: int | None = None) -> Reply:
        """Mark the last call when the reply shows that it is not whole.

        A limit that was reached is the model's fault of emission, a log that stops in the middle of a stream
        is not. Some servers report `tool_calls` at the limit, so the count is compared as well.
        """
        at_limit = self.end is End.CUT or (
            max_tokens is not None and self.output_tokens is not None and self.output_tokens >= max_tokens
        )
        if self.calls and (at_limit or self.end is End.BROKEN):
            last = self.calls[-1]
            if not _is_whole(last.arguments):
                _cut(last, by_limit=at_limit)
        return self


@dataclass(slots=True, kw_only=True)
class Exchange:
    """A request and its replies: none when it failed, several when it asked for several choices.

    `session` is the conversation's id where the log names one; `failure` the word for why there is no reply.
    """

    asked: Asked | None = None
    replies: Sequence[Reply] = ()
    where: Where = _NOWHERE
    ts: datetime | None = None
    provider: str | None = None
    session: str | None = None
    latency_ms: float | None = None
    failure: str | None = None
    harness: str | None = None
    harness_version: str | None = None
    reply_where: Where | None = None  # where the log has the reply elsewhere than the request …
    places: Mapping[str, Where] = field(default_factory=dict)  # … and each call, by its id, elsewhere again


def is_unique(id_: str | None) -> bool:
    """True for an id that nobody gives twice: nine or more letters and digits in a row, or a vendor's form.

    `call_1`, `functions.bash:0` and `get_weather_0` are not; another conversation has the same.
    """
    return id_ is not None and _UNIQUE.search(id_) is not None


def call_mark(tool: Any, id_: Any, arguments: Any) -> str:
    """The mark of a call: its id, with its name and arguments where the id may come again."""
    known = id_ if isinstance(id_, str) else None
    return f"call:{known}" if is_unique(known) else f"call:{known}:{tool}:{_canonical(arguments)}"


def words_mark(words: str | None) -> tuple[str, ...]:
    """The mark of what the model said: clients take thoughts and white space out before they repeat it."""
    kept = (words or "").lstrip()
    for opening, closing in _THOUGHTS:
        if kept.startswith(opening):
            kept = kept.partition(closing)[2]
    kept = " ".join(kept.split())
    return ("said:" + kept,) if kept else ()


def decoded_arguments(arguments: dict[str, Any]) -> dict[str, Any]:
    """Fields of `CallMade` for a text that was not the model's but made from the object it had sent."""
    try:
        value = orjson.loads(arguments.get("raw_arguments") or "")
    except orjson.JSONDecodeError:
        return arguments
    return {"arguments": value, "args_source": ArgsSource.RESERIALISED}


def _canonical(arguments: Any) -> str:
    try:
        value = orjson.loads(arguments) if isinstance(arguments, str) else arguments
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    except (orjson.JSONDecodeError, TypeError):
        return str(arguments)


def _is_whole(arguments: Mapping[str, Any]) -> bool:
    """True when nothing can be missing of the text; what a decoded object lacks, it does not show."""
    raw = arguments.get("raw_arguments")
    if raw is None:
        return False
    try:
        orjson.loads(raw)
    except orjson.JSONDecodeError:
        return False
    return True


def _cut(call: Call, *, by_limit: bool) -> None:
    if by_limit:
        call.lost, call.message = True, call.message or _CUT
        if call.arguments.get("args_source") is ArgsSource.RESERIALISED and not call.arguments.get(
            "arguments"
        ):
            call.arguments = {"args_source": ArgsSource.MISSING}  # an empty object is no text of the model's
    elif call.arguments.get("args_source") is ArgsSource.RAW:
        call.arguments["args_source"] = ArgsSource.TRUNCATED


def instant(value: Any) -> datetime | None:
    """A time as APIs and loggers write it: ISO 8601, an HTTP date, seconds or milliseconds since 1970."""
    if isinstance(value, str):
        return moment(value) or _http_date(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return datetime.fromtimestamp(value / 1000 if value > 1e11 else value, UTC) if value > 1e8 else None
    except (OverflowError, ValueError, OSError):
        return None


def _http_date(value: str) -> datetime | None:
    try:
        read = parsedate_to_datetime(value)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)


def joined(parts: Iterable[str | None]) -> str | None:
    """Texts one below the other; None when there is none."""
    return "\n".join(part for part in parts if part) or None
