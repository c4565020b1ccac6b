"""Tests that Callgauge loads, serves and reports without modules and functions that only POSIX has."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from ingest import safe_files
from ingest.errors import StoreBusy
from ingest.store.generations import lock_store

EXAMPLE = Path(__file__).parents[2] / "docs" / "session-log.example.jsonl"
# Each process of the command runs this code at its start. The code hides POSIX functions, and replaces the
# file lock.
BLOCK = """
import fcntl, os, subprocess, sys, types

for name in ("fcntl", "resource", "pwd", "grp", "termios"):
    sys.modules[name] = None
del os.fork, os.pwrite, os.nice

def locking(descriptor, mode, size):
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, size, 0, os.SEEK_CUR)
    except BlockingIOError as held:
        raise PermissionError(13, "locked") from held

msvcrt = types.ModuleType("msvcrt")
msvcrt.LK_NBLCK, msvcrt.locking = 2, locking
sys.modules["msvcrt"] = msvcrt
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "block").mkdir()
    (tmp_path / "block" / "sitecustomize.py").write_text(BLOCK)
    return {**os.environ, "PYTHONPATH": str(tmp_path / "block")}


def start(environment: dict[str, str], *words: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "callgauge", *map(str, words)]
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


@pytest.mark.thorough
def test_logs_are_loaded_served_and_reported(environment: dict[str, str], tmp_path: Path) -> None:
    store = tmp_path / "store"
    blocked = [sys.executable, "-c", "import fcntl"]
    assert (
        "ModuleNotFoundError"
        in subprocess.run(blocked, env=environment, capture_output=True, text=True, check=False).stderr
    )
    with start(environment, "ingest", EXAMPLE, "--store", store, "--workers", 2) as load:
        output, _ = load.communicate()
    assert (load.returncode, "1 file loaded: 1 read" in output) == (0, True), output
    with start(environment, "report", "--store", store) as report:
        output, _ = report.communicate()
    assert report.returncode == 0, output
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with start(environment, "serve", "--store", store, "--port", port) as server:
        try:
            assert wait_for_health(port, server) == 200
        finally:
            server.terminate()
        output, _ = server.communicate()
    assert (server.returncode, "Traceback" in output) == (0, False), output


def wait_for_health(port: int, server: subprocess.Popen[str]) -> int:
    while server.poll() is None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5) as answer:
                return int(answer.status)
        except OSError:
            time.sleep(0.1)
    return 0


class WindowsLocks:
    """Imitates `msvcrt.locking` in a process. Locks belong to the open file. Locked bytes are unreadable."""

    LK_NBLCK = 2

    def __init__(self) -> None:
        self.locked: dict[tuple[int, int], int] = {}  # (inode, offset) → descriptor

    def locking(self, descriptor: int, mode: int, size: int) -> None:
        assert (mode, size) == (self.LK_NBLCK, 1)
        place = os.fstat(descriptor).st_ino, os.lseek(descriptor, 0, os.SEEK_CUR)
        if self.locked.setdefault(place, descriptor) != descriptor:
            raise PermissionError(13, "locked")


def test_a_locked_store_names_its_process_where_only_bytes_can_be_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    locks = WindowsLocks()
    monkeypatch.setattr(safe_files, "_LOCKS", locks)
    with lock_store(tmp_path / "store"):
        with pytest.raises(StoreBusy, match=f"process {os.getpid()} on "), lock_store(tmp_path / "store"):
            pass
        assert safe_files.is_locked(tmp_path / "store" / "lock")
    (_, offset), *_ = locks.locked
    assert offset > 1_000_000, "others read the owner at the beginning of the file"
