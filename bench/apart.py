"""A command in, what it printed and its peak memory over all its processes out.

Peak memory of several processes is the largest sum of what they held at one moment, with the pages that they
share counted once (PSS); that is looked at now and then. Of one process it is the record of the kernel.
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
    peak = 0.0
    while process.poll() is None:
        peak = max(peak, _held(_family(process.pid)))
        time.sleep(PERIOD)
    out, errors = process.communicate()
    if process.returncode:
        raise RuntimeError(f"{module} {' '.join(map(str, arguments))} failed: {errors.strip()[-500:]}")
    return Ran(json.loads(out.strip().splitlines()[-1]), peak)


def _family(pid: int) -> list[int]:
    """A process and all that it started, on Linux; elsewhere the process alone."""
    family = [pid]
    for member in family:
        with suppress(OSError):
            for children in Path(f"/proc/{member}/task").glob("*/children"):
                family.extend(map(int, children.read_text().split()))
    return family


def _held(family: list[int]) -> float:
    """Megabytes of memory: the most that one process alone has had, or what several have now."""
    if len(family) == 1:
        return _told(family[0], "status", "VmHWM:")
    return sum(_told(pid, "smaps_rollup", "Pss:") for pid in family)


def _told(pid: int, page: str, name: str) -> float:
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/{page}").read_text().splitlines():
            if line.startswith(name):
                return float(line.split()[1]) / 1e3
    return 0.0
