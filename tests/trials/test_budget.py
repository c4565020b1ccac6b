"""Tests the limits of cost, tokens and time, and the rate limits of an endpoint."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from callgauge.trials.planning.plan import Budget, ModelPlan
from callgauge.trials.running.request_rates import Clock, EndpointRates, RateBucket
from callgauge.trials.running.spending import Amount, read_spent
from tests.event_loops import run
from tests.gateway.served.brain import Asked, Emitted
from tests.trials.made_plan import go, make_plan, make_tasks, opened_by, weather_brain

TRIAL = 0.00025  # USD for two replies; each has 50 input tokens (10 of them cached) and 20 output tokens


class MovedClock(Clock):
    """A clock that advances during waits, and by `step` each time it is read."""

    def __init__(self, step: float = 0.0) -> None:
        self.time, self.step, self.slept = 1_000.0, step, 0.0

    def now(self) -> float:
        self.time += self.step
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.time += seconds
        self.slept += seconds
        await asyncio.sleep(0)


def test_a_cost_cap_ends_the_run_between_blocks_and_is_not_passed(tmp_path: Path) -> None:
    plan = make_plan(tmp_path, budget=Budget(cost=0.006))
    end = go(plan, make_tasks(40), tmp_path / "r.1", weather_brain())
    assert (end.reason, end.code) == ("budget", 3)
    assert "budget.cost" in end.sentence
    assert "Raise it in the plan" in end.sentence
    assert 0.003 < end.spent.cost <= 0.006
    assert end.spent.cost == pytest.approx(TRIAL * len(end.outcomes))
    assert len(end.outcomes) % 2 == 0, "pairs are complete"


def test_the_same_run_goes_on_when_the_cap_is_raised(tmp_path: Path) -> None:
    plan, tasks = make_plan(tmp_path, budget=Budget(cost=0.002)), make_tasks(8)
    first = go(plan, tasks, tmp_path / "r.1", weather_brain())
    again = go(plan, tasks, tmp_path / "r.1", weather_brain())
    assert (again.reason, set(again.outcomes)) == ("budget", set(first.outcomes))
    raised = go(replace(plan, budget=Budget(cost=1.0)), tasks, tmp_path / "r.1", weather_brain())
    assert (raised.reason, len(raised.outcomes)) == ("done", 16)
    assert raised.spent.cost == pytest.approx(16 * TRIAL)
    assert json.loads(raised.folder.lock.read_text())["budget"]["cost"] == 1.0


def test_a_token_cap_ends_the_run(tmp_path: Path) -> None:
    plan = make_plan(tmp_path, budget=Budget(tokens=3_000))
    end = go(plan, make_tasks(40), tmp_path / "r.1", weather_brain())
    assert (end.reason, end.spent.tokens <= 3_000, len(end.outcomes) > 8) == ("budget", True, True)


def test_a_time_cap_counts_the_processes_before(tmp_path: Path) -> None:
    plan = make_plan(tmp_path, budget=Budget(minutes=1))
    first = go(plan, make_tasks(200), tmp_path / "r.1", weather_brain(), clock=MovedClock(0.1))
    assert first.reason == "budget"
    assert "budget.minutes" in first.sentence
    assert 60 <= first.seconds < 75
    again = go(plan, make_tasks(200), tmp_path / "r.1", weather_brain(), clock=MovedClock(0.1))
    assert set(again.outcomes) == set(first.outcomes)


def test_a_request_whose_reply_broke_off_counts_with_its_worst_case(tmp_path: Path) -> None:
    attempts: list[int] = []

    def brain(request: Asked) -> Emitted:
        attempts.append(1)
        if len(attempts) == 1:
            return Emitted("It rains.", cut=40)
        if len(attempts) == 2:
            return Emitted(status=503, body={})
        return Emitted("It rains.")

    plan = make_plan(tmp_path, arms=("one",))
    end = go(plan, make_tasks(1), tmp_path / "r.1", brain)
    lines = [json.loads(line) for line in end.folder.spent.read_text().splitlines()]
    worst = [line["worst"] for line in lines if "worst" in line]
    booked = [line["spent"] for line in lines if "spent" in line]
    assert len(worst) == len(booked) == 3
    assert booked[0] == worst[0]
    assert booked[1] == {"cost": 0.0, "tokens": 0.0}
    assert booked[2]["tokens"] == 70
    assert worst[0]["tokens"] > 100
    assert end.spent.cost == pytest.approx(worst[0]["cost"] + TRIAL / 2)
    assert read_spent(end.folder.spent).cost == pytest.approx(end.spent.cost)


def test_a_request_without_an_end_counts_with_its_worst_case(tmp_path: Path) -> None:
    path = tmp_path / "spent.jsonl"
    path.write_text(
        '{"seconds": 0, "begin": 1}\n'
        '{"seconds": 1, "request": "1.1", "worst": {"cost": 0.5, "tokens": 900}}\n'
        '{"seconds": 2, "request": "1.1", "spent": {"cost": 0.1, "tokens": 100}}\n'
        '{"seconds": 3, "request": "1.2", "worst": {"cost": 0.5, "tokens": 900}}\n'
        '{"seconds": 4, "requ'
    )
    assert read_spent(path) == Amount(0.6, 1000)


def test_what_a_model_without_a_price_costs_is_unknown_and_its_tokens_are_counted(tmp_path: Path) -> None:
    plan = make_plan(tmp_path, arms=("one",))
    free = {"one": replace(plan.models["one"], price=None)}
    end = go(replace(plan, models=free), make_tasks(2), tmp_path / "r.1", weather_brain())
    assert [outcome.cost for outcome in end.outcomes] == [None, None]
    assert end.spent == Amount(0.0, 280)


def test_an_endpoint_that_counts_no_tokens_is_estimated_for_the_budget_and_unknown_in_the_ledger(
    tmp_path: Path,
) -> None:
    def brain(request: Asked) -> Emitted:
        return Emitted(status=400, body={"error": {"code": "tool_use_failed", "failed_generation": "{"}})

    end = go(make_plan(tmp_path, arms=("one",)), make_tasks(1), tmp_path / "r.1", brain)
    assert end.outcomes[0].cost is None
    assert end.spent.tokens > 0


def test_a_bucket_lets_so_many_pass_a_minute() -> None:
    async def ask_many() -> float:
        clock = MovedClock()
        bucket = RateBucket(60, clock)
        await asyncio.gather(*(bucket.take(1) for _ in range(130)))
        return clock.slept

    assert run(ask_many()) == pytest.approx(120, abs=0.01)


def test_more_than_a_bucket_holds_passes_when_it_is_full_and_leaves_it_in_debt() -> None:
    async def ask() -> list[float]:
        clock = MovedClock()
        bucket = RateBucket(600, clock)  # the bucket can contain 100, and gets ten per second
        waits = []
        for units in (1_000, 10, 10):
            before = clock.slept
            await bucket.take(units)
            waits.append(clock.slept - before)
        return waits

    assert run(ask()) == pytest.approx([0, 91, 1])


def test_an_estimate_that_was_too_high_is_given_back() -> None:
    async def ask() -> float:
        clock = MovedClock()
        rates = EndpointRates(None, 6_000, clock)
        await rates.take(1_000)
        rates.note(4_000, 500, 1_000, 550)
        await rates.take(450)
        assert clock.slept == 0
        await rates.take(100)
        assert rates.estimate_tokens(4_000) == 500, "the endpoint's own counts are known now"
        return clock.slept

    assert run(ask()) == pytest.approx(1.0)


def test_two_arms_of_one_endpoint_share_its_rates_and_slots(tmp_path: Path) -> None:
    plan, clock = make_plan(tmp_path), MovedClock()
    slow = {"local": replace(plan.endpoints["local"], requests_per_minute=60, concurrency=3)}
    under_way: list[int] = []

    end = go(
        replace(plan, endpoints=slow),
        make_tasks(10),
        tmp_path / "r.1",
        weather_brain(),
        clock=clock,
        opened=opened_by(weather_brain()),
        on_progress=lambda _: under_way.append(1),
    )
    assert (end.reason, len(under_way) >= 20) == ("done", True)
    assert clock.slept == pytest.approx(30, abs=1)


def test_a_reply_without_a_limit_is_reserved_with_a_usual_one(tmp_path: Path) -> None:
    plan = make_plan(tmp_path, arms=("one",), budget=Budget(cost=0.01))
    unlimited: dict[str, ModelPlan] = {"one": replace(plan.models["one"], sampling={})}
    end = go(replace(plan, models=unlimited), make_tasks(2), tmp_path / "r.1", weather_brain())
    assert (end.reason, end.outcomes) == ("budget", ())  # 4,096 tokens at $4 per million cost 1.6 cents
