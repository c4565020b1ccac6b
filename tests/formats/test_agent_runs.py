"""Tests logs of agents that have not finished yet."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from ingest.events import Event, LogLine, StepMade, TurnEnded
from ingest.formats import formats, translate_file
from ingest.formats.conversations.agent_session import AgentSession
from ingest.log_format import About, Record

WHERE = LogLine(1, 0)
LATER = LogLine(2, 10)
TS = datetime(2026, 11, 2, tzinfo=UTC)


def talk() -> AgentSession:
    session = AgentSession("s")
    session.ask(WHERE, TS, "Look.")
    list(session.add_step(WHERE, TS, "Done."))
    return session


def ends(session: AgentSession) -> list[TurnEnded]:
    return [event for event in session.close_turn() if isinstance(event, TurnEnded)]


def test_a_stop_is_that_of_the_open_turn() -> None:
    session = talk()
    session.note_stop(LATER, TS, "cancelled", latency_ms=5)
    (end,) = ends(session)
    assert (end.status, end.where, end.answer, end.latency_ms) == ("cancelled", LATER, "Done.", 5)


def test_a_stop_while_a_prompt_waits_is_not_that_of_the_turn_before() -> None:
    session = talk()
    session.ask(LATER, TS, "And now?")
    session.note_stop(LATER, TS, "cancelled")
    (end,) = ends(session)
    assert (end.status, end.where, end.answer) == (None, WHERE, "Done.")


def test_a_stop_without_a_turn_is_passed_over() -> None:
    session = AgentSession("s")
    session.note_stop(WHERE, TS, "cancelled")
    assert ends(session) == []


def swe_agent_replies(*steps: tuple[str, str]) -> list[str | None]:
    """Return the content of the replies in a log whose steps have these responses and actions."""
    trajectory = [{"response": response, "action": action, "observation": ""} for response, action in steps]
    value: dict[str, Any] = {"trajectory": trajectory, "history": [], "info": {"exit_status": "exit_format"}}
    record = Record(WHERE, value, json.dumps(value).encode(), 0)
    events: list[Event] = [
        event
        for event in translate_file(formats()["swe_agent"], [record], About(identity="x"))
        if not hasattr(event, "code")
    ]
    return [event.text for event in events if isinstance(event, StepMade)]


def test_only_the_last_step_that_gives_up_is_the_harnesss() -> None:
    gave_up = "Exit due to repeated format errors"
    assert swe_agent_replies(("Look.", "ls"), (gave_up, "")) == ["Look."]
    assert swe_agent_replies((gave_up, ""), ("Look.", "ls")) == [gave_up, "Look."]
    assert swe_agent_replies(("Look.", "ls"), (gave_up, "exit 1")) == ["Look.", gave_up]
    assert swe_agent_replies(("Look.", "ls"), (f"I say: {gave_up}", "")) == ["Look.", f"I say: {gave_up}"]
