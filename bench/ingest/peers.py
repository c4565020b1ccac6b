"""Measures how another program reads a folder of Claude Code logs.

`./dev bench ingest` installs the programs. The measured time includes the start of the program, at most half
a second.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.ingest.contender import processor_seconds

ROOT = Path(__file__).parents[2]
_PYTHON_PROGRAMS = ROOT / ".venv-bench" / "bin"  # `./dev bench` makes this environment
_NODE_PROGRAMS = ROOT / ".venv-bench" / "node"
_NODE_FILES = ("package.json", "package-lock.json")

COMMANDS: Mapping[str, tuple[str, ...]] = {
    "agent-session-analytics": ("ingest", "--force"),
    "ccusage": ("daily", "--json", "--offline"),
}
"""Maps each program to the arguments with which it reads all Claude Code logs without the network."""


@dataclass(frozen=True, slots=True)
class Program:
    """An installed program."""

    name: str
    version: str


def install() -> list[Program]:
    """Install the Node.js program if it is missing, and return the installed programs.

    A program that cannot be installed here is reported and left out.
    """
    _install_node_programs()
    programs = []
    for name in COMMANDS:
        if shutil.which(name, path=_search_path()) is None:
            print(f"{name} is not installed, so it is not measured", file=sys.stderr)
            continue
        output = subprocess.run(
            [name, "--version"], env=_environment(), capture_output=True, text=True, check=True
        ).stdout
        programs.append(Program(name, output.split()[-1]))
    return programs


def _install_node_programs() -> None:
    sources = Path(__file__).parent
    lock = sources / _NODE_FILES[-1]
    installed = _NODE_PROGRAMS / lock.name
    npm = shutil.which("npm")
    if npm is None or (installed.exists() and installed.read_bytes() == lock.read_bytes()):
        return
    _NODE_PROGRAMS.mkdir(parents=True, exist_ok=True)
    for name in _NODE_FILES:
        shutil.copy(sources / name, _NODE_PROGRAMS)
    command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    if subprocess.run(command, cwd=_NODE_PROGRAMS, stdout=subprocess.DEVNULL).returncode:
        installed.unlink()


def _search_path() -> str:
    folders = (_PYTHON_PROGRAMS, _NODE_PROGRAMS / "node_modules" / ".bin")
    return os.pathsep.join([*map(str, folders), os.environ["PATH"]])


def _environment() -> dict[str, str]:
    return {**os.environ, "PATH": _search_path()}


def main(name: str, folder: str, store: str) -> None:
    """Measure one program. `folder` is `<root>/projects/<project>`, the layout of Claude Code."""
    own = Path(store).with_suffix(".peer")
    own.mkdir()
    env = {
        **_environment(),
        "CLAUDE_CONFIG_DIR": str(Path(folder).parents[1]),
        "HOME": str(own),
        "XDG_CACHE_HOME": str(own / "cache"),
        "SESSIONS_DB": str(own / "sessions.duckdb"),
    }
    before, clock = processor_seconds(), time.perf_counter()
    try:
        command = [str(shutil.which(name, path=_search_path())), *COMMANDS[name]]
        subprocess.run(command, env=env, stdout=subprocess.DEVNULL, check=True)
        seconds = {"clock": time.perf_counter() - clock, "processor": processor_seconds() - before}
        sizes = [path.stat().st_size for path in own.glob("sessions.duckdb")]
        print(json.dumps(seconds | ({"store": sizes[0]} if sizes else {})))
    finally:
        shutil.rmtree(own)


if __name__ == "__main__":
    main(*sys.argv[1:])
