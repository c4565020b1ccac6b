"""Tests the export and import of decisions and notes as JSON."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from callgauge.checked_files.file_problems import CheckedFileError
from callgauge.memory import alert_rules, baselines, decisions, notes, signature_states, views
from callgauge.memory.exchange import ImportCount, export_memory, import_memory
from callgauge.memory.memory_file import MemoryFile
from callgauge.memory.public_rates import PublicRate, save_public_rates
from callgauge.memory.records import ModelPrice
from callgauge.memory.team_memory import TeamMemory
from tests.memory.test_remembered import FIGURES, HOSTILE


@pytest.fixture
def full(tmp_path: Path) -> MemoryFile:
    """Return a memory with a record of every kind. All strings in the records are hostile."""
    (tmp_path / "full").mkdir()
    memory = TeamMemory(tmp_path / "full")
    file = memory.file
    memory.acknowledge(HOSTILE, note=HOSTILE, by=HOSTILE)
    memory.set_goal("parse_error", 0.05, by=HOSTILE)
    memory.replace_prices([ModelPrice(HOSTILE, date(2026, 1, 1), 3.0, 15.0, source=HOSTILE)])
    kept = {"model": (HOSTILE,), "prompt": ("p1",)}
    views.save_view(file, HOSTILE, "models", HOSTILE, owner=HOSTILE)
    notes.add_note(file, "signature", HOSTILE, HOSTILE, by=HOSTILE)
    baselines.save_baseline(file, HOSTILE, (date(2026, 11, 2), date(2026, 11, 8)), kept, by=HOSTILE)
    decisions.record_decision(file, HOSTILE, HOSTILE, "compare?rate=x", FIGURES, by=HOSTILE)
    alert_rules.save_rule(file, HOSTILE, "parse_error", "changed", 0.0, kept, by=HOSTILE)
    alert_rules.mute_rule(file, HOSTILE, date(2026, 12, 1))
    save_public_rates(file, [PublicRate(HOSTILE, HOSTILE, date(2026, 11, 2), 0.03, HOSTILE, 1250)])
    signature_states.set_state(file, HOSTILE, "fixed", fixed_in=HOSTILE, fixed_day=date(2026, 11, 9))
    return file


def write(folder: Path, content: Any) -> Path:
    path = folder / "memory.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def test_an_export_read_into_an_empty_memory_is_the_same_memory(full: MemoryFile, tmp_path: Path) -> None:
    exported = export_memory(full)
    (tmp_path / "other").mkdir()
    other = MemoryFile(tmp_path / "other")
    counts = import_memory(other, write(tmp_path, exported))
    assert set(counts.values()) == {ImportCount(1, 0, 0)}
    assert export_memory(other) == exported
    assert TeamMemory(other.path.parent).read() == TeamMemory(full.path.parent).read()


def test_reading_it_again_changes_nothing(full: MemoryFile, tmp_path: Path) -> None:
    exported = export_memory(full)
    counts = import_memory(full, write(tmp_path, exported))
    assert counts["notes"] == ImportCount(0, 0, 1)
    assert export_memory(full) == exported


def test_an_empty_memory_exports_and_imports(tmp_path: Path) -> None:
    file = MemoryFile(tmp_path)
    assert import_memory(file, write(tmp_path, export_memory(file)))["views"] == ImportCount(0, 0, 0)


def test_of_two_rows_with_one_key_the_newer_stays(tmp_path: Path) -> None:
    file = MemoryFile(tmp_path)
    TeamMemory(tmp_path).set_goal("parse_error", 0.05)
    exported = json.loads(export_memory(file))
    (row,) = exported["goals"]
    exported["goals"] = [row | {"goal": 0.01, "at": "2020-01-01T00:00:00+00:00"}]
    assert import_memory(file, write(tmp_path, exported))["goals"] == ImportCount(0, 0, 1)
    assert TeamMemory(tmp_path).goals()["parse_error"].goal == 0.05
    exported["goals"] = [row | {"goal": 0.02, "at": "2099-01-01T02:00:00+02:00"}]
    assert import_memory(file, write(tmp_path, exported))["goals"] == ImportCount(0, 1, 0)
    assert TeamMemory(tmp_path).goals()["parse_error"].goal == 0.02


def changed(table: str, **values: Any) -> Any:
    def change(exported: dict[str, Any]) -> None:
        exported[table][0].update(values)

    return change


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (changed("goals", goal=1.5), r"goals\[?\.?0.*goal.*too large"),
        (changed("goals", goal="0.5"), "goal.*not a number"),
        (changed("views", shared=1), "shared.*true or false"),
        (changed("views", page="https://elsewhere"), "page.*not allowed"),
        (changed("decisions", link="javascript:alert(1)"), "link.*not allowed"),
        (changed("decisions", link="https://elsewhere.test/?x"), "link.*not allowed"),
        (changed("decisions", figures={}), "figures"),
        (changed("notes", subject_kind="planet"), "planet.*not known"),
        (changed("notes", day="12 Nov"), "12 Nov.*not a date"),
        (changed("notes", text="x" * 2001), "2,000"),
        (changed("notes", text="\ud800"), "surrogate"),
        (changed("notes", id="../x"), "id.*not allowed"),
        (changed("baselines", first_day="2026-12-01"), "first day is after"),
        (changed("baselines", slice={"planet": ["mars"]}), "planet"),
        (changed("baselines", slice={"model": "heron"}), "not a list"),
        (changed("alert_rules", kind="sideways"), "sideways"),
        (changed("signature_states", fixed_day=None), "day of its fix"),
        (changed("signature_states", at="yesterday"), "not a time"),
        (changed("signature_states", spy="me"), "spy.*unknown key"),
        (lambda exported: exported["goals"].append(exported["goals"][0]), "listed twice"),
        (lambda exported: exported.update(goals={}), "not a list"),
        (lambda exported: exported.update(callgauge_memory=99), "too large"),
        (lambda exported: exported.update(tokens=[]), "tokens.*unknown key"),
        (lambda exported: exported["goals"].append(None), "not a table"),
    ],
)
def test_one_mistake_and_nothing_of_the_file_is_kept(
    full: MemoryFile, tmp_path: Path, change: Any, says: str
) -> None:
    exported = json.loads(export_memory(full))
    change(exported)
    (tmp_path / "other").mkdir()
    other = MemoryFile(tmp_path / "other")
    with pytest.raises(CheckedFileError, match=says):
        import_memory(other, write(tmp_path, exported))
    assert not other.path.exists()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "invalid JSON"),
        ("{", "invalid JSON"),
        ("[]", "not an export"),
        ('{"goals": []}', "not an export"),
        ("[" * 100_000, "nested too deeply|invalid JSON"),
    ],
)
def test_what_is_no_export_is_refused_with_what_to_name(tmp_path: Path, content: str, says: str) -> None:
    with pytest.raises(CheckedFileError, match=says) as refused:
        import_memory(MemoryFile(tmp_path), write(tmp_path, content))
    assert "callgauge memory export" in str(refused.value)


def test_a_file_that_is_no_text_or_not_there_is_refused(tmp_path: Path) -> None:
    (tmp_path / "memory.json").write_bytes(b"\xff\xfe{}")
    with pytest.raises(CheckedFileError, match="UTF-8"):
        import_memory(MemoryFile(tmp_path), tmp_path / "memory.json")
    with pytest.raises(CheckedFileError, match="cannot be read"):
        import_memory(MemoryFile(tmp_path), tmp_path / "nothing")
