"""Tests workers that die, loads that die, and full disks. No temporary files may remain."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ingest.load_report import LoadReport, Progress
from ingest.pipeline.load import load
from ingest.pipeline.workers import worker_process
from ingest.pipeline.workers.process_executor import ProcessExecutor, ReadAhead
from ingest.pipeline.workers.worker_process import WorkerProcess
from tests.store.night import ask, contents, count, rows_by_reference, session
from tests.store.test_workers import SESSIONS, in_order, long_file, night

pytestmark = pytest.mark.usefixtures("workers_read")


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Record the worker processes that a load starts without forking."""
    monkeypatch.setattr(worker_process, "can_fork", lambda: False)
    processes: list[subprocess.Popen[bytes]] = []
    popen = subprocess.Popen

    def start(*words: Any, **options: Any) -> subprocess.Popen[bytes]:
        processes.append(popen(*words, **options))
        return processes[-1]

    monkeypatch.setattr(subprocess, "Popen", start)
    yield processes
    assert all(process.poll() is not None for process in processes), "a worker outlived its load"


@pytest.mark.thorough
def test_little_and_nothing_are_read_without_workers(
    logs: Path, store: Path, started: list[subprocess.Popen[bytes]]
) -> None:
    for name in "ab":
        (logs / f"{name}.jsonl").write_text(session(name))
    load([logs], store)
    load([logs], store, workers=2)
    (logs / "c.jsonl").write_text(session("c"))
    load([logs], store, workers=2)
    assert not started


def killing(processes: list[subprocess.Popen[bytes]], name: str) -> Callable[[Progress], None]:
    """Kill the first worker when the first rows of its first file have arrived."""

    def on_progress(progress: Progress) -> None:
        if progress.name.endswith(name) and progress.bytes_done > 0:
            processes[0].kill()

    return on_progress


def reasons(report: LoadReport) -> dict[str, str]:
    return {Path(rejected.path).name: rejected.reason for rejected in report.rejected}


@pytest.mark.thorough
def test_a_worker_that_is_killed_costs_the_file_it_was_at(
    logs: Path, store: Path, tmp_path: Path, started: list[subprocess.Popen[bytes]]
) -> None:
    night(logs)
    load([logs], tmp_path / "without", workers=1)
    long_file(logs / "0-long.jsonl")

    report = load([logs], store, workers=2, on_progress=killing(started, "0-long.jsonl"))

    assert len(started) == 3
    assert "the process that read it died (killed" in reasons(report)["0-long.jsonl"]
    assert report.loaded == 10
    assert rows_by_reference(store) == rows_by_reference(tmp_path / "without")
    assert load([logs], store, workers=2).loaded == 1
    assert count(store, "sessions") == count(tmp_path / "without", "sessions") + SESSIONS


@pytest.mark.thorough
def test_workers_that_cannot_start_are_done_without(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, started: list[subprocess.Popen[bytes]]
) -> None:
    night(logs)
    load([logs], tmp_path / "alone", workers=1)
    monkeypatch.setattr(sys, "executable", "/bin/false")
    load([logs], tmp_path / "store", workers=2)
    assert len(started) >= 2
    assert contents(tmp_path / "store") == contents(tmp_path / "alone")


@pytest.mark.thorough
def test_an_end_that_was_asked_for_undoes_what_was_read_ahead(
    logs: Path, store: Path, started: list[subprocess.Popen[bytes]]
) -> None:
    (logs / "0.jsonl").write_text(session("0"))
    load([logs], store)
    long_file(logs / "a.jsonl")
    (logs / "b.jsonl").write_text(session("b"))
    (logs / "c.jsonl").write_text(session("c"))
    at: list[Progress] = []
    names: list[str] = []

    def stop() -> bool:
        names.append(at[-1].name)
        # the name appears before the file is read, and again while it is read
        return names.count(str(logs / "a.jsonl")) > 2

    report = load([logs], store, workers=2, on_progress=at.append, stop=stop)

    assert (report.loaded, report.unread, report.generation) == (0, 3, None)
    assert ask(store, "SELECT session_id, calls FROM sessions") == [("0", 3)]
    assert load([logs], store, workers=2).loaded == 3
    assert count(store, "sessions") == SESSIONS + 3


@pytest.mark.thorough
def test_an_end_before_the_first_rows_of_a_file_keeps_the_file_before(
    logs: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "ab":
        (logs / f"{name}.jsonl").write_text(session(name))
    receive_part = ProcessExecutor._receive_part
    waiting: list[str] = []

    def receive_nothing_of_b(executor: ProcessExecutor, ahead: ReadAhead, worker: WorkerProcess) -> Any:
        if Path(ahead.task.job.found.name).name != "b.jsonl":
            return receive_part(executor, ahead, worker)
        waiting.append(ahead.task.job.found.name)
        return None

    monkeypatch.setattr(ProcessExecutor, "_receive_part", receive_nothing_of_b)
    report = load([logs], store, workers=2, stop=lambda: bool(waiting))

    assert (report.loaded, report.unread) == (1, 1)
    assert ask(store, "SELECT session_id, calls FROM sessions") == [("a", 3)]


FORKING = """
from ingest.processes import leave_threads_out
leave_threads_out()
from ingest.pipeline.workers import worker_process
assert worker_process.can_fork()
"""


def test_a_load_into_a_store_forks_its_workers(logs: Path, store: Path) -> None:
    """A program imports everything again, which takes as long as reading 50 MB. DuckDB's threads forbid a
    fork.
    """
    (logs / "a.jsonl").write_text(session("a"))
    load([logs], store)
    for name in "bc":
        long_file(logs / f"{name}.jsonl")
    code = f"""{FORKING}
import sys
from pathlib import Path
from ingest.pipeline.load import load

def start_program(descriptor):
    raise SystemExit("a worker was started as a program")

worker_process._start_program = start_program
forked = worker_process.ForkedProcess
worker_process.ForkedProcess = lambda descriptor: print("forked", flush=True) or forked(descriptor)
print(load([Path(sys.argv[1])], Path(sys.argv[2]), workers=2).loaded)
"""
    loading = [sys.executable, "-c", code, str(logs), str(store)]
    done = subprocess.run(loading, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("forked\nforked\n2\n", 0), done.stderr


@pytest.mark.thorough
@pytest.mark.parametrize("first", [FORKING, ""], ids=["forked", "started"])
def test_workers_end_when_their_load_is_killed(logs: Path, store: Path, first: str) -> None:
    for name in "ab":
        long_file(logs / f"{name}.jsonl")
    code = f"""{first}
import sys, time
from pathlib import Path
from ingest.pipeline.load import load
from ingest.pipeline.workers import worker_process

def stand_still(at):
    if at.bytes_done:
        print("amidst the first file", flush=True)
        time.sleep(600)

load([Path(sys.argv[1])], Path(sys.argv[2]), workers=2, on_progress=stand_still)
"""
    loading = subprocess.Popen([sys.executable, "-c", code, logs, store], stdout=subprocess.PIPE, text=True)
    assert loading.stdout is not None
    assert loading.stdout.readline() == "amidst the first file\n"
    workers = children_of(loading.pid)
    assert len(workers) == 2
    loading.kill()
    loading.communicate()
    deadline = time.monotonic() + 60
    while any(map(is_alive, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(is_alive, workers))
    assert not list(store.glob("building*rows*"))
    assert load([logs], store).loaded == 2
    assert not list(store.glob("building*"))


def children_of(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task")
    if not tasks.is_dir():
        pytest.skip("needs /proc")
    return [int(child) for task in tasks.glob("*/children") for child in task.read_text().split()]


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.thorough
def test_forked_workers_make_the_tables_that_one_process_makes(logs: Path, tmp_path: Path) -> None:
    night(logs)
    load([logs], tmp_path / "alone", workers=1)
    code = f"""{FORKING}
import subprocess, sys
from pathlib import Path
from ingest.pipeline.load import load
from tests.store.waiting import wait_for_workers

subprocess.Popen = None
wait_for_workers()
load([Path(sys.argv[1])], Path(sys.argv[2]), workers=2)
"""
    subprocess.run([sys.executable, "-c", code, logs, tmp_path / "forked"], check=True)
    assert in_order(tmp_path / "forked") == in_order(tmp_path / "alone")


FULL = """
import resource, sys
from pathlib import Path
from ingest.errors import StoreError
from ingest.pipeline.load import load
from ingest.pipeline.workers import worker_process
from tests.store.waiting import wait_for_workers
wait_for_workers()
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), resource.RLIM_INFINITY))
try:
    load([Path(sys.argv[1])], Path(sys.argv[2]), workers=2)
except StoreError as error:
    print(error)
"""


@pytest.mark.thorough
def test_a_disk_that_is_full_for_a_worker_ends_the_load_with_a_sentence(logs: Path, store: Path) -> None:
    for name in "ab":
        long_file(logs / f"{name}.jsonl")
    command = [sys.executable, "-c", FULL, str(logs), str(store), "2000000"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.count("\n") == 1, done.stderr
    assert "The published store is unchanged." in done.stdout
    assert not list(store.glob("building*"))
    assert load([logs], store, workers=2).loaded == 2
