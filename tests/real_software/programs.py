"""Finds and starts the installed programs. Also starts `callgauge`, and reads the store."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import httpx2
import pytest

from ingest.store.generations import published_generation
from tests.real_software.environment import NODE, PYTHON, ROOT, Environment

START_LIMIT = 400.0  # seconds until a server answers; the first import of torch takes a minute
RUN_LIMIT = 400.0
VARIABLES = {
    **os.environ,
    "PYTHONPATH": str(ROOT),
    # bytecode is written, so the second start of a large program takes only seconds
    "PYTHONDONTWRITEBYTECODE": "",
    "PYTHONUTF8": "1",
    "NO_PROXY": "127.0.0.1",
    "no_proxy": "127.0.0.1",
    # No program may use the network to get models or prices, or to report usage.
    "HF_HUB_OFFLINE": "1",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "PROMPTFOO_DISABLE_TELEMETRY": "1",
    "PROMPTFOO_DISABLE_UPDATE": "1",
    "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1",
}


def require(environment: Environment) -> Path:
    """Return the folder of an environment. Skip the test if the environment was not made."""
    if reason := environment.why_missing():
        pytest.skip(reason)
    return environment.path


def python_program(name: str = "python") -> str:
    """Return the path of a program in the Python environment. Skip the test if the program is missing."""
    folder = require(PYTHON)
    return str(folder / "Scripts" / f"{name}.exe" if os.name == "nt" else folder / "bin" / name)


def node_program(script: str) -> list[str]:
    """Return the command that runs a script of the Node packages. Skip the test if they are missing."""
    return ["node", str(require(NODE) / "node_modules" / script)]


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


@contextmanager
def serving(words: list[str], health: str, log: Path, **variables: str) -> Iterator[None]:
    """Start a server, and end it after the `with` block. The address `health` responds when the server is
    ready.
    """
    with (
        log.open("wb") as output,
        subprocess.Popen(
            words,
            cwd=log.parent,
            env=VARIABLES | variables,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as process,
    ):
        try:
            _wait_for(process, health, log)
            yield
        finally:
            with_children = os.getpgid(process.pid) if process.poll() is None else None
            if with_children is not None:
                os.killpg(with_children, signal.SIGKILL)


def _wait_for(process: subprocess.Popen[bytes], health: str, log: Path) -> None:
    ends = time.monotonic() + START_LIMIT
    while time.monotonic() < ends:
        if process.poll() is not None:
            break
        try:
            if httpx2.get(health, timeout=5).status_code == 200:
                return
        except httpx2.HTTPError:
            time.sleep(0.5)
    pytest.fail(f"the server does not answer at {health}:\n{log.read_text(errors='replace')[-3000:]}")


def run_program(*words: object, folder: Path, text: str = "", **variables: str) -> str:
    """Execute a program that must succeed. Return the standard output."""
    done = subprocess.run(
        [str(word) for word in words],
        cwd=folder,
        env=VARIABLES | variables,
        input=text,
        capture_output=True,
        text=True,
        timeout=RUN_LIMIT,
    )
    assert done.returncode == 0, f"{words}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


def callgauge(*words: object, folder: Path, text: str = "", **variables: str) -> str:
    """Execute a `callgauge` command that must succeed. Return the standard output."""
    return run_program(sys.executable, "-m", "callgauge", *words, folder=folder, text=text, **variables)


def read_store(store: Path, query: str) -> list[tuple[Any, ...]]:
    generation = published_generation(store)
    assert generation is not None
    with duckdb.connect(str(generation), read_only=True) as opened:
        return opened.execute(query).fetchall()
