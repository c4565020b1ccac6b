"""Tests the edits that fix a tool definition: which are proposed, and what a replay says about them."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import pytest

from bench.replay.fix_cells import FAULTS, FAULTY, MadeStore, make_row, make_store, name_proposals
from callgauge.analysis.replay.definition_edits import (
    accept_types,
    add_enum_value,
    apply_changes,
    convert_to_unit,
    name_unit,
    read_unit,
    shorten_texts,
    type_examples,
)
from callgauge.analysis.replay.definition_fixes import FixSearch
from callgauge.analysis.replay.definition_shapes import SHAPES, choose_shape, write_difference
from callgauge.analysis.replay.fix_results import LeftOut, Missing, ToolFixes, list_changes
from callgauge.analysis.replay.fix_sentences import (
    describe_evidence,
    list_missing,
    title_fix,
    write_fix_answer,
    write_overall_answer,
)

FINE = {"query": "a", "limit": 5, "rank": 1, "order": "newest", "timeout": 30, "page": 1}
WRONG: dict[str, Any] = {"limit": "5", "order": "random", "timeout": "30s", "page": "2"}


def made(
    *,
    wrong: tuple[str, ...] = tuple(WRONG),
    calls: int = 480,
    every: int = 6,
    models: tuple[str, ...] = ("slate", "heron"),
) -> MadeStore:
    """Return a store of one tool whose parameters `wrong` get another value in one of `every` calls.

    Only the models in `models` make the errors. Two models make calls, in sessions of two calls.
    """
    store = MadeStore({"search": copy.deepcopy(FAULTY)})
    for number in range(calls):
        session = number // 2
        model = ("slate", "heron")[session % 2]
        sent = dict(FINE)
        for place, name in enumerate(wrong):
            if model in models and (number * 7 + place) % every == 0:
                sent[name] = WRONG[name]
        store.calls.append(make_row(number, session, model, "search", sent))
    return store


def fixes_of(store: MadeStore) -> ToolFixes:
    return FixSearch(store.ask, {}).find_fixes("search")


def test_five_planted_faults_get_five_edits_and_no_sixth() -> None:
    result = fixes_of(made())
    assert {fix.key for fix in result.fixes} == FAULTS
    assert result.effect is not None
    assert result.effect.would_fail == 0
    assert result.effect.failed == result.effect.failed_fixed == 160
    assert result.effect.repaired == result.effect.repaired_fixed == 160
    answer = write_fix_answer(result)
    assert answer.startswith(
        "search: These 5 edits would have made 160 of 160 repaired and 160 of 160 failed calls clean "
        "(160 only if models then send what the definition asks for); no other call would fail; "
    )
    assert answer.endswith(" tokens less per step.")
    assert ToolFixes.from_json(json.loads(json.dumps(result.to_json()))) == result


def test_each_edit_says_its_evidence_and_its_condition() -> None:
    by_kind = {str(fix.kind): fix for fix in fixes_of(made()).fixes}
    assert title_fix(by_kind["accept_type"]) == "limit: also accept string"
    assert "80 of 480 checked calls (16.7%" in describe_evidence(by_kind["accept_type"])
    assert "send another type in valid JSON; similar parameters never" in describe_evidence(
        by_kind["accept_type"]
    )
    assert describe_evidence(by_kind["accept_type"]).endswith(
        "models may send a value of type string for limit: make sure that the tool accepts it."
    )
    assert "in this unit (" in describe_evidence(by_kind["name_unit"])
    assert "make sure" not in describe_evidence(by_kind["type_example"])
    assert "if models then send the number alone" in describe_evidence(by_kind["name_unit"])
    assert "if models then send the declared type" in describe_evidence(by_kind["type_example"])
    assert title_fix(by_kind["add_enum_value"]) == 'order: add the value "random"'
    assert describe_evidence(by_kind["drop_parameter"]).startswith("No call of 480 checked calls sends")


def test_a_part_of_the_edits_has_the_effect_of_this_part() -> None:
    result = FixSearch(made().ask, {}).find_fixes("search", ["accept_type:limit"])
    assert [fix.key for fix in result.fixes] == ["accept_type:limit"]
    assert result.effect is not None
    assert (result.effect.repaired_fixed, result.effect.failed_fixed, result.effect.conditional) == (80, 0, 0)


def test_an_error_of_one_model_is_the_cause_of_the_model() -> None:
    result = fixes_of(made(wrong=("limit",), every=3, models=("slate",)))
    assert "accept_type:limit" not in {fix.key for fix in result.fixes}
    [rejected] = [each for each in result.rejected if each.fix.parameter == "limit"]
    assert (rejected.reason, rejected.model) == (LeftOut.ONE_MODEL, "slate")


def test_an_error_at_all_parameters_of_a_type_is_no_fault_of_one_declaration() -> None:
    store = made(wrong=())
    for number, call in enumerate(store.calls):
        sent = {**FINE, **{name: "7" for name in ("limit", "rank", "timeout", "page") if number % 6 == 0}}
        call["raw_arguments"] = json.dumps(sent)
    assert {fix.key for fix in fixes_of(store).fixes} == {"drop_parameter:trace"}


def test_an_edit_because_of_which_a_call_would_fail_is_not_proposed() -> None:
    store = made(wrong=())
    store.definitions["search"]["additionalProperties"] = False
    store.definitions["older"] = store.definitions["search"]
    sent = make_row(480, 240, "slate", "search", {**FINE, "trace": True})
    store.calls.append({**sent, "definition_id": None})
    result = fixes_of(store)
    assert result.fixes == ()
    assert [each.reason for each in result.rejected] == [LeftOut.WOULD_FAIL]


def test_calls_of_an_older_declaration_do_not_count_against_the_newest() -> None:
    store = made(wrong=("limit",))
    older = {**FAULTY, "properties": {**FAULTY["properties"], "limit": {"type": "integer"}}}
    ask = store.ask

    def ask_older(metric: str, parameters: Any) -> Any:
        rows = ask(metric, parameters)
        if metric == "replayed_definition" and parameters["definition"] == "d-older":
            return [{"tool": "search", "description": "", "definition": json.dumps(older)}]
        return rows

    for call in store.calls:
        call["definition_id"] = "d-older"
    store.definitions["older"] = older
    result = FixSearch(ask_older, {}).find_fixes("search")
    assert "accept_type:limit" not in {fix.key for fix in result.fixes}
    assert (result.missing, result.older) == (Missing.DATA, 480)


@pytest.mark.parametrize(
    ("change", "missing", "words"),
    [
        ({"definitions": []}, Missing.DEFINITION, "callgauge ingest PATH --tools FILE"),
        ({"fixable_tools": []}, Missing.CALLS, "Choose more days or other filters"),
        ({"replayed_calls": None}, Missing.TEXTS, "no readable arguments"),
        ({"servers": ["one", "two"]}, Missing.SERVERS, "several MCP servers (one and two)"),
        ({"definition": "[1"}, Missing.UNREADABLE, "cannot be read"),
        (
            {"first": 12},
            Missing.DATA,
            "12 of 480 calls were checked against the newest definition, in 6 sessions",
        ),
    ],
)
def test_what_is_missing_is_said(change: dict[str, Any], missing: Missing, words: str) -> None:
    ask = made(wrong=()).ask

    def ask_other(metric: str, parameters: Any) -> Any:
        rows = ask(metric, parameters)
        if metric == "replayed_calls":
            rows = [{**each, "raw_arguments": None} for each in rows] if metric in change else rows
            return rows[: change.get("first")]
        rows = change.get(metric, rows)
        return [{**each, **{name: change[name] for name in each if name in change}} for each in rows]

    result = FixSearch(ask_other, {}).find_fixes("search")
    assert result.missing is missing
    assert words in write_fix_answer(result)


def test_a_shorter_text_from_too_few_calls_says_how_few() -> None:
    store = made(wrong=(), calls=12)
    store.definitions["search"]["$schema"] = "http://json-schema.org/draft-07/schema#"
    answer = write_fix_answer(fixes_of(store))
    assert answer.startswith("search: This edit would save ")
    assert "no other call" not in answer
    assert "Not enough data on search: 12 of 12 calls were checked" in answer


def test_the_answer_on_all_tools_counts_them_and_says_what_is_missing() -> None:
    plain = ToolFixes("plain", calls=40, checked=40)
    undefined = [ToolFixes(f"t{number}", calls=30, missing=Missing.DEFINITION) for number in range(8)]
    few = ToolFixes("few", calls=900, checked=1, sessions=1, missing=Missing.DATA)
    search = fixes_of(made())
    assert write_overall_answer([search, plain, *undefined]).startswith(
        "5 edits are proposed for 1 of 10 tools with at least 30 calls: 320 calls would have been clean"
    )
    assert write_overall_answer([plain, few]) == (
        "The calls of 1 tool with a known definition suggest no edit of a definition."
    )
    assert write_overall_answer([few]) == "No tool has enough data to suggest an edit of its definition."
    assert "Choose more days" in write_overall_answer([])
    assert list_missing([search, plain]) == []
    definitions, data = list_missing([plain, *undefined, few, few])
    assert definitions == (
        "No log has the definition of t0, t1, t2, t3, t4 and 3 more tools. Add definitions with: callgauge "
        "ingest PATH --tools FILE --store DIR"
    )
    assert data.startswith("Not enough data on few: 1 of 900 calls was checked against the newest ")
    assert data.endswith(" The same is true of few.")


@pytest.mark.thorough
def test_made_stores_without_a_fault_get_no_edit_and_five_faults_get_five() -> None:
    proposed = [name_proposals(make_store(random.Random(f"quiet {seed}"), 100)) for seed in range(40)]
    assert sum(map(bool, proposed)) <= 2
    faulty = [make_store(random.Random(f"faulty {seed}"), 600, is_faulty=True) for seed in range(5)]
    edits = [name_proposals(store) for store in faulty]
    assert all(keys <= FAULTS for keys in edits)
    assert sum(keys == FAULTS for keys in edits) >= 4


# --- single edits --------------------------------------------------------------------------------------


def edited(schema: dict[str, Any], changes: Any) -> Any:
    return apply_changes({"description": "", "schema": schema}, changes)["schema"]


def declare(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def test_a_wider_type_keeps_everything_else() -> None:
    schema = declare(a={"type": "integer", "minimum": 1})
    after = edited(schema, accept_types(schema, "a", ["string", "integer"]))
    assert after["properties"]["a"] == {"type": ["integer", "string"], "minimum": 1}
    nested = declare(a={"type": "array", "items": declare(b={"type": "string"})})
    after = edited(nested, accept_types(nested, "a[].b", ["number"]))
    assert after["properties"]["a"]["items"]["properties"]["b"] == {"type": ["string", "number"]}
    optional = declare(a={"anyOf": [{"type": "integer"}, {"type": "null"}]})
    after = edited(optional, accept_types(optional, "a", ["string"]))
    assert after["properties"]["a"]["anyOf"][2] == {"type": "string"}


@pytest.mark.parametrize(
    "declared",
    [{"type": "integer", "enum": [1]}, {"$ref": "#/$defs/a"}, {}, True, {"type": ["integer", "string"]}],
)
def test_a_wider_type_that_helps_nothing_is_no_edit(declared: Any) -> None:
    assert accept_types(declare(a=declared), "a", ["string"]) == ()


def test_an_enum_value_is_added_also_to_an_optional_enum() -> None:
    schema = declare(a={"anyOf": [{"type": "string", "enum": ["x"]}, {"type": "null"}]})
    changes = [*add_enum_value(schema, "a", "y"), *add_enum_value(schema, "a", "z")]
    assert edited(schema, changes)["properties"]["a"]["anyOf"][0]["enum"] == ["x", "y", "z"]
    assert add_enum_value(schema, "a", "x") == ()


def test_units_are_read_named_and_converted() -> None:
    assert [read_unit(text) for text in ("30s", "5 min", "500ms", "2 MB", "30", "s", 5)] == [
        "seconds", "minutes", "milliseconds", "megabytes", None, None, None,
    ]  # fmt: skip
    assert [convert_to_unit(text, "seconds") for text in ("5 min", "500ms", "2 MB")] == [300, 0.5, None]
    schema = declare(
        a={"type": "integer", "description": "How long"}, b={"type": "integer", "description": "In seconds."}
    )
    after = edited(schema, name_unit(schema, "a", "seconds"))
    assert after["properties"]["a"]["description"] == "How long. Unit: seconds; send only the number."
    assert name_unit(schema, "b", "seconds") == ()


def test_examples_and_defaults_get_the_declared_type() -> None:
    declared = {"type": "integer", "default": "5", "examples": [1, "2", "many"]}
    assert [(change.path, change.after) for change in type_examples(declared)] == [
        (("default",), (5,)),
        (("examples", 1), (2,)),
    ]


def test_texts_without_meaning_are_removed_and_others_stay() -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "searchArguments",
        **declare(
            user_id={"type": "string", "title": "User Id", "description": "user id"},
            mode={"type": "string", "enum": ["a", "b"], "description": "How to sort. One of: a, b."},
            title={
                "type": "string",
                "title": "Name of the book",
                "description": "Finds a book in the library.",
            },
        ),
    }
    changes, reasons = shorten_texts("search", "Finds a book in the library.", schema)
    after = edited(schema, changes)
    assert "$schema" not in after
    assert "title" not in after
    assert after["properties"] == {
        "user_id": {"type": "string"},
        "mode": {"type": "string", "enum": ["a", "b"], "description": "How to sort."},
        "title": {"type": "string", "title": "Name of the book"},
    }
    assert len(reasons) == 5


@pytest.mark.parametrize("shape", list(SHAPES))
def test_the_diff_is_in_the_shape_of_the_definition(shape: str) -> None:
    result = fixes_of(made())
    after = apply_changes(result.definition, list_changes(result.fixes))
    difference = write_difference(shape, "search", result.definition, after)
    assert "+" in difference
    assert "Unit: seconds" in difference
    if shape == "python":
        assert "+    limit: int | str," in difference
        assert "-    trace: bool | None = None," in difference


def test_the_shape_follows_from_the_logs() -> None:
    assert choose_shape("claude_code", "") == "anthropic"
    assert choose_shape("claude_code", "files") == "mcp"
    assert choose_shape("chat_jsonl", "") == "openai"


def test_a_hostile_tool_is_written_as_python_that_compiles() -> None:
    schema = declare(**{"class": {"type": "integer", "description": 'a """ b \\'}, "1 x": {"enum": ["'"]}})
    after = {"description": 'Runs """\nimport os', "schema": schema}
    before = {"description": "", "schema": {}}
    text = write_difference("python", "del x\n", before, after)
    source = "\n".join(
        line[1:] for line in text.splitlines() if line[:1] in "+ " and not line.startswith("+++")
    )
    compile(source, "made", "exec")
