"""Loads a run into a store again and again while it goes on, so that an open dashboard shows it live."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

EVERY = 30.0  # seconds between two loads
_FIRST = 5.0  # seconds to the first one: then there is something to see
CALLGAUGE = (sys.executable, "-P", "-m", "callgauge")
"""The command `callgauge` as a process of its own; it needs `child_environment()`."""
_LINES = 3  # of what a load said that are repeated


def child_environment() -> dict[str, str]:
    """Return this process's environment, in which a child finds the same `callgauge` from any folder."""
    places = [str(Path(__file__).parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(places)}


class Publisher:
    """Loads a run's folder in a process of its own; a load that failed is told once, by `problem`."""

    def __init__(self, folder: Path, store: Path, *, redacts: bool) -> None:
        options = ("--quiet", "--wait", *(("--redact",) if redacts else ()))
        self._command = [*CALLGAUGE, "ingest", str(folder), "--store", str(store), *options]
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._publish_often, name="publisher", daemon=True)
        self.problem: str | None = None

    def __enter__(self) -> Publisher:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End the loads; the last one holds all."""
        self._ended.set()
        self._thread.join()
        self.publish()

    def publish(self) -> None:
        """Load what is there now."""
        # A session of its own: Ctrl-C in the terminal is for the run, which then publishes what it has.
        done = subprocess.run(
            self._command,
            env=child_environment(),
            capture_output=True,
            text=True,
            start_new_session=True,
            check=False,
        )
        said = [line.removeprefix("callgauge: ") for line in done.stderr.splitlines() if line.strip()]
        self.problem = (
            None if done.returncode == 0 else "\n".join(said[-_LINES:]) or f"exit code {done.returncode}"
        )

    def _publish_often(self) -> None:
        wait = _FIRST
        while not self._ended.wait(wait):
            self.publish()
            wait = EVERY
