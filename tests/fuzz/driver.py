"""Executes one target for some seconds, and saves an input for each distinct failure.

With atheris, code coverage in `lenient` and in the gateway guides the inputs. Without atheris, the inputs are
random and have a seed. A failure does not stop the target. Failures with the same message at the same line
count once. `python -m tests.fuzz` starts this module in its own process.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import random
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

FINDINGS = Path(__file__).parent / "findings"
CORPUS = Path(__file__).parent / ".corpus"
MAX_LENGTH = 2_000  # bytes of choices; one choice can produce 60,000 characters
_LENGTHS = (4, 10, 20, 40, 80, 200, 800)


class Collector:
    """Executes a target, and keeps the first input for each distinct failure."""

    def __init__(self, name: str, target: Callable[[bytes], None]) -> None:
        self.name = name
        self.target = target
        self.runs = 0
        self.seen: set[str] = set()

    def __call__(self, data: bytes) -> None:
        self.runs += 1
        try:
            self.target(data)
        except Exception as error:
            self.keep(data, error)

    def keep(self, data: bytes, error: Exception) -> None:
        where = traceback.extract_tb(error.__traceback__)[-1]
        what = f"{type(error).__name__} {Path(where.filename).name}:{where.lineno} {str(error).split(':')[0]}"
        if what in self.seen:
            return
        self.seen.add(what)
        path = FINDINGS / f"{self.name}-{hashlib.sha256(data).hexdigest()[:12]}"
        path.with_suffix(".bin").write_bytes(data)
        story = "".join(traceback.format_exception(error))
        path.with_suffix(".txt").write_text(story, encoding="utf-8", errors="backslashreplace")
        print(f"[{self.name}] {what}\n    {path.with_suffix('.txt')}", flush=True)


def at_random(collector: Collector, seconds: float, seed: int) -> None:
    chosen, end = random.Random(seed), time.monotonic() + seconds
    while time.monotonic() < end:
        collector(chosen.randbytes(chosen.choice(_LENGTHS)))
    print(f"[{collector.name}] {collector.runs:,} inputs", flush=True)


def under_atheris(collector: Collector, seconds: float, seed: int) -> None:
    """Execute the target under atheris, with the saved inputs first. Never returns."""
    import atheris

    corpus = CORPUS / collector.name
    corpus.mkdir(parents=True, exist_ok=True)
    options = (f"-max_total_time={seconds:.0f}", f"-max_len={MAX_LENGTH}", f"-seed={seed}", "-timeout=60")
    quiet = (
        "-verbosity=0",
        "-print_final_stats=1",
        "-rss_limit_mb=2048",
        f"-artifact_prefix={FINDINGS}/{collector.name}-",
    )
    atheris.Setup([sys.argv[0], *options, *quiet, str(corpus)], collector)
    atheris.Fuzz()


def targets(*, counted: bool) -> dict[str, Callable[[bytes], None]]:
    """Return the targets by name. With `counted`, atheris measures the coverage of the parser."""
    if counted:
        import atheris

        with atheris.instrument_imports(include=["lenient", "callgauge.gateway"]):
            import callgauge.gateway  # noqa: F401  as the parser below
            import lenient  # noqa: F401  imported here so that it is this import that is instrumented
    from tests.fuzz.targets import TARGETS

    return dict(TARGETS)


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m tests.fuzz.driver")
    options.add_argument("target")
    options.add_argument("--seconds", type=float, default=60)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--random", action="store_true", help="random inputs, even where atheris is at hand")
    options.add_argument("--repeat", type=Path, help="a saved input: run it once, with its traceback")
    chosen = options.parse_args()
    counted = importlib.util.find_spec("atheris") is not None and not chosen.random and not chosen.repeat
    target = targets(counted=counted)[chosen.target]
    if chosen.repeat:
        target(chosen.repeat.read_bytes())
        return
    FINDINGS.mkdir(exist_ok=True)
    run = under_atheris if counted else at_random
    run(Collector(chosen.target, target), chosen.seconds, chosen.seed)


if __name__ == "__main__":
    main()
