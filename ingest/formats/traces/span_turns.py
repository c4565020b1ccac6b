"""Assigns the steps of a session's traces to turns.

A turn begins with a user's message that earlier requests did not contain. A turn also begins with each trace
whose first request ends with a user's message, even a repeated one. If requests were not recorded, each trace
is one turn, and each run of an agent that no other span contains is one turn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b

from ingest.formats.spans.span import UnderstoodSpan
from ingest.formats.traces.span_steps import TracedStep

_OPEN = 2  # number of turns that may continue; `ingest.sessions.session_builder` keeps the same number open


class TurnPlan:
    """Numbers the turns of one session from 1, and assigns steps to the turns."""

    def __init__(self) -> None:
        self._last = 0
        self._steps: dict[int, int] = {}  # turn → the number of its next step
        self._begun_by: dict[bytes, int] = {}  # a user's message → the last turn that it began
        self._times: Counter[bytes] = Counter()  # a user's message → how often one request contained it

    def plan(
        self, steps: Sequence[TracedStep], agents: Sequence[UnderstoodSpan] = ()
    ) -> dict[int, tuple[bool, list[TracedStep]]]:
        """Assign one agent's steps in a trace to turns.

        Return (whether the turn begins in this trace, the turn's steps) for each turn number. `steps` are in
        order. `agents` are the spans of the agent itself.
        """
        roots = {agent.span_id for agent in agents if agent.parent_id is None}
        within: str | None = None
        for old in [turn for turn in self._steps if turn <= self._last - _OPEN]:
            del self._steps[old]
        planned: dict[int, tuple[bool, list[TracedStep]]] = {}
        turn = 0
        for step in steps:
            if step.whole:  # `whole` is False for a second or later reply in the same span.
                if step.span.parent_id in roots and step.span.parent_id != within:
                    turn = 0 if within is not None and not user_texts(step.span) else turn
                    within = step.span.parent_id
                turn = self.find_turn(step.span, before=turn)
            planned.setdefault(turn, (turn not in self._steps, []))[1].append(step)
            self._steps.setdefault(turn, 0)
        return planned

    def begin_turn(self) -> int:
        """Begin a new turn and return its number."""
        self._last += 1
        return self._last

    def next_step(self, turn: int) -> int:
        number = self._steps.get(turn, 0)
        self._steps[turn] = number + 1
        return number

    def find_turn(self, span: UnderstoodSpan, before: int) -> int:
        """Return the number of the turn to which the model call `span` belongs.

        `before` is the turn of the trace's previous step, or 0 for the first step.
        """
        messages = [message for message in span.facts.input or () if message.role != "system"]
        users = user_texts(span)
        if not users:
            answers = any(message.results for message in messages)
            return before or (self._last if answers and self._last in self._steps else self.begin_turn())
        last, times = digest_text(users[-1]), users.count(users[-1])
        is_new_question = not before and messages[-1].role == "user"
        begun = self._begun_by.get(last)
        if is_new_question or times > self._times[last] or begun is None:
            begun = self._begun_by[last] = self.begin_turn()
        elif begun not in self._steps:  # The turn that this message began is closed.
            begun = before or self.begin_turn()
        self._times[last] = max(self._times[last], times)
        return begun


def user_texts(span: UnderstoodSpan) -> list[str]:
    """Return the texts of the user's messages in the request of a model call, in order."""
    return [message.text for message in span.facts.input or () if message.role == "user" and message.text]


def digest_text(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
