"""Tests that a session gives the same events whether or not the file has many other open sessions."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ingest.events import CallMade, Event, Rejected, StepMade, Strategy, TurnEnded
from ingest.formats import formats, translate_file
from ingest.log_format import About, Record
from ingest.sessions import open_sessions
from ingest.sessions.open_sessions import OpenSessions
from tests.formats.test_cases import LOGS, SAMPLES, case_name, plain, record_of, records_of

# In these formats, one file may contain the mixed records of many sessions.
OF_MANY_SESSIONS = ("claude_code", "session_history")


def round_robin(name: str, sessions: int, records: list[dict[str, Any]]) -> Iterator[Record | Rejected]:
    """Yield the first record for every session, then the second record for every session, and so on."""
    number = 0
    for record in records:
        for session in range(sessions):
            number += 1
            yield record_of(name, {**record, "sessionId": f"s{session}"}, number)


def translate(name: str, records: Iterable[Record | Rejected]) -> Iterator[Event | Rejected]:
    return translate_file(formats()[name], records, About())


def history(kind: str, step: int | None = None, content: str = "", **meta: Any) -> dict[str, Any]:
    shared = {"ts": "2026-11-09T08:15:00Z", "type": kind, "content": content, "meta": meta}
    return shared if kind == "session_start" else {**shared, "turn": 1, "step": step}


TWO_STEPS = [
    history("session_start", strategy="json_fallback"),
    history("turn_start"),
    history("assistant", 0, "I look.", tokens={"prompt": 5, "completion": 1}),
    history("action", 0, toolBlocks=[{"id": "c1", "name": "ls", "raw": "{}"}]),
    history("observation", 0, "a.txt", action_id="c1", status="success"),
    history("assistant", 1, "Done.", tokens={"prompt": 5, "completion": 1}),
    history("final", 1, "Done."),
    history("turn_end", status="ok"),
]


def of_session(events: list[Event | Rejected], session_id: str) -> list[dict[str, Any]]:
    return [
        {**plain(event), "line": 0}
        for event in events
        if isinstance(event, Event) and event.session_id == session_id
    ]


def test_three_hundred_sessions_side_by_side_lose_nothing() -> None:
    events = list(translate("session_history", round_robin("session_history", 300, TWO_STEPS)))
    calls = [event for event in events if isinstance(event, CallMade)]
    steps = [event for event in events if isinstance(event, StepMade)]
    ends = [event for event in events if isinstance(event, TurnEnded)]
    assert {call.strategy for call in calls} == {Strategy.JSON_FALLBACK}
    assert {step.input_tokens for step in steps} == {5}
    assert {end.answer for end in ends} == {"Done."}
    assert (len(calls), len(steps), len(ends)) == (300, 600, 300)


@pytest.mark.parametrize("name", OF_MANY_SESSIONS)
def test_a_session_gives_the_same_events_alone_and_among_hundreds(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = next(
        path for path in LOGS if path.stem in ("interruptions", "published_form") and name in path.parts
    )
    records = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    alone = list(translate(name, round_robin(name, 1, records)))
    monkeypatch.setattr(open_sessions, "MEMORY", 20_000)
    among = list(translate(name, round_robin(name, 300, records)))
    for session in ("s0", "s123", "s299"):
        expected = [{**event, "session_id": session} for event in of_session(alone, "s0")]
        assert of_session(among, session) == expected


@pytest.mark.parametrize(
    "path",
    [path for path in (*LOGS, *SAMPLES) if set(OF_MANY_SESSIONS) & set(path.parts)],
    ids=case_name,
)
def test_a_session_in_the_temporary_file_goes_on_as_if_it_had_stayed_in_memory(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = next(name for name in OF_MANY_SESSIONS if name in path.parts)
    in_memory = list(translate(name, records_of(path, name)))
    monkeypatch.setattr(open_sessions, "MEMORY", 0)
    assert list(translate(name, records_of(path, name))) == in_memory


def test_texts_that_wait_are_not_held_in_memory() -> None:
    records = [history("turn_start"), history("assistant", 0, "x" * 1_000_000)]
    tracemalloc.start()
    try:
        count = sum(
            isinstance(event, StepMade)
            for event in translate("session_history", round_robin("session_history", 200, records))
        )
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert count == 200
    assert peak < 100_000_000


class Counted:
    """A session that counts its records. With a large `depth`, it is nested too deeply to be packed."""

    def __init__(self, depth: int = 0) -> None:
        self.weight = 1_000_000_000
        self.records = 0
        self.inside: list[Any] = []
        for _ in range(depth):
            self.inside = [self.inside]


def test_sessions_end_in_the_order_in_which_they_fell_silent() -> None:
    with OpenSessions[Counted]() as sessions:
        for key in ("a", "b", "\ud83d", "a", "c", "b"):
            sessions.open(key, Counted).records += 1
            sessions.spill(key)
        assert ["b" in sessions, "d" in sessions] == [True, False]
        gone = sessions.pop("c")
        assert gone is not None
        assert gone.records == 1
        assert sessions.pop("c") is None
        assert [session.records for session in sessions.drain()] == [1, 2, 2]
        assert list(sessions.drain()) == []


def test_a_session_nested_too_deep_for_the_file_stays_in_memory() -> None:
    with OpenSessions[Counted]() as sessions:
        sessions.open("deep", lambda: Counted(100_000)).records = 7
        sessions.spill("deep")
        for key in ("a", "b"):
            sessions.open(key, Counted)
            sessions.spill(key)
        assert sessions.open("deep", Counted).records == 7


def test_the_session_heard_last_stays_in_memory_whatever_the_others_do() -> None:
    with OpenSessions[Counted]() as sessions:
        sessions.open("deep", lambda: Counted(100_000))
        sessions.spill("deep")
        heard = sessions.open("heard", Counted)
        for _ in range(3):
            sessions.spill("heard")
            heard.records += 1
        assert sessions.open("heard", Counted) is heard
        assert heard.records == 3
