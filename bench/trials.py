"""Measures a trial run of 2 models × 2 definitions × 200 tasks against a scripted server with known rates.

Prints the scripted rates, the measured rates and verdicts, and the number of trials per second.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import tempfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

from callgauge.trials.planning.plan import MeasurePlan, Plan, TrialArm
from callgauge.trials.running.run import RunEnd, run_trial
from lenient import ToolCatalog
from tests.gateway.served.brain import Asked, Emitted
from tests.gateway.served.server import serve_model
from tests.trials.made_plan import WEATHER, chance, city_of, make_plan, make_tasks

# The scripted share of rejected first calls by model and definition. A second attempt always succeeds.
RATES = {
    ("small", "old"): 0.25,
    ("small", "new"): 0.05,
    ("large", "old"): 0.25,
    ("large", "new"): 0.02,
}
TRUTH = {"small+new": "better", "large+old": "not another one", "large+new": "better"}
_TASKS = 200


def brain(request: Asked) -> Emitted:
    """Return the reply of the scripted model.

    How often the first tool call is broken depends on the model and the offered definition.
    """
    city = city_of(request)
    if request.last.role == "tool" and "rain" in request.last.text:
        return Emitted(f"It says: {request.last.text}")
    tools = request.body["tools"][0]["function"]
    definition = "new" if "better" in tools["description"] else "old"
    is_first = request.last.role == "user"
    if is_first and chance(request.model, definition, city) < RATES[request.model, definition]:
        return Emitted(calls=[("get_weather", '{"town": 7}')])
    return Emitted(calls=[("get_weather", json.dumps({"city": city}))])


def make_bench_plan(folder: Path, url: str) -> Plan:
    """Return the plan of the trial run.

    The variants are all pairs of model and definition. The reference is the small model with the old
    definition.
    """
    plan = make_plan(folder, arms=("small", "large"))
    better = {**WEATHER, "description": "The weather of a city, better said."}
    arms = [TrialArm(f"{model}+{name}", model, "p", name) for model, name in RATES]
    return replace(
        plan,
        arms=tuple(arms),
        measure=MeasurePlan("refused", 0.1, reference="small+old", looks=5),
        endpoints={"local": replace(plan.endpoints["local"], url=url)},
        definitions={"old": ToolCatalog.load([WEATHER]), "new": ToolCatalog.load([better])},
    )


def main(_options: list[str]) -> int:
    with serve_model(brain) as served, tempfile.TemporaryDirectory() as place:
        plan = make_bench_plan(Path(place), served.url)
        began, used = time.monotonic(), time.process_time()
        end = asyncio.run(run_trial(plan, make_tasks(_TASKS), Path(place) / "bench.1"))
        seconds, processor = time.monotonic() - began, time.process_time() - used
        size = sum(file.stat().st_size for file in (Path(place) / "bench.1").rglob("*") if file.is_file())
    _print_table(end)
    requests, trials = len(served.requests), len(end.outcomes)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{trials} trials, {requests} requests in {seconds:.1f} s: {trials / seconds:.0f} trials/s")
    print(f"{1000 * processor / trials:.1f} ms of processor time a trial, the scripted server within it")
    print(f"{memory:.0f} MB at most; the run's folder {size / 1e6:.1f} MB")
    return 0 if all(_fits_truth(end, arm, truth) for arm, truth in TRUTH.items()) else 1


def _print_table(end: RunEnd) -> None:
    """Print a row per variant.

    After each rejected first tool call, the task makes a second call. So if a proportion r of the first calls
    is rejected, the rate per call is r / (1 + r).
    """
    print("arm         scripted  measured            tasks  verdict      truth            trials spared")
    counts = Counter(outcome.arm for outcome in end.outcomes)
    for (model, name), rate in RATES.items():
        arm = f"{model}+{name}"
        outcomes = [outcome for outcome in end.outcomes if outcome.arm == arm]
        refused, calls = (
            sum(outcome.refused for outcome in outcomes),
            sum(outcome.calls for outcome in outcomes),
        )
        share = f"{100 * refused / calls:4.1f} % ({refused} / {calls})"
        verdict = _verdict_of(end, arm) or "reference"
        print(
            f"{arm:11} {100 * rate / (1 + rate):6.1f} %  {share:18}  {counts[arm]:5}  {verdict:11}  "
            f"{TRUTH.get(arm, 'reference'):15}  {_TASKS - counts[arm]}"
        )


def _verdict_of(end: RunEnd, arm: str) -> str | None:
    return next((look.decision for look in reversed(end.looks) if look.arm == arm), None)


def _fits_truth(end: RunEnd, arm: str, truth: str) -> bool:
    verdict = _verdict_of(end, arm)
    return verdict == truth if truth == "better" else verdict in ("alike", "not decided")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
