"""A peer, a folder of Claude Code logs, a place for its own files in; what the reading took out.

A peer is measured where its program is on the PATH; none is installed by this project. Each runs as a process
of its own, so starting it is counted: half a second at most.
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
"""Program → its words for reading all Claude Code logs without the network."""


def installed() -> list[str]:
    return [name for name in COMMANDS if shutil.which(name) is not None]


def version(name: str) -> str:
    said = subprocess.run([name, "--version"], capture_output=True, text=True, check=True).stdout
    return f"{name} {said.split()[-1]}"


def main(name: str, folder: str, store: str) -> None:
    """`folder` is `<root>/projects/<project>`, as Claude Code itself lays its logs out."""
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
        taken = {"clock": time.perf_counter() - clock, "processor": processor_seconds() - before}
        kept = [path.stat().st_size for path in own.glob("sessions.duckdb")]
        print(json.dumps(taken | ({"store": kept[0]} if kept else {})))
    finally:
        shutil.rmtree(own)


if __name__ == "__main__":
    main(*sys.argv[1:])
