"""Tests a load killed at any durable write. The store stays intact, and the next load completes it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from callgauge.memory.memory_file import MemoryFile
from ingest.backup.make_backup import make_backup
from ingest.backup.verify import verify_backup, verify_store
from ingest.maintenance.forget import SessionChoice, forget
from ingest.maintenance.retention import apply_retention
from ingest.pipeline.load import load
from ingest.pipeline.reading import checkpoint
from tests.killed_processes import THOROUGH
from tests.store.night import ask, contents, count, session
from tests.store.older import make_older
from tests.store.sealed_months import (
    LOADS,
    SEALING,
    other_content,
    seal_everything,
    session_that_goes_on,
)
from tests.store.test_segments import segments

pytestmark = pytest.mark.timeout(1_200)


def killed_loads(logs: Path, base: Path, out: Path, *leaving: str) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "tests.store.killed_loads", str(logs), str(base), str(out), *leaving]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def loaded_again(kills: list[dict[str, Any]]) -> list[tuple[dict[str, Any], Path]]:
    """Return the kills after which the load was repeated, each with the store after the repeated load."""
    return [(kill, Path(kill["store"])) for kill in kills if kill["store"] is not None]


def night(logs: Path) -> None:
    (logs / "a.jsonl").write_text("".join(session(f"a{n}", day=n + 1) for n in range(6)) + "broken\n")
    (logs / "b.jsonl").write_text(session("a0") + session("b", raw="{'a': 1,}"))
    (logs / "c.jsonl").write_text(session("c", ended=False))
    (logs / "d.bin").write_bytes(bytes(100))
    (logs / "app.jsonl").write_text(session("p", turns=(2, 2)) + "".join(going_on()[:7]))
    (logs / "same.jsonl").write_text(session("told again", day=4) + session("stays", day=4))


def going_on() -> list[str]:
    return session("g", turns=(3, 2), day=2, raw="{'path': 1,}").splitlines(keepends=True)


def next_night(logs: Path) -> None:
    (logs / "a.jsonl").rename(logs / "moved.jsonl")
    with (logs / "c.jsonl").open("a") as stream:
        stream.write(session("c2", day=9))
    (logs / "b.jsonl").write_text(session("b2", day=3, raw="{'a': 1,}"))
    (logs / "d.bin").write_text(session("d"))
    (logs / "e.jsonl").write_text("".join(session(f"e{n}", day=5) for n in range(8)))
    (logs / "f.txt").write_text("no log\n")
    (logs / "app.jsonl").rename(logs / "app.jsonl.1")
    (logs / "app.jsonl").write_text("".join(going_on()[7:]) + session("q", day=4))
    (logs / "same.jsonl").write_text(session("told again", day=4, turns=(1,)) + session("r", day=5))


@pytest.mark.thorough
def test_a_rotated_log_and_a_dump_are_in_the_nights_that_are_killed(logs: Path, store: Path) -> None:
    night(logs)
    load([logs], store)
    next_night(logs)
    report = load([logs], store)
    assert (report.sessions_replaced, report.calls_fewer) == (1, 2)
    whole = "SELECT max(turn), sum(calls) FROM turns WHERE session_id = 'g' AND NOT duplicate"
    assert ask(store, whole) == [(2, 5)]
    status = "SELECT path[-5:], status FROM files WHERE path LIKE '%app.%' OR path LIKE '%same%' ORDER BY ALL"
    assert ask(store, status) == [
        ("jsonl", "earlier"), ("jsonl", "loaded"), ("jsonl", "loaded"), ("onl.1", "loaded"),
    ]  # fmt: skip


def states(store: Path) -> list[tuple[Any, ...]]:
    """Return the stored states from which a load resumes a log."""
    return sorted(ask(store, "SELECT file_id, byte_offset, line, prefix, open_turns FROM unfinished"))


@pytest.mark.thorough
@pytest.mark.parametrize("first", [True, False], ids=["first load", "load into a store"])
def test_killed_at_every_write_the_next_load_completes_it(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: bool
) -> None:
    monkeypatch.setattr(checkpoint, "WORTH", 0)
    base, undisturbed = tmp_path / "base", tmp_path / "undisturbed"
    night(logs)
    if not first:
        load([logs / "a.jsonl"], base)
        load([logs], base)  # this makes a second store file, so the next load removes the first
        shutil.copytree(base, undisturbed)
        next_night(logs)
    load([logs], undisturbed)
    expected, expected_states = contents(undisturbed), states(undisturbed)
    before = None if first else count(base, "tool_calls")
    after = count(undisturbed, "tool_calls")

    kills = killed_loads(logs, base, tmp_path / "out")

    steps = [kill["step"] for kill in kills]
    assert {
        "create" if first else "copy",
        "batch",
        "settle.sql",
        "signatures.sql",
        "rollups",
        "checkpoint",
    } <= set(steps)
    assert "state" in steps
    assert first or {"remove", "take over", "succession.sql", "remove_repeated.sql"} <= set(steps)
    assert {"sync", "name", "point", "switch", "switched"} <= set(steps)
    assert not THOROUGH or steps.count("batch") > 2, "the loads must be killed between batches, too"
    for kill in kills:
        published_already = kill["step"] in ("switched", "remove")
        assert kill["seen"] == (after if published_already else before), kill["step"]
    for kill, store in loaded_again(kills):
        assert contents(store) == expected, f"killed at {kill['step']}"
        assert states(store) == expected_states
        assert not [path for path in store.iterdir() if path.suffix not in ("", ".duckdb")]
        assert len(list(store.glob("*.duckdb"))) <= 2


@pytest.mark.thorough
def test_killed_at_every_write_the_next_load_completes_segments_and_months(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seal_everything(monkeypatch)
    base, undisturbed = tmp_path / "base", tmp_path / "undisturbed"
    for change in LOADS[:3]:
        change(logs)
        load([logs], base)
    before = count(base, "tool_calls")
    shutil.copytree(base, undisturbed)
    session_that_goes_on(logs)
    other_content(logs)
    load([logs], undisturbed)
    expected = contents(undisturbed)
    after = count(undisturbed, "tool_calls")

    kills = killed_loads(logs, base, tmp_path / "out", "sealed")

    assert {kill["step"] for kill in kills} >= set(SEALING)
    for kill in kills:
        published_already = kill["step"] in ("switched", "remove")
        assert kill["seen"] == (after if published_already else before), kill["step"]
    for kill, store in loaded_again(kills):
        assert contents(store) == expected, f"killed at {kill['step']}"
        verify_store(store)
        assert not [path for path in store.iterdir() if path.suffix not in ("", ".duckdb")]
        assert len(segments(store)) <= len(segments(undisturbed)), f"killed at {kill['step']}"


@pytest.mark.thorough
def test_killed_at_every_write_the_next_load_upgrades_an_older_store(logs: Path, tmp_path: Path) -> None:
    base, undisturbed = tmp_path / "base", tmp_path / "undisturbed"
    night(logs)
    load([logs], base)
    make_older(base, 6)
    before = count(base, "tool_calls")
    shutil.copytree(base, undisturbed)
    next_night(logs)
    load([logs], undisturbed)
    expected, after = contents(undisturbed), count(undisturbed, "tool_calls")

    kills = killed_loads(logs, base, tmp_path / "out")

    assert "migrate" in {kill["step"] for kill in kills}
    for kill in kills:
        published_already = kill["step"] in ("switched", "remove")
        assert kill["seen"] == (after if published_already else before), kill["step"]
    for kill, store in loaded_again(kills):
        assert contents(store) == expected, f"killed at {kill['step']}"


@pytest.mark.thorough
def test_killed_at_every_write_the_next_forgetting_completes_it(logs: Path, tmp_path: Path) -> None:
    base, undisturbed = tmp_path / "base", tmp_path / "undisturbed"
    night(logs)
    load([logs / "c.jsonl"], base)
    load([logs], base)  # this makes a second store file; both must be removed
    shutil.copytree(base, undisturbed)
    forget(undisturbed, SessionChoice(sessions=["a0"]))
    expected = contents(undisturbed)
    before, after = count(base, "tool_calls"), count(undisturbed, "tool_calls")
    assert after < before

    kills = killed_loads(logs, base, tmp_path / "out", "forget:a0")

    steps = [kill["step"] for kill in kills]
    assert {"copy", "leaving", "forgotten", "forget.sql", "rewrite", "rewritten", "remove"} <= set(steps)
    for kill in kills:
        published_already = kill["step"] in ("switched", "remove")
        assert kill["seen"] == (after if published_already else before), kill["step"]
    for kill, store in loaded_again(kills):
        assert contents(store) == expected, f"killed at {kill['step']}"
        assert len([path.name for path in store.iterdir()]) == 3, "CURRENT, the lock and one generation"
        load([logs], store)
        assert not ask(store, "SELECT session_id FROM sessions WHERE session_id = 'a0'")


@pytest.mark.thorough
def test_killed_at_every_write_the_next_retention_completes_it(logs: Path, tmp_path: Path) -> None:
    base, undisturbed = tmp_path / "base", tmp_path / "undisturbed"
    night(logs)
    load([logs], base)
    shutil.copytree(base, undisturbed)
    apply_retention(undisturbed, text_days=4, fact_days=6, today=date(2026, 11, 10))
    expected = contents(undisturbed)

    kills = killed_loads(logs, base, tmp_path / "out", "retain:4")

    steps = {kill["step"] for kill in kills}
    assert {"old sessions", "remove_facts.sql", "remove_texts.sql", "limits", "rewrite", "switch"} <= steps
    for kill, store in loaded_again(kills):
        assert contents(store) == expected, f"killed at {kill['step']}"
        assert len(list(store.iterdir())) == 3, "CURRENT, the lock and one generation"


@pytest.mark.thorough
def test_a_backup_killed_at_any_write_is_whole_or_not_there(logs: Path, tmp_path: Path) -> None:
    base = tmp_path / "base"
    night(logs)
    load([logs / "a.jsonl"], base)
    make_backup(base, tmp_path / "backups")
    load([logs], base)

    kills = killed_loads(logs, base, tmp_path / "out", "backup")

    steps = {kill["step"] for kill in kills}
    assert {"piece", "manifest", "manifest written", "remove backup", "remove piece"} <= steps
    for kill in kills:
        place = Path(kill["store"]).with_name("backups")
        assert kill["seen"] == {"manifest written": 2, "remove backup": 2}.get(kill["step"], 1), kill["step"]
        assert len(list((place / "backups").iterdir())) == 1
        assert verify_backup(place).rows["tool_calls"] == count(base, "tool_calls")
        manifest = json.loads(next((place / "backups").iterdir()).read_text())
        needed = {piece for file in manifest["files"] for piece in file["pieces"]}
        assert {path.name for path in (place / "pieces").iterdir()} == needed, kill["step"]


@pytest.mark.thorough
def test_a_restore_killed_at_any_write_is_completed_by_the_next(logs: Path, tmp_path: Path) -> None:
    base = tmp_path / "base"
    night(logs)
    load([logs], base)
    (base / "naming.toml").write_text("")
    MemoryFile(base).write(("INSERT INTO goals VALUES (?, ?, ?, ?)", [("mended", 0.5, "", "")]))
    make_backup(base, tmp_path / "place")

    kills = killed_loads(tmp_path / "place", tmp_path / "nothing", tmp_path / "out", "restore")

    assert {"fetch", "mark", "place", "sync", "switch"} <= {kill["step"] for kill in kills}
    for kill in kills:
        store = Path(kill["store"])
        assert kill["seen"] in (None, count(base, "tool_calls")), kill["step"]
        assert contents(store) == contents(base), kill["step"]
        assert sorted(path.name for path in store.iterdir()) == [
            "CURRENT", "gen-000001.duckdb", "lock", "memory.sqlite", "naming.toml",
        ]  # fmt: skip
