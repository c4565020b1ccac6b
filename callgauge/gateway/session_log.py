"""Write the session log of a conversation, line by line (docs/session-log.md)."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import orjson

from callgauge.gateway.apis.messages import Call, CallSource, Reply, Tokens, describe_parts
from callgauge.gateway.read_calls import ReadCall
from callgauge.gateway.turn import CallResult, Strategy

_LOG = logging.getLogger("callgauge.SessionLog")
_SNIPPET = 100  # most characters of a quoted text


class SessionLog:
    """Appends the events of one session to a file, each immediately. Creates the file's folder.

    If the file cannot be written (disk full), the conversation continues. One warning is logged, and
    `failure` holds the reason.
    """

    def __init__(self, path: str | Path, session_id: str) -> None:
        self.path = Path(path)
        self.session_id = session_id
        self.failure: str | None = None
        self._lock = threading.Lock()

    def write(
        self,
        kind: str,
        *,
        turn: int | None = None,
        step: int | None = None,
        content: str | None = None,
        role: str | None = None,
        **meta: Any,
    ) -> None:
        """Append one event. Fields of `meta` that are None are omitted."""
        event: dict[str, Any] = {"ts": _now(), "sessionId": self.session_id, "type": kind}
        fields = {
            "turn": turn,
            "step": step,
            "role": role,
            "content": content,
            "meta": _drop_unset(meta) or None,
        }
        event |= _drop_unset(fields)
        self.append(event)

    def append(self, event: dict[str, Any]) -> None:
        """Write an event to the end of the file."""
        line = encode_event(event)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self._lock, self.path.open("ab") as file:
                file.write(line)
        except OSError as error:
            if self.failure is None:
                self.failure = f"{self.path}: {error.strerror or error}"
                _LOG.warning("The session is no longer logged: %s", self.failure)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _drop_unset(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def encode_event(event: Mapping[str, Any]) -> bytes:
    """Return an event as a line of JSON."""
    try:
        return orjson.dumps(event, default=str, option=orjson.OPT_APPEND_NEWLINE)
    except (TypeError, ValueError):  # raised for a lone surrogate, or an integer beyond 64 bits
        return orjson.dumps(_make_plain(event), default=str, option=orjson.OPT_APPEND_NEWLINE)


def _make_plain(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, Mapping):
        return {str(_make_plain(str(name))): _make_plain(member) for name, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_make_plain(item) for item in value]
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 63:
        return str(value)
    return value


@dataclass(slots=True)
class TurnLog:
    """Writes the events of one turn, if there is a log.

    `whose_text` says who wrote the arguments of native calls. `price` returns a cost in USD, or None if the
    cost is unknown.
    """

    log: SessionLog | None
    turn: int
    provider: str
    model: str
    whose_text: Literal["model", "server", "unknown"]
    price: Callable[[Tokens], float | None] | None = None
    costs: list[float | None] = field(default_factory=list)  # one cost for each reply
    failed_before: dict[str, str] = field(default_factory=dict)  # tool → id of its last call that failed

    def write_reply(
        self, step: int, reply: Reply, strategy: Strategy, stop_reason: str, **fault: Any
    ) -> None:
        """Write the event `assistant`. `fault` holds further fields for `meta`."""
        counts = {
            "prompt": reply.tokens.read,
            "completion": reply.tokens.written,
            "cached": reply.tokens.cached,
        }
        self.costs.append(self.price(reply.tokens) if self.price is not None else None)
        self._write(
            "assistant",
            step,
            reply.text,
            provider=self.provider,
            model=self.model,
            strategy=strategy,
            stop_reason=stop_reason,
            tokens={name: count for name, count in counts.items() if count is not None} or None,
            latency_ms=round(reply.seconds * 1000, 1),
            resent=reply.resent or None,
            cost=self.costs[-1],
            reader="server" if strategy == "tool_use" else "callgauge",
            **fault,
        )

    def write_calls(self, step: int, calls: Sequence[ReadCall], strategy: Strategy) -> None:
        """Write the event `action` with every tool call, including calls that could not be read."""
        blocks = [self._describe_call(read_call, strategy) for read_call in calls]
        self._write("action", step, None, strategy=strategy, toolBlocks=blocks)

    def _describe_call(self, read_call: ReadCall, strategy: Strategy) -> dict[str, Any]:
        call = read_call.call
        block: dict[str, Any] = {"id": call.id, "name": call.name}
        if call.id_sent:
            block["id_sent"] = call.id_sent
        sent = _read_object(call.raw) if call.source is CallSource.RESERIALISED else None
        if sent is not None:
            block["input"] = sent
        else:
            block |= {"raw": call.raw, "raw_is": self._find_writer(call, strategy)}
        if not read_call.is_readable:
            error = read_call.request.parse_error
            block["parse_error"] = {"mode": strategy, "error": error, "snippet": call.raw[:_SNIPPET]}
        if call.name in self.failed_before:
            block["retry_of"] = self.failed_before[call.name]
        return block

    def _find_writer(self, call: Call, strategy: Strategy) -> str:
        if strategy == "json_fallback":  # The text of the answer contains the call.
            return "model"
        return "server" if call.source is CallSource.RESERIALISED else self.whose_text

    def write_result(self, step: int, done: CallResult) -> None:
        """Write the event `observation` of one tool call."""
        result, call = done.result, done.read.call
        self._write(
            "observation",
            step,
            "\n".join(text for text in (result.text, describe_parts(result.parts)) if text),
            action_id=call.id,
            tool=call.name,
            status=result.status,
            duration_ms=round(result.seconds * 1000, 2) if result.ran else None,
            code=result.code,
            parse_warning=done.read.request.parse_warning,
            simulated=result.metadata.get("simulated"),
        )
        if result.status in ("success", "execution_failed"):
            self.failed_before.pop(call.name, None)
        else:
            self.failed_before[call.name] = call.id

    def write_end(
        self, step: int, answer: str, status: str, seconds: float, compensations: int, **judged: Any
    ) -> None:
        """Write the events `final` and `turn_end`. `judged` holds more `meta` fields for `turn_end`."""
        self._write("final", step, answer)
        known_costs = [cost for cost in self.costs if cost is not None]
        fields = {
            "status": status,
            "durationMs": round(seconds * 1000),
            "compensations": compensations,
            "cost": sum(known_costs) if known_costs and len(known_costs) == len(self.costs) else None,
        }
        self._write("turn_end", None, None, **fields | judged)

    def _write(self, kind: str, step: int | None, content: str | None, **meta: Any) -> None:
        if self.log is not None:
            self.log.write(kind, turn=self.turn, step=step, content=content, **meta)


def _read_object(raw: str) -> dict[str, Any] | None:
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
