"""Measures how another program reads a folder of Claude Code logs.

A program is measured only if it is on the PATH, because this project does not install such programs. The time
includes the start of the program, at most half a second.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from bench.ingest.contender import processor_seconds

COMMANDS: Mapping[str, tuple[str, ...]] = {
    "agent-session-analytics": ("ingest", "--force"),
    "ccusage": ("daily", "--json", "--offline"),
}
"""Maps each program to the arguments with which it reads all Claude Code logs without the network."""


def installed() -> list[str]:
    return [name for name in COMMANDS if shutil.which(name) is not None]


def version(name: str) -> str:
    output = subprocess.run([name, "--version"], capture_output=True, text=True, check=True).stdout
    return f"{name} {output.split()[-1]}"


def main(name: str, folder: str, store: str) -> None:
    """Measure one program. `folder` is `<root>/projects/<project>`, the layout of Claude Code."""
    own = Path(store).with_suffix(".peer")
    own.mkdir()
    env = {
        **os.environ,
        "CLAUDE_CONFIG_DIR": str(Path(folder).parents[1]),
        "HOME": str(own),
        "XDG_CACHE_HOME": str(own / "cache"),
        "SESSIONS_DB": str(own / "sessions.duckdb"),
    }
    before, clock = processor_seconds(), time.perf_counter()
    try:
        subprocess.run([name, *COMMANDS[name]], env=env, stdout=subprocess.DEVNULL, check=True)
        seconds = {"clock": time.perf_counter() - clock, "processor": processor_seconds() - before}
        sizes = [path.stat().st_size for path in own.glob("sessions.duckdb")]
        print(json.dumps(seconds | ({"store": sizes[0]} if sizes else {})))
    finally:
        shutil.rmtree(own)


if __name__ == "__main__":
    main(*sys.argv[1:])
