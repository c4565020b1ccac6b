"""Collects what the model and its tools said in a Codex rollout as steps with calls and results.

A step is held until the next one begins, because its tokens are told behind it.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ingest.decoding.fields import read_count
from ingest.events import Event, LogLine, ResultSeen
from ingest.formats.conversations.agent_session import AgentSession

_HELD = 1_000


@dataclass(slots=True)
class _OpenStep:
    """One model call as far as it has come. `ended`: a result or its tokens were seen."""

    where: LogLine
    ts: datetime | None
    texts: list[str] = field(default_factory=list)
    calls: list[dict[str, Any]] = field(default_factory=list)
    results: list[ResultSeen] = field(default_factory=list)
    usage: Mapping[str, Any] = field(default_factory=dict)
    final: bool = False
    ended: bool = False

    @property
    def is_full(self) -> bool:
        """True when more is held than any model call makes: what comes is passed on at once."""
        return len(self.texts) + len(self.calls) + len(self.results) >= _HELD


class StepTracker:
    """The open step of a session; `model` is that of the turn."""

    def __init__(self, dialogue: AgentSession) -> None:
        self.model: str | None = None
        self._dialogue = dialogue
        self._step: _OpenStep | None = None

    @property
    def is_open(self) -> bool:
        return self._step is not None

    def add_text(self, where: LogLine, ts: datetime | None, text: str, *, final: bool) -> Iterator[Event]:
        """Text of the model. `final`: the log marks it as the answer."""
        step = yield from self._enter(where, ts)
        step.texts.append(text)
        step.final = final

    def add_call(self, where: LogLine, ts: datetime | None, call: Mapping[str, Any]) -> Iterator[Event]:
        step = yield from self._enter(where, ts)
        step.calls.append({"where": where, "ts": ts, **call})

    def add_result(self, result: ResultSeen, *, by_provider: bool = False) -> Iterator[Event]:
        """A result; one that the provider's own tool gave does not end the model's message."""
        if self._step is not None and self._step.is_full:
            yield from self.close()
        if self._step is None:
            yield result
        else:
            self._step.results.append(result)
            self._step.ended = not by_provider

    def add_usage(self, usage: Mapping[str, Any]) -> None:
        """The tokens of the open step; told again, they count once."""
        if usage and self._step is not None and not self._step.usage:
            self._step.usage, self._step.ended = usage, True

    def close(self) -> Iterator[Event]:
        step, self._step = self._step, None
        if step is None:
            return
        yield from self._dialogue.add_step(
            step.where,
            step.ts,
            "\n".join(filter(None, step.texts)),
            model=self.model,
            input_tokens=read_count(step.usage.get("input_tokens")),
            output_tokens=read_count(step.usage.get("output_tokens")),
            answers=step.final and not step.calls,
        )
        for call in step.calls:
            yield self._dialogue.add_call(**call)
        yield from step.results

    def _enter(self, where: LogLine, ts: datetime | None) -> Generator[Event, None, _OpenStep]:
        if self._step is not None and (self._step.ended or self._step.is_full):
            yield from self.close()
        if self._step is None:
            self._step = _OpenStep(where, ts)
        return self._step
