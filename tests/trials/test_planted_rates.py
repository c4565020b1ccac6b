"""Tests that the known failure rate of a retrying model comes out in the report, gate, page and dashboard."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

from callgauge.analysis.measures import trials as stored
from callgauge.analysis.metrics import answer_metric
from callgauge.trials.planning.plan import MeasurePlan, RunPlan
from callgauge.trials.verdicts.gate import Margin, judge_gate
from callgauge.trials.verdicts.report import make_report
from callgauge.trials.verdicts.run_record import read_run
from ingest.pipeline.load import load
from ingest.store.generations import published_generation
from tests.gateway.served.brain import Asked, Emitted
from tests.trials.made_plan import chance, city_of, go, make_plan, make_tasks

# the failure rate of every attempt, including retries
RATES = {"careful": 0.05, "sloppy": 0.20}


def retrying_brain(request: Asked) -> Emitted:
    """Call the tool until a call succeeds. The model's rate is the probability of an invalid call."""
    results = [message for message in request.messages if message.role == "tool"]
    if results and "rain" in results[-1].text:
        return Emitted("It rains.")
    city = city_of(request)
    is_invalid = chance(request.model, city, len(results)) < RATES[request.model]
    return Emitted(calls=[("get_weather", '{"town": 7}' if is_invalid else json.dumps({"city": city}))])


@pytest.mark.thorough
def test_planted_rates_with_retries_come_out_everywhere(tmp_path: Path) -> None:
    plan = make_plan(
        tmp_path, measure=MeasurePlan("refused", 0.1, reference="careful", looks=1), run=RunPlan(seed=3)
    )
    go(plan, make_tasks(300), tmp_path / "run", retrying_brain)
    record = read_run(tmp_path / "run")
    report = make_report(record)
    load([tmp_path / "run"], tmp_path / "store")
    generation = published_generation(tmp_path / "store")
    with duckdb.connect(str(generation), read_only=True) as connection:
        (run,) = stored.make_runs(answer_metric(connection, "trial_runs", {}))
        results = stored.RunResults(
            run, stored.make_trials(answer_metric(connection, "trial_results", {"run": run.run}))
        )
        dashboard = dict(
            connection.execute(
                "SELECT arm, avg((coalesce(fault_layer, '') IN ('syntax', 'schema'))::INT) "
                "FROM tool_calls GROUP BY arm"
            ).fetchall()
        )
    rates = []
    for arm in report.arms:
        measure = arm.measures[0]
        assert measure.rate is not None
        rates.append(measure.rate)
        assert measure.measure == "refused"
        assert measure.n > 300, "some calls were repeated"
        assert measure.rate == pytest.approx(measure.k / measure.n)
        assert measure.rate == pytest.approx(dashboard[arm.name])
        assert measure.rate == pytest.approx(results.total(arm.name, run.primary).rate)
        assert measure.low is not None
        assert measure.high is not None
        assert measure.low < RATES[arm.name] < measure.high
        assert measure.low < measure.k / measure.n < measure.high
    (worse,) = judge_gate(record.design, record.outcomes, record.looks, Margin("refused", 0.12)).arms
    assert worse.verdict != "not worse", "a variant that is 15 points worse does not pass a margin of 12"
    assert worse.estimate == pytest.approx(rates[1] - rates[0])
    assert worse.verdict == "worse"
