"""Tests agents' logs."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ingest.events import CallMade, Event, Rejected, ResultSeen, StepMade, TurnEnded, TurnStarted
from ingest.formats import formats, translate_file
from ingest.log_format import About, Record
from tests.conftest import CASES
from tests.formats.test_cases import LOGS, about, case_name, events_of, plain, record_of, records_of


def case(name: str, stem: str) -> list[dict[str, Any]]:
    path = CASES / "formats" / name / f"{stem}.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def translate(name: str, objects: list[dict[str, Any]]) -> list[Event | Rejected]:
    records = [record_of(name, value, line) for line, value in enumerate(objects, start=1)]
    return list(translate_file(formats()[name], records, About(identity="0" * 16)))


def keys_of(events: list[Event | Rejected]) -> list[str | None]:
    return [event.key for event in events if isinstance(event, CallMade | TurnStarted)]


@pytest.mark.parametrize("path", LOGS, ids=case_name)
def test_a_log_is_read_on_after_any_record(path: Path) -> None:
    name = path.parent.name
    translator = formats()[name].translator(about(path))
    events: list[Event | Rejected] = []
    for record in records_of(path, name):
        if isinstance(record, Rejected):
            events.append(record)
            continue
        events += translator.take(record)
        state = pickle.dumps(translator)
        translator.close()
        translator = pickle.loads(state)  # noqa: S301 - our own bytes of a moment ago
    events += translator.finish()
    translator.close()
    assert [plain(event) for event in events] == [plain(event) for event in events_of(name, path)]


def test_a_forked_rollout_repeats_turns_and_calls_under_their_old_keys() -> None:
    lines = case("codex", "steps_calls_and_exit_codes")
    fork = json.loads(json.dumps(lines[0]).replace(lines[0]["payload"]["id"], "019fffff-0000-7000-8000-0"))
    original, copy = translate("codex", lines), translate("codex", [fork, *lines])
    assert keys_of(copy) == keys_of(original)
    assert None not in keys_of(original)
    assert {event.session_id for event in copy if isinstance(event, Event)} == {"019fffff-0000-7000-8000-0"}


def test_a_sub_agents_rollout_names_its_parent_and_models_change_with_the_turn() -> None:
    lines = case("codex", "steps_calls_and_exit_codes")
    lines[0]["payload"]["source"] = {"subagent": {"thread_spawn": {"parent_thread_id": "019e", "depth": 1}}}
    again = [json.loads(json.dumps(line).replace("6568f11", "6568f12")) for line in lines[1:]]
    next(line for line in again if line["type"] == "turn_context")["payload"]["model"] = "gpt-5.4-mini"
    events = translate("codex", lines + again)
    assert getattr(events[0], "parent_session_id", None) == "019e"
    steps = [event.model for event in events if isinstance(event, StepMade)]
    assert steps == ["gpt-5.4"] * (len(steps) // 2) + ["gpt-5.4-mini"] * (len(steps) // 2)


@pytest.mark.parametrize("stem", ["tasks_of_0140", "tasks_of_a_later_name"])
def test_a_task_that_began_anew_did_not_end(stem: str) -> None:
    lines = case("codex", "steps_calls_and_exit_codes")[:-1]
    started = lines[1]
    if stem == "tasks_of_a_later_name":
        started["payload"]["type"] = "turn_started"
    again = {**started, "payload": {**started["payload"], "turn_id": "019ed83b-0000-7000-8000-000000000002"}}
    events = translate("codex", [*lines, again])
    assert not [event for event in events if isinstance(event, TurnEnded)]


def gemini_message(number: int, **fields: Any) -> dict[str, Any]:
    return {"id": f"m{number}", "timestamp": "2026-04-14T01:00:00.000Z", **fields}


def gemini_log(turns: int) -> Iterator[dict[str, Any]]:
    yield {"sessionId": "s", "projectHash": "p"}
    for turn in range(turns):
        yield gemini_message(2 * turn, type="user", content="go")
        call = {"id": f"c{turn}", "name": "ls", "args": {}, "status": "executing"}
        yield gemini_message(2 * turn + 1, type="gemini", content="", toolCalls=[call])
        call = {**call, "status": "success", "result": "ok"}
        yield gemini_message(2 * turn + 1, type="gemini", content="", toolCalls=[call])


def test_a_message_that_is_written_again_counts_once_however_long_the_log() -> None:
    events = translate("gemini_cli", [*gemini_log(500), *list(gemini_log(500))[1:]])
    assert sum(isinstance(event, CallMade) for event in events) == 500
    assert sum(isinstance(event, ResultSeen) for event in events) == 500


def test_a_rewind_to_an_unknown_message_takes_back_all_that_is_held() -> None:
    events = translate("gemini_cli", [*gemini_log(2), {"$rewindTo": "gone"}])
    assert [event.status for event in events if isinstance(event, TurnEnded)] == ["cancelled", "cancelled"]


def test_few_messages_of_a_gemini_log_are_held() -> None:
    translator = formats()["gemini_cli"].translator(About())
    calls = 0
    for line, value in enumerate(gemini_log(500), start=1):
        record = record_of("gemini_cli", value, line)
        assert isinstance(record, Record)
        calls += sum(isinstance(event, CallMade) for event in translator.take(record))
    assert calls == 400


def test_openclaw_turns_that_wait_for_too_many_events_lose_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    objects = case("openclaw", "turns_that_later_events_repeat")
    waited = translate("openclaw", objects)
    monkeypatch.setattr("ingest.formats.openclaw._MAX_WAITING", 3)
    released = translate("openclaw", objects)
    kinds = (TurnStarted, CallMade, ResultSeen, TurnEnded)
    for kind in kinds:
        places = [
            [event.where.line for event in run if isinstance(event, kind)] for run in (waited, released)
        ]
        assert places[0] == places[1]
    assert sum(isinstance(event, StepMade) for event in released) < sum(
        isinstance(event, StepMade) for event in waited
    )
