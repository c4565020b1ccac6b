"""Tests Ctrl-C during a load. After the first Ctrl-C, the load publishes all complete files. After the
second, it publishes nothing.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ingest.pipeline.load import load
from ingest.store.generations import published_generation
from tests.store.night import ask, session

ROOT = Path(__file__).parents[2]
FILES = 6


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    folder.mkdir()
    for number in range(FILES):
        (folder / f"{number}.jsonl").write_text(session(f"s{number}"))
    return folder


def interrupted(
    logs: Path, store: Path, *signals: signal.Signals, last_step: str = ""
) -> tuple[int, str, str]:
    """Send a signal when the process prints one of these words. Return the exit code, stdout and stderr."""
    command = [sys.executable, "-m", "tests.cli.interrupted_load", "ingest", logs, "--store", store]
    process = subprocess.Popen(
        list(map(str, command)),
        cwd=ROOT,
        env={**os.environ, "LAST_STEP": last_step},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stderr is not None
        waiting, heard = list(signals), []
        for line in process.stderr:
            heard.append(line)
            if line.strip() in ("now", "again"):
                process.send_signal(waiting.pop(0))
        assert process.stdout is not None
        printed = process.stdout.read()
    assert waiting == []
    return process.returncode, printed, "".join(heard)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_one_publishes_what_was_read_whole_and_the_next_load_reads_the_rest(
    which: signal.Signals, logs: Path, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    code, printed, heard = interrupted(logs, store, which)
    assert code == 130
    assert "stopping after this batch" in heard
    assert f"stopped: {FILES - 2} files are left" in printed
    assert "published gen-000001.duckdb" in printed
    sessions = ask(store, "SELECT session_id FROM sessions ORDER BY 1")
    assert sessions == [("s0",), ("s1",)]
    assert ask(store, "SELECT count(*) FROM tool_calls WHERE session_id NOT IN ('s0', 's1')") == [(0,)]
    report = load([logs], store)
    assert (report.loaded, report.unchanged, report.unread) == (FILES - 2, 2, 0)


@pytest.mark.thorough
def test_a_second_one_while_the_store_is_written_publishes_nothing(logs: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    code, printed, heard = interrupted(logs, store, signal.SIGINT, signal.SIGINT, last_step="settle.sql")
    assert code == 130
    assert printed == ""
    assert "nothing was published" in heard
    assert "Traceback" not in heard
    assert published_generation(store) is None
    assert not list(store.glob("building*"))
    assert load([logs], store).loaded == FILES


def test_the_first_one_before_anything_was_read_leaves_the_store_as_it_was(
    logs: Path, tmp_path: Path
) -> None:
    report = load([logs], tmp_path / "store", stop=lambda: True)
    assert (report.loaded, report.unread, report.generation) == (0, FILES, None)
