"""`callgauge memory export` and `import`: a team's memory goes from store to store, whole or not at all."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from callgauge.cli.main import app
from callgauge.memory.memory_file import FILE
from callgauge.memory.notes import add_note
from callgauge.memory.team_memory import TeamMemory


def run(*words: object) -> Result:
    return CliRunner().invoke(app, ["memory", *map(str, words)])


@pytest.fixture
def store(tmp_path: Path) -> Path:
    (tmp_path / "store").mkdir()
    memory = TeamMemory(tmp_path / "store")
    memory.set_goal("parse_error", 0.05, by="Ada")
    add_note(memory.file, "day", "2026-11-12", "temperature lowered", day=date(2026, 11, 12))
    return tmp_path / "store"


@pytest.fixture
def other(tmp_path: Path) -> Path:
    (tmp_path / "other").mkdir()
    return tmp_path / "other"


def test_a_memory_is_exported_and_merged_into_another_store(store: Path, other: Path, tmp_path: Path) -> None:
    file = tmp_path / "memory.json"
    assert run("export", "--store", store, file).exit_code == 0
    found = run("import", "--store", other, file)
    assert (found.exit_code, found.stdout) == (0, "goals: 1 new\nnotes: 1 new\n")
    assert TeamMemory(other).read() == TeamMemory(store).read()
    again = run("import", "--store", other, file, "--json")
    assert json.loads(again.stdout)["notes"] == {"added": 0, "replaced": 0, "left": 1}


def test_without_a_file_the_export_is_printed(store: Path) -> None:
    told = json.loads(run("export", "--store", store).stdout)
    assert [note["text"] for note in told["notes"]] == ["temperature lowered"]


def test_a_file_with_a_mistake_changes_nothing_and_names_it(store: Path, other: Path, tmp_path: Path) -> None:
    told = json.loads(run("export", "--store", store).stdout)
    told["notes"][0]["subject_kind"] = "planet"
    (tmp_path / "memory.json").write_text(json.dumps(told), encoding="utf-8")
    found = run("import", "--store", other, tmp_path / "memory.json")
    assert found.exit_code == 2
    assert "planet" in found.stderr
    assert not (other / FILE).exists()


def test_what_is_no_store_or_cannot_be_written_is_said(store: Path, tmp_path: Path) -> None:
    found = run("export", "--store", tmp_path / "nothing")
    assert (found.exit_code, "is not a store" in found.stderr) == (2, True)
    found = run("export", "--store", store, tmp_path / "no folder" / "memory.json")
    assert (found.exit_code, "cannot write" in found.stderr) == (1, True)
    (store / FILE).write_bytes(b"no database at all, but long enough" * 40)
    found = run("export", "--store", store)
    assert (found.exit_code, "move it away" in found.stderr) == (1, True)
