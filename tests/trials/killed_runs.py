"""Executes trial runs. For every n, SIGKILL ends a trial run at its n-th write. Run it as a module: OUT.

Each trial run continues after the kill, and prints one JSON line.
"""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import asdict, replace
from pathlib import Path

from callgauge.trials.planning.plan import MeasurePlan
from callgauge.trials.running.run import run_trial
from callgauge.trials.running.run_files import OnWrite, ignore_write
from tests.gateway.served.brain import Asked, Emitted
from tests.killed_processes import dying_at, forked
from tests.trials.made_plan import UNKNOWN, make_plan, make_tasks, opened_by, weather_brain


def go(folder: Path, on_write: OnWrite, log: Path) -> None:
    """Execute a small trial run. Record each request to the model's server in `log`."""

    def brain(request: Asked) -> Emitted:
        with log.open("a") as file:
            file.write(request.model + "\n")
        if "number" in request.user:
            return Emitted(calls=[("report_number", '{"number": 7}'), ("report_number", '{"number": 8}')])
        return weather_brain({"sloppy": 0.7})(request)

    plan = make_plan(folder.parent, measure=MeasurePlan("refused", 0.1, looks=2))
    unknown = replace(plan.models["sloppy"], capabilities=UNKNOWN)
    plan = replace(plan, models={**plan.models, "sloppy": unknown})
    end = asyncio.run(run_trial(plan, make_tasks(3), folder, on_write=on_write, opened=opened_by(brain)))
    (folder.parent / "end.json").write_text(
        json.dumps({"reason": end.reason, "spent": end.spent, "outcomes": list(map(asdict, end.outcomes))})
    )


def main(out: str) -> None:
    number = 1
    while True:
        place = Path(out) / str(number)
        place.mkdir(parents=True)
        folder, step, requests = place / "run.1", place / "step", place / "requests"
        if not forked(lambda: go(folder, dying_at(number, step), requests)):  # noqa: B023 called at once
            return
        forked(lambda: go(folder, ignore_write, requests))  # noqa: B023
        print(json.dumps({"step": step.read_text(), "place": str(place)}), flush=True)
        number += 1


if __name__ == "__main__":
    main(*sys.argv[1:])
