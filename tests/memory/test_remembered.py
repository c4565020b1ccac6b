"""Tests the records that a team saves: views, notes, baselines, decisions, alert rules and triage status."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from callgauge.memory import alert_rules, baselines, decisions, notes, signature_states, views
from callgauge.memory.decisions import FrozenComparison, FrozenSide
from callgauge.memory.memory_file import FILE, LONGEST_LINK, SCHEMA_VERSION, MemoryFile, MemoryProblemError
from callgauge.memory.records import TeamRecords
from callgauge.memory.team_memory import TeamMemory

HOSTILE = "<img src=x onerror=alert(1)>'; DROP TABLE notes; --\u202e=cmd|' /C calc'!A0 [a](javascript:0)\x00"
SIDE = FrozenSide("fixer@13", 12.0, 400.0, 410, 0.02, 0.05, {"prompts": ["fixer@13"]})
FIGURES = FrozenComparison(
    "parse_error", "fixer@13 is better.", SIDE, replace(SIDE, name="fixer@12"), -0.02, -0.03, -0.01, 0.01
)


@pytest.fixture
def file(tmp_path: Path) -> MemoryFile:
    return MemoryFile(tmp_path)


def read(file: MemoryFile) -> TeamRecords:
    return TeamMemory(file.path.parent).read()


def test_a_memory_of_version_1_is_brought_up_to_date_and_keeps_all(tmp_path: Path) -> None:
    """The last Callgauge release that wrote memory files of version 1 made this file."""
    shutil.copy(Path(__file__).with_name("version_1.sqlite"), tmp_path / FILE)
    records = TeamMemory(tmp_path).read()
    (seen,) = records.acknowledgements.values()
    assert (seen.note, seen.by) == ("known: temperature", "Ada")
    assert records.goals["parse_error"].goal == 0.05
    (kept,) = records.baselines
    assert (kept.name, kept.days, kept.slice) == (
        "before 13",
        (date(2026, 11, 2), date(2026, 11, 8)),
        {},
    )
    assert records.prices[0].output == 15.0
    assert (records.views, records.notes, records.decisions, records.alert_rules) == ([], [], [], [])
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_hostile_texts_come_back_as_they_were_in_every_field(file: MemoryFile) -> None:
    kept = {"model": (HOSTILE, "北斗")}
    views.save_view(file, HOSTILE, "models", f"model={HOSTILE}", owner=HOSTILE)
    notes.add_note(file, "model", HOSTILE, HOSTILE, day=date(2026, 11, 12), by=HOSTILE)
    baselines.save_baseline(file, HOSTILE, (date(2026, 11, 2), date(2026, 11, 8)), kept, by=HOSTILE)
    figures = replace(FIGURES, sentence=HOSTILE, of=replace(SIDE, name=HOSTILE))
    decisions.record_decision(file, HOSTILE, HOSTILE, "compare?rate=x", figures, by=HOSTILE)
    alert_rules.save_rule(file, HOSTILE, HOSTILE, "above", 0.1, kept, by=HOSTILE)
    signature_states.set_state(
        file, HOSTILE, "fixed", fixed_in=HOSTILE, fixed_day=date(2026, 11, 9), note=HOSTILE, by=HOSTILE
    )
    records = read(file)
    (view,), (note,), (rule,), (decision,) = (
        records.views,
        records.notes,
        records.alert_rules,
        records.decisions,
    )
    assert (view.name, view.owner, view.query) == (HOSTILE, HOSTILE, f"model={HOSTILE}")
    assert (note.subject, note.text, note.by) == (HOSTILE, HOSTILE, HOSTILE)
    assert records.baselines[0].slice == rule.slice == kept
    assert decision.figures == figures
    assert records.signature_states[HOSTILE].fixed_in == HOSTILE


def test_half_a_surrogate_pair_is_kept_as_a_question_mark(file: MemoryFile) -> None:
    notes.add_note(file, "day", "2026-11-12", "half \ud83d of it")
    assert read(file).notes[0].text == "half ? of it"


def test_a_view_is_renamed_shared_and_deleted_and_its_name_is_taken_once_by_each_owner(
    file: MemoryFile,
) -> None:
    views.save_view(file, " Monday ", "models", "days=7+days", owner="ada", shared=False)
    views.save_view(file, "Monday", "errors", "", owner="bob")
    with pytest.raises(MemoryProblemError, match="does not allow this"):
        views.save_view(file, "Monday", "tools", "", owner="ada")
    mine = next(view for view in read(file).views if view.owner == "ada")
    assert (mine.name, mine.page, mine.query, mine.shared) == ("Monday", "models", "days=7+days", False)
    views.rename_view(file, mine, "Every Monday")
    views.share_view(file, replace(mine, name="Every Monday"), shared=True)
    (renamed,) = (view for view in read(file).views if view.owner == "ada")
    assert (renamed.name, renamed.shared) == ("Every Monday", True)
    views.delete_view(file, renamed)
    assert [view.owner for view in read(file).views] == ["bob"]
    for name in ("", "  "):
        with pytest.raises(ValueError, match="has a name"):
            views.save_view(file, name, "tools", "")
    with pytest.raises(ValueError, match="too long"):
        views.save_view(file, "long", "playground", "x" * (LONGEST_LINK + 1))


def test_notes_are_the_newest_first_and_deleted_by_their_id(file: MemoryFile) -> None:
    notes.add_note(file, "day", "2026-11-12", "temperature lowered", day=date(2026, 11, 12))
    notes.add_note(file, "call", "c1", " looked at ")
    assert {(note.kind, note.day, note.text) for note in read(file).notes} == {
        ("day", date(2026, 11, 12), "temperature lowered"),
        ("call", None, "looked at"),
    }
    notes.delete_note(file, next(note for note in read(file).notes if note.kind == "day"))
    assert [note.kind for note in read(file).notes] == ["call"]
    with pytest.raises(ValueError, match="has a text"):
        notes.add_note(file, "call", "c1", "\n")


def test_a_note_is_changed_and_stays_its_authors(file: MemoryFile) -> None:
    notes.add_note(file, "day", "2026-11-12", "temprature lowered", day=date(2026, 11, 12), by="ada")
    (note,) = read(file).notes
    notes.change_note(file, note, " temperature lowered ", day=date(2026, 11, 13))
    (changed,) = read(file).notes
    assert changed == replace(
        note, subject="2026-11-13", day=date(2026, 11, 13), text="temperature lowered", at=changed.at
    )
    for text, day, why in (("\n", date(2026, 11, 13), "has a text"), ("x", None, "has a day")):
        with pytest.raises(ValueError, match=why):
            notes.change_note(file, changed, text, day=day)
    notes.add_note(file, "model", "kestrel", "slow", day=date(2026, 11, 12))
    of_model = next(note for note in read(file).notes if note.kind == "model")
    notes.change_note(file, of_model, "slow", day=None)
    assert {(note.subject, note.day) for note in read(file).notes} == {
        ("2026-11-13", date(2026, 11, 13)),
        ("kestrel", None),
    }


def test_a_rule_is_muted_up_to_a_day_and_replaced_by_its_name(file: MemoryFile) -> None:
    alert_rules.save_rule(file, "kestrel", "parse_error", "above", 0.1, {"model": ("kestrel",), "tool": ()})
    alert_rules.mute_rule(file, "kestrel", date(2026, 11, 20))
    (rule,) = read(file).alert_rules
    assert (rule.slice, rule.kind, rule.bound) == ({"model": ("kestrel",)}, "above", 0.1)
    assert rule.is_muted(date(2026, 11, 20))
    assert not rule.is_muted(date(2026, 11, 21))
    alert_rules.save_rule(file, "kestrel", "parse_error", "changed", 0.0)
    assert [(rule.kind, rule.muted_until) for rule in read(file).alert_rules] == [("changed", None)]
    alert_rules.delete_rule(file, "kestrel")
    assert read(file).alert_rules == []
    for beyond in (-0.1, 1.5, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="share from 0 to 1"):
            alert_rules.save_rule(file, "r", "parse_error", "above", beyond)


def test_a_state_belongs_to_its_signature_and_a_fix_has_its_day(file: MemoryFile) -> None:
    signature_states.set_state(file, "abc", "known", fixed_in="left over", fixed_day=date(2026, 11, 1))
    assert read(file).signature_states["abc"].fixed_day is None
    with pytest.raises(ValueError, match="day of its fix"):
        signature_states.set_state(file, "abc", "fixed", fixed_in="13")
    signature_states.set_state(file, "abc", "fixed", fixed_in=" 13 ", fixed_day=date(2026, 11, 9))
    fixed = read(file).signature_states["abc"]
    assert (fixed.state, fixed.fixed_in, fixed.fixed_day) == ("fixed", "13", date(2026, 11, 9))
    signature_states.clear_state(file, "abc")
    assert read(file).signature_states == {}


def test_a_decision_keeps_its_numbers_and_goes_when_it_is_deleted(file: MemoryFile) -> None:
    decisions.record_decision(file, "take @13", "fewer errors", "compare?a=1", FIGURES, by="Ada")
    (kept,) = read(file).decisions
    assert kept.figures == FIGURES
    assert (kept.title, kept.reason, kept.by) == ("take @13", "fewer errors", "Ada")
    decisions.delete_decision(file, kept)
    assert read(file).decisions == []


@pytest.mark.parametrize("figures", ["no JSON", "[]", '{"measure": 1}', '{"of": {}, "against": []}'])
def test_figures_that_cannot_be_read_cost_the_figures_and_not_the_decision(
    file: MemoryFile, figures: str
) -> None:
    decisions.record_decision(file, "take @13", "", "compare", FIGURES)
    file.write(("UPDATE decisions SET figures = ?", [(figures,)]))
    (kept,) = read(file).decisions
    assert (kept.title, kept.figures) == ("take @13", None)


def test_a_record_that_cannot_be_read_is_named_with_the_next_step(file: MemoryFile) -> None:
    notes.add_note(file, "day", "2026-11-12", "x", day=date(2026, 11, 12))
    file.write(("UPDATE notes SET day = 'no day'", [()]))
    with pytest.raises(
        MemoryProblemError,
        match=r"memory\.sqlite has an unreadable record .*: restore a backup, or move it away",
    ):
        read(file)


class FullDisk(MemoryFile):
    """A memory whose file cannot grow, as on a full disk."""

    @contextmanager
    def _open(self, address: str) -> Iterator[sqlite3.Connection]:
        with super()._open(address) as connection:
            (pages,) = connection.execute("PRAGMA page_count").fetchone()
            connection.execute(f"PRAGMA max_page_count = {pages}")
            yield connection


def test_on_a_full_disk_a_write_says_what_to_do_and_keeps_all_or_nothing(file: MemoryFile) -> None:
    notes.add_note(file, "day", "2026-11-12", "kept")
    insert = "INSERT INTO notes VALUES (?, 'day', '2026-11-12', NULL, ?, '', '2026-11-12')"
    rows = [(f"{number}", "x" * 2000) for number in range(100)]
    with pytest.raises(MemoryProblemError, match="free space"):
        FullDisk(file.path.parent).write((insert, rows))
    assert [note.text for note in read(file).notes] == ["kept"]
