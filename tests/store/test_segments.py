"""Tests that all queries give the same results when rows of earlier loads are in segment files."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from hashlib import sha256
from pathlib import Path

import duckdb
import pytest

from callgauge.analysis import metrics
from callgauge.analysis.day_paging import CALLS, SESSIONS, DayList, read_page
from callgauge.analysis.metrics import answer_metric
from callgauge.analysis.metrics.published_store import open_generation, read_store
from callgauge.analysis.sandbox.child import open_locked_down
from ingest.backup.make_backup import make_backup
from ingest.backup.manifest import list_backups
from ingest.backup.places import open_place
from ingest.backup.restore import restore
from ingest.backup.store_files import count_rows
from ingest.backup.verify import verify_backup, verify_store
from ingest.errors import StoreError
from ingest.maintenance.forget import SessionChoice, forget
from ingest.maintenance.model_names import count_models_anew
from ingest.maintenance.reparse import reparse
from ingest.maintenance.retention import apply_retention
from ingest.pipeline.load import load
from ingest.store import building_segments
from ingest.store.building_segments import BuildingSegments
from ingest.store.generations import lock_store, published_generation
from ingest.store.segments import narrow_facts
from tests.store.night import TABLES, ask, claude_code_session, contents, count, opened, session

Step = Callable[[Path, Path], object]


@pytest.fixture
def sealed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building_segments, "SEAL_AT", 0)


def segments(store: Path) -> dict[str, str]:
    """Return the segment files of a store, each with a hash of its content."""
    return {path.name: sha256(path.read_bytes()).hexdigest() for path in store.glob("seg-*.duckdb")}


def write(path: Path, text: str) -> None:
    path.write_text(text)


def new_night(logs: Path, _store: Path) -> None:
    write(logs / "b.jsonl", session("b", day=2) + claude_code_session("c"))


def grown_log(logs: Path, _store: Path) -> None:
    write(logs / "a.jsonl", session("a", turns=(2, 1, 3)))


def fuller_copy(logs: Path, _store: Path) -> None:
    write(logs / "d.jsonl", session("a", turns=(2, 1, 3, 1)))


def other_content(logs: Path, _store: Path) -> None:
    write(logs / "a.jsonl", session("x", day=4, raw="{'path': 1,}"))


def torn_turn(logs: Path, _store: Path) -> None:
    lines = session("cut", turns=(3, 2), raw="]").splitlines(True)
    write(logs / "e.jsonl", "".join(lines[:6]))


def rest_of_the_turn(logs: Path, _store: Path) -> None:
    lines = session("cut", turns=(3, 2), raw="]").splitlines(True)
    write(logs / "f.jsonl", "".join(lines[6:]))


def first_night(logs: Path, _store: Path) -> None:
    write(logs / "a.jsonl", session("a", ended=False) + session("z", raw="]") + "broken\n")


LOADS: tuple[Step, ...] = (
    first_night, new_night, grown_log, torn_turn, fuller_copy, rest_of_the_turn, other_content,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Loaded:
    """Two stores after all loads in `LOADS`, one of them with segments. `unlike` names the loads after which
    the two stores differed.
    """

    whole: Path
    in_segments: Path
    unlike: list[str]


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    folder = tmp_path_factory.mktemp("loaded")
    both = Loaded(folder / "whole", folder / "store", [])
    logs = folder / "logs"
    logs.mkdir()
    for step in LOADS:
        step(logs, both.in_segments)
        load([logs], both.whole)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(building_segments, "SEAL_AT", 0)
            load([logs], both.in_segments)
        if contents(both.in_segments) != contents(both.whole):
            both.unlike.append(step.__name__)
    return both


@pytest.mark.thorough
def test_a_store_in_segments_is_the_store_in_one_file(loaded: Loaded) -> None:
    assert loaded.unlike == []
    assert len(segments(loaded.in_segments)) > 3
    assert not segments(loaded.whole)
    verify_store(loaded.in_segments)


@pytest.mark.thorough
@pytest.mark.parametrize("listed", [CALLS, SESSIONS])
def test_lists_look_at_the_segments_of_their_days_and_show_the_same(loaded: Loaded, listed: DayList) -> None:
    with (
        read_store(loaded.whole, texts=True) as whole,
        read_store(loaded.in_segments, texts=True) as in_segments,
    ):
        ((first, last),) = whole.ask("extent").itertuples(index=False)
        ranges = [{}, {"from_day": last}, {"to_day": first}, {"from_day": first, "to_day": first}]
        for dates in ranges:
            for also in ({}, {"turns": "retried"}, {"search": "a"}, {"order": "retries"}):
                unsplit, other = (
                    read_page(reader.ask, replace(listed, look=1), dates | also, 50)
                    for reader in (whole, in_segments)
                )
                assert unsplit.rows.to_csv() == other.rows.to_csv()
                assert (unsplit.found, unsplit.since) == (other.found, other.since)


@pytest.mark.thorough
def test_the_newest_turn_is_looked_for_in_the_segments_of_its_day(
    loaded: Loaded, monkeypatch: pytest.MonkeyPatch
) -> None:
    ranges: list[tuple[date, date]] = []

    def narrow(cursor: duckdb.DuckDBPyConnection, sql: str, first: date, last: date) -> None:
        ranges.append((first, last))
        narrow_facts(cursor, sql, first, last)

    monkeypatch.setattr(metrics, "narrow_facts", narrow)
    with (
        read_store(loaded.whole, texts=True) as whole,
        read_store(loaded.in_segments, texts=True) as in_segments,
    ):
        newest = whole.ask("last_load").newest.item()
        assert in_segments.ask("last_load").newest.item() == newest
        assert in_segments.ask("last_load", runs=("no run",)).newest.item() is None
    assert ranges == [(newest.date(), newest.date())], "without a turn there is no day to look at"


@pytest.mark.thorough
@pytest.mark.parametrize(
    "change",
    [
        lambda store: forget(store, SessionChoice(sessions=["a", "b"])),
        lambda store: reparse(store, everything=True),
        lambda store: apply_retention(store, text_days=1, fact_days=30, today=None),
        count_models_anew,
    ],
    ids=["forget", "reparse", "retain", "models"],
)
def test_maintenance_changes_segments_as_it_changes_one_file(
    loaded: Loaded, store: Path, change: Callable[[Path], object]
) -> None:
    whole = store.with_name("whole")
    shutil.copytree(loaded.whole, whole)
    shutil.copytree(loaded.in_segments, store)
    for place in (whole, store):
        (place / "naming.toml").write_text('[aliases.names]\nm = "counted as one"\n')
        change(place)
    without = ("forgotten_at",)
    assert contents(store, TABLES, without) == contents(whole, TABLES, without)
    verify_store(store)


@pytest.mark.thorough
@pytest.mark.usefixtures("sealed")
def test_a_load_leaves_the_segments_of_other_sessions_alone(logs: Path, store: Path) -> None:
    first_night(logs, store)
    load([logs], store)
    before = segments(store)
    new_night(logs, store)
    load([logs], store)
    after = segments(store)
    assert before.items() <= after.items()
    assert len(after) == len(before) + 1


@pytest.mark.thorough
@pytest.mark.usefixtures("sealed")
def test_a_segment_that_loses_rows_gets_another_name(logs: Path, store: Path) -> None:
    """Readers of the previous store file may use the old segment, so only the next load removes the
    segment.
    """
    first_night(logs, store)
    write(logs / "o.jsonl", session("other"))
    load([logs], store)
    (before,) = segments(store).items()
    grown_log(logs, store)
    load([logs], store)
    after = segments(store)
    assert after.pop(before[0]) == before[1]
    assert len(after) == 2
    new_night(logs, store)
    load([logs], store)
    assert before[0] not in segments(store)


def continued(name: str, other: str) -> str:
    """Return a session that begins with a copy of another session with the same ids, as if resumed."""
    return claude_code_session(name).replace(f'"sessionId": "{name}"', f'"sessionId": "{other}"')


@pytest.mark.thorough
@pytest.mark.parametrize("ids_by", [None, "v0.0.1"], ids=["listed", "listed by another DuckDB"])
@pytest.mark.usefixtures("sealed")
def test_a_copy_of_a_call_is_found_in_the_segment_that_has_it(
    logs: Path, store: Path, ids_by: str | None
) -> None:
    write(logs / "c.jsonl", claude_code_session("c"))
    load([logs], store)
    new_night(logs, store)
    load([logs], store)
    if ids_by:
        generation = published_generation(store)
        assert generation is not None
        with opened(generation) as con:
            con.execute("UPDATE segments SET ids_by = ?", [ids_by])
        for name in segments(store):
            with opened(store / name) as con:
                con.execute("UPDATE ids SET id_hash = 0")
    write(logs / "g.jsonl", continued("c", "goes on"))
    load([logs], store)
    calls = "SELECT session_id, duplicate FROM tool_calls WHERE session_id IN ('c', 'goes on') ORDER BY 1"
    assert ask(store, calls) == [("c", False), ("goes on", True)]
    verify_store(store)


@pytest.mark.thorough
@pytest.mark.usefixtures("sealed")
def test_segments_without_the_ids_of_a_load_are_not_searched(
    logs: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(logs / "c.jsonl", claude_code_session("c"))
    load([logs], store)
    write(logs / "b.jsonl", session("b", day=2))
    load([logs], store)
    searched: list[str] = []
    view = BuildingSegments._view_searched

    def note(segments: BuildingSegments, catalogs: Sequence[str]) -> None:
        searched.append(",".join(catalogs))
        view(segments, catalogs)

    monkeypatch.setattr(BuildingSegments, "_view_searched", note)
    write(logs / "g.jsonl", continued("c", "goes on"))
    load([logs], store)
    assert searched[:2] == ["building,segment_1,segment_2", "building,segment_1"]


@pytest.mark.thorough
def test_many_facts_become_several_segments(logs: Path, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(6):
        write(logs / f"{number}.jsonl", session(f"s{number}"))
    load([logs], store)
    whole = contents(store, ("sessions", "turns", "tool_calls", "diagnostics", "step_texts"))
    size = 5 * 262144  # bytes; one block for each of five tables
    monkeypatch.setattr(building_segments, "SEAL_AT", size // 3)
    write(logs / "more.jsonl", claude_code_session("c"))
    load([logs], store)
    assert len(segments(store)) == 3
    (logs / "more.jsonl").unlink()
    stored = contents(store, tuple(whole))
    assert all(set(rows) <= set(stored[table]) for table, rows in whole.items())


@pytest.mark.thorough
@pytest.mark.usefixtures("sealed")
def test_pages_programs_and_sql_see_all_segments(logs: Path, store: Path) -> None:
    for step in (first_night, new_night):
        step(logs, store)
        load([logs], store)
    generation = published_generation(store)
    assert generation is not None
    calls = count(store, "tool_calls")
    for texts in (True, False):
        with open_generation(generation, texts=texts) as con:
            assert answer_metric(con, "calls", {}).found.iloc[0] == calls
            assert len(answer_metric(con, "sessions", {})) == 3
        with open_locked_down(generation, 1, "256MB", texts=texts) as con:
            assert con.execute("SELECT count(*) FROM tool_calls").fetchall() == [(calls,)]
            with pytest.raises(duckdb.Error):
                con.execute("ATTACH 'other.duckdb'")


@pytest.mark.thorough
@pytest.mark.parametrize("texts", [True, False])
def test_what_does_not_fit_into_memory_lies_beside_the_generation(loaded: Loaded, texts: bool) -> None:
    for store in (loaded.whole, loaded.in_segments):
        path = published_generation(store)
        assert path is not None
        with open_generation(path, texts=texts) as connection:
            setting = connection.execute("SELECT current_setting('temp_directory')").fetchone()
        assert setting == (f"{path}.tmp",)


@pytest.mark.thorough
@pytest.mark.usefixtures("sealed")
def test_what_is_forgotten_is_in_no_byte_of_any_file(logs: Path, store: Path) -> None:
    write(logs / "a.jsonl", session("gone", raw='{"path": "canary-7731"}') + session("stays"))
    load([logs], store)
    write(logs / "b.jsonl", session("stays", turns=(2, 1, 1)))
    load([logs], store)
    forget(store, SessionChoice(sessions=["gone"]))
    left = [path for path in store.iterdir() if path.is_file()]
    assert not [path.name for path in left if b"canary-7731" in path.read_bytes()]
    assert count(store, "sessions") == 2


@pytest.mark.thorough
@pytest.mark.usefixtures("sealed")
def test_a_backup_holds_the_segments_that_the_generation_names(
    logs: Path, store: Path, tmp_path: Path
) -> None:
    for step in (first_night, new_night, grown_log):
        step(logs, store)
        load([logs], store)
    place = tmp_path / "backups"
    make_backup(store, place)
    verify_backup(place)
    other = tmp_path / "restored"
    restore(place, other)
    assert contents(other) == contents(store)
    assert len(segments(other)) < len(segments(store))  # backups lack the segments of the previous store file


def damage_unread_block(store: Path, name: str) -> None:
    """Flip a bit in a block of a segment. Counting the rows does not read this block."""
    generation, whole = published_generation(store), (store / name).read_bytes()
    assert generation is not None
    for place in range(20_000, len(whole), 16_384):
        data = bytearray(whole)
        data[place] ^= 1
        (store / name).write_bytes(data)
        with suppress(StoreError):
            count_rows(generation)
            return
    pytest.fail("a count of the rows reads every block")


@pytest.mark.thorough
@pytest.mark.usefixtures("sealed")
def test_a_damaged_segment_replaces_no_backup(logs: Path, store: Path, tmp_path: Path) -> None:
    first_night(logs, store)
    load([logs], store)
    place = tmp_path / "backups"
    made = make_backup(store, place, keep=1)
    (name,) = segments(store)
    damage_unread_block(store, name)
    with pytest.raises(StoreError, match=rf"{name} in the store is damaged: .* callgauge restore"):
        make_backup(store, place, keep=1)
    assert list_backups(open_place(place)) == [made.name]
    restore(place, store, replace=True)
    verify_store(store)
    assert make_backup(store, place, keep=1).bytes_sent == 0


@pytest.mark.thorough
@pytest.mark.usefixtures("sealed")
def test_segments_stay_while_a_generation_cannot_be_read(logs: Path, store: Path) -> None:
    for step in (first_night, new_night):
        step(logs, store)
        load([logs], store)
    before = segments(store)
    generation = published_generation(store)
    assert generation is not None
    damaged = generation.with_name("gen-000001.duckdb")
    damaged.write_bytes(b"no database")
    with lock_store(store):
        pass
    assert segments(store) == before


@pytest.mark.usefixtures("sealed")
def test_a_missing_segment_is_named(logs: Path, store: Path) -> None:
    first_night(logs, store)
    load([logs], store)
    (name,) = segments(store)
    (store / name).unlink()
    with pytest.raises(StoreError, match=name):
        verify_store(store)
