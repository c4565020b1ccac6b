"""Tests exported test sets."""

from __future__ import annotations

import asyncio
import json
import sys
import zipfile
from collections.abc import Callable, Mapping
from functools import partial
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from types import ModuleType, SimpleNamespace
from typing import Any

import duckdb
import pytest
from streamlit.testing.v1 import AppTest

from callgauge.analysis import testsets
from callgauge.analysis.metrics import answer_metric
from callgauge.analysis.testsets import CaseFile, make_case_file
from callgauge.analysis.testsets.cases import MOST_EARLIER
from callgauge.analysis.testsets.shapes import ARGUMENTS_OF_CALL, IS_RIGHT_CALL, SHAPES
from callgauge.trials.planning.plan import Plan
from callgauge.trials.planning.task import Task
from callgauge.trials.planning.trial_files import read_plan_and_tasks
from ingest.pipeline.load import load
from ingest.store.generations import published_generation
from tests.analysis.store_fixture import HOSTILE, a_call, a_turn, publish, small_tables
from tests.dashboard.conftest import opened, page_text

SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "limit": {"type": "integer"}, "scale": {"type": "number"}},
    "required": ["path"],
}
BROKEN = '{"path": "a" "limit": 20}'
RIGHT = '{"path": "a", "limit": 20}'
PROMPT = "Be kind."
CHAIN = {"chain_id": "c2", "chain_outcome": "recovered"}
FAILED = {"raw_arguments": BROKEN, "arguments": None, "outcome": "failed", "fault_layer": "syntax"}
Rows = list[dict[str, Any]]


def definition(name: str = "read_file", **fields: Any) -> dict[str, Any]:
    text = json.dumps({**SCHEMA, **fields})
    return {"definition_id": f"d-{name}", "tool": name, "description": "Reads.", "definition": text}


def call(number: int, **fields: Any) -> dict[str, Any]:
    return a_call(number, **{"definition_id": "d-read_file", **fields})


def the_calls() -> Rows:
    """Return four calls: an earlier one, a failed one, a clean parallel one, and the successful retry of the
    failed one.
    """
    return [
        call(1, tool="list", definition_id="d-list", raw_arguments='{"path": "."}', result_text="a b"),
        call(2, attempt=1, **CHAIN, **FAILED | {"parse_error": "json_parse_error:expected a comma"}),
        call(3, step=2, ordinal=1),
        call(4, step=3, attempt=2, raw_arguments=RIGHT, **CHAIN),
    ]


@pytest.fixture
def ask(tmp_path: Path) -> Callable[..., testsets.Ask]:
    def ask_for(
        calls: Rows, *, definitions: Rows | None = None, user: str | None = "Read a, please."
    ) -> testsets.Ask:
        tables = {
            "tool_calls": calls,
            "turns": [a_turn(1, user_text=user, prompt_hash="h")],
            "prompt_texts": [{"prompt_id": "p1", "text_hash": "h", "text": PROMPT}],
            "tool_definitions": definitions or [definition(), definition("list")],
            "step_texts": [
                {"turn_id": "s1:1", "step": 1, "file_id": 1, "text": "I look around first."},
                {"turn_id": "s1:1", "step": 9, "file_id": 1, "text": "Later."},
            ],
        }
        path = publish(Path(mkdtemp(dir=tmp_path)), tables)
        connection = duckdb.connect(str(path), read_only=True)
        return lambda metric, parameters: answer_metric(connection, metric, parameters).to_dict("records")

    return ask_for


def lines(made: CaseFile) -> list[dict[str, Any]]:
    return [json.loads(line) for line in made.data.splitlines()]


def make_line(ask: testsets.Ask, shape: str, call_id: str = "c2") -> dict[str, Any]:
    made = make_case_file(shape, [call_id], ask)
    assert not made.left_out
    (line,) = lines(made)
    return line


BEFORE = [
    {"role": "system", "content": PROMPT},
    {"role": "user", "content": "Read a, please."},
    {
        "role": "assistant",
        "content": "I look around first.",
        "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "list", "arguments": '{"path": "."}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "call_1", "content": "a b"},
]


def test_a_case_is_what_the_model_was_told_before_the_call(ask: Callable[..., testsets.Ask]) -> None:
    line = make_line(ask(the_calls()), "k2vv")
    assert line["messages"] == BEFORE
    assert [tool["function"]["name"] for tool in line["tools"]] == ["read_file", "list"]
    assert line["tools"][0]["function"]["parameters"] == SCHEMA


def calls_in(path: Path) -> Rows:
    """Load this log and return its calls, each with its prompt, tool definition and user message."""
    store = path.parent / f"{path.stem}-store"
    load([path], store)
    generation = published_generation(store)
    assert generation
    with duckdb.connect(str(generation), read_only=True) as connection:
        query = """
            SELECT c.tool, c.raw_arguments, c.outcome, c.source, d.definition, t.user_text,
                   (SELECT any_value(text) FROM prompt_texts p WHERE p.prompt_id = c.prompt_id) AS prompt
            FROM tool_calls c LEFT JOIN tool_definitions d USING (definition_id)
            LEFT JOIN turns t ON t.turn_id = c.turn_id ORDER BY c.turn, c.step, c.ordinal"""
        rows: Rows = connection.execute(query).df().astype(object).to_dict("records")  # type: ignore[assignment]
    return rows


def test_our_own_formats_read_samples_once_a_verifier_has_answered_them(
    ask: Callable[..., testsets.Ask], tmp_path: Path
) -> None:
    reply = {"role": "assistant", "tool_calls": [function("read_file", BROKEN)]}
    result = {
        "data_index": 1,
        "request": {**make_line(ask(the_calls()), "k2vv"), "model": "m"},
        "response": {"choices": [{"message": reply, "finish_reason": "tool_calls"}]},
        "status": "success",
        "tool_calls_valid": False,
    }
    log = written(tmp_path / "results.jsonl", result)
    (call,) = calls_in(log)
    assert (call["source"], call["tool"], call["raw_arguments"]) == ("k2vv", "read_file", BROKEN)
    assert (call["outcome"], call["prompt"], call["user_text"]) == ("repaired", PROMPT, "Read a, please.")
    assert json.loads(call["definition"]) == SCHEMA


def test_our_own_formats_read_training_data_as_it_is(
    ask: Callable[..., testsets.Ask], tmp_path: Path
) -> None:
    line = make_line(ask(the_calls()), "openai")
    calls = calls_in(written(tmp_path / "train.jsonl", line))
    assert [row["source"] for row in calls] == ["chat_jsonl"] * 2
    assert [row["raw_arguments"] for row in calls] == ['{"path": "."}', RIGHT]
    assert [row["outcome"] for row in calls] == ["clean", "clean"]
    assert calls[1]["prompt"] == PROMPT
    assert [message.get("weight") for message in line["messages"]] == [None, None, 0, None, 1]


def test_our_own_formats_read_entries_once_bfcl_has_run_them(
    ask: Callable[..., testsets.Ask], tmp_path: Path
) -> None:
    made = ask(the_calls())
    entry, answers = make_line(made, "bfcl"), make_line(made, "bfcl_answers")
    assert entry["id"] == answers["id"] == "callgauge_c2"
    assert entry["function"][0]["parameters"]["type"] == "dict"
    assert entry["function"][0]["parameters"]["properties"]["scale"]["type"] == "float"
    assert answers["ground_truth"] == [{"read_file": {"path": ["a"], "limit": [20]}}]
    tools = [
        {
            "type": "function",
            "function": {**function, "parameters": {**function["parameters"], "type": "object"}},
        }
        for function in entry["function"]
    ]
    request = {"role": "inference_input", "content": {"message": entry["question"][0], "tools": tools}}
    run = {"id": entry["id"], "result": [{"read_file": RIGHT}], "inference_log": [request], "latency": 1.0}
    (call,) = calls_in(written(tmp_path / "BFCL_v4_callgauge_result.json", run))
    assert (call["source"], call["raw_arguments"]) == ("bfcl_result", RIGHT)


@pytest.mark.thorough
def test_our_own_formats_read_samples_once_inspect_has_run_them(
    ask: Callable[..., testsets.Ask], tmp_path: Path
) -> None:
    sample = make_line(ask(the_calls()), "inspect")
    assert (sample["id"], sample["target"]) == ("c2", RIGHT)
    assert sample["metadata"]["sent"] == BROKEN
    call_ = {"id": "x", "function": "read_file", "arguments": {"path": "a"}, "type": "function"}
    messages = [*sample["input"], {"role": "assistant", "content": "", "tool_calls": [call_]}]
    run = {
        "version": 2,
        "status": "success",
        "eval": {"task": "t", "model": "m"},
        "samples": [{"id": sample["id"], "epoch": 1, "input": sample["input"], "messages": messages}],
    }
    log = tmp_path / "log.json"
    log.write_text(json.dumps(run))
    calls = calls_in(log)
    assert [(row["source"], row["tool"]) for row in calls] == [("inspect", "list"), ("inspect", "read_file")]
    assert calls[1]["prompt"] == PROMPT


@pytest.mark.thorough
def test_promptfoo_renders_no_template_that_a_log_holds(ask: Callable[..., testsets.Ask]) -> None:
    hostile = "{{ env.SECRET }} {% include 'x' %} {# no #} {{{"
    schema = definition(description=hostile)
    line = make_line(ask(the_calls(), definitions=[schema, definition("list")], user=hostile), "promptfoo")
    assert "{{" not in line["vars"]["messages"]
    assert json.loads(line["vars"]["messages"])[1]["content"] == hostile
    description = line["options"]["tools"][0]["function"]["parameters"]["description"]
    assert description == f"{{% raw %}}{hostile}{{% endraw %}}"
    made = make_case_file(
        "promptfoo", ["c2"], ask(the_calls(), definitions=[definition(description="{{ endraw")], user="x")
    )
    assert made.left_out == {"templates": 1}


def test_promptfoo_asks_for_the_right_call_where_it_is_known(ask: Callable[..., testsets.Ask]) -> None:
    line = make_line(ask(the_calls()), "promptfoo")
    assert line["vars"]["arguments"] == RIGHT
    (asserted,) = line["assert"]
    assert (asserted["type"], asserted["value"]) == ("javascript", IS_RIGHT_CALL)


def test_promptfoo_asks_for_arguments_that_fit_where_the_right_ones_are_unknown(
    ask: Callable[..., testsets.Ask],
) -> None:
    abandoned = [row | {"chain_outcome": "abandoned"} for row in the_calls()]
    number = {"type": "integer", "minimum": 1, "description": "How many.", "x-unit": "lines"}
    properties = {"path": {"type": "string"}, "limit": number, "scale": {"type": "number"}}
    schema = definition(properties=properties, required=["path", "limit"])
    (asserted,) = make_line(ask(abandoned, definitions=[schema, definition("list")]), "promptfoo")["assert"]
    assert (asserted["type"], asserted["transform"]) == ("is-json", ARGUMENTS_OF_CALL)
    assert asserted["value"] == {
        "additionalProperties": False,
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "limit": {"type": "integer", "minimum": 1},
            "scale": {"type": "number"},
        },
        "required": ["path", "limit"],
    }


@pytest.mark.parametrize(
    "changed", [{"raw_arguments": RIGHT, "outcome": "clean", "fault_layer": "execution"}, {}]
)
def test_promptfoo_leaves_out_what_a_wrong_call_would_pass(
    ask: Callable[..., testsets.Ask], changed: dict[str, Any]
) -> None:
    calls = [row | {"chain_outcome": "abandoned"} for row in the_calls()]
    calls[1] |= changed
    assert make_case_file("promptfoo", ["c2"], ask(calls)).left_out == {"undecidable": 1}
    assert "definition accepts wrong ones" in testsets.REASONS["undecidable"]


@pytest.mark.parametrize("shape", ["inspect", "openai", "bfcl_answers"])
def test_arguments_that_failed_are_not_right_because_they_worked_later(
    ask: Callable[..., testsets.Ask], shape: str
) -> None:
    calls = the_calls()
    calls[1] |= {
        "raw_arguments": '{"limit": 20, "path": "a"}',
        "outcome": "clean",
        "fault_layer": "execution",
    }
    assert make_case_file(shape, ["c2"], ask(calls)).left_out == {"uncorrected": 1}


def test_a_wrong_call_is_never_learnt(ask: Callable[..., testsets.Ask]) -> None:
    abandoned = [
        row | {"chain_outcome": "abandoned"} if row["call_id"] in ("c2", "c4") else row for row in the_calls()
    ]
    made = make_case_file("openai", ["c2", "c3"], ask(abandoned))
    assert made.left_out == {"uncorrected": 1}
    assert [line["messages"][-1]["tool_calls"][0]["function"]["arguments"] for line in lines(made)] == [
        '{"path": "src/app.py", "limit": 20}'
    ]


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(
    "fields",
    [
        {"outcome": "coerced"},
        {"outcome": "repaired"},
        {"fault_layer": "tool_rejected"},
        {"args_source": "reserialised", "outcome": "unmeasured"},
    ],
)
def test_what_was_mended_or_refused_is_not_learnt(
    ask: Callable[..., testsets.Ask], fields: Mapping[str, Any]
) -> None:
    assert make_case_file("openai", ["c1"], ask([call(1, **fields)])).left_out == {"uncorrected": 1}


def test_a_sample_without_a_right_call_is_left_out_with_a_reason(ask: Callable[..., testsets.Ask]) -> None:
    abandoned = [row | {"chain_outcome": "abandoned"} for row in the_calls()]
    made = make_case_file("inspect", ["c2", "c3"], ask(abandoned))
    assert made.left_out == {"uncorrected": 1}
    assert [line["target"] for line in lines(made)] == ['{"path": "src/app.py", "limit": 20}']


class _Stub(ModuleType):
    """Imitates a module of inspect_ai. Its decorators do nothing, and its classes store their arguments."""

    def __getattr__(self, name: str) -> Any:
        if name in ("task", "solver"):
            return lambda function: function
        if name == "scorer":
            return lambda **_: lambda function: function
        return name if name.isupper() else SimpleNamespace


def inspect_score(monkeypatch: pytest.MonkeyPatch, sample: Mapping[str, Any], *calls: Any) -> str:
    """Return the score that the exported scorer gives to a reply with these calls."""
    for name in ("", ".dataset", ".model", ".scorer", ".solver", ".tool"):
        monkeypatch.setitem(sys.modules, f"inspect_ai{name}", _Stub(f"inspect_ai{name}"))
    task: dict[str, Any] = {"__file__": "inspect_task.py"}
    exec(compile(SHAPES["inspect"].read_companion(), "inspect_task.py", "exec"), task)  # noqa: S102
    sent = [
        SimpleNamespace(function=name, arguments=arguments, parse_error=None) for name, arguments in calls
    ]
    output = SimpleNamespace(message=SimpleNamespace(tool_calls=sent), completion="x")
    state = SimpleNamespace(output=output, metadata=sample["metadata"])
    scored = asyncio.run(task["right_call"]()(state, SimpleNamespace(text=sample["target"])))
    return str(scored.value)


def test_the_scorer_for_inspect_accepts_the_right_call_only(
    ask: Callable[..., testsets.Ask], monkeypatch: pytest.MonkeyPatch
) -> None:
    sample = make_line(ask(the_calls()), "inspect")
    score = partial(inspect_score, monkeypatch, sample)
    assert score() == "INCORRECT"
    assert score(("read_file", {"limit": 20.0, "path": "a"})) == "CORRECT"
    assert score(("list", {}), ("read_file", {"path": "a", "limit": 20})) == "CORRECT"
    for wrong in ({"path": "a"}, {"path": "a", "limit": "20"}, {"path": "a", "limit": 20, "x": None}):
        assert score(("read_file", wrong)) == "INCORRECT"
    assert score(("list", {"path": "a", "limit": 20})) == "INCORRECT"


def test_an_attempt_that_went_wrong_again_is_no_correction(ask: Callable[..., testsets.Ask]) -> None:
    calls = the_calls()
    calls.append(call(5, step=5, attempt=3, raw_arguments='{"path": "b"}', **CHAIN))
    calls[3] |= {"fault_layer": "execution"}
    assert make_line(ask(calls), "inspect")["target"] == '{"path": "b"}'


@pytest.mark.thorough(quick=6)
@pytest.mark.parametrize(
    ("changed", "user", "reason"),
    [
        ({"raw_arguments": None, "args_source": "missing"}, "x", "text"),
        ({"args_source": "truncated"}, "x", "text"),
        ({"definition_id": None}, "x", "definition"),
        ({"definition_id": "d-none"}, "x", "definition"),
        ({}, None, "user"),
    ],
)
@pytest.mark.parametrize("shape", SHAPES)
def test_what_cannot_be_exported_is_counted(
    ask: Callable[..., testsets.Ask], shape: str, changed: dict[str, Any], user: str | None, reason: str
) -> None:
    made = make_case_file(shape, ["c1"], ask([call(1, **changed)], user=user))
    assert (made.lines, made.left_out) == (0, {reason: 1})
    assert reason in testsets.REASONS


@pytest.mark.thorough
def test_a_history_with_a_hole_or_without_an_end_is_counted(ask: Callable[..., testsets.Ask]) -> None:
    hole = the_calls()
    hole[0] |= {"raw_arguments": None, "args_source": "missing"}
    assert make_case_file("k2vv", ["c2"], ask(hole)).left_out == {"history": 1}
    long = [call(number) for number in range(MOST_EARLIER + 2)]
    assert make_case_file("k2vv", [f"c{MOST_EARLIER + 1}"], ask(long)).left_out == {"long": 1}


@pytest.mark.thorough
def test_a_name_that_openai_refuses_is_counted(ask: Callable[..., testsets.Ask]) -> None:
    named = [definition() | {"tool": "fs.read"}, definition("list")]
    assert make_case_file("openai", ["c2"], ask(the_calls(), definitions=named)).left_out == {"name": 1}


def test_the_file_has_a_cap_that_is_said(
    ask: Callable[..., testsets.Ask], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = ask(the_calls())
    size = len(make_case_file("k2vv", ["c2"], made).data)
    monkeypatch.setattr(testsets, "MOST_BYTES", size + 10)
    cut = make_case_file("k2vv", ["c2", "c3"], made)
    assert (cut.lines, cut.full) == (1, True)


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize("shape", SHAPES)
def test_hostile_text_and_placeholders_stay_as_they_are(ask: Callable[..., testsets.Ask], shape: str) -> None:
    text = f"{HOSTILE} \u202e EMAILEM@EMAILEMA.EMA \x1b[31m"
    made = make_case_file(shape, ["c4"], ask(the_calls(), user=text))
    assert made.lines == 1
    assert made.data.count(b"\n") == 1
    if shape != "bfcl_answers":
        assert "EMAILEM@EMAILEMA.EMA" in made.data.decode()


def function(name: str, arguments: str) -> dict[str, Any]:
    return {"id": "call_9", "type": "function", "function": {"name": name, "arguments": arguments}}


def written(path: Path, line: Mapping[str, Any]) -> Path:
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    return path


def test_the_calls_page_offers_its_selection_as_a_test_set(store: Path) -> None:
    tables = small_tables() | {
        "tool_calls": the_calls(),
        "tool_definitions": [definition(), definition("list")],
    }
    tables["turns"] = [a_turn(1, user_text="Read a, please.")]
    publish(store, tables)
    app = opened("callgauge/dashboard/pages/calls/page.py", outcome="failed")
    app.button(key="calls_testset_prepare").click().run()
    assert not app.exception
    assert "1 line, each read again and found whole." in page_text(app)
    app.selectbox(key="calls_testset_shape").select("inspect").run()
    assert "each read again" not in page_text(app)
    app.button(key="calls_testset_prepare").click().run()
    assert not app.exception
    files = [button.proto.label for button in app.get("download_button")]
    assert {"inspect_dataset.jsonl", "inspect_task.py"} <= set(files)


def trial_store(store: Path) -> None:
    tables = small_tables() | {
        "tool_calls": the_calls(),
        "tool_definitions": [definition(), definition("list")],
    }
    tables["turns"] = [a_turn(1, user_text="Read a, please.")]
    publish(store, tables)


def prepare_trial(app: AppTest, key: str) -> tuple[Plan, tuple[Task, ...]]:
    """Make the file that the page offers. Return the plan and the tasks in it, as a trial reads them."""
    app.button(key=f"{key}_testset_prepare").click().run()
    assert not app.exception
    _, made = app.session_state[f"_{key}_testset"]
    with TemporaryDirectory() as folder, zipfile.ZipFile(BytesIO(made.data)) as archive:
        archive.extractall(folder)
        return read_plan_and_tasks(Path(folder) / "plan.toml")


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(
    ("page", "key", "query"),
    [
        ("calls", "calls", {"outcome": "failed"}),
        ("errors", "errors", {}),
        ("errors", "signature", {"signature": "of the failed call"}),
    ],
)
def test_a_page_offers_its_calls_as_a_trial(store: Path, page: str, key: str, query: dict[str, str]) -> None:
    trial_store(store)
    if "signature" in query:
        generation = published_generation(store)
        assert generation
        with duckdb.connect(str(generation), read_only=True) as connection:
            sql = "SELECT signature_id FROM tool_calls WHERE call_id = 'c2'"
            query = {"signature": str(connection.execute(sql).fetchall()[0][0])}
    app = opened(f"callgauge/dashboard/pages/{page}/page.py", **query)
    app.selectbox(key=f"{key}_testset_shape").select("trial").run()
    plan, [task] = prepare_trial(app, key)
    assert task.origin == "c2"
    assert [model.model for model in plan.models.values()] == ["falcon-3"]
    assert "1 task and a plan." in page_text(app)
    app.checkbox(key=f"{key}_testset_cut").check().run()
    assert "1 task and a plan." not in page_text(app)


@pytest.mark.thorough
def test_a_choice_that_gives_no_task_says_why_and_offers_no_file(store: Path) -> None:
    tables = small_tables() | {"tool_calls": the_calls()}
    publish(store, tables)
    app = opened("callgauge/dashboard/pages/errors/page.py")
    app.button(key="errors_testset_prepare").click().run()
    assert "No task." in page_text(app)
    assert "Left out: 1: the user's message is not in the log." in page_text(app)
    _, prepared = app.session_state["_errors_testset"]
    assert not prepared.data
