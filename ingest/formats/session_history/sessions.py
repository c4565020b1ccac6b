"""Translates the entries of one session into events: session facts, turns and complete steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ingest.decoding.fields import read_count, read_number, read_object, read_objects, read_text
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
from ingest.formats.session_history.history_entries import HistoryEntry, StepRecords
from ingest.formats.session_history.history_steps import add_failed_model_call, add_step_events
from ingest.formats.session_history.history_texts import is_failure_text, read_turn_status
from ingest.sessions.stored_text import json_text

_OF_A_STEP = frozenset({"assistant", "action", "observation"})
_BEGINS = frozenset({"session_start", "turn_start"})
_STATES_PROMPT = frozenset({*_BEGINS, "assistant"})

_NAMELESS_RUN = "unknown"  # name of the run when the log names only the variant of a trial


class HistorySession:
    """The state of one session. Entries must arrive in order.

    A step waits until the next step begins or the turn ends. `weight` is the size of the waiting lines in
    bytes.
    """

    def __init__(self, session_id: str) -> None:
        self.weight = 0
        self.session_id = session_id
        self._strategy: Strategy | None = None
        self._step: StepRecords | None = None
        self._final: HistoryEntry | None = None
        self._turn: int | None = None
        self._probe: tuple[object, ...] | None = None
        self._prompt: tuple[str | None, ...] | None = None
        self._costs: list[float | None] = []  # the cost of each reply in the turn

    def take(self, entry: HistoryEntry, out: list[Event]) -> None:
        """Append to `out` the events that are complete after this entry."""
        kind, added = entry.kind, entry.added
        if kind in _OF_A_STEP and "probe" not in added and "prompt" not in added:  # most entries
            step = self._step
            if kind == "assistant" or step is None or entry.step != step.step:
                self._add_to_step(entry, out)
            else:
                step.add(entry)
                self.weight += entry.size
            return
        if kind in _BEGINS:
            self.finish(out)
            self._take_begin(entry, out)
        if kind in _STATES_PROMPT and ("prompt" in added or kind == "session_start"):
            self._take_prompt_text(entry, out)
        if "probe" in added:
            self._take_probe(entry, out)
        if kind in _OF_A_STEP:
            self._add_to_step(entry, out)
        elif kind == "turn_start":
            self._turn, self._costs = entry.turn, []
            out.append(TurnStarted(**self._event_place(entry), turn=entry.turn, text=entry.content))
        elif added.get("parse_error") is not None or self._belongs_to_step(entry):
            self._add_to_step(entry, out, opens=self._step is None)
        if kind == "final":
            self._take_final(entry, out)
        elif kind == "turn_end":
            self._close_step(out)
            out.append(self._make_end(entry))
        elif kind == "session_end":
            self.finish(out)
            out.append(SessionSeen(**self._event_place(entry)))

    def finish(self, out: list[Event]) -> None:
        """Close the open step.

        If the log has the turn's answer but not the turn's end, close the turn, too.
        """
        self._close_step(out)
        if self._final is not None:
            out.append(self._make_end(self._final))

    # --- facts -------------------------------------------------------------------------------

    def _take_begin(self, entry: HistoryEntry, out: list[Event]) -> None:
        if entry.kind == "session_start":
            self._strategy = entry.strategy
            out.append(self._make_session_facts(entry))
        if definitions := read_objects(entry.meta.get("tools")):
            out.append(ToolsOffered(**self._event_place(entry), definitions=tuple(definitions)))

    def _make_session_facts(self, entry: HistoryEntry) -> SessionSeen:
        provider, model = entry.provider_and_model
        harness, trial = read_object(entry.meta.get("harness")), read_object(entry.meta.get("trial"))
        return SessionSeen(
            **self._event_place(entry),
            harness=read_text(harness.get("name")),
            harness_version=read_text(harness.get("version")),
            parent_session_id=read_text(entry.meta.get("parent_session_id")),
            user=read_text(entry.meta.get("user")),
            task=read_text(entry.meta.get("task")),
            run=read_text(trial.get("run")),
            trial_run=read_text(trial.get("run")) or (_NAMELESS_RUN if trial.get("arm") else None),
            arm=read_text(trial.get("arm")),
            repeat_no=_number_or_text(trial.get("repeat")),
            capabilities=_object_text(entry.meta.get("capabilities")),
            sampling=_object_text(entry.meta.get("sampling")),
            project=read_text(entry.meta.get("project")),
            branch=read_text(entry.meta.get("branch")),
            sub_agent=read_text(entry.meta.get("sub_agent")),
            environment=read_text(entry.meta.get("environment")),
            provider=provider,
            model=model,
        )

    def _take_prompt_text(self, entry: HistoryEntry, out: list[Event]) -> None:
        stated = entry.added.get("prompt")
        prompt = read_object(stated) if not isinstance(stated, str) else {"text": stated}
        words = read_text(prompt.get("text"))
        if words is None and entry.kind == "session_start":
            words = entry.content
        prompt_facts = (words, read_text(prompt.get("name")), _number_or_text(prompt.get("version")))
        if any(prompt_facts) and prompt_facts != self._prompt:
            self._prompt = prompt_facts
            out.append(
                PromptSeen(
                    **self._event_place(entry),
                    text=prompt_facts[0],
                    name=prompt_facts[1],
                    version=prompt_facts[2],
                )
            )

    def _take_probe(self, entry: HistoryEntry, out: list[Event]) -> None:
        """Append to `out` the result of a probe: a gateway's trial request for native tool use.

        A repeated probe adds nothing.
        """
        probe = read_object(entry.added.get("probe"))
        ok = probe.get("ok") if isinstance(probe.get("ok"), bool) else None
        probe_id = read_text(probe.get("id"))
        probe_facts = (probe_id, ok, read_text(probe.get("error")), read_text(probe.get("model")))
        if not probe or probe_facts == self._probe:
            return
        provider, model = entry.provider_and_model
        if read_text(probe.get("model")) is not None:
            provider, model = read_text(probe.get("provider")), read_text(probe.get("model"))
        self._probe = probe_facts
        probe_event = ProbeSeen(
            **self._event_place(entry),
            ok=ok,
            probe_id=probe_id,
            error=read_text(probe.get("error")),
            provider=provider,
            model=model,
        )
        out.append(probe_event)

    # --- steps and turns ---------------------------------------------------------------------

    def _add_to_step(self, entry: HistoryEntry, out: list[Event], *, opens: bool = False) -> None:
        step, number_ = self._step, entry.step
        another = step is None or (number_ is not None and number_ != step.step)
        again = number_ is None and entry.kind == "assistant"
        if entry.kind == "assistant":
            self._costs.append(read_number(entry.meta.get("cost")))
        if opens or another or again:
            self._close_step(out)
            step = StepRecords(self.session_id, entry.turn or self._turn, number_, self._strategy)
            self._step = step
        if step is not None:
            step.add(entry)
            self.weight += entry.size

    def _belongs_to_step(self, entry: HistoryEntry) -> bool:
        step = self._step
        return entry.kind == "final" and step is not None and entry.step in (None, step.step)

    def _take_final(self, entry: HistoryEntry, out: list[Event]) -> None:
        self._final = entry
        if entry.step is None:
            self._close_step(out)
            if entry.added.get("parse_error") is None:
                step = StepRecords(self.session_id, entry.turn or self._turn, None, self._strategy)
                step.add(entry)
                add_failed_model_call(step, out)

    def _close_step(self, out: list[Event]) -> None:
        step, self._step = self._step, None
        self.weight = len(self._prompt[0] or "") if self._prompt else 0
        if step is not None:
            add_step_events(step, out)

    def _make_end(self, entry: HistoryEntry) -> TurnEnded:
        final, self._final = self._final, None
        status = read_text(entry.meta.get("status"))
        verdict = read_object(entry.meta.get("verdict"))
        is_checked = isinstance(verdict.get("ok"), bool)
        recorded_ok = verdict["ok"] if is_checked else read_turn_status(status)
        return TurnEnded(
            **self._event_place(entry),
            turn=entry.turn or self._turn,
            status=status,
            recorded_ok=recorded_ok,
            answer=_take_answer(final) if final is not None else None,
            latency_ms=read_number(entry.meta.get("durationMs")),
            verdict_reason=_read_reason(verdict) if is_checked else None,
            compensations=read_count(entry.meta.get("compensations")),
            cost=self._read_cost(entry),
        )

    def _read_cost(self, entry: HistoryEntry) -> float | None:
        """Return the cost of a turn that its end states.

        If the end states no cost, return the sum over the replies. The sum needs the cost of every reply.
        """
        total_cost = read_number(entry.meta.get("cost"))
        known_costs = [cost for cost in self._costs if cost is not None]
        if total_cost is not None or not known_costs or len(known_costs) < len(self._costs):
            return total_cost
        return sum(known_costs)

    def _event_place(self, entry: HistoryEntry) -> dict[str, Any]:
        return {"session_id": self.session_id, "where": entry.where, "ts": entry.ts}


def _read_reason(verdict: Mapping[str, Any]) -> str:
    """Return the reason why a check passed or failed. If the log has no reason, return the checker's name."""
    return read_text(verdict.get("why")) or read_text(verdict.get("by")) or "checked"


def _take_answer(final: HistoryEntry) -> str | None:
    """Return the text of a final record. Return an empty string when the model did not write the text."""
    stopped = final.meta.get("rejected") is True or final.meta.get("cancelled") is True
    if stopped or "error_type" in final.meta or is_failure_text(final.content or ""):
        return ""
    return final.content


def _object_text(value: Any) -> str | None:
    """Return a non-empty object as JSON text. Return None for any other value."""
    return json_text(value) if isinstance(value, dict) and value else None


def _number_or_text(value: Any) -> str | None:
    """Return a number or a string, such as a version, as text. Return None for any other value."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else read_text(value)
