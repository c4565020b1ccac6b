"""Executes fuzz targets: `python -m tests.fuzz [TARGET…] --seconds N`. Exit code 1 means that a target
failed.

The targets share the time equally.
"""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
import time

from tests.fuzz.driver import FINDINGS

TARGETS = ("arguments", "calls", "definitions", "replies")
WAYS = (("--random", 0.25), ("", 0.75))
"""Each target uses a quarter of its time for random inputs, which run much faster than guided ones."""
_GRACE = 120  # maximum seconds for one input, and for the end of a run


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    options.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    options.add_argument("--seconds", type=float, default=60, help="for all targets together")
    options.add_argument("--seed", type=int, default=int(time.time()))
    chosen = options.parse_args()
    names = chosen.targets or TARGETS
    how = "atheris" if importlib.util.find_spec("atheris") else "random inputs (atheris is not installed)"
    print(f"{chosen.seconds:.0f} s for {', '.join(names)} with {how}, seed {chosen.seed}", flush=True)
    started = time.time()
    share = chosen.seconds / len(names)
    went = {name: [ran(name, share, chosen.seed, way) for way in WAYS] for name in names}
    broken = [name for name, runs in went.items() if not all(runs)]
    files = sorted(path for path in FINDINGS.glob("*") if path.stat().st_mtime >= started)
    for path in files:
        print(path)
    print(f"{len(files)} files of findings; broken off: {', '.join(broken) or 'none'}")
    return 1 if files or broken else 0


def ran(name: str, seconds: float, seed: int, way: tuple[str, float]) -> bool:
    """Execute one target in its own process, so that a hang or a crash of Python is detected."""
    option, share = way
    command = [
        sys.executable,
        "-m",
        "tests.fuzz.driver",
        name,
        f"--seconds={seconds * share}",
        f"--seed={seed}",
    ]
    try:
        done = subprocess.run([*command, *filter(None, [option])], timeout=seconds * share + _GRACE)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
