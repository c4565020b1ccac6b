"""Tests a trial run with scripted models."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from callgauge.gateway import ChatMessage
from callgauge.trials.planning.plan import MeasurePlan, RunPlan, ToolSource, TrialArm
from callgauge.trials.planning.task import Task
from callgauge.trials.results.run_folder import read_ledger, read_looks
from callgauge.trials.running.folder_holder import FolderBusyError, hold_folder
from callgauge.trials.running.run import run_trial
from callgauge.trials.running.run_files import RunError
from callgauge.trials.running.run_lock import make_blocks, order_tasks
from tests.event_loops import run
from tests.gateway.served.brain import Asked, Emitted
from tests.trials.made_plan import UNKNOWN, city_of, go, make_plan, make_tasks, opened_by, weather_brain


def test_all_trials_run_and_are_in_the_folder(tmp_path: Path) -> None:
    plan, tasks = make_plan(tmp_path), make_tasks(6)
    end = go(plan, tasks, tmp_path / "r.1")
    assert (end.reason, end.code, len(end.outcomes)) == ("done", 0, 12)
    assert read_ledger(end.folder.ledger) == end.outcomes
    assert len(list(end.folder.sessions.rglob("*.jsonl"))) == 12
    assert not list(end.folder.root.rglob("*.part"))
    assert {outcome.right for outcome in end.outcomes} == {True}
    assert sum(outcome.refused for outcome in end.outcomes if outcome.arm == "careful") == 0
    assert sum(outcome.refused for outcome in end.outcomes if outcome.arm == "sloppy") > 0


def test_a_block_holds_all_arms_of_one_task_and_the_order_is_seeded(tmp_path: Path) -> None:
    plan = make_plan(tmp_path, run=RunPlan(repeats=2, seed=5))
    ids = [task.id for task in make_tasks(30)]
    ordered = order_tasks(ids, 5)
    assert sorted(ordered) == sorted(ids) != ordered
    assert ordered == order_tasks(list(reversed(ids)), 5) != order_tasks(ids, 6)
    blocks = list(make_blocks(plan, ordered))
    assert [block.task for block in blocks] == ordered
    wanted = {(arm, repeat) for arm in ("careful", "sloppy") for repeat in (0, 1)}
    assert all(set(block.trials) == wanted and len(block.trials) == 4 for block in blocks)
    assert len({block.trials for block in blocks}) > 4
    assert 8 <= sum(block.trials[0][0] == "careful" for block in blocks) <= 22


def test_requests_go_block_by_block(tmp_path: Path) -> None:
    plan, tasks = make_plan(tmp_path), make_tasks(8)
    one_at_a_time = {"local": replace(plan.endpoints["local"], concurrency=1)}
    cities: list[str] = []

    def brain(request: Asked) -> Emitted:
        cities.append(city_of(request))
        return Emitted("I do not know.")

    end = go(replace(plan, endpoints=one_at_a_time), tasks, tmp_path / "r.1", brain)
    wanted = [task.removeprefix("task-") for task in order_tasks([task.id for task in tasks], 3)]
    assert cities == [f"City{task}" for task in wanted for _ in range(2)]
    assert all(outcome.right is False for outcome in end.outcomes)


def test_an_arm_that_is_decided_is_asked_no_more(tmp_path: Path) -> None:
    plan = make_plan(tmp_path, arms=("careful", "awful"))
    end = go(plan, make_tasks(60), tmp_path / "r.1", weather_brain({"awful": 1.0}))
    looks = read_looks(end.folder.looks)
    assert [(arm_look.arm, arm_look.look, arm_look.tasks, arm_look.decision) for arm_look in looks] == [
        ("awful", 1, 30, "worse")
    ]
    assert Counter(outcome.arm for outcome in end.outcomes) == {"careful": 30, "awful": 30}
    assert end.reason == "done"


def test_others_go_on_when_one_arm_is_decided(tmp_path: Path) -> None:
    plan = make_plan(tmp_path, arms=("careful", "awful", "even"))
    end = go(plan, make_tasks(60), tmp_path / "r.1", weather_brain({"awful": 1.0, "even": 0.1}))
    trials = Counter(outcome.arm for outcome in end.outcomes)
    assert (trials["careful"], trials["awful"], trials["even"]) == (60, 30, 60)
    assert {arm_look.arm for arm_look in end.looks if arm_look.look == 2} == {"even"}


def test_an_endpoint_that_knows_no_key_stops_its_arms_and_the_others_go_on(tmp_path: Path) -> None:
    plan = make_plan(tmp_path)

    def brain(request: Asked) -> Emitted:
        if request.model == "sloppy":
            return Emitted(status=401, body={"error": {"message": "wrong key"}})
        return weather_brain()(request)

    end = go(plan, make_tasks(4), tmp_path / "r.1", brain)
    assert (end.reason, end.code) == ("endpoint", 3)
    assert Counter(outcome.arm for outcome in end.outcomes) == {"careful": 4}
    assert "401" in end.stopped_arms["sloppy"]
    assert "model sloppy" in end.stopped_arms["sloppy"]
    again = go(plan, make_tasks(4), tmp_path / "r.1")
    assert (again.reason, len(again.outcomes)) == ("done", 8)


def test_nothing_could_be_asked_is_said_with_code_1(tmp_path: Path) -> None:
    end = go(make_plan(tmp_path), make_tasks(3), tmp_path / "r.1", lambda _: Emitted(status=404, body={}))
    assert (end.reason, end.code, end.outcomes) == ("nothing", 1, ())


def test_trials_without_a_reply_are_counted_and_asked_again(tmp_path: Path) -> None:
    plan = make_plan(tmp_path)

    def brain(request: Asked) -> Emitted:
        if "City2?" in request.user:
            return Emitted(status=503, body={"error": "busy"})
        return weather_brain()(request)

    end = go(plan, make_tasks(4), tmp_path / "r.1", brain)
    silent = [outcome for outcome in end.outcomes if outcome.status == "no_reply"]
    assert [outcome.task for outcome in silent] == ["task-2", "task-2"]
    assert all("503" in (outcome.why or "") and outcome.right is None for outcome in silent)
    assert {arm_look.decision for arm_look in end.looks if arm_look.look == 2} == {"withheld"}
    again = go(plan, make_tasks(4), tmp_path / "r.1")
    assert [outcome.status for outcome in again.outcomes].count("ok") == 8
    assert len({(outcome.arm, outcome.task) for outcome in again.outcomes}) == 8


def test_an_endpoint_that_is_gone_stops_the_arm_after_some_trials(tmp_path: Path) -> None:
    end = go(make_plan(tmp_path), make_tasks(30), tmp_path / "r.1", lambda _: Emitted(status=503, body={}))
    assert end.reason == "nothing"
    assert len(end.outcomes) < 20
    assert "trials in a row had no reply" in end.stopped_arms["careful"]


def test_a_model_without_native_tools_is_asked_by_the_fallback_unless_the_plan_says_otherwise(
    tmp_path: Path,
) -> None:
    plan = make_plan(tmp_path, arms=("one",))
    unknown = {"one": replace(plan.models["one"], capabilities=UNKNOWN)}
    plan = replace(plan, models=unknown)

    def brain(request: Asked) -> Emitted:
        if request.has_tools:
            return Emitted(status=400, body={"error": "this model does not support tools"})
        if "rain" in request.last.text:
            return Emitted("Rain.")
        call = {"tool": "get_weather", "arguments": {"city": city_of(request)}}
        return Emitted(f"```json\n{json.dumps(call)}\n```")

    end = go(plan, make_tasks(2), tmp_path / "auto.1", brain)
    assert [outcome.right for outcome in end.outcomes] == [True, True]
    probes = [json.loads(line) for line in end.folder.probes.read_text().splitlines()]
    assert probes[0]["meta"]["probe"]["ok"] is False
    assert probes[0]["meta"]["trial"]["run"] == "auto.1"
    fixed = replace(plan, arms=(replace(plan.arms[0], strategy="tool_use"),))
    end = go(fixed, make_tasks(2), tmp_path / "fixed.1", brain)
    assert "json_fallback" in end.stopped_arms["one"]


def test_a_model_is_probed_once_a_run(tmp_path: Path) -> None:
    plan = make_plan(tmp_path, arms=("one",))
    plan = replace(plan, models={"one": replace(plan.models["one"], capabilities=UNKNOWN)})
    questions: list[str] = []

    def brain(request: Asked) -> Emitted:
        if "number" in request.user:
            questions.append(request.user)
            return Emitted(calls=[("report_number", '{"number": 7}'), ("report_number", '{"number": 8}')])
        return weather_brain()(request)

    go(plan, make_tasks(4), tmp_path / "r.1", brain, limit=2)
    number = len(questions)
    assert number
    end = go(plan, make_tasks(4), tmp_path / "r.1", brain)
    assert (len(questions), len(end.outcomes)) == (number, 4)
    logged = json.loads(next(end.folder.sessions.rglob("*.jsonl")).read_text().splitlines()[0])
    assert logged["meta"]["probe"]["ok"] is True


def test_the_limit_counts_tasks_of_this_time(tmp_path: Path) -> None:
    plan, tasks = make_plan(tmp_path), make_tasks(6)
    for number in (2, 4):
        end = go(plan, tasks, tmp_path / "r.1", limit=2)
        assert (end.reason, end.code, len(end.outcomes)) == ("limit", 3, 2 * number)
    assert go(plan, tasks, tmp_path / "r.1").reason == "done"


def test_what_is_under_way_ends_when_the_run_is_asked_to_stop(tmp_path: Path) -> None:
    reported: list[int] = []
    end = go(
        make_plan(tmp_path),
        make_tasks(20),
        tmp_path / "r.1",
        on_progress=lambda now: reported.append(now.trials),
        stop=lambda: len(reported) >= 3,
    )
    assert (end.reason, end.code) == ("interrupted", 130)
    assert 3 <= len(end.outcomes) <= 7
    assert len(list(end.folder.sessions.rglob("*.jsonl"))) == len(end.outcomes)


def test_earlier_messages_of_a_task_are_its_history(tmp_path: Path) -> None:
    requests: list[Asked] = []

    def brain(request: Asked) -> Emitted:
        requests.append(request)
        return Emitted("Yes.")

    messages = (
        ChatMessage("system", "Be short."),
        ChatMessage("user", "My name is Ada."),
        ChatMessage("assistant", "Hello Ada."),
        ChatMessage("user", "Do you know my name?"),
    )
    plan = make_plan(tmp_path, arms=("one",))
    task = Task("t", messages)
    go(plan, (task,), tmp_path / "with.1", brain)
    assert [message.role for message in requests[0].messages] == ["system", "user", "assistant", "user"]
    assert requests[0].messages[0].text.startswith("You answer.")
    without = replace(plan, arms=(replace(plan.arms[0], prompt=None),))
    go(without, (task,), tmp_path / "without.1", brain)
    assert requests[1].messages[0].text.startswith("Be short.")


def test_tools_may_be_python_functions_beside_the_plan(tmp_path: Path) -> None:
    (tmp_path / "weather_of_tests.py").write_text(
        "def get_weather(city: str, days: int = 1) -> str:\n    return f'rain in {city} for {days}'\n"
    )
    plan = make_plan(tmp_path, tools={"get_weather": ToolSource("function", "weather_of_tests:get_weather")})
    end = go(plan, make_tasks(2), tmp_path / "r.1", weather_brain())
    log = next(end.folder.sessions.rglob("*.jsonl")).read_text()
    assert "rain in City" in log
    assert '"simulated"' not in log
    wrong = replace(plan, tools={"get_weather": ToolSource("function", "weather_of_tests:nothing")})
    with pytest.raises(RunError, match="weather_of_tests:nothing cannot be imported"):
        go(wrong, make_tasks(2), tmp_path / "r.2")


def test_misses_and_defaults_of_recorded_answers_are_counted_apart(tmp_path: Path) -> None:
    plan = make_plan(tmp_path, arms=("one",))
    tasks = tuple(replace(task, answers=()) for task in make_tasks(2))
    assert [
        outcome.misses for outcome in go(plan, tasks, tmp_path / "default.1", weather_brain()).outcomes
    ] == [0, 0]
    without = replace(plan, tools={})

    def brain(request: Asked) -> Emitted:
        return Emitted("?") if request.last.role == "tool" else weather_brain()(request)

    assert [outcome.misses for outcome in go(without, tasks, tmp_path / "none.1", brain).outcomes] == [1, 1]


def test_a_key_that_the_environment_lacks_is_said_before_anything_is_asked(tmp_path: Path) -> None:
    plan = make_plan(tmp_path)
    keyed = {"local": replace(plan.endpoints["local"], key_variable="CALLGAUGE_TEST_NO_SUCH_KEY")}
    with pytest.raises(RunError, match=r"endpoints\.local\.key names CALLGAUGE_TEST_NO_SUCH_KEY"):
        run(run_trial(replace(plan, endpoints=keyed), make_tasks(1), tmp_path / "r.1"))


def test_a_second_run_of_a_folder_is_refused_with_who_holds_it(tmp_path: Path) -> None:
    with hold_folder(tmp_path / "r.1"), pytest.raises(FolderBusyError, match=r"process \d+ on "):
        go(make_plan(tmp_path), make_tasks(1), tmp_path / "r.1")
    assert go(make_plan(tmp_path), make_tasks(1), tmp_path / "r.1").reason == "done"


def test_progress_tells_cost_and_time_left(tmp_path: Path) -> None:
    reports: list[Any] = []
    end = go(make_plan(tmp_path), make_tasks(5), tmp_path / "r.1", on_progress=reports.append)
    shown = [progress for progress in reports if progress.message is None]
    assert [progress.trials for progress in shown] == list(range(1, 11))
    assert {progress.planned_trials for progress in shown} == {10}
    assert shown[-1].seconds_left == 0
    assert shown[-1].spent.cost == pytest.approx(sum(outcome.cost or 0 for outcome in end.outcomes))
    assert shown[-1].tasks == 5


def test_an_arm_and_its_plan_are_in_the_lock(tmp_path: Path) -> None:
    plan = make_plan(tmp_path, measure=MeasurePlan("refused", 0.1, looks=3))
    end = go(plan, make_tasks(6), tmp_path / "mine.7f3a")
    lock = json.loads(end.folder.lock.read_text())
    assert (lock["callgauge_trial"], lock["run"], lock["name"]) == (1, "mine.7f3a", "careful or sloppy")
    assert lock["measure"]["reference"] == "careful"
    assert lock["look_at"] == [2, 4, 6]
    assert len(lock["boundaries"]) == 3
    assert lock["boundaries"] == sorted(lock["boundaries"], reverse=True)
    assert lock["tasks"] == order_tasks([f"task-{place}" for place in range(6)], 3)
    assert [arm["name"] for arm in lock["arms"]] == ["careful", "sloppy"]
    assert lock["definitions"] == {"d": ["get_weather"]}
    assert lock["prices"]["careful"] == {
        "input": 1.0,
        "output": 4.0,
        "cached": 0.5,
        "source": "plan",
    }
    session = json.loads(next(end.folder.sessions.rglob("*.jsonl")).read_text().splitlines()[0])
    assert session["meta"]["trial"]["run"] == "mine.7f3a"


def test_compensations_and_policy_are_an_arm(tmp_path: Path) -> None:
    def brain(request: Asked) -> Emitted:
        if request.last.role == "user" and len(request.messages) == 2:
            return Emitted(calls=[("get_weather", "city please")])
        return weather_brain()(request) if request.last.role != "tool" else Emitted("Rain.")

    plan = make_plan(tmp_path, arms=("one",))
    arms = tuple(TrialArm(f"c{count}", "one", "p", "d", compensations=count) for count in (0, 1))
    plan = replace(plan, arms=arms, measure=MeasurePlan("turn_ok", 0.1))
    end = go(plan, make_tasks(3), tmp_path / "r.1", brain)
    assert Counter((outcome.arm, outcome.status) for outcome in end.outcomes) == {
        ("c0", "error"): 3,
        ("c1", "ok"): 3,
    }


def test_a_cancelled_run_leaves_whole_trials_only(tmp_path: Path) -> None:
    plan = make_plan(tmp_path)

    async def cancel_soon() -> None:
        reported: list[int] = []
        asking = asyncio.create_task(
            run_trial(
                plan,
                make_tasks(20),
                tmp_path / "r.1",
                opened=opened_by(weather_brain()),
                on_progress=lambda now: reported.append(now.trials),
            )
        )
        while len(reported) < 4:
            await asyncio.sleep(0)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking

    run(cancel_soon())
    ended = read_ledger(tmp_path / "r.1" / "ledger.jsonl")
    assert 4 <= len(ended) < 40
    assert go(plan, make_tasks(20), tmp_path / "r.1", weather_brain()).reason == "done"


def test_a_run_that_is_done_asks_nothing_more(tmp_path: Path) -> None:
    plan, tasks = make_plan(tmp_path), make_tasks(4)
    first = go(plan, tasks, tmp_path / "r.1")
    requests: list[Asked] = []

    def brain(request: Asked) -> Emitted:
        requests.append(request)
        return Emitted("?")

    again = go(plan, tasks, tmp_path / "r.1", brain)
    assert (again.reason, set(again.outcomes), requests) == ("done", set(first.outcomes), [])
