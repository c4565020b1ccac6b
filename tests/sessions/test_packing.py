"""Tests that any session is unchanged after storage in the temporary file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ingest.events import ArgsSource, Event, StepMade, TurnStarted
from ingest.sessions.session_builder import SessionBuilder
from ingest.sessions.session_state import OpenSessionStates
from lenient import ToolCatalog
from tests.formats.test_cases import LOGS, case_name, events_of
from tests.sessions.log import Log


def sessions_come_back(events: list[Event]) -> int:
    """Pack and unpack all open sessions after every seventh event and after the last event. Return
    how often.
    """
    work, packed = SessionBuilder(file_id=1, source="test", catalog=ToolCatalog.from_definitions([])), 0
    for number, event in enumerate(events):
        work.take(event)
        if number % 7 and number + 1 < len(events):
            continue
        for session in work._sessions._live.values():
            with OpenSessionStates() as waiting:
                back = waiting.unpack(waiting.pack(session))
            assert back == session
            assert repr(back) == repr(session)
            packed += 1
    return packed


@pytest.mark.parametrize("path", LOGS, ids=case_name)
def test_what_any_format_tells_comes_back(path: Path) -> None:
    events = [event for event in events_of(path.parent.name, path) if isinstance(event, Event)]
    assert sessions_come_back(events) > 0 or not events


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("\ud83d alone", {}),
        ("", {"n": 2**64, "least": -(2**70)}),
        ("", {"\udc00": ["\ud83d"]}),
        ("", {"deep": [[[{}]]], "float": -0.0, "large": 1e308, "none": None, "yes": True}),
        ("日本語 \x00 \U0001f600", {"": ""}),
    ],
)
def test_what_messagepack_cannot_hold_comes_back_too(text: str, value: dict[str, Any]) -> None:
    log = Log().add(TurnStarted, text=text).add(StepMade, text=text)
    log.raw(text).raw("", "c2", arguments=value, args_source=ArgsSource.RESERIALISED).ok("c2", content=text)
    assert sessions_come_back(log.events) > 0
