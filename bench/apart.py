"""Starts a command and returns the output of the command and the peak memory of all its processes.

For several processes, peak memory is the largest sampled sum, with shared pages counted once (PSS). For one
process, the kernel records the peak.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PERIOD = 0.05  # seconds between two samples


@dataclass(frozen=True, slots=True)
class Ran:
    """The result of a command. `output` is the JSON object that the command printed last."""

    output: dict[str, Any]
    peak_mb: float


def run_module(module: str, *arguments: object, python: Path = Path(sys.executable)) -> Ran:
    """Start `python -m module arguments` and wait until the process ends.

    Raises RuntimeError with the end of the process's error output.
    """
    command = [str(python), "-m", module, *map(str, arguments)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    peak = 0.0
    while process.poll() is None:
        peak = max(peak, _measure_memory(_family(process.pid)))
        time.sleep(PERIOD)
    out, errors = process.communicate()
    if process.returncode:
        raise RuntimeError(f"{module} {' '.join(map(str, arguments))} failed: {errors.strip()[-500:]}")
    return Ran(json.loads(out.strip().splitlines()[-1]), peak)


def _family(pid: int) -> list[int]:
    """Return the ids of a process and its descendants.

    On systems other than Linux, return only the id of the process.
    """
    family = [pid]
    for member in family:
        with suppress(OSError):
            for children in Path(f"/proc/{member}/task").glob("*/children"):
                family.extend(map(int, children.read_text().split()))
    return family


def _measure_memory(family: list[int]) -> float:
    """Return memory in megabytes: the peak of a single process, or the current sum of several processes."""
    if len(family) == 1:
        return _read_megabytes(family[0], "status", "VmHWM:")
    return sum(_read_megabytes(pid, "smaps_rollup", "Pss:") for pid in family)


def _read_megabytes(pid: int, page: str, name: str) -> float:
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/{page}").read_text().splitlines():
            if line.startswith(name):
                return float(line.split()[1]) / 1e3
    return 0.0
