"""Tests that the sample data matches the README and contains what the demo needs."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from ingest.decoding.lines import MAX_LINE
from ingest.events import CallMade, Event, FaultLayer, ProbeSeen, Rejected, ResultSeen, TurnEnded
from ingest.formats import formats
from ingest.pipeline.reading.format_recognition import recognise_log
from ingest.sources.discovery import find_named
from sample_data import generate
from tests.formats.test_cases import events_of as events_in

LOGS = Path(__file__).parents[2] / "sample_data" / "logs"
HISTORY = LOGS / "session_history"
DAMAGED = Path(__file__).parents[1] / "cases" / "damaged"
# a load reads these files together with the .json files next to them
REPLIES = set(LOGS.glob("text_captures/*.txt"))
OTHERS = sorted(path for path in LOGS.glob("*/*") if path.parent != HISTORY and path not in REPLIES)
FILES = sorted(path for path in LOGS.rglob("*") if path.is_file() and HISTORY not in path.parents)
HOME = re.compile(rb"(?:/|__)(?:Users|home)(?:/|__)(?!(?:dev|user)(?![A-Za-z0-9]))[A-Za-z0-9._]+")


def events_of(folder: Path, name: str) -> list[Event | Rejected]:
    return [event for path in sorted(folder.glob("*.jsonl")) for event in events_in(name, path)]


def made() -> list[Event | Rejected]:
    return events_of(HISTORY / "made", "session_history")


def test_the_made_week_is_what_the_generator_writes() -> None:
    written = {path.name: path.read_text(encoding="utf-8") for path in (HISTORY / "made").iterdir()}
    assert written == dict(generate.files()), "run ./dev sample"


def test_the_made_week_shows_every_fault_layer() -> None:
    layers = {event.fault_layer for event in made() if isinstance(event, ResultSeen)}
    layers |= {event.refused_by_harness for event in made() if isinstance(event, CallMade)}
    assert layers >= set(FaultLayer)


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


def test_nothing_of_the_sample_is_rejected() -> None:
    sessions = [*made(), *events_of(HISTORY / "wild", "session_history")]
    assert [event for event in sessions if isinstance(event, Rejected)] == []


def test_a_broken_line_and_a_torn_end_cost_themselves() -> None:
    events = events_of(DAMAGED, "session_history")
    assert [event.code for event in events if isinstance(event, Rejected)] == ["not_json", "torn_line"]
    assert any(isinstance(event, CallMade) for event in events)


def test_every_format_has_a_sample() -> None:
    # tests/store/test_trial_runs.py makes the files of a trial run, because some of them are not logs.
    assert {folder.name for folder in LOGS.iterdir()} == set(formats()) - {"trial_run"}


@pytest.mark.parametrize("path", OTHERS, ids=lambda path: f"{path.parent.name}/{path.name}"[:70])
def test_a_sample_is_its_folders_format_and_nothing_of_it_is_rejected(path: Path) -> None:
    name = path.parent.name
    logs = find_named(path)
    assert {recognise_log(log, MAX_LINE).form.SOURCE.name for log in logs} == {name}
    events = events_in(name, path)
    assert [event for event in events if isinstance(event, Rejected)] == []
    assert events


def test_every_real_file_is_small_and_attributed() -> None:
    notes = "".join(
        (LOGS.parent / name).read_text(encoding="utf-8") for name in ("README.md", "LICENCES.txt")
    )
    for path in FILES:
        assert path.stat().st_size <= (100_000 if path.parent.name == "claude_code" else 62_000), path.name
    for path in OTHERS:
        own = path.parent.name == "text_captures"
        assert own or f"| `{path.name}` |" in notes or f"{path.parent.name}/{path.name}" in notes, path.name


def test_the_samples_name_no_home_folder() -> None:
    assert {
        path.name: HOME.findall(path.read_bytes()) for path in FILES if HOME.search(path.read_bytes())
    } == {}


def test_the_sample_data_stays_small() -> None:
    assert sum(path.stat().st_size for path in LOGS.rglob("*") if path.is_file()) < 8_000_000
