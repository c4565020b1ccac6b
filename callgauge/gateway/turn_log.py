"""Writes the steps of a turn into the session log, in the words of docs/session-log.md."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from callgauge.gateway.endpoint import REWRITING_SERVERS
from callgauge.gateway.read_calls import ReadCall
from callgauge.gateway.session_log import SessionLog
from callgauge.gateway.turn import CallResult, Strategy
from callgauge.gateway.wires.messages import CallSource, Reply, Tokens

_SNIPPET = 100  # characters (seed 002)


@dataclass(slots=True)
class TurnLog:
    """The lines of one turn. Without a log nothing is written. `price` is in USD, None where not known."""

    log: SessionLog | None
    turn: int
    provider: str
    model: str
    server: str | None
    price: Callable[[Tokens], float | None] | None = None
    costs: list[float | None] = field(default_factory=list)  # of each reply
    failed_before: dict[str, str] = field(default_factory=dict)  # tool → id of its last call that failed

    def write_reply(
        self, step: int, reply: Reply, strategy: Strategy, stop_reason: str, **fault: Any
    ) -> None:
        """Write the event `assistant`; `fault` are further fields of its meta."""
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
        """Write the event `action` with every call, also those that could not be read."""
        blocks = [self._describe_call(one, strategy) for one in calls]
        self._write("action", step, None, strategy=strategy, toolBlocks=blocks)

    def _describe_call(self, one: ReadCall, strategy: Strategy) -> dict[str, Any]:
        call = one.call
        block: dict[str, Any] = {"id": call.id, "name": call.name}
        if call.id_sent:
            block["id_sent"] = call.id_sent
        is_rewritten = call.source is CallSource.RESERIALISED or self.server in REWRITING_SERVERS
        sent = _read_object(call.raw) if call.source is CallSource.RESERIALISED else None
        if sent is not None:
            block["input"] = sent
        else:
            block |= {"raw": call.raw, "raw_is": "server" if is_rewritten else "model"}
        if not one.is_readable:
            error = one.request.parse_error
            block["parse_error"] = {"mode": strategy, "error": error, "snippet": call.raw[:_SNIPPET]}
        if call.name in self.failed_before:
            block["retry_of"] = self.failed_before[call.name]
        return block

    def write_result(self, step: int, done: CallResult) -> None:
        """Write the event `observation` of one call."""
        result, call = done.result, done.read.call
        self._write(
            "observation",
            step,
            result.text,
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
        """Write the events `final` and `turn_end`; `judged` are further fields of the latter's meta."""
        self._write("final", step, answer)
        known = [cost for cost in self.costs if cost is not None]
        told = {
            "status": status,
            "durationMs": round(seconds * 1000),
            "compensations": compensations,
            "cost": sum(known) if known and len(known) == len(self.costs) else None,
        }
        self._write("turn_end", None, None, **told | judged)

    def _write(self, kind: str, step: int | None, content: str | None, **meta: Any) -> None:
        if self.log is not None:
            self.log.write(kind, turn=self.turn, step=step, content=content, **meta)


def _read_object(raw: str) -> dict[str, Any] | None:
    """Return the object that a wire sent, None where it sent something else."""
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
