"""A command in, what it printed and its peak memory over all its processes out.

Peak memory is the sum of the largest resident size that each of its processes had. Pages that they share are
counted in each, so this is an upper bound.
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

ROOT = Path(__file__).parents[2]
PERIOD = 0.05  # seconds between two looks at the processes


@dataclass(frozen=True, slots=True)
class Ran:
    """`told` is the JSON object that the command printed last."""

    told: dict[str, Any]
    peak_mb: float


def run_module(module: str, *arguments: object, python: Path = Path(sys.executable)) -> Ran:
    """Run `python -m module arguments` and wait for it. Raises RuntimeError with its last words."""
    command = [str(python), "-m", module, *map(str, arguments)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    peaks: dict[int, float] = {}
    while process.poll() is None:
        for pid in _family(process.pid):
            peaks[pid] = max(peaks.get(pid, 0.0), _peak(pid))
        time.sleep(PERIOD)
    out, errors = process.communicate()
    if process.returncode:
        raise RuntimeError(f"{module} {' '.join(map(str, arguments))} failed: {errors.strip()[-500:]}")
    return Ran(json.loads(out.strip().splitlines()[-1]), sum(peaks.values()))


def _family(pid: int) -> list[int]:
    """A process and all that it started, on Linux; elsewhere the process alone."""
    family = [pid]
    for member in family:
        with suppress(OSError):
            for children in Path(f"/proc/{member}/task").glob("*/children"):
                family.extend(map(int, children.read_text().split()))
    return family


def _peak(pid: int) -> float:
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return float(line.split()[1]) / 1e3
    return 0.0
