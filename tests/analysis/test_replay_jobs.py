"""Tests the processes of replays."""

from __future__ import annotations

import os
import signal
import sys
import time
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from callgauge.analysis.metrics.published_store import published_generation
from callgauge.analysis.replay.fix_results import FixQuestion
from callgauge.analysis.replay.jobs import (
    WAITING,
    ReplayJob,
    ReplayQueue,
    ReplayQueueFullError,
    ReplayRequest,
    SessionReplay,
)
from callgauge.analysis.replay.scenarios import Scenario
from tests.analysis.made_fixes import publish_made
from tests.analysis.store_fixture import a_call, publish, small_tables
from tests.analysis.test_definition_fixes import made

DEFINITION = {
    "definition_id": "d1",
    "tool": "read_file",
    "description": "Reads.",
    "definition": '{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer"}}}',
}
SLEEPS = (sys.executable, "-c", "import time; time.sleep(60)")


@pytest.fixture
def generation(tmp_path: Path) -> str:
    calls = [
        *(a_call(number, definition_id="d1", session_id=f"s{number}") for number in range(30)),
        *(
            a_call(
                number,
                definition_id="d1",
                session_id=f"s{number}",
                outcome="coerced",
                raw_arguments='{"path": "a", "limit": "20"}',
            )
            for number in range(30, 40)
        ),
        a_call(40, raw_arguments=None, args_source="missing", outcome="unmeasured"),
        a_call(41, duplicate=True),
        a_call(42, definition_id="d1", tool="other"),
    ]
    tables = small_tables() | {"tool_calls": calls, "tool_definitions": [DEFINITION]}
    return str(publish(tmp_path / "store", tables))


@pytest.fixture
def desk() -> ReplayQueue:
    return ReplayQueue()


def make_request(generation: str, scenario: Scenario | None = None, **parameters: Any) -> ReplayRequest:
    return ReplayRequest(generation, parameters, 43, 1, scenario or Scenario(policy="strict"), True)


def ended(desk: ReplayQueue, job: ReplayJob, seconds: float = 240.0) -> ReplayJob:
    until = time.monotonic() + seconds
    while job.state in ("waiting", "running"):
        assert time.monotonic() < until, job.state
        desk.poll(job)
        time.sleep(0.02)
    return job


def test_a_replay_counts_and_lists_what_moved(desk: ReplayQueue, generation: str) -> None:
    job = ReplayJob(make_request(generation, tools=["read_file"]))
    desk.submit(job)
    assert job.state == "running"
    ended(desk, job)
    assert job.problem is None
    assert job.summary
    assert (job.summary.calls, job.summary.changed, job.summary.not_read) == (41, 10, {"missing": 1})
    assert job.summary.flows == [("clean", "clean", 30), ("coerced", "failed", 10)]
    listed = list(job.read_changed_calls())
    assert len(listed) == 10
    assert [row["call_id"] for row in job.read_changed_calls(8, 5)] == [row["call_id"] for row in listed[8:]]
    folder = job.folder
    job.end()
    assert not folder.exists()


@pytest.mark.thorough
def test_days_and_sessions_of_a_slice_narrow_a_replay(desk: ReplayQueue, generation: str) -> None:
    none = ReplayJob(make_request(generation, from_day=date(2026, 11, 21)))
    desk.submit(none)
    assert ended(desk, none).summary
    assert none.summary
    assert none.summary.calls == 0
    third = ReplayJob(ReplayRequest(generation, {}, 43, 3, Scenario(), True))
    desk.submit(third)
    ended(desk, third)
    assert third.summary
    assert 0 < third.summary.calls < 30


def test_a_replay_that_is_cancelled_leaves_no_process(desk: ReplayQueue, generation: str) -> None:
    job = ReplayJob(make_request(generation), SLEEPS)
    desk.submit(job)
    process = job._process
    assert process
    desk.drop(job)
    assert job.state == "cancelled"
    assert process.returncode == -signal.SIGKILL


def test_a_worker_that_dies_is_one_sentence(desk: ReplayQueue, generation: str) -> None:
    job = ReplayJob(make_request(generation), SLEEPS)
    desk.submit(job)
    assert job._process
    os.kill(job._process.pid, signal.SIGKILL)
    assert ended(desk, job).state == "failed"
    assert job.problem == (
        "The replay's process ended (killed; when memory runs out, the system does so). Narrow the slice."
    )


def test_a_worker_that_fails_says_its_last_words(desk: ReplayQueue, generation: str) -> None:
    job = ReplayJob(make_request(generation), (sys.executable, "-c", "raise SystemExit('out of paper')"))
    desk.submit(job)
    assert ended(desk, job).problem == "The replay's process ended (exit code 1): out of paper"


def test_a_store_that_cannot_be_read_is_one_sentence(desk: ReplayQueue, tmp_path: Path) -> None:
    job = ReplayJob(make_request(str(tmp_path / "none.duckdb")))
    desk.submit(job)
    assert ended(desk, job).state == "failed"
    assert job.problem
    assert "cannot be opened" in job.problem


def test_one_runs_and_the_next_waits_for_it(desk: ReplayQueue, generation: str) -> None:
    first, second = ReplayJob(make_request(generation), SLEEPS), ReplayJob(make_request(generation))
    desk.submit(first)
    desk.submit(second)
    assert (first.state, second.state) == ("running", "waiting")
    assert desk.poll(second) == 1
    desk.drop(first)
    assert second.state == "running"
    assert ended(desk, second).state == "done"


def test_only_so_many_may_wait(desk: ReplayQueue, generation: str) -> None:
    jobs = [ReplayJob(make_request(generation), SLEEPS) for _ in range(1 + WAITING)]
    for job in jobs:
        desk.submit(job)
    with pytest.raises(ReplayQueueFullError):
        desk.submit(ReplayJob(make_request(generation)))
    for job in reversed(jobs):
        desk.drop(job)


@pytest.mark.thorough
def test_who_asks_for_the_same_replay_gets_the_finished_one(desk: ReplayQueue, generation: str) -> None:
    first, second = SessionReplay(desk), SessionReplay(desk)
    first.begin(ReplayJob(make_request(generation)))
    done = ended(desk, first.job or pytest.fail("no job"))
    second.begin(ReplayJob(make_request(generation), SLEEPS))
    assert second.job is done
    first.release()
    assert done.folder.exists(), "the other session still shows it"
    assert len(list(done.read_changed_calls())) == 10
    second.begin(ReplayJob(make_request(generation, Scenario(policy="safe"))))
    assert second.job is not done, "other settings are another replay"
    second.release()


@pytest.mark.thorough
def test_who_waits_for_the_same_replay_gets_it_when_it_is_finished(
    desk: ReplayQueue, generation: str
) -> None:
    first, second = SessionReplay(desk), SessionReplay(desk)
    first.begin(ReplayJob(make_request(generation)))
    second.begin(ReplayJob(make_request(generation), SLEEPS))
    third = SessionReplay(desk)
    third.begin(ReplayJob(make_request(generation), SLEEPS))
    ended(desk, first.job or pytest.fail("no job"))
    third.poll()
    assert third.job is first.job
    second.release()


@pytest.mark.thorough
def test_the_changed_calls_of_one_move(desk: ReplayQueue, generation: str) -> None:
    job = ReplayJob(make_request(generation))
    desk.submit(job)
    ended(desk, job)
    assert len(list(job.read_changed_calls(flow=("coerced", "failed")))) == 10
    assert not list(job.read_changed_calls(flow=("clean", "failed")))
    job.end()


def test_a_worker_ends_when_its_server_does(generation: str, tmp_path: Path) -> None:
    job = ReplayJob(make_request(generation), (sys.executable, "-P", "-c", _PATIENT))
    job.start()
    assert job._process
    assert job._process.stdin
    job._process.stdin.close()
    assert job._process.wait(240) == 72
    job.end()


_PATIENT = """
import time
from callgauge.analysis.replay import worker
worker._replay = lambda *_: time.sleep(60)
worker.main()
"""


@pytest.mark.thorough
def test_a_search_for_edits_runs_in_the_worker_and_its_result_is_kept(desk: ReplayQueue, store: Path) -> None:
    publish_made(store, made())
    generation = str(published_generation(str(store)))
    request = ReplayRequest(generation, {}, 480, 1, Scenario(), True, FixQuestion("search"))
    job = ReplayJob(request)
    desk.submit(job)
    ended(desk, job)
    assert job.problem is None
    fixes = desk.find_fixes(request)
    assert fixes is not None
    assert "accept_type:limit" in {fix.key for fix in fixes.fixes}
