"""Writes a test case as one line of a file, in the format of each supported evaluation program, and checks
the line.

The formats come from MoonshotAI/K2-Vendor-Verifier (a line is a request body), ShishirPatil/gorilla (BFCL:
one entry per line, answers in a separate file), inspect_ai's `Sample`, promptfoo's test cases, and OpenAI's
data for supervised fine-tuning, where the model learns only from messages of weight 1.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from callgauge.analysis.testsets.cases import Message, NotExportedError, TestsetCase, right_arguments
from lenient import ToolCatalog, ToolDefinition, ToolDefinitionError, parse_arguments

Line = dict[str, Any]
_FOLDER = Path(__file__).parent
_BFCL_TYPES = {"object": "dict", "number": "float"}
TEMPLATE = re.compile(r"\{(?=[{%#])")
"""Matches the beginning of a promptfoo template."""
_OPENAI_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
# These scripts contain no log text; log text is only in variables.
_CALLS = "(Array.isArray(output) ? output : (output && output.tool_calls) || [])"
ARGUMENTS_OF_CALL = (
    f"({_CALLS}.find((call) => call.function && call.function.name === context.vars.tool)"
    " || { function: { arguments: 'no call of the tool' } }).function.arguments"
)
"""The transform of promptfoo that returns the arguments of the first call of the tool."""
IS_RIGHT_CALL = f"""\
const right = JSON.parse(context.vars.arguments);
const isSame = (a, b) => a === b || (a !== null && b !== null
  && typeof a === 'object' && typeof b === 'object' && Array.isArray(a) === Array.isArray(b)
  && Object.keys(a).length === Object.keys(b).length
  && Object.keys(a).every((name) => Object.hasOwn(b, name) && isSame(a[name], b[name])));
return {_CALLS}.some((call) => {{
  try {{
    return call.function.name === context.vars.tool && isSame(JSON.parse(call.function.arguments), right);
  }} catch (error) {{ return false; }}
}});
"""
"""The assertion of promptfoo that one call has the right name and the right arguments."""
_VALIDATED = {
    "type", "properties", "patternProperties", "additionalProperties", "required", "items", "enum", "const",
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength",
    "pattern", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "propertyNames",
    "allOf", "anyOf", "oneOf", "not", "$ref", "$defs", "definitions",
}  # fmt: skip
"""The keywords that promptfoo's validator (Ajv, draft 7) knows. Ajv rejects a schema with other keywords."""
_VALID_FOR_AJV = {
    "duplicate_key", "repeated_member", "lone_surrogate", "number_coerced_to_integer", "pattern_not_checked",
    "pattern_mismatch", "format_mismatch", "uri_not_absolute", "unsupported_uri_literal",
    "timestamp_without_offset", "timestamp_normalised", "epoch_converted_to_timestamp",
    "unsupported_timestamp_literal", "contains_mismatch", "several_branches_fit",
    "schema_keyword_unsupported", "nested_too_deep",
}  # fmt: skip
"""Codes of diagnostics that arguments may have although promptfoo's validator accepts them."""
_PLAIN_PATTERN = re.compile(r"(?:[^\\?(){}\[\]]|\\[dDwWsS.]|\((?!\?)|[?)]|\[[^\]\\\[]*\]|\{\d+,?\d*\})*")
"""Matches regular expressions that have the same meaning in JavaScript."""


@dataclass(frozen=True, slots=True)
class TestsetShape:
    """A file format for test cases. `name` is the file name. `about` is a description for users.

    `companion` is the name of a second file that the format needs, such as a task and a scorer. `line`
    returns the line of a case. `check` raises NotExportedError when a parsed line does not match its case.
    """

    title: str
    name: str
    about: str
    line: Callable[[TestsetCase], Line]
    check: Callable[[Line, TestsetCase], None]
    companion: str | None = None

    def read_companion(self) -> bytes:
        """Return the content of the second file."""
        return (_FOLDER / f"{self.companion}.txt").read_bytes()


def _tool_line(tool: ToolDefinition) -> Line:
    return tool.to_openai(defaults=True)


def _request_line(case: TestsetCase) -> Line:
    return {"messages": case.messages, "tools": [_tool_line(tool) for tool in case.tools]}


def _entry_line(case: TestsetCase) -> Line:
    functions = [
        {"name": tool.name, "description": tool.description, "parameters": _as_bfcl(tool.to_json_schema())}
        for tool in case.tools
    ]
    return {"id": f"callgauge_{case.call_id}", "question": [case.messages], "function": functions}


def _as_bfcl(value: Any, key: str | None = None) -> Any:
    if isinstance(value, Mapping):
        return {name: _as_bfcl(inner, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [_as_bfcl(inner, key) for inner in value]
    return _BFCL_TYPES.get(value, value) if key == "type" and isinstance(value, str) else value


def _answer_line(case: TestsetCase) -> Line:
    return {
        "id": f"callgauge_{case.call_id}",
        "ground_truth": [
            {case.tool: {name: [_as_accepted(value)] for name, value in right_arguments(case).items()}}
        ],
    }


def _as_accepted(value: Any) -> Any:
    """Return a value in BFCL's notation, in which each field of an object has a list of accepted values."""
    if isinstance(value, dict):
        return {name: [_as_accepted(inner)] for name, inner in value.items()}
    return [_as_accepted(inner) for inner in value] if isinstance(value, list) else value


def _sample_line(case: TestsetCase) -> Line:
    # This call raises an error without right arguments, because a scorer with an empty target accepts every
    # answer.
    right_arguments(case)
    return {
        "id": case.call_id,
        "input": [_inspect_message(message, case.messages) for message in case.messages],
        "target": case.right,
        "metadata": {
            "tool": case.tool,
            "tools": [_tool_line(tool)["function"] for tool in case.tools],
            "sent": case.sent,
            "parse_error": case.parse_error,
            "model": case.model,
            "session_id": case.session_id,
        },
    }


def _inspect_message(message: Message, earlier: list[Message]) -> Message:
    if message["role"] == "tool":
        names = {
            call["id"]: call["function"]["name"]
            for previous in earlier
            for call in previous.get("tool_calls", ())
        }
        return {**message, "function": names[message["tool_call_id"]]}
    if "tool_calls" not in message:
        return message
    calls = [_inspect_call(call["id"], **call["function"]) for call in message["tool_calls"]]
    return {"role": "assistant", "content": message.get("content", ""), "tool_calls": calls}


def _inspect_call(call_id: str, name: str, arguments: str) -> Line:
    call: Line = {"id": call_id, "function": name, "type": "function"}
    try:
        decoded = json.loads(arguments)
    except (ValueError, RecursionError):
        decoded = None
    if isinstance(decoded, dict):
        return {**call, "arguments": decoded}
    return {**call, "arguments": {}, "parse_error": arguments}


def _promptfoo_line(case: TestsetCase) -> Line:
    if TEMPLATE.search(case.tool):
        raise NotExportedError("templates")
    # promptfoo would read a list as several tests, so the messages are one text, which the prompt
    # `{{messages}}` inserts.
    variables = {"messages": _no_template(case.messages), "tool": case.tool}
    if case.right is not None:
        variables["arguments"] = _no_template(right_arguments(case))
        asserted: Line = {"type": "javascript", "value": IS_RIGHT_CALL}
    else:
        tool = next(tool for tool in case.tools if tool.name == case.tool)
        schema = tool.to_json_schema()
        placeholders = dict.fromkeys(schema.get("required", ()), "x")
        if _fits(tool, case.sent) or _fits(tool, json.dumps(placeholders)):
            raise NotExportedError("undecidable")
        closed = {"additionalProperties": False, **_keep_validated(schema)}
        asserted = {"type": "is-json", "transform": ARGUMENTS_OF_CALL, "value": closed}
    return {
        "description": f"{case.tool} · {case.call_id}",
        "vars": variables,
        "options": {"tools": [_mark_raw(_tool_line(tool)) for tool in case.tools]},
        "assert": [asserted],
        "metadata": {"call_id": case.call_id, "session_id": case.session_id, "model": case.model or ""},
    }


def _fits(tool: ToolDefinition, raw: str) -> bool:
    return {found.code for found in parse_arguments(raw, tool).diagnostics} <= _VALID_FOR_AJV


def _keep_validated(schema: Any) -> Any:
    """Return a schema with only the keywords that promptfoo's validator knows, without descriptions."""
    if isinstance(schema, list):
        return [_keep_validated(inner) for inner in schema]
    if not isinstance(schema, Mapping):
        return schema
    validated: Line = {}
    for name, value in schema.items():
        if name in ("properties", "patternProperties", "$defs", "definitions"):
            validated[name] = {key: _keep_validated(inner) for key, inner in value.items()}
        elif name == "pattern":
            if _PLAIN_PATTERN.fullmatch(value):
                validated[name] = value
        elif name in _VALIDATED:
            validated[name] = value if name in ("enum", "const") else _keep_validated(value)
    return validated


def _no_template(value: Any) -> str:
    """Return a value as JSON text in which no string contains the beginning of a template, by escaping."""
    return TEMPLATE.sub(r"\\u007b", json.dumps(value, ensure_ascii=False))


def _mark_raw(value: Any) -> Any:
    """Return a value in which each string that looks like a template is wrapped in raw tags.

    Raises NotExportedError when a key looks like a template, or when a string contains the closing raw tag.
    """
    if isinstance(value, Mapping):
        if any(TEMPLATE.search(name) for name in value):
            raise NotExportedError("templates")
        return {name: _mark_raw(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_mark_raw(inner) for inner in value]
    if isinstance(value, str) and TEMPLATE.search(value):
        if "endraw" in value:
            raise NotExportedError("templates")
        return f"{{% raw %}}{value}{{% endraw %}}"
    return value


def _training_line(case: TestsetCase) -> Line:
    right_arguments(case)
    if not all(_OPENAI_NAME.fullmatch(tool.name) for tool in case.tools):
        raise NotExportedError("name")
    earlier = [
        {**message, "weight": 0} if message["role"] == "assistant" else message for message in case.messages
    ]
    call = {"name": case.tool, "arguments": case.right}
    target = {
        "role": "assistant",
        "tool_calls": [{"id": "call_0", "type": "function", "function": call}],
        "weight": 1,
    }
    tools = [_tool_line(tool) for tool in case.tools]
    return {"messages": [*earlier, target], "tools": tools, "parallel_tool_calls": False}


def check_request(line: Line, case: TestsetCase) -> None:
    _check_tools(line["tools"], case)
    _check_messages(line["messages"], case)


def check_training(line: Line, case: TestsetCase) -> None:
    _check_tools(line["tools"], case)
    *earlier, target = line["messages"]
    _check_messages(earlier, case)
    (call,) = target["tool_calls"]
    learnt = [message for message in line["messages"] if message.get("weight") == 1]
    _require(learnt == [target] and json.loads(call["function"]["arguments"]) == right_arguments(case))


def check_entry(line: Line, case: TestsetCase) -> None:
    _check_messages(line["question"][0], case)
    _require([function["name"] for function in line["function"]] == [tool.name for tool in case.tools])
    _require(all(function["parameters"].get("type", "dict") == "dict" for function in line["function"]))


def check_answer(line: Line, case: TestsetCase) -> None:
    (call,) = line["ground_truth"]
    (arguments,) = call.values()
    _require({name: _read_accepted(values[0]) for name, values in arguments.items()} == right_arguments(case))


def _read_accepted(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _read_accepted(values[0]) for name, values in value.items()}
    return [_read_accepted(inner) for inner in value] if isinstance(value, list) else value


def check_sample(line: Line, case: TestsetCase) -> None:
    _check_tools(line["metadata"]["tools"], case)
    _require(
        [message["role"] for message in line["input"]]
        == [case_message["role"] for case_message in case.messages]
    )
    _require(
        all(
            isinstance(call["arguments"], dict)
            for item in line["input"]
            for call in item.get("tool_calls", ())
        )
    )


def check_promptfoo(line: Line, case: TestsetCase) -> None:
    _require(not any(TEMPLATE.search(text) for text in line["vars"].values()))
    _require(json.loads(line["vars"]["messages"]) == case.messages)
    _require(len(line["options"]["tools"]) == len(case.tools))


def _check_tools(tools: list[Line], case: TestsetCase) -> None:
    """Raise NotExportedError unless the parser `lenient` can read the case's definitions from the line."""
    try:
        read = ToolCatalog.load(tools)
    except ToolDefinitionError:
        raise NotExportedError("unread") from None
    _require([tool.to_json_schema() for tool in read] == [tool.to_json_schema() for tool in case.tools])
    _require(read.get(case.tool) is not None)


def _check_messages(messages: list[Message], case: TestsetCase) -> None:
    """Raise NotExportedError unless the line has all messages of the case, and each call has its result."""
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            _require(message["tool_call_id"] in waiting and isinstance(message["content"], str))
            waiting.remove(message["tool_call_id"])
            continue
        _require(not waiting and message["role"] in ("system", "user", "assistant"))
        waiting = [call["id"] for call in message.get("tool_calls", ())]
        _require(bool(waiting) or isinstance(message["content"], str))
    _require(not waiting and len(messages) == len(case.messages))


def _require(condition: bool) -> None:
    if not condition:
        raise NotExportedError("unread")


SHAPES = {
    "k2vv": TestsetShape(
        "K2-Vendor-Verifier",
        "samples.jsonl",
        "A request body a line: the verifier sends it and checks the calls of the answer.",
        _request_line,
        check_request,
    ),
    "bfcl": TestsetShape(
        "BFCL entries",
        "BFCL_v4_callgauge.json",
        "Questions and functions; the answers are a file of their own.",
        _entry_line,
        check_entry,
    ),
    "bfcl_answers": TestsetShape(
        "BFCL answers",
        "possible_answer_BFCL_v4_callgauge.json",
        "The right arguments by entry, for calls whose arguments are known.",
        _answer_line,
        check_answer,
    ),
    "inspect": TestsetShape(
        "Inspect",
        "inspect_dataset.jsonl",
        "Calls whose right arguments are known. Run `inspect eval inspect_task.py` next to the data set; it "
        "compares the tool and the arguments of the model's call with the right call.",
        _sample_line,
        check_sample,
        "inspect_task.py",
    ),
    "promptfoo": TestsetShape(
        "promptfoo",
        "promptfoo_tests.jsonl",
        "Use the prompt {{messages}}; the tools go to the provider. A test asks for the right call. Where it "
        "is not known, the test asks for arguments that fit the definition.",
        _promptfoo_line,
        check_promptfoo,
    ),
    "openai": TestsetShape(
        "OpenAI fine-tuning",
        "fine_tuning.jsonl",
        "Only right calls are learnt: a wrong one is replaced by the attempt that worked, or left out.",
        _training_line,
        check_training,
    ),
}
"""All formats in the order of pages."""
