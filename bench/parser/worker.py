"""Starts a compared parser in a separate process, so that a hang or crash costs only one input.

An alarm would not stop a hang, because an alarm waits until native code returns. The child process is `python
-m bench.parser.worker`.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

from bench.parser.readings import Reader, Reading, Tool

ROOT = Path(__file__).parents[2]
LIMIT = 2.0
"""The maximum number of seconds of a parser for one input, including its report."""
_START = 60.0


class Worker:
    """The process of one compared parser.

    The process is started for the first input, and again after a hang or crash.
    """

    def __init__(self, peer: str) -> None:
        self.peer = peer
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None

    def read(self, raw: str | bytes, tool: Tool | None) -> Reading:
        """Return the result, or a refusal that begins with `hung` or `crashed`."""
        connection = self._connection or self._start()
        try:
            connection.send((raw, tool))
            if connection.poll(LIMIT):
                reading = connection.recv()
                assert isinstance(reading, Reading)
                return reading
        except (EOFError, OSError):
            self.stop()
            return Reading(refusal="crashed")
        self.stop()
        return Reading(refusal=f"hung: more than {LIMIT:g} s")

    def _start(self) -> Connection:
        ours, theirs = socket.socketpair()
        command = [sys.executable, "-m", "bench.parser.worker", self.peer, str(theirs.fileno())]
        quiet = subprocess.DEVNULL
        self._process = subprocess.Popen(
            command, cwd=ROOT, pass_fds=(theirs.fileno(),), stdin=quiet, stdout=quiet, stderr=quiet,
            env={**os.environ, "BAML_LOG": "OFF", "RUST_LIB_BACKTRACE": "0"},
        )  # fmt: skip
        theirs.close()
        self._connection = Connection(ours.detach())
        if not self._connection.poll(_START) or self._connection.recv() != "ready":
            raise RuntimeError(f"the process of {self.peer} does not start")
        return self._connection

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        if self._connection is not None:
            self._connection.close()
        self._process = self._connection = None


def serve(peer: str, connection: Connection) -> None:
    """Read inputs in the child process, with one cached parser per tool."""
    from bench.peers import PEERS, read_with

    prepare = PEERS[peer].prepare
    # imports the parser's modules, so that the time limit does not include them
    read_with(prepare(None), "{}")
    readers: dict[str, Reader | Reading] = {}
    connection.send("ready")
    while True:
        raw, tool = connection.recv()
        key = repr(tool)
        if key not in readers:
            readers[key] = _prepared(prepare, tool)
        reader = readers[key]
        connection.send(reader if isinstance(reader, Reading) else read_with(reader, raw))


def _prepared(prepare: Callable[[Tool | None], Reader], tool: Tool | None) -> Reader | Reading:
    """Return the parser for a tool.

    If the parser cannot use the tool's definition, return a refusal.
    """
    try:
        return prepare(tool)
    except Exception as refused:  # a parser may raise anything
        return Reading(refusal=f"definition refused: {refused}"[:200])


if __name__ == "__main__":
    try:
        serve(sys.argv[1], Connection(int(sys.argv[2])))
    except (EOFError, KeyboardInterrupt, BrokenPipeError):
        sys.exit(0)
