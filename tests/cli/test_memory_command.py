"""Tests `callgauge memory export` and `import`."""

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
    result = run("import", "--store", other, file)
    assert (result.exit_code, result.stdout) == (0, "goals: 1 new\nnotes: 1 new\n")
    assert TeamMemory(other).read() == TeamMemory(store).read()
    again = run("import", "--store", other, file, "--json")
    assert json.loads(again.stdout)["notes"] == {"added": 0, "replaced": 0, "left": 1}


def test_without_a_file_the_export_is_printed(store: Path) -> None:
    exported = json.loads(run("export", "--store", store).stdout)
    assert [note["text"] for note in exported["notes"]] == ["temperature lowered"]


def test_a_file_with_a_mistake_changes_nothing_and_names_it(store: Path, other: Path, tmp_path: Path) -> None:
    exported = json.loads(run("export", "--store", store).stdout)
    exported["notes"][0]["subject_kind"] = "planet"
    (tmp_path / "memory.json").write_text(json.dumps(exported), encoding="utf-8")
    result = run("import", "--store", other, tmp_path / "memory.json")
    assert result.exit_code == 2
    assert "planet" in result.stderr
    assert not (other / FILE).exists()


def test_what_is_no_store_or_cannot_be_written_is_said(store: Path, tmp_path: Path) -> None:
    result = run("export", "--store", tmp_path / "nothing")
    assert (result.exit_code, "is not a store" in result.stderr) == (2, True)
    result = run("export", "--store", store, tmp_path / "no folder" / "memory.json")
    assert (result.exit_code, "cannot write" in result.stderr) == (1, True)
    (store / FILE).write_bytes(b"no database at all, but long enough" * 40)
    result = run("export", "--store", store)
    assert (result.exit_code, "move it away" in result.stderr) == (1, True)
