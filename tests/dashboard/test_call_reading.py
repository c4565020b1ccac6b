"""Tests the page of a stored tool call, which is parsed again."""

from __future__ import annotations

import json
from typing import Any

import pytest

from callgauge.analysis.reparsed_call import LONGEST, reparse_call, restore_definition
from callgauge.analysis.texts.text_diff import arguments_change
from callgauge.dashboard.pages.calls.parameter_table import ParameterRow, first_name, list_parameters
from callgauge.dashboard.pages.calls.parser_reading import describe_result
from callgauge.dashboard.pages.calls.request_bodies import make_chat_request
from lenient import PARSER_VERSION, ToolDefinition, parse_arguments
from tests.analysis.store_fixture import a_call

SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "Where to look"},
        "maxLines": {"type": "integer"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "mode": {"enum": ["r", "w"]},
    },
    "required": ["path", "mode"],
}
TOOL = ToolDefinition.from_json_schema(name="read", schema=SCHEMA)


def stored(**fields: Any) -> dict[str, Any]:
    fixed = {"definition": json.dumps(SCHEMA), "tool_sent": None, "tools_offered": True, "fault_layer": None}
    return {**a_call(1), **fixed, "parser_version": PARSER_VERSION, **fields}


def list_by_name(raw: str, tool: ToolDefinition | None = TOOL) -> dict[str, ParameterRow]:
    return {parameter.name: parameter for parameter in list_parameters(parse_arguments(raw, tool), tool)}


def test_a_stored_call_is_read_as_the_load_read_it() -> None:
    call = stored(raw_arguments='{"path": 3, "mode": "x"}', tool="read")
    request = reparse_call(call, restore_definition(call, "Reads.")).request
    assert request is not None
    assert [diagnostic.code for diagnostic in request.diagnostics] == [
        "non_string_literal_retained",
        "enum_out_of_range",
    ]


@pytest.mark.parametrize(
    ("fields", "note"),
    [
        ({"fault_layer": "emission"}, "No call was made"),
        ({"raw_arguments": None, "args_source": "missing"}, "kept no text"),
        ({"args_source": "truncated"}, "blamed for the cut"),
        ({"args_source": "reserialised", "tools_offered": False}, "no definition to check it against"),
        ({"raw_arguments": "x" * (LONGEST + 1)}, "1,000,001 characters"),
    ],
)
def test_what_the_load_did_not_read_is_not_read_now(fields: dict[str, Any], note: str) -> None:
    reading = reparse_call(stored(**fields), None)
    assert reading.request is None
    assert note in str(reading.note)


def test_another_version_of_the_parser_is_named() -> None:
    assert reparse_call(stored(), TOOL).note is None
    assert "the stored diagnostics are from version 1. “callgauge reparse” updates the store." in str(
        reparse_call(stored(parser_version="1"), TOOL).note
    )


def test_a_definition_that_cannot_be_read_is_none_and_is_said() -> None:
    for broken in ("[1]", "{", None):
        assert restore_definition(stored(definition=broken), None) is None
    assert "cannot be read" in str(reparse_call(stored(definition="{"), None).note)


def test_a_tool_that_was_not_offered_is_unknown_again() -> None:
    request = reparse_call(stored(definition=None), None).request
    assert request is not None
    assert request.parse_error == "unknown_tool:read_file"


def test_each_parameter_tells_what_was_sent_and_what_it_became() -> None:
    parameters = list_by_name('{"path":3,"max_lines":"7","tags":"a","mode":"x","zzz":1}')
    assert list(parameters) == ["path", "maxLines", "tags", "mode", "zzz"]
    assert (parameters["path"].sent, parameters["path"].became, parameters["path"].severity) == (
        "3",
        '"3"',
        "warning",
    )
    assert (parameters["maxLines"].sent, parameters["maxLines"].sent_as, parameters["maxLines"].became) == (
        '"7"',
        "max_lines",
        "7",
    )
    assert (parameters["mode"].sent, parameters["mode"].became, parameters["mode"].severity) == (
        '"x"',
        None,
        "error",
    )
    assert (parameters["zzz"].required, parameters["zzz"].kind, parameters["zzz"].has_changed) == (
        None,
        None,
        False,
    )
    assert (parameters["tags"].kind, parameters["mode"].kind) == ("list of string", '"r" | "w"')


def test_a_lossy_mend_is_not_as_sent() -> None:
    cut = list_by_name('{"tags": ["a", ')["tags"]
    assert "truncated_text" in [finding.code for finding in cut.findings]
    assert describe_result(cut) == "what could be read; part of it may be lost"
    assert describe_result(list_by_name('{"path": "a"}')["path"]) == "as sent"


def test_without_a_definition_no_parameter_is_called_undeclared() -> None:
    assert list_by_name('{"zzz": 1}')["zzz"].describe_required(TOOL) == "not declared"
    assert list_by_name('{"zzz": 1}', None)["zzz"].describe_required(None) == "no definition"


def test_what_is_missing_is_lit_and_what_is_only_absent_is_not() -> None:
    parameters = list_by_name("{}")
    assert (parameters["mode"].sent, parameters["mode"].severity) == (None, "error")
    assert (parameters["tags"].sent, parameters["tags"].severity, parameters["tags"].required) == (
        None,
        None,
        False,
    )


@pytest.mark.parametrize(
    "raw",
    [
        '```json\n{"path": "a", "mode": "r",}\n```',
        json.dumps('{"path": "a", "mode": "r"}'),
        '{"path": "a", "mode": "r"}',
    ],
)
def test_what_was_sent_is_read_from_the_mended_text(raw: str) -> None:
    parameters = list_by_name(raw)
    assert (parameters["path"].sent, parameters["mode"].sent) == ('"a"', '"r"')


def test_a_finding_deep_in_a_value_belongs_to_its_parameter() -> None:
    parameters = list_by_name('{"path": "a", "mode": "r", "tags": ["a", {"b": 1}]}')
    assert [finding.path for finding in parameters["tags"].findings] == ["$.tags[1]"]


@pytest.mark.parametrize("raw", ["[1]", "", "not json", "null", "{" * 500])
def test_a_text_without_an_object_has_the_declared_parameters_only(raw: str) -> None:
    assert set(list_by_name(raw)) == {"path", "maxLines", "tags", "mode"}


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("$", None),
        ("$.a", "a"),
        ("$.a[2].b", "a"),
        ('$["odd key"].b', "odd key"),
        (r'$["a\"b"]', 'a"b'),
        ("$[3]", None),
    ],
)
def test_a_path_leads_into_its_parameter(path: str, name: str | None) -> None:
    assert first_name(path) == name


def message(kind: str, turn: int, step: int | None, **fields: Any) -> dict[str, Any]:
    names = ("text", "call_id", "tool", "tool_call_id", "raw", "result")
    return {"kind": kind, "turn": turn, "step": step, **dict.fromkeys(names), **fields}


SO_FAR = [
    message("user", 1, -1, text="Hello"),
    message("said", 1, 0, text="I look."),
    message("call", 1, 0, tool="read", raw='{"path": ', result="bad", tool_call_id="x"),
    message("call", 1, 0, tool="read", raw="{}", tool_call_id="x"),
    message("answer", 1, None, text="Done"),
    message("user", 2, -1, text="Again"),
    message("call", 2, 0, tool="read", raw='{"path": "a"}', result="42 lines"),
]


def body(*, ask_again: bool, **fields: Any) -> dict[str, Any]:
    call = stored(turn=2, step=0, tool="read", **fields)
    written = make_chat_request(call, SO_FAR, prompt="Be kind.", description="Reads.", ask_again=ask_again)
    assert written.isascii()
    decoded: dict[str, Any] = json.loads(written)
    return decoded


def test_a_request_holds_the_prompt_the_messages_the_calls_as_they_were_and_the_tool() -> None:
    made = body(ask_again=False)
    assert [message["role"] for message in made["messages"]] == [
        "system", "user", "assistant", "tool", "tool", "assistant", "user", "assistant", "tool",
    ]  # fmt: skip
    first = made["messages"][2]
    assert first["content"] == "I look."
    assert first["tool_calls"][0]["function"]["arguments"] == '{"path": '
    assert made["tools"][0]["function"]["parameters"] == SCHEMA
    assert "tool_choice" not in made


def test_each_call_of_a_request_has_an_id_of_its_own_and_its_result() -> None:
    made = body(ask_again=False)["messages"]
    called = [call["id"] for reply in made for call in reply.get("tool_calls", ())]
    answered = [reply["tool_call_id"] for reply in made if reply["role"] == "tool"]
    assert called == answered
    assert len(set(called)) == 3
    assert made[4]["content"] == "(The log keeps no result.)"


def test_a_request_to_call_again_ends_before_the_call_and_names_the_tool() -> None:
    made = body(ask_again=True)
    assert made["messages"][-1] == {"role": "user", "content": "Again"}
    assert made["tool_choice"]["function"]["name"] == "read"
    assert "tools" not in body(ask_again=True, definition=None)


def test_attempts_are_compared_member_by_member() -> None:
    before = '{"path": "a", "limit": "20", "filters": {"b": 1, "c": [1, 2]}, "old": true}'
    after = '{"filters":{"c":[1,3],"b":1},"limit":20,"path":"a","new":1.0}'
    assert arguments_change(before, after).splitlines() == [
        '- limit: "20"',
        "+ limit: 20",
        "- filters.c[1]: 2",
        "+ filters.c[1]: 3",
        "- old: true",
        "+ new: 1.0",
    ]
    assert arguments_change('{"a": 1, "b": 2}', '{ "b": 2,\n"a": 1 }') == ""
    assert arguments_change('{"a": 1}', '{"a": true}').splitlines() == ["- a: 1", "+ a: true"]


def test_of_long_texts_in_a_member_the_changed_lines_are_listed() -> None:
    before, after = ({"text": f"{'The same line.' * 20}\n{last}"} for last in ("old", "new"))
    changed = arguments_change(json.dumps(before), json.dumps(after)).splitlines()
    assert changed == ["  text:", "-old", "+new"]


def test_attempts_that_are_no_json_are_compared_as_text() -> None:
    changed = arguments_change('{"path": "a" "limit": 20, "b": 1', '{"path": "a", "limit": 20, "b": 1}')
    assert [line for line in changed.splitlines() if line[0] != " "] == [
        '-"path": "a" "limit": 20',
        '+"path": "a"',
        '+"limit": 20',
        "+}",
    ]
    assert "+}" in arguments_change("{", "{}").splitlines()[-1]
    assert arguments_change('{"a": 1,}', '{"a": 1}') != "", "a comma alone is a change"
    assert arguments_change("{", "{") == ""


def test_what_was_sent_is_shown_as_it_was_written() -> None:
    when = {
        "type": "object",
        "properties": {"at": {"type": "string", "format": "date-time"}, "n": {}, "s": {}},
    }
    tool = ToolDefinition.from_json_schema(name="book", schema=when)
    rows = list_by_name('{"at": "2026-12-01T09:00:00+02:00", "n": 2e2, "s": "caf\\u00e9"}', tool)
    assert {name: parameter.sent for name, parameter in rows.items()} == {
        "at": '"2026-12-01T09:00:00+02:00"', "n": "2e2", "s": '"caf\\u00e9"',
    }  # fmt: skip
    assert rows["at"].became == rows["at"].sent
    assert not any(parameter.has_changed for parameter in rows.values())
