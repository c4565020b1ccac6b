"""Tests the names of tasks. Trials of one task share a name, but tasks of different benchmarks never do."""

from __future__ import annotations

from typing import Any

import pytest

from ingest.events import Event, LogLine, Rejected, SessionSeen, TurnEnded
from ingest.formats import formats, translate_file
from ingest.formats.conversations.task_names import (
    policy_domain,
    question_task,
    swe_bench_instance,
    task_name,
)
from ingest.log_format import About, Record
from tests.formats.test_users import LANGFUSE, OTLP, SPAN


def events_of(name: str, *values: dict[str, Any], file: str = "") -> list[Event | Rejected]:
    records = [
        Record(LogLine(line, line * 10), value, b"{}", 0) for line, value in enumerate(values, start=1)
    ]
    return list(translate_file(formats()[name], records, About(file, "f")))


def tasks_of(name: str, *values: dict[str, Any], file: str = "") -> list[str | None]:
    return [event.task for event in events_of(name, *values, file=file) if isinstance(event, SessionSeen)]


@pytest.mark.parametrize(
    ("benchmark", "task", "name"),
    [
        ("airline", 7, "airline/7"),
        ("airline", "7", "airline/7"),
        ("airline", "[mobile_data]off", "[mobile_data]off"),
        (None, "django__django-1", "django__django-1"),
        (None, 7, None),
        ("", "7", None),
        ({}, "7", None),
        ("airline", True, None),
        ("airline", None, None),
        ("airline", " ", None),
        ("airline", {"id": 7}, None),
        ("airline", 7.0, None),
    ],
)
def test_a_number_is_a_name_only_with_its_benchmark(benchmark: Any, task: Any, name: str | None) -> None:
    assert task_name(benchmark, task) == name


@pytest.mark.parametrize(
    ("policy", "domain"),
    [
        ("# Airline Agent Policy\n\nThe current time …", "airline"),
        ("# Retail agent policy\r\n\r\nAs a …", "retail"),
        ("# Telecom", "telecom"),
        ("You are a helpful agent.\n# Retail agent policy", None),
        ("#", None),
        ("", None),
        (None, None),
        ([{"type": "text"}], None),
        ("# " + "a" * 1_000_000, None),
        ("# " + " " * 1_000_000, None),
    ],
)
def test_the_domain_is_told_from_the_first_line_of_the_policy(policy: Any, domain: str | None) -> None:
    assert policy_domain(policy) == domain


@pytest.mark.parametrize(
    ("file", "instance"),
    [
        ("django__django-11451.traj.json", "django__django-11451"),
        ("scikit-learn__scikit-learn-7.traj", "scikit-learn__scikit-learn-7"),
        ("fork+agent__4ba7c244__sphinx-doc__sphinx-8269.traj.json", "sphinx-doc__sphinx-8269"),
        ("trajectory.traj.json", None),
        ("django__django-11451.json", None),
        ("", None),
        ("_" * 100_000 + ".traj", None),
        ("a-" * 100_000 + ".traj", None),
    ],
)
def test_an_instance_is_told_from_a_trajectorys_name(file: str, instance: str | None) -> None:
    assert swe_bench_instance(file) == instance


def test_a_question_is_a_name_unless_it_is_long() -> None:
    assert question_task("Tell me a joke") == "Tell me a joke"
    assert question_task("x" * 200) == "x" * 200
    assert question_task("x" * 201) is None is question_task(" ") is question_task(7)


def attempt(task: Any, trial: int, **fields: Any) -> dict[str, Any]:
    policy = {"role": "system", "content": "# Airline Agent Policy\n…"}
    messages = [policy, {"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    return {"task_id": task, "trial": trial, "reward": 1.0, "info": {}, "traj": messages, **fields}


def test_an_attempt_that_died_is_a_trial_of_its_task_wherever_it_stands_in_the_file() -> None:
    dead = {"traj": [], "reward": 0.0, "info": {"error": "boom", "traceback": ""}}
    first, then, last = attempt(3, 0, **dead), attempt(3, 1), attempt(4, 0, **dead)
    assert tasks_of("tau_bench", first, then, last) == ["airline/3", "airline/3", "airline/4"]
    assert tasks_of("tau_bench", first) == [None]


def test_trials_of_a_task_are_sessions_of_their_own() -> None:
    events = events_of("tau_bench", attempt(3, 0), attempt(3, 1))
    ends = [event for event in events if isinstance(event, TurnEnded)]
    assert len({event.session_id for event in ends}) == 2
    assert [event.recorded_ok for event in ends] == [True, True]


def test_a_simulation_in_a_file_of_its_own_has_its_domain_from_the_policy() -> None:
    alone = {"id": "x", "task_id": "3", "termination_reason": "user_stop", "messages": []}
    assert tasks_of("tau2_bench", {**alone, "policy": "# Retail Agent Policy\n"}) == ["retail/3"]
    assert tasks_of("tau2_bench", alone) == [None]


@pytest.mark.parametrize("name", ["swe_agent", "mini_swe"])
def test_a_trajectory_that_names_no_instance_has_it_from_its_file(name: str) -> None:
    run: dict[str, Any] = {"trajectory": [], "history": [], "info": {}, "messages": []}
    assert tasks_of(name, run, file="django__django-1.traj") == ["django__django-1"]
    assert tasks_of(name, run, file="run.traj") == [None]


def test_the_id_of_a_problem_statement_goes_before_the_files_name() -> None:
    config = {"problem_statement": {"id": "eps", "text": "…"}}
    run = {"trajectory": [], "history": [], "info": {}, "replay_config": config}
    assert tasks_of("swe_agent", run, file="django__django-1.traj") == ["eps"]


def test_epochs_of_a_sample_share_a_task_and_sub_agents_have_none() -> None:
    output = {"choices": [{"message": {"content": "Ok."}}]}
    asks = [
        {"event": "model", "input": [{"role": "user", "content": words}], "output": output}
        for words in ("Go", "Help it")
    ]
    samples = [{"id": 7, "epoch": epoch, "uuid": f"u{epoch}", "events": asks} for epoch in (1, 2)]
    log = {"status": "success", "eval": {"task": "gaia", "model": "m"}, "samples": samples}
    assert tasks_of("inspect", log) == ["gaia/7", None, "gaia/7", None]


def test_the_same_messages_are_the_same_sample_whatever_model_was_asked() -> None:
    def line(index: int, words: str, model: str) -> dict[str, Any]:
        request = {"model": model, "messages": [{"role": "user", "content": words}]}
        return {"data_index": index, "request": request, "response": {}, "status": "failed"}

    first, two, other, lone = tasks_of(
        "k2vv", line(1, "Hi", "a"), line(1, "Hi", "b"), line(1, "Bye", "a"), line(2, "\ud800", "a")
    )
    assert first == two != other
    assert lone is not None


def test_an_item_of_an_experiment_is_a_task_in_traces() -> None:
    item = {"key": "langfuse.experiment.item.id", "value": {"stringValue": "item-1"}}
    span = {**SPAN, "attributes": [*SPAN["attributes"], item]}
    request = {"resourceSpans": [{"resource": {}, "scopeSpans": [{"spans": [span]}]}]}
    assert tasks_of("otlp", request) == ["item-1"]
    assert [*tasks_of("otlp", OTLP), *tasks_of("langfuse", LANGFUSE)] == [None, None]


def test_the_example_of_a_langsmith_experiment_is_told_by_its_outermost_run() -> None:
    began = {"trace_id": "w0", "start_time": "2026-11-09T08:00:20"}
    root = {"id": "w0", "run_type": "chain", "reference_example_id": "ex-1", **began}
    inputs = {"messages": [{"role": "user", "content": "Hi"}]}
    gave = {"message": {"role": "assistant", "content": "Hello"}}
    model = {"id": "w1", "parent_run_id": "w0", "run_type": "llm", "inputs": inputs, "outputs": gave, **began}
    assert tasks_of("langsmith", root, model) == ["ex-1"]


@pytest.mark.parametrize(
    ("fields", "verdict"),
    [
        ({"report": {"resolved": True}}, True),
        ({"report": {"resolved": False, "error_eval": False}}, False),
        ({"test_result": {"report": {"resolved": False}}}, False),
        ({"report": {"resolved": False, "error_eval": True}}, None),
        ({"report": {"resolved": "yes"}}, None),
        ({"report": []}, None),
        ({}, None),
    ],
)
def test_an_evaluations_verdict_stands_on_the_last_turn(fields: dict[str, Any], verdict: bool | None) -> None:
    shared = {"timestamp": "2026-02-01T10:00:02"}
    question = {"source": "user", "action": "message", "args": {"content": "Fix it."}, "id": 1, **shared}
    done = {"source": "agent", "action": "finish", "args": {"final_thought": "Done."}, "id": 2, **shared}
    events = events_of("openhands", {"instance_id": "a__a-1", "history": [question, done], **fields})
    last = [event for event in events if isinstance(event, TurnEnded)][-1]
    assert (last.recorded_ok, last.answer) == (verdict, "Done.")
