"""Assigns the steps of a session's traces to turns.

A turn begins with a user's message that the requests before it had not, and with each trace whose first
request ends in one, however often it has been said before. Where requests were not recorded, a trace is a
turn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b

from ingest.formats.spans.span import UnderstoodSpan
from ingest.formats.traces.span_steps import TracedStep

_OPEN = 2  # turns that may go on: `ingest.sessions.session_builder` keeps as many open


class TurnPlan:
    """The turns of one session, numbered from 1."""

    def __init__(self) -> None:
        self._last = 0
        self._steps: dict[int, int] = {}  # turn → the number of its next step
        self._begun_by: dict[bytes, int] = {}  # a user's message → the last turn it began
        self._times: Counter[bytes] = Counter()  # … and how often it has been seen in one request

    def plan(self, steps: Sequence[TracedStep]) -> dict[int, tuple[bool, list[TracedStep]]]:
        """Return for each turn whether it begins here, and its steps, for one trace's lane in order."""
        for old in [turn for turn in self._steps if turn <= self._last - _OPEN]:
            del self._steps[old]
        planned: dict[int, tuple[bool, list[TracedStep]]] = {}
        turn = 0
        for step in steps:
            if step.whole:  # else a further reply in the same span
                turn = self.find_turn(step.span, before=turn)
            planned.setdefault(turn, (turn not in self._steps, []))[1].append(step)
            self._steps.setdefault(turn, 0)
        return planned

    def begin_turn(self) -> int:
        """Return the number of a further turn."""
        self._last += 1
        return self._last

    def next_step(self, turn: int) -> int:
        number = self._steps.get(turn, 0)
        self._steps[turn] = number + 1
        return number

    def find_turn(self, span: UnderstoodSpan, before: int) -> int:
        """Find a step's turn; `before` is the turn of the trace's step before, 0 for its first."""
        messages = [message for message in span.facts.input or () if message.role != "system"]
        users = user_texts(span)
        if not users:
            answers = any(message.results for message in messages)
            return before or (self._last if answers and self._last in self._steps else self.begin_turn())
        last, times = digest_text(users[-1]), users.count(users[-1])
        asked_now = not before and messages[-1].role == "user"
        begun = self._begun_by.get(last)
        if asked_now or times > self._times[last] or begun is None:
            begun = self._begun_by[last] = self.begin_turn()
        elif begun not in self._steps:  # closed by now
            begun = before or self.begin_turn()
        self._times[last] = max(self._times[last], times)
        return begun


def user_texts(span: UnderstoodSpan) -> list[str]:
    """Return what users said in the request of a model call, the latest last."""
    return [message.text for message in span.facts.input or () if message.role == "user" and message.text]


def digest_text(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
