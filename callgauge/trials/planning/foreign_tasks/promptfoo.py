"""Reads promptfoo tests: a configuration with `prompts` and `tests`, or a list of tests with messages in
`vars`.

A prompt is rendered with the test's variables. Only `{{ name }}` is supported, no filters or tags. Assertions
on the answer or on the called tools become the task's expected result. Assertions that tool calls match their
definitions are dropped, because every trial measures this. Any other assertion is an error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from callgauge.trials.planning.foreign_tasks.chat import read_messages
from callgauge.trials.planning.foreign_tasks.records import (
    TEST_LINES,
    ForeignRecord,
    ForeignTaskError,
    read_text,
)

_PLACE = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_TEMPLATE = re.compile(r"\{[{%#]")
_RAW = re.compile(r"\{% raw %\}(.*)\{% endraw %\}", re.DOTALL)
_MEASURED = (
    "is-valid-openai-tools-call", "is-valid-openai-function-call", "is-valid-function-call",
    "cost", "latency",
)  # fmt: skip
# The test set export in callgauge/analysis/testsets/shapes.py writes this check.
_OUR_CHECK = ".function.name === context.vars.tool"
_OUR_ARGUMENTS = "JSON.parse(context.vars.arguments)"


def is_test(record: Mapping[str, Any]) -> bool:
    return "vars" in record or ("tests" in record and ("prompts" in record or "providers" in record))


def read_tests(
    records: Sequence[ForeignRecord], folder: Path
) -> list[tuple[int, Callable[[], dict[str, Any]]]]:
    """Return the line number of each promptfoo test, and a function that returns the test as a task.

    If the promptfoo test has a mistake, the function raises ForeignTaskError. Paths in a configuration are
    relative to `folder`. Raises ForeignTaskError when no test can be read.
    """
    if len(records) != 1 or "tests" not in records[0].value:
        bare = _Config(None, {}, [])
        return [
            (record.line, _later(bare, record.value, number))
            for number, record in enumerate(records, start=1)
        ]
    config = records[0].value
    tests = config["tests"]
    if not isinstance(tests, list) or not all(isinstance(test, dict) for test in tests):
        raise ForeignTaskError(
            "tests is not a list of tests", records[0].line, advice="name the file that contains them"
        )
    lines = config.get(TEST_LINES) or [records[0].line] * len(tests)
    read = _Config(
        _read_prompt(config.get("prompts"), folder), config.get("defaultTest") or {}, _find_tools(config)
    )
    return [
        (line, _later(read, test, number))
        for number, (line, test) in enumerate(zip(lines, tests, strict=True), start=1)
    ]


class _Config:
    """The settings that all promptfoo tests of a file share."""

    def __init__(self, prompt: str | None, default: Any, tools: list[Any]) -> None:
        if not isinstance(default, dict):
            raise ForeignTaskError("defaultTest is not a test", advice="write it into the file")
        self.prompt, self.default, self.tools = prompt, default, tools


def _later(config: _Config, test: Mapping[str, Any], number: int) -> Callable[[], dict[str, Any]]:
    return lambda: _read_test(config, test, number)


def _read_test(config: _Config, test: Mapping[str, Any], number: int) -> dict[str, Any]:
    variables = _read_vars(config.default.get("vars")) | _read_vars(test.get("vars"))
    metadata, options = _read_object(test, "metadata"), _read_object(test, "options")
    line: dict[str, Any] = {
        "id": str(metadata.get("call_id") or f"test-{number}"),
        "input": _render(config.prompt, variables),
    }
    tools = options.get("tools") or config.tools
    if tools:
        line["definitions"] = _take_raw_off(tools)
    expected = _read_asserts([*_read_list(config.default), *_read_list(test)], variables)
    if expected:
        line["expect"] = expected
    session = metadata.get("session_id")
    return line | ({"group": session} if isinstance(session, str) and session else {})


def _read_vars(value: Any) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ForeignTaskError("vars is not an object", advice="write the values into the file")
    return value


def _read_object(test: Mapping[str, Any], name: str) -> dict[str, Any]:
    value = test.get(name)
    return value if isinstance(value, dict) else {}


def _read_list(test: Mapping[str, Any]) -> list[Any]:
    asserts = test.get("assert") or []
    if not isinstance(asserts, list):
        raise ForeignTaskError("assert is not a list")
    return asserts


def _read_prompt(prompts: Any, folder: Path) -> str | None:
    listed = prompts if isinstance(prompts, list) else [prompts] if prompts is not None else []
    if len(listed) > 1:
        raise ForeignTaskError(
            f"the config has {len(listed)} prompts",
            advice="keep one here, and make the others variants of the plan",
        )
    if not listed:
        return None
    prompt = listed[0].get("raw") if isinstance(listed[0], dict) else listed[0]
    if not isinstance(prompt, str):
        raise ForeignTaskError(
            "the prompt is neither a text nor a file:// with one", advice="write it into the file"
        )
    if not prompt.startswith("file://"):
        return prompt
    path = folder / prompt.removeprefix("file://")
    if path.suffix not in (".txt", ".md", ".json"):
        raise ForeignTaskError(
            f"the prompt {prompt} is code, which is not run", advice="write the prompt as text"
        )
    try:
        return read_text(path)
    except ForeignTaskError as problem:
        raise ForeignTaskError(f"{path}: {problem.message}") from None


def _render(prompt: str | None, variables: Mapping[str, Any]) -> str | list[dict[str, Any]]:
    """Return the prompt with the values filled in. Return a list of messages if the prompt is a JSON list of
    messages.
    """
    if prompt is None:
        if "messages" not in variables:
            raise ForeignTaskError("no prompt; name the config with `prompts`, or set vars.messages")
        prompt = "{{messages}}"
    if _TEMPLATE.search(_PLACE.sub("", prompt)):
        raise ForeignTaskError("the prompt has a template other than {{ name }}, which is not read")

    def fill(place: re.Match[str]) -> str:
        if place[1] not in variables:
            raise ForeignTaskError(f"the prompt asks for {place[1]}, which is not among the vars")
        value = variables[place[1]]
        if isinstance(value, list | dict) and place[1] != "messages":
            raise ForeignTaskError(f"vars.{place[1]} has several values", advice="make a test of each")
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

    text = _PLACE.sub(fill, prompt)
    try:
        messages = json.loads(text) if text.lstrip()[:1] == "[" else None
    except (ValueError, RecursionError):
        messages = None
    if isinstance(messages, list) and all(
        isinstance(message, dict) and "role" in message for message in messages
    ):
        return read_messages(messages)
    if not text.strip():
        raise ForeignTaskError("the rendered prompt is empty")
    return text


def _find_tools(config: Mapping[str, Any]) -> list[Any]:
    providers = config.get("providers")
    sets = [
        provider["config"]["tools"]
        for provider in (providers if isinstance(providers, list) else [])
        if isinstance(provider, dict)
        and isinstance(provider.get("config"), dict)
        and provider["config"].get("tools")
    ]
    if any(other != sets[0] for other in sets):
        raise ForeignTaskError(
            "the providers have different tools; keep one set here, and make the others variants"
        )
    if sets and not isinstance(sets[0], list):
        raise ForeignTaskError(
            "the providers' tools are not a list", advice="write the definitions into the file"
        )
    return sets[0] if sets else []


def _take_raw_off(value: Any) -> Any:
    """Return a value without the `raw` tags, which tell promptfoo not to render a string as a template."""
    if isinstance(value, dict):
        return {name: _take_raw_off(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_take_raw_off(item) for item in value]
    marked = _RAW.fullmatch(value) if isinstance(value, str) else None
    return marked[1] if marked else value


def _read_asserts(asserts: Sequence[Any], variables: Mapping[str, Any]) -> dict[str, Any]:
    contains: list[str] = []
    patterns: list[str] = []
    tools: list[Any] = []
    equals: str | None = None
    may_be_more = True
    for assertion in asserts:
        kind, value = (
            (assertion.get("type"), assertion.get("value")) if isinstance(assertion, dict) else (None, None)
        )
        if kind in _MEASURED:
            continue
        script = assertion.get("transform") if kind == "is-json" else value if kind == "javascript" else None
        if isinstance(script, str) and _OUR_CHECK in script:
            tools.append(_read_call(script, variables))
        elif kind == "tool-call-f1":
            tools += value if isinstance(value, list) else [name.strip() for name in str(value).split(",")]
            may_be_more = False
        elif kind in ("icontains", "icontains-all"):
            contains += _texts(kind, value)
        elif kind in ("contains", "contains-all", "contains-any", "icontains-any", "regex"):
            patterns += _patterns(kind, _texts(kind, value))
        elif kind == "equals" and isinstance(value, str) and equals is None:
            equals = value
        else:
            raise ForeignTaskError(
                f"the assertion {kind!r} is not read",
                advice="take it out, or write it as `expect` of a task of ours (docs/trials.md)",
            )
    answer: dict[str, Any] = {"contains": contains} if contains else {}
    if patterns:
        answer["regex"] = patterns[0] if len(patterns) == 1 else _all_of(patterns)
    if equals is not None:
        answer["equals"] = equals
    unique = [tool for number, tool in enumerate(tools) if tool not in tools[:number]]
    calls: dict[str, Any] = {"calls": unique} if unique else {}
    if tools and may_be_more:
        calls["more"] = True
    return calls | ({"answer": answer} if answer else {})


def _read_call(script: str, variables: Mapping[str, Any]) -> Any:
    """Return the expected tool call of an exported promptfoo test. Include the arguments if the test compares
    them.
    """
    tool = str(variables.get("tool"))
    if _OUR_ARGUMENTS not in script:
        return tool
    try:
        arguments = json.loads(variables.get("arguments", ""))
    except (TypeError, ValueError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict):
        raise ForeignTaskError("vars.arguments is not a JSON object")
    return {tool: {name: [value] for name, value in arguments.items()}}


def _texts(kind: str, value: Any) -> list[str]:
    texts = value if isinstance(value, list) else [value]
    if not texts or not all(isinstance(text, str) and text for text in texts):
        raise ForeignTaskError(f"the assertion {kind!r} has no text as its value")
    if any(_TEMPLATE.search(text) for text in texts):
        raise ForeignTaskError(f"the assertion {kind!r} contains a template, which is not supported")
    return texts


def _patterns(kind: str, texts: Sequence[str]) -> list[str]:
    if kind == "regex":
        return list(texts)
    words = [re.escape(text) for text in texts]
    if kind.endswith("-any"):
        return [f"(?i:{'|'.join(words)})" if kind.startswith("i") else "|".join(words)]
    return words


def _all_of(patterns: Sequence[str]) -> str:
    return "^" + "".join(rf"(?=[\s\S]*(?:{pattern}))" for pattern in patterns)
