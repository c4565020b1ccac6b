"""Tests the file of decisions and notes, which survives crashes and which several processes use."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from callgauge.memory.baselines import remove_baseline, save_baseline
from callgauge.memory.memory_file import FILE, MemoryProblemError
from callgauge.memory.records import ModelPrice
from callgauge.memory.team_memory import TeamMemory


def test_an_absent_memory_is_empty_and_reading_makes_no_file(tmp_path: Path) -> None:
    memory = TeamMemory(tmp_path / "no such store")
    assert (memory.acknowledgements(), memory.goals(), memory.baselines(), memory.prices()) == (
        {},
        {},
        [],
        [],
    )
    assert not memory.path.exists()


def test_an_acknowledgement_is_kept_replaced_and_withdrawn(tmp_path: Path) -> None:
    memory = TeamMemory(tmp_path)
    memory.acknowledge("parse_error/model/北斗'; DROP TABLE goals", note="seen", by="Ada")
    memory.acknowledge("parse_error/model/北斗'; DROP TABLE goals", note="known, fixed on Friday")
    (found,) = TeamMemory(tmp_path).acknowledgements().values()
    assert (found.note, found.by) == ("known, fixed on Friday", "")
    assert abs((datetime.now(UTC) - found.at).total_seconds()) < 600
    memory.withdraw_acknowledgement(found.alert)
    assert memory.acknowledgements() == {}


def test_goals_are_shares_by_rate(tmp_path: Path) -> None:
    memory = TeamMemory(tmp_path)
    memory.set_goal("parse_error", 0.05)
    memory.set_goal("parse_error", 0.04, by="Ada")
    assert {name: goal.goal for name, goal in memory.goals().items()} == {"parse_error": 0.04}
    memory.remove_goal("parse_error")
    assert memory.goals() == {}
    for beyond in (-0.1, 1.2, float("nan")):
        with pytest.raises(ValueError, match="share from 0 to 1"):
            memory.set_goal("parse_error", beyond)


def test_baselines_are_named_days_the_newest_first(tmp_path: Path) -> None:
    memory = TeamMemory(tmp_path)
    save_baseline(memory.file, " before 13 ", (date(2026, 11, 2), date(2026, 11, 8)))
    save_baseline(memory.file, "release", (date(2026, 11, 9), date(2026, 11, 9)))
    assert [(baseline.name, baseline.last_day.day) for baseline in memory.baselines()] == [
        ("release", 9),
        ("before 13", 8),
    ]
    remove_baseline(memory.file, "release")
    assert [baseline.name for baseline in memory.baselines()] == ["before 13"]
    with pytest.raises(ValueError, match="first day"):
        save_baseline(memory.file, "swapped", (date(2026, 11, 9), date(2026, 11, 8)))
    with pytest.raises(ValueError, match="name"):
        save_baseline(memory.file, "  ", (date(2026, 11, 8), date(2026, 11, 8)))


def test_prices_are_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    memory = TeamMemory(tmp_path)
    kept = [
        ModelPrice("a", date(2026, 1, 1), 3.0, 15.0, cached_input=0.3, source="price list of 1 January"),
        ModelPrice("a", date(2026, 6, 1), 2.0, 10.0, currency="EUR"),
    ]
    memory.replace_prices(kept)
    assert memory.prices() == kept
    with pytest.raises(MemoryProblemError, match="does not allow this"):
        memory.replace_prices([kept[0], kept[0]])
    assert memory.prices() == kept
    memory.replace_prices([])
    assert memory.prices() == []


@pytest.mark.parametrize(
    "content", [b"no database at all, but long enough" * 40, b"SQLite format 3\x00" + b"\x01" * 300]
)
def test_a_damaged_file_is_named_with_the_next_step(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(MemoryProblemError, match=r"memory\.sqlite.*move it away"):
        TeamMemory(tmp_path).goals()
    assert (tmp_path / FILE).read_bytes() == content


def test_an_empty_file_is_an_empty_memory(tmp_path: Path) -> None:
    (tmp_path / FILE).touch()
    memory = TeamMemory(tmp_path)
    assert memory.goals() == {}
    memory.set_goal("retried", 0.1)
    assert set(memory.goals()) == {"retried"}


def test_a_newer_memory_is_not_touched(tmp_path: Path) -> None:
    TeamMemory(tmp_path).set_goal("retried", 0.1)
    with sqlite3.connect(tmp_path / FILE) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(MemoryProblemError, match="newer Callgauge"):
        TeamMemory(tmp_path).goals()
    with pytest.raises(MemoryProblemError, match="newer Callgauge"):
        TeamMemory(tmp_path).set_goal("retried", 0.2)


def test_a_folder_that_is_not_there_or_not_writable_is_a_message(tmp_path: Path) -> None:
    with pytest.raises(MemoryProblemError, match="permissions"):
        TeamMemory(tmp_path / "nowhere").set_goal("retried", 0.1)


WRITER = """
import sys
from pathlib import Path
from callgauge.memory.team_memory import TeamMemory
memory = TeamMemory(Path(sys.argv[1]))
print("up", flush=True)
for number in range(int(sys.argv[3])):
    memory.acknowledge(f"{sys.argv[2]}{number}")
"""


def test_two_processes_write_at_once_and_lose_nothing(tmp_path: Path) -> None:
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, tmp_path, name, "25"]) for name in "ab"]
    assert [writer.wait(timeout=120) for writer in writers] == [0, 0]
    assert len(TeamMemory(tmp_path).acknowledgements()) == 50


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL")
def test_a_killed_writer_leaves_a_memory_that_reads(tmp_path: Path) -> None:
    for _ in range(5):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, tmp_path, "k", "100000"], stdout=subprocess.PIPE
        )
        assert writer.stdout
        assert writer.stdout.readline()
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
        memory = TeamMemory(tmp_path)
        memory.set_goal("retried", 0.1)
        assert set(memory.goals()) == {"retried"}
