"""Collects the texts, calls and results of a Codex rollout into steps.

A step is held until the next one begins, because its token counts come after it in the log.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ingest.decoding.fields import count_whole_input, read_count
from ingest.events import Event, LogLine, ResultSeen
from ingest.formats.conversations.agent_session import AgentSession

_HELD = 1_000


@dataclass(slots=True)
class _OpenStep:
    """One model call, as far as its items have been read. `ended`: a result or the token counts were seen."""

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
        """True when more items are held than any model call makes; the next item then closes the step."""
        return len(self.texts) + len(self.calls) + len(self.results) >= _HELD


class StepTracker:
    """Builds the steps of one session. `model` is the model of the current turn."""

    def __init__(self, dialogue: AgentSession) -> None:
        self.model: str | None = None
        self._dialogue = dialogue
        self._step: _OpenStep | None = None

    @property
    def is_open(self) -> bool:
        return self._step is not None

    def add_text(self, where: LogLine, ts: datetime | None, text: str, *, final: bool) -> Iterator[Event]:
        """Add a text of the model to the open step.

        `final`: the log marks the text as the answer of the turn. Yield the events of a step that this ends.
        """
        step = yield from self._enter(where, ts)
        step.texts.append(text)
        step.final = final

    def add_call(self, where: LogLine, ts: datetime | None, call: Mapping[str, Any]) -> Iterator[Event]:
        step = yield from self._enter(where, ts)
        step.calls.append({"where": where, "ts": ts, **call})

    def add_result(self, result: ResultSeen, *, by_provider: bool = False) -> Iterator[Event]:
        """Add a result to the open step; without one, yield the result at once.

        `by_provider`: the provider ran the tool, so the model's message goes on after the result.
        """
        if self._step is not None and self._step.is_full:
            yield from self.close()
        if self._step is None:
            yield result
        else:
            self._step.results.append(result)
            self._step.ended = not by_provider

    def add_usage(self, usage: Mapping[str, Any]) -> None:
        """Set the token counts of the open step. Counts that are repeated for the same step are ignored."""
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
            **count_whole_input(step.usage.get("input_tokens"), step.usage.get("cached_input_tokens")),
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
