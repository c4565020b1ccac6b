"""The sample data is what its README says, and shows what the demo needs."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from ingest.events import CallMade, Event, FaultLayer, ProbeSeen, Rejected, ResultSeen, TurnEnded
from sample_data import generate
from tests.formats.test_cases import events_of as events_in

LOGS = Path(__file__).parents[2] / "sample_data" / "logs"
HISTORY = LOGS / "session_history"


def events_of(folder: Path, name: str) -> list[Event | Rejected]:
    return [event for path in sorted(folder.glob("*.jsonl")) for event in events_in(name, path)]


def made() -> list[Event | Rejected]:
    return events_of(HISTORY / "made", "session_history")


def test_the_made_week_is_what_the_generator_writes() -> None:
    written = {path.name: path.read_text(encoding="utf-8") for path in (HISTORY / "made").iterdir()}
    assert written == dict(generate.files()), "run ./dev sample"


def test_the_made_week_shows_every_fault_layer() -> None:
    seen = {event.fault_layer for event in made() if isinstance(event, ResultSeen)}
    seen |= {event.refused_by_harness for event in made() if isinstance(event, CallMade)}
    assert seen >= set(FaultLayer)


def test_the_made_week_shows_every_end_of_a_turn_and_both_words_of_a_probe() -> None:
    ends = Counter(event.status for event in made() if isinstance(event, TurnEnded))
    assert set(ends) == {"ok", "error", "prompt_limit", "max_steps", "cancelled"}
    assert {event.ok for event in made() if isinstance(event, ProbeSeen)} == {True, False}


def test_the_made_week_has_identical_and_changed_retries() -> None:
    raw_by_id = {
        (event.session_id, event.tool_call_id): event.raw_arguments
        for event in made()
        if isinstance(event, CallMade)
    }
    kinds = Counter(
        event.raw_arguments == raw_by_id[event.session_id, event.retry_of]
        for event in made()
        if isinstance(event, CallMade) and event.retry_of is not None
    )
    assert min(kinds[True], kinds[False]) > 20


def test_only_the_damaged_sample_has_rejected_lines() -> None:
    damaged = events_of(HISTORY / "damaged", "session_history")
    assert [event.code for event in damaged if isinstance(event, Rejected)] == ["not_json", "torn_line"]
    others = [
        *made(),
        *events_of(HISTORY / "wild", "session_history"),
        *events_of(LOGS / "claude_code", "claude_code"),
    ]
    assert [event for event in others if isinstance(event, Rejected)] == []


def test_every_real_file_is_small_and_attributed() -> None:
    readme = (LOGS.parent / "README.md").read_text(encoding="utf-8")
    for path in (LOGS / "claude_code").iterdir():
        assert path.stat().st_size <= 100_000, path.name
        assert f"| `{path.name}` |" in readme


def test_the_sample_data_stays_small() -> None:
    assert sum(path.stat().st_size for path in LOGS.rglob("*.jsonl")) < 3_000_000
