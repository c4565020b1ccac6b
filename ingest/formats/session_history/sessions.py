"""The entries of one session in file order in, its events out: facts, turns, and whole steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ingest.events import (
    Event,
    ProbeSeen,
    PromptSeen,
    SessionSeen,
    Strategy,
    ToolsOffered,
    TurnEnded,
    TurnStarted,
)
from ingest.fields import number, table, tables, text, whole
from ingest.formats.session_history.entries import Entry, StepRecords
from ingest.formats.session_history.steps import failed_model_call, step_events
from ingest.formats.session_history.texts import is_failure_text, turn_verdict

_OF_A_STEP = frozenset({"assistant", "action", "observation"})
_STATES_PROMPT = frozenset({"session_start", "turn_start", "assistant"})
_OFFERS_TOOLS = frozenset({"session_start", "turn_start"})


class Session:
    """One session, entry by entry. A step is held until the next one or the end of its turn.

    `held` is the size of the lines that wait here, in bytes.
    """

    def __init__(self, session_id: str) -> None:
        self.held = 0
        self._session_id = session_id
        self._strategy: Strategy | None = None
        self._step: StepRecords | None = None
        self._final: Entry | None = None
        self._turn: int | None = None
        self._probe: tuple[object, ...] | None = None
        self._prompt: tuple[str | None, ...] | None = None

    def take(self, entry: Entry) -> Iterator[Event]:
        """The events that are complete after this entry."""
        if entry.kind in ("session_start", "turn_start"):
            yield from self.finish()
        yield from self._facts(entry)
        if entry.kind == "turn_start":
            self._turn = whole(entry.record.get("turn"))
            yield TurnStarted(**self._at(entry), turn=self._turn, text=text(entry.record.get("content")))
        elif entry.kind in _OF_A_STEP:
            yield from self._to_step(entry)
        elif entry.added.get("parse_error") is not None or self._belongs_to_step(entry):
            yield from self._to_step(entry, opens=self._step is None)
        if entry.kind == "final":
            yield from self._finals(entry)
        elif entry.kind == "turn_end":
            yield from self._close_step()
            yield self._ended(entry)
        elif entry.kind == "session_end":
            yield from self.finish()
            yield SessionSeen(**self._at(entry))

    def finish(self) -> Iterator[Event]:
        """Close the open step, and the turn when the log has its answer but not its end."""
        yield from self._close_step()
        if self._final is not None:
            yield self._ended(self._final)

    # --- facts -------------------------------------------------------------------------------

    def _facts(self, entry: Entry) -> Iterator[Event]:
        meta = entry.meta
        if entry.kind == "session_start":
            self._strategy = entry.strategy
            yield self._session_seen(entry)
        if entry.kind in _OFFERS_TOOLS and (definitions := tables(meta.get("tools"))):
            yield ToolsOffered(**self._at(entry), definitions=tuple(definitions))
        if entry.kind in _STATES_PROMPT:
            yield from self._prompt_seen(entry)
        yield from self._probed(entry)

    def _session_seen(self, entry: Entry) -> SessionSeen:
        provider, model = entry.provider_and_model
        harness = table(entry.meta.get("harness"))
        return SessionSeen(
            **self._at(entry),
            harness=text(harness.get("name")),
            harness_version=text(harness.get("version")),
            parent_session_id=text(entry.meta.get("parent_session_id")),
            user=text(entry.meta.get("user")),
            provider=provider,
            model=model,
        )

    def _prompt_seen(self, entry: Entry) -> Iterator[Event]:
        stated = entry.added.get("prompt")
        prompt = table(stated) if not isinstance(stated, str) else {"text": stated}
        words = text(prompt.get("text"))
        if words is None and entry.kind == "session_start":
            words = text(entry.record.get("content"))
        found = (words, text(prompt.get("name")), _version(prompt.get("version")))
        if any(found) and found != self._prompt:
            self._prompt = found
            yield PromptSeen(**self._at(entry), text=found[0], name=found[1], version=found[2])

    def _probed(self, entry: Entry) -> Iterator[Event]:
        """A probe, once, though a gateway may repeat it on every event that follows."""
        probe = table(entry.added.get("probe"))
        ok = probe.get("ok") if isinstance(probe.get("ok"), bool) else None
        found = (ok, text(probe.get("error")), text(probe.get("model")))
        if not probe or found == self._probe:
            return
        provider, model = entry.provider_and_model
        if text(probe.get("model")) is not None:
            provider, model = text(probe.get("provider")), text(probe.get("model"))
        self._probe = found
        yield ProbeSeen(
            **self._at(entry), ok=ok, error=text(probe.get("error")), provider=provider, model=model
        )

    # --- steps and turns ---------------------------------------------------------------------

    def _to_step(self, entry: Entry, *, opens: bool = False) -> Iterator[Event]:
        number_ = whole(entry.record.get("step"))
        turn = whole(entry.record.get("turn")) or self._turn
        another = self._step is None or (number_ is not None and number_ != self._step.step)
        again = entry.kind == "assistant" and number_ is None
        if opens or another or again:
            yield from self._close_step()
            self._step = StepRecords(self._session_id, turn, number_, self._strategy)
        if self._step is not None:
            self._step.entries.append(entry)
            self.held += entry.size

    def _belongs_to_step(self, entry: Entry) -> bool:
        step = whole(entry.record.get("step"))
        return entry.kind == "final" and self._step is not None and step in (None, self._step.step)

    def _finals(self, entry: Entry) -> Iterator[Event]:
        self._final = entry
        if whole(entry.record.get("step")) is None:
            yield from self._close_step()
            turn = whole(entry.record.get("turn")) or self._turn
            if entry.added.get("parse_error") is None:
                step = StepRecords(self._session_id, turn, None, self._strategy, [entry])
                yield from failed_model_call(step)

    def _close_step(self) -> Iterator[Event]:
        step, self._step = self._step, None
        self.held = len(self._prompt[0] or "") if self._prompt else 0
        if step is not None:
            yield from step_events(step)

    def _ended(self, entry: Entry) -> TurnEnded:
        final, self._final = self._final, None
        status = text(entry.meta.get("status"))
        return TurnEnded(
            **self._at(entry),
            turn=whole(entry.record.get("turn")) or self._turn,
            status=status,
            recorded_ok=turn_verdict(status),
            answer=_answer(final) if final is not None else None,
            latency_ms=number(entry.meta.get("durationMs")),
        )

    def _at(self, entry: Entry) -> dict[str, Any]:
        return {"session_id": self._session_id, "where": entry.where, "ts": entry.ts}


def _answer(final: Entry) -> str | None:
    """The final text, failed calls told as text included; '' where the harness speaks instead."""
    stopped = final.meta.get("rejected") is True or final.meta.get("cancelled") is True
    if stopped or "error_type" in final.meta or is_failure_text(final.content):
        return ""
    return text(final.record.get("content"))


def _version(value: Any) -> str | None:
    """A prompt's version; people write 3 as often as "3"."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else text(value)
