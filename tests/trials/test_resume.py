"""Tests that a killed trial run continues."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from callgauge.trials.planning.plan import Budget, MeasurePlan, PromptPlan
from callgauge.trials.results.run_folder import FolderError, RunFolder, read_ledger
from callgauge.trials.running.run_lock import RunChangedError
from callgauge.trials.running.spending import read_spent
from lenient import ToolCatalog
from tests.trials.made_plan import WEATHER, go, make_plan, make_tasks, weather_brain

ROOT = Path(__file__).parents[2]
# Number of writes before the first request: two each for plan.toml, lock.json and ledger.jsonl, and one for
# spent.jsonl.
_BEFORE_ASKING = 7
KEYS = {(arm, f"task-{place}", 0) for arm in ("careful", "sloppy") for place in range(3)}


def comparable(outcome: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in outcome.items() if name not in ("milliseconds", "ended_at")}


def by_key(outcomes: list[dict[str, Any]]) -> dict[tuple[str, str, int], dict[str, Any]]:
    return {(outcome["arm"], outcome["task"], outcome["repeat"]): comparable(outcome) for outcome in outcomes}


@pytest.fixture(scope="module")
def kills(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    out = tmp_path_factory.mktemp("kills")
    process = subprocess.run(
        [sys.executable, "-m", "tests.trials.killed_runs", str(out)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    return [json.loads(line) for line in process.stdout.splitlines()]


@pytest.mark.thorough
def test_a_run_dies_at_each_of_its_steps(kills: list[dict[str, Any]]) -> None:
    steps = {kill["step"].split("/")[-1] for kill in kills}
    assert {"write plan.toml", "rename lock.json", "append to ledger.jsonl", "append to spent.jsonl"} <= steps
    assert {"append to looks.jsonl", "append to probes.jsonl"} <= steps
    assert {"write task-0.0.jsonl", "rename task-0.0.jsonl"} <= steps
    assert len(kills) > 50


@pytest.mark.thorough
def test_after_every_kill_the_same_trials_are_there_none_twice(kills: list[dict[str, Any]]) -> None:
    undisturbed = by_key(json.loads((Path(kills[0]["place"]) / "end.json").read_text())["outcomes"])
    assert undisturbed.keys() == KEYS
    for kill in kills:
        place = Path(kill["place"])
        end, folder = json.loads((place / "end.json").read_text()), RunFolder(place / "run.1")
        assert end["reason"] == "done", kill["step"]
        assert by_key(end["outcomes"]) == undisturbed, kill["step"]
        for file in folder.root.rglob("*.jsonl"):
            assert file.read_bytes().endswith(b"\n")
            assert all(json.loads(line) for line in file.read_text().splitlines()), file
        ledger = [json.loads(line) for line in folder.ledger.read_text().splitlines()]
        assert sorted(by_key(ledger)) == sorted(KEYS)
        assert len(ledger) == len(KEYS)
        assert len(list(folder.sessions.rglob("*.jsonl"))) == len(KEYS)
        assert not list(folder.root.rglob("*.part"))
        looks = [json.loads(line) for line in folder.looks.read_text().splitlines()]
        assert [arm_look["look"] for arm_look in looks] == [1, 2], kill["step"]
        probed = folder.probes.read_text().count('"session_start"')
        assert probed == 1, kill["step"]


@pytest.mark.thorough
def test_after_every_kill_all_that_was_asked_is_paid(kills: list[dict[str, Any]]) -> None:
    for kill in kills:
        place = Path(kill["place"])
        requests = len((place / "requests").read_text().splitlines())
        spent = read_spent(RunFolder(place / "run.1").spent)
        assert spent.tokens >= requests * 70 - 1e-6, kill["step"]
        assert spent.tokens <= requests * 70 + 4_600, "a killed request counts with its worst case, no more"


@pytest.mark.parametrize("number", [1, 2, 3, 5, 8, 13, 21, 34, 45])
def test_a_full_disk_is_said_and_what_was_whole_stays(tmp_path: Path, number: int) -> None:
    plan, tasks = make_plan(tmp_path), make_tasks(3)
    steps: list[str] = []

    def full(step: str) -> None:
        steps.append(step)
        if len(steps) >= number:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    if number <= _BEFORE_ASKING:
        with pytest.raises(FolderError, match="No space left on device"):
            go(plan, tasks, tmp_path / "r.1", on_write=full)
    else:
        end = go(plan, tasks, tmp_path / "r.1", on_write=full)
        assert (end.reason, end.code) == ("disk", 3)
        assert "No space left on device" in end.sentence
        assert "run again to continue" in end.sentence
        ended = read_ledger(end.folder.ledger)
        assert set(ended) <= set(end.outcomes)
    again = go(plan, tasks, tmp_path / "r.1")
    assert (again.reason, len(again.outcomes)) == ("done", 6)


def test_a_lost_ledger_line_is_made_again_from_the_session(tmp_path: Path) -> None:
    plan, tasks = make_plan(tmp_path), make_tasks(4)
    end = go(plan, tasks, tmp_path / "r.1")
    lines = end.folder.ledger.read_bytes().splitlines(keepends=True)
    end.folder.ledger.write_bytes(b"".join(lines[:3]) + lines[3][:20])
    requests: list[int] = []
    again = go(plan, tasks, tmp_path / "r.1", on_progress=lambda _: requests.append(1))
    assert set(again.outcomes) == set(end.outcomes)
    assert not requests
    assert set(read_ledger(end.folder.ledger)) == set(end.outcomes)


def test_a_session_that_was_taken_away_is_asked_again(tmp_path: Path) -> None:
    plan, tasks = make_plan(tmp_path, measure=MeasurePlan("refused", 0.1, looks=1)), make_tasks(4)
    end = go(plan, tasks, tmp_path / "r.1", weather_brain(), limit=3)
    next(end.folder.sessions.rglob("*.jsonl")).unlink()
    again = go(plan, tasks, tmp_path / "r.1", weather_brain())
    assert (again.reason, len(again.outcomes)) == ("done", 8)


def test_what_differs_from_the_beginning_is_refused_by_name(tmp_path: Path) -> None:
    plan, tasks = make_plan(tmp_path), make_tasks(3)
    go(plan, tasks, tmp_path / "r.1")
    other = dict(WEATHER) | {"description": "Weather!"}
    short = replace(plan.models["careful"], sampling={"max_tokens": 5})
    changes = {
        "measure.smallest: 0.1 → 0.2": replace(plan, measure=structs.replace(plan.measure, smallest=0.2)),
        "run_plan.seed: 3 → 4": replace(plan, run=replace(plan.run, seed=4)),
        "the prompt p changed": replace(plan, prompts={"p": PromptPlan("p", "Answer!", "agent", "1")}),
        "the definitions d changed": replace(plan, definitions={"d": ToolCatalog.load([other])}),
        'arms.sloppy.strategy: "auto" → "tool_use"': replace(
            plan, arms=(plan.arms[0], replace(plan.arms[1], strategy="tool_use"))
        ),
        "models.careful.sampling.max_tokens: 100 → 5": replace(
            plan, models={**plan.models, "careful": short}
        ),
    }
    for difference, changed in changes.items():
        with pytest.raises(RunChangedError) as refused:
            go(changed, tasks, tmp_path / "r.1")
        assert difference in refused.value.differences, refused.value.differences
        assert "--anew" in str(refused.value)
    with pytest.raises(RunChangedError, match="the tasks changed"):
        go(plan, make_tasks(4), tmp_path / "r.1")
    with pytest.raises(RunChangedError, match="the tasks changed"):
        go(plan, (replace(tasks[0], group="g"), *tasks[1:]), tmp_path / "r.1")
    assert go(replace(plan, budget=Budget(minutes=9)), tasks, tmp_path / "r.1").reason == "done"


def test_another_version_of_callgauge_is_refused(tmp_path: Path) -> None:
    plan, tasks = make_plan(tmp_path), make_tasks(1)
    end = go(plan, tasks, tmp_path / "r.1")
    lock = json.loads(end.folder.lock.read_text())
    lock["versions"]["parser"] = "1"
    end.folder.lock.write_text(json.dumps(lock))
    with pytest.raises(RunChangedError, match=r"versions\.parser"):
        go(plan, tasks, tmp_path / "r.1")


@pytest.mark.parametrize("content", ["", "{", "[]", '{"run": 7}'])
def test_a_lock_that_is_none_is_said(tmp_path: Path, content: str) -> None:
    (tmp_path / "r.1").mkdir()
    (tmp_path / "r.1" / "lock.json").write_text(content)
    with pytest.raises(Exception, match=r"lock\.json is no"):
        go(make_plan(tmp_path), make_tasks(1), tmp_path / "r.1")
