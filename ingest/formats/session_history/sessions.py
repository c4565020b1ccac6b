"""The entries of one session in file order in, its events out: facts, turns, and whole steps."""

from __future__ import annotations

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
from ingest.fields import number, table, tables, text
from ingest.formats.session_history.entries import Entry, StepRecords
from ingest.formats.session_history.steps import failed_model_call, step_events
from ingest.formats.session_history.texts import is_failure_text, turn_verdict

_OF_A_STEP = frozenset({"assistant", "action", "observation"})
_BEGINS = frozenset({"session_start", "turn_start"})
_STATES_PROMPT = frozenset({*_BEGINS, "assistant"})


class Session:
    """One session, entry by entry. A step is held until the next one or the end of its turn.

    `held` is the size of the lines that wait here, in bytes.
    """

    def __init__(self, session_id: str) -> None:
        self.held = 0
        self.session_id = session_id
        self._strategy: Strategy | None = None
        self._step: StepRecords | None = None
        self._final: Entry | None = None
        self._turn: int | None = None
        self._probe: tuple[object, ...] | None = None
        self._prompt: tuple[str | None, ...] | None = None

    def take(self, entry: Entry, out: list[Event]) -> None:
        """Add the events that are complete after this entry."""
        kind, added = entry.kind, entry.added
        if kind in _BEGINS:
            self.finish(out)
            self._begun(entry, out)
        if kind in _STATES_PROMPT and ("prompt" in added or kind == "session_start"):
            self._prompt_seen(entry, out)
        if "probe" in added:
            self._probed(entry, out)
        if kind in _OF_A_STEP:
            self._to_step(entry, out)
        elif kind == "turn_start":
            self._turn = entry.turn
            out.append(TurnStarted(**self._at(entry), turn=entry.turn, text=entry.content))
        elif added.get("parse_error") is not None or self._belongs_to_step(entry):
            self._to_step(entry, out, opens=self._step is None)
        if kind == "final":
            self._finals(entry, out)
        elif kind == "turn_end":
            self._close_step(out)
            out.append(self._ended(entry))
        elif kind == "session_end":
            self.finish(out)
            out.append(SessionSeen(**self._at(entry)))

    def finish(self, out: list[Event]) -> None:
        """Close the open step, and the turn when the log has its answer but not its end."""
        self._close_step(out)
        if self._final is not None:
            out.append(self._ended(self._final))

    # --- facts -------------------------------------------------------------------------------

    def _begun(self, entry: Entry, out: list[Event]) -> None:
        if entry.kind == "session_start":
            self._strategy = entry.strategy
            out.append(self._session_seen(entry))
        if definitions := tables(entry.meta.get("tools")):
            out.append(ToolsOffered(**self._at(entry), definitions=tuple(definitions)))

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

    def _prompt_seen(self, entry: Entry, out: list[Event]) -> None:
        stated = entry.added.get("prompt")
        prompt = table(stated) if not isinstance(stated, str) else {"text": stated}
        words = text(prompt.get("text"))
        if words is None and entry.kind == "session_start":
            words = entry.content
        found = (words, text(prompt.get("name")), _version(prompt.get("version")))
        if any(found) and found != self._prompt:
            self._prompt = found
            out.append(PromptSeen(**self._at(entry), text=found[0], name=found[1], version=found[2]))

    def _probed(self, entry: Entry, out: list[Event]) -> None:
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
        seen = ProbeSeen(
            **self._at(entry), ok=ok, error=text(probe.get("error")), provider=provider, model=model
        )
        out.append(seen)

    # --- steps and turns ---------------------------------------------------------------------

    def _to_step(self, entry: Entry, out: list[Event], *, opens: bool = False) -> None:
        step, number_ = self._step, entry.step
        another = step is None or (number_ is not None and number_ != step.step)
        again = number_ is None and entry.kind == "assistant"
        if opens or another or again:
            self._close_step(out)
            step = StepRecords(self.session_id, entry.turn or self._turn, number_, self._strategy)
            self._step = step
        if step is not None:
            step.add(entry)
            self.held += entry.size

    def _belongs_to_step(self, entry: Entry) -> bool:
        step = self._step
        return entry.kind == "final" and step is not None and entry.step in (None, step.step)

    def _finals(self, entry: Entry, out: list[Event]) -> None:
        self._final = entry
        if entry.step is None:
            self._close_step(out)
            if entry.added.get("parse_error") is None:
                step = StepRecords(self.session_id, entry.turn or self._turn, None, self._strategy)
                step.add(entry)
                failed_model_call(step, out)

    def _close_step(self, out: list[Event]) -> None:
        step, self._step = self._step, None
        self.held = len(self._prompt[0] or "") if self._prompt else 0
        if step is not None:
            step_events(step, out)

    def _ended(self, entry: Entry) -> TurnEnded:
        final, self._final = self._final, None
        status = text(entry.meta.get("status"))
        return TurnEnded(
            **self._at(entry),
            turn=entry.turn or self._turn,
            status=status,
            recorded_ok=turn_verdict(status),
            answer=_answer(final) if final is not None else None,
            latency_ms=number(entry.meta.get("durationMs")),
        )

    def _at(self, entry: Entry) -> dict[str, Any]:
        return {"session_id": self.session_id, "where": entry.where, "ts": entry.ts}


def _answer(final: Entry) -> str | None:
    """The final text, failed calls told as text included; '' where the harness speaks instead."""
    stopped = final.meta.get("rejected") is True or final.meta.get("cancelled") is True
    if stopped or "error_type" in final.meta or is_failure_text(final.content or ""):
        return ""
    return final.content


def _version(value: Any) -> str | None:
    """A prompt's version; people write 3 as often as "3"."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else text(value)
