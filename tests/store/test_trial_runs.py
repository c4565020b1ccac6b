"""Tests trial runs in a store."""

# ruff: noqa: S608 - the queries are made of our own column names

from __future__ import annotations

import json
import shutil
import tarfile
import zipfile
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from ingest.load_report import ForeignKind
from ingest.maintenance.forget import SessionChoice, forget
from ingest.maintenance.reparse import reparse
from ingest.pipeline.load import load
from ingest.privacy.configuration import PrivacyOptions
from ingest.privacy.rules import RedactionRules
from ingest.store.generations import published_generation
from tests.store.made_runs import RUN, lock, look, of_trial, trial_session, write_run
from tests.store.night import TABLES, ask, contents, opened, session
from tests.store.older import make_older
from tests.store.recount import ROLLUPS, Facts, sorted_rows

COUNTED = "SELECT run, look, arm, decision FROM trial_looks WHERE NOT duplicate ORDER BY ALL"
OF_RUNS = "SELECT trial_run, arm, count(*)::INT FROM {} GROUP BY ALL ORDER BY ALL"


def test_the_folder_of_a_run_is_loaded_with_nothing_rejected(logs: Path, store: Path) -> None:
    write_run(logs)
    report = load([logs], store)
    assert (report.rejected, report.rejects, report.notes) == ((), 0, ())
    planned = "run, name, question, primary_measure, smallest, alpha, reference, looks, tasks, repeats"
    assert ask(store, f"SELECT {planned} FROM trial_runs") == [
        (RUN, "orders", "Do enums lower refusals?", "refused", 0.05, 0.05, "old", 2, 3, 1)
    ]
    assert ask(store, "SELECT look_at, boundaries, created_at FROM trial_runs") == [
        ([1, 3], [2.96, 1.97], datetime.fromisoformat("2026-11-20T08:00:00"))
    ]
    assert ask(store, "SELECT budget_cost, budget_tokens, budget_minutes, secondary FROM trial_runs") == [
        (5.0, 2_000_000, None, ["right"])
    ]
    ((arms, versions),) = ask(store, "SELECT arms, versions FROM trial_runs")
    assert json.loads(arms) == lock()["arms"]
    assert json.loads(versions) == {"callgauge": "1.0", "parser": "9"}
    looked_at = datetime.fromisoformat("2026-11-20T09:01:00")
    assert ask(store, "SELECT * EXCLUDE (file_id, line, byte_offset) FROM trial_looks") == [
        (RUN, 1, "new", 1, 3, -0.5, -0.9, 0.1, -1.4, 2.96, "go on", 0, looked_at, False)
    ]
    read_with = (
        "SELECT split(path, '/')[-1] AS name, reason FROM files WHERE status = 'companion' ORDER BY ALL"
    )
    names = ("plan.toml", "report.md")
    assert ask(store, read_with) == [(name, "is read with lock.json") for name in names]
    assert load([logs], store).generation is None, "the second load finds nothing new"


def test_calls_turns_and_sums_know_their_run_and_arm(logs: Path, store: Path) -> None:
    write_run(logs)
    (logs / "night.jsonl").write_text(session("night", raw="]"))
    load([logs], store)
    assert ask(store, OF_RUNS.format("tool_calls")) == [(RUN, "new", 6), (RUN, "old", 6), (None, None, 3)]
    assert ask(store, OF_RUNS.format("turns")) == [(RUN, "new", 3), (RUN, "old", 3), (None, None, 2)]
    assert ask(store, OF_RUNS.format("probes")) == [(RUN, None, 1)]
    facts = Facts(store)
    for table, count in ROLLUPS.items():
        counted = list(count(facts))
        columns = sorted(counted[0]) if counted else []
        assert {"trial_run", "arm"} <= set(columns) or table == "daily_parallel", table
        assert sorted_rows(facts.tables[table], columns) == sorted_rows(counted, columns), table


def test_a_run_from_elsewhere_is_no_trial(logs: Path, store: Path) -> None:
    """A file path may assign any session to a trial run. But only the log itself can say that the session is
    a trial.
    """
    (logs / "r1").mkdir()
    (logs / "r1" / "a.jsonl").write_text(session("a"))
    load([logs], store, from_path=["logs/{run}/*"])
    assert ask(store, "SELECT run, trial_run, arm FROM sessions") == [("r1", None, None)]


@pytest.mark.thorough
def test_a_run_in_two_places_counts_once(logs: Path, store: Path) -> None:
    root = write_run(logs)
    load([logs], store)
    before = contents(store, ["trial_runs", "trial_looks", "tool_calls", "daily_calls"])
    elsewhere = logs / "copied"
    shutil.copytree(root, elsewhere)
    load([logs], store)
    assert contents(store, ["trial_runs", "trial_looks", "tool_calls", "daily_calls"]) == before
    (elsewhere / "lock.json").write_text(json.dumps(lock(question="Told anew?")))
    with (elsewhere / "looks.jsonl").open("a") as stream:
        stream.write(json.dumps(look(2, decision="better")) + "\n")
    load([logs], store)
    assert ask(store, "SELECT run, question FROM trial_runs WHERE NOT duplicate") == [(RUN, "Told anew?")]
    assert ask(store, COUNTED) == [(RUN, 1, "new", "go on"), (RUN, 2, "new", "better")]
    assert ask(store, "SELECT sum(calls)::INT FROM daily_calls") == [(12,)]


@pytest.mark.thorough
def test_looks_that_come_while_the_run_goes_on_are_added(logs: Path, store: Path) -> None:
    root = write_run(logs, looks=0)
    report = load([logs], store)
    assert (report.rejected, report.rejects, ask(store, COUNTED)) == ((), 0, [])
    looks = root / "looks.jsonl"
    half = json.dumps(look(2, decision="better"))
    looks.write_text(json.dumps(look(1)) + "\n" + half[:40])
    load([logs], store)
    assert ask(store, COUNTED) == [(RUN, 1, "new", "go on")]
    looks.write_text(json.dumps(look(1)) + "\n" + half + "\n")
    load([logs], store)
    assert ask(store, COUNTED) == [(RUN, 1, "new", "go on"), (RUN, 2, "new", "better")]
    assert ask(store, "SELECT count(*) FROM rejects") == [(0,)]


def test_looks_that_were_taken_again_count_as_the_later_line_says(logs: Path, store: Path) -> None:
    root = write_run(logs, looks=2)
    with (root / "looks.jsonl").open("a") as stream:
        stream.write(json.dumps(look(2, decision="worse")) + "\n")
    load([logs], store)
    assert ask(store, COUNTED) == [(RUN, 1, "new", "go on"), (RUN, 2, "new", "worse")]


@pytest.mark.thorough
def test_a_run_that_was_begun_anew_replaces_what_it_said_before(logs: Path, store: Path) -> None:
    root = write_run(logs, looks=2)
    load([logs], store)
    (root / "looks.jsonl").write_text(json.dumps(look(1, decision="alike")) + "\n")
    (root / "lock.json").write_text(json.dumps(lock(question="Another one?"), indent=2))
    load([logs], store)
    assert ask(store, COUNTED) == [(RUN, 1, "new", "alike")]
    assert ask(store, "SELECT question FROM trial_runs WHERE NOT duplicate") == [("Another one?",)]
    load([logs], store, replacing=True)
    assert ask(store, "SELECT count(*) FROM trial_runs") == [(1,)]


@pytest.mark.thorough
def test_a_trial_that_is_still_under_way_waits_until_it_has_ended(logs: Path, store: Path) -> None:
    root = write_run(logs)
    whole = root / "sessions" / "new" / "t9.1.jsonl"
    under_way = whole.with_name("t9.1.jsonl.part")
    text = trial_session(RUN, "new", 9)
    under_way.write_text("".join(text.splitlines(keepends=True)[:4]))
    report = load([logs], store)
    assert (report.rejected, report.rejects) == ((), 0)
    assert ask(store, "SELECT sum(calls)::INT FROM daily_calls") == [(12,)]
    under_way.rename(whole)
    whole.write_text(text)
    load([logs], store)
    assert ask(store, "SELECT sum(calls)::INT FROM daily_calls") == [(14,)]
    (logs / "other.jsonl.part").write_text(session("a part of another log"))
    load([logs], store)
    assert ask(store, "SELECT sum(calls)::INT FROM daily_calls") == [(17,)], "such a log is read"


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["zip", "tar.gz"])
def test_a_run_can_be_packed_and_loaded_elsewhere(logs: Path, store: Path, kind: str) -> None:
    root = write_run(logs, looks=2)
    packed = logs.with_name(f"run.{kind}")
    if kind == "zip":
        with zipfile.ZipFile(packed, "w") as archive:
            for path in sorted(root.rglob("*")):
                archive.write(path, path.relative_to(logs))
    else:
        with tarfile.open(packed, "w:gz") as archive:
            archive.add(root, RUN)
    report = load([packed], store)
    texts = [file for file in report.rejected if file.foreign is ForeignKind.TEXT]
    assert (len(report.rejected), len(texts)) == ((0, 0) if kind == "zip" else (2, 2)), "plan.toml, report.md"
    assert (report.rejects, report.notes) == (0, ())
    tables = [name for name in TABLES if name not in ("ingest_runs", "files", "copies", "sources")]
    fresh = store.with_name("fresh")
    load([logs], fresh)
    whole = "SELECT run, question, arms FROM trial_runs WHERE NOT duplicate"
    assert ask(store, whole) == ask(fresh, whole)
    assert ask(store, COUNTED) == ask(fresh, COUNTED)
    assert {name: len(contents(store, [name])[name]) for name in tables} == {
        name: len(contents(fresh, [name])[name]) for name in tables
    }
    load([logs], store)
    assert ask(store, "SELECT sum(calls)::INT FROM daily_calls") == [(12,)]
    assert ask(store, "SELECT count(*) FROM trial_runs WHERE NOT duplicate") == [(1,)]


@pytest.mark.thorough
def test_forgetting_a_trial_leaves_the_run_and_the_other_trials(logs: Path, store: Path) -> None:
    write_run(logs)
    load([logs], store)
    forget(store, SessionChoice(sessions=[f"{RUN}/old/t1"]))
    assert ask(store, OF_RUNS.format("tool_calls")) == [(RUN, "new", 6), (RUN, "old", 4)]
    assert ask(store, "SELECT arm, sum(calls)::INT FROM daily_calls GROUP BY 1 ORDER BY 1") == [
        ("new", 6),
        ("old", 4),
    ]
    assert ask(store, "SELECT run FROM trial_runs") == [(RUN,)]
    assert load([logs], store).generation is None
    reparse(store, everything=True)
    assert ask(store, OF_RUNS.format("tool_calls")) == [(RUN, "new", 6), (RUN, "old", 4)]


@pytest.mark.thorough
def test_a_session_whose_other_file_names_the_run_is_of_it(logs: Path, store: Path) -> None:
    lines = of_trial(session("s", turns=(2, 2)), RUN, "old", "t0").splitlines(keepends=True)
    cut = next(n for n, line in enumerate(lines) if '"turn": 2' in line)
    (logs / "b.jsonl").write_text("".join(lines[cut:]))
    load([logs], store)
    assert ask(store, "SELECT DISTINCT trial_run FROM tool_calls") == [(None,)]
    (logs / "a.jsonl").write_text("".join(lines[:cut]))
    load([logs], store)
    assert ask(store, OF_RUNS.format("tool_calls")) == [(RUN, "old", 4)]
    assert ask(store, "SELECT DISTINCT trial_run, arm FROM daily_calls") == [(RUN, "old")]


@pytest.mark.thorough
def test_trials_of_a_store_of_version_6_are_told_apart_by_the_next_load(logs: Path, store: Path) -> None:
    write_run(logs)
    (logs / "night.jsonl").write_text(session("night"))
    load([logs], store)
    facts = ("sessions", "turns", "tool_calls", "daily_calls", "daily_rates", "task_trials")
    with opened(published_generation(store) or store) as con:
        con.execute("UPDATE turns SET tool_list = NULL")
    before = contents(store, facts)
    make_older(store, 6)
    load([logs / "night.jsonl"], store)
    after = contents(store, facts)
    assert {name: after[name] for name in facts[1:]} == {name: before[name] for name in facts[1:]}


HOSTILE: dict[str, tuple[Any, str]] = {
    "no run": (lock() | {"run": ""}, "a trial's lock without run"),
    "no arms": (lock() | {"arms": []}, "a trial's lock without arms"),
    "arms of another kind": (lock() | {"arms": {"old": 1}}, "a trial's lock without arms"),
    "an arm without a name": (lock() | {"arms": [{"model": "m"}]}, "without the name of a variant"),
    "a newer version": (
        lock() | {"callgauge_trial": 2},
        "callgauge_trial is 2; this Callgauge reads version 1",
    ),
    "a text for a version": (lock() | {"callgauge_trial": "1"}, "callgauge_trial is string"),
}


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize(("value", "reason"), HOSTILE.values(), ids=HOSTILE)
def test_a_lock_that_cannot_be_read_says_why(logs: Path, store: Path, value: Any, reason: str) -> None:
    root = write_run(logs)
    (root / "lock.json").write_text(json.dumps(value))
    report = load([logs], store)
    assert report.rejects == 1
    ((stored_reason,),) = ask(store, "SELECT reason FROM rejects")
    assert reason in stored_reason
    assert ask(store, "SELECT count(*) FROM trial_runs") == [(0,)]
    assert ask(store, "SELECT sum(calls)::INT FROM daily_calls") == [(12,)], "its sessions are in"


def test_fields_of_other_types_are_unknown_and_told(logs: Path, store: Path) -> None:
    root = write_run(logs)
    odd = lock(question=7, look_at=[10**30], boundaries=["x"], budget=[], created_at="soon") | {"tasks": "t"}
    odd["measure"] |= {"smallest": "5 %", "looks": -1, "alpha": 1e308, "primary": None}
    (root / "lock.json").write_text(json.dumps(odd))
    report = load([logs], store)
    assert report.rejects == 1
    ((reason,),) = ask(store, "SELECT reason FROM rejects")
    for name in ("question", "tasks", "look_at", "boundaries", "budget", "measure.smallest", "measure.looks"):
        assert name in reason
    unknown = "question, tasks, look_at, boundaries, budget_cost, smallest, looks, alpha, created_at"
    assert ask(store, f"SELECT {unknown} FROM trial_runs") == [(None,) * 9]


@pytest.mark.thorough
def test_hostile_names_are_kept_as_texts(logs: Path, store: Path) -> None:
    root = write_run(logs)
    name = "<script>alert(1)</script>\ud800" + "x" * 5_000
    (root / "lock.json").write_text(json.dumps(lock(run=name, question=name)))
    (root / "looks.jsonl").write_text(json.dumps(look(1, run=name, arm=name)) + "\n")
    load([logs], store)
    assert ask(store, "SELECT starts_with(run, '<script>'), length(run) <= 1000 FROM trial_runs") == [
        (True, True)
    ]
    assert ask(store, "SELECT count(*) FROM trial_looks JOIN trial_runs USING (run)") == [(1,)]


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("missing", ["run", "look", "arm", "decision"])
def test_a_look_without_its_place_is_rejected(logs: Path, store: Path, missing: str) -> None:
    root = write_run(logs)
    (root / "looks.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in (look(1), look(2) | {missing: None}))
    )
    load([logs], store)
    assert ask(store, "SELECT reason FROM rejects") == [
        (f"an interim analysis of a trial without {missing}",)
    ]
    assert ask(store, COUNTED) == [(RUN, 1, "new", "go on")]


@pytest.mark.thorough
def test_a_lock_that_is_too_large_costs_itself_alone(logs: Path, store: Path) -> None:
    root = write_run(logs)
    (root / "lock.json").write_text(json.dumps(lock(question="x" * 200_000)))
    load([logs], store, max_line=100_000)
    assert ask(store, "SELECT count(*) FROM trial_runs") == [(0,)]
    assert ask(store, "SELECT sum(calls)::INT FROM daily_calls") == [(12,)]
    reasons = ask(
        store, "SELECT reason FROM files WHERE path LIKE '%lock.json' UNION SELECT reason FROM rejects"
    )
    assert any("--max-line" in str(reason) for (reason,) in reasons)


@pytest.mark.thorough
def test_a_redacted_load_keeps_secrets_out_of_the_lock(logs: Path, store: Path) -> None:
    root = write_run(logs)
    key = "sk-ant-api03-" + "A1b2C3d4" * 10
    (root / "lock.json").write_text(json.dumps(lock(question=f"with {key}?", hashes={"plan": key})))
    load([logs], store, private=PrivacyOptions(RedactionRules()))
    ((question, hashes),) = ask(store, "SELECT question, hashes FROM trial_runs")
    assert key not in question + hashes
