"""A right call in, the text in which a model sends it wrong out, and what a strict harness says to that.

Every slip is one that small models really make. Knows no log format.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from sample_data.made_world import TOOLS, Step


@dataclass(frozen=True, slots=True)
class Sent:
    """One attempt: what was sent and what came of it. `status` is a word of docs/session-log.md."""

    tool: str
    raw: str
    status: str
    result: str
    engine_says: str | None = None  # the JSON engine's words, when the harness could not parse `raw`


def sent_right(step: Step) -> Sent:
    return Sent(step.tool, text_of(step.arguments), "success", step.result)


def text_of(arguments: dict[str, Any]) -> str:
    return json.dumps(arguments, ensure_ascii=False)


def sent_wrong(step: Step, slip: str, rng: Random) -> Sent | None:
    """The call with this slip, or None where the call has no place for it."""
    if slip in _HAPPENINGS:
        status, result = _HAPPENINGS[slip](step)
        return Sent(step.tool, text_of(step.arguments), status, result)
    if slip == "unknown_tool":
        return Sent(f"{step.tool}s", text_of(step.arguments), "tool_not_found", f"Unknown tool: {step.tool}s")
    if slip in _ARGUMENTS:
        changed = _ARGUMENTS[slip](step, rng)
        if changed is None:
            return None
        arguments, problem = changed
        status = "input_invalid" if problem else "success"
        return Sent(step.tool, text_of(arguments), status, problem or step.result)
    raw = _TEXTS[slip](text_of(step.arguments), step)
    if raw == text_of(step.arguments):
        return None
    if slip in _MENDED_BY_GATEWAY:
        return Sent(step.tool, raw, "success", step.result)
    return _as_harness_sees_it(step, raw)


_MENDED_BY_GATEWAY = frozenset({"trailing_comma", "single_quotes", "python_words"})


def _as_harness_sees_it(step: Step, raw: str) -> Sent:
    """Beside its mends, the made gateway decodes two layers and strips fences; all else it refuses."""
    bare = raw.removeprefix("```json\n").removesuffix("\n```")
    try:
        value = json.loads(bare)
        value = json.loads(value) if isinstance(value, str) else value
    except ValueError as error:
        return Sent(
            step.tool, raw, "input_unparsable", "The arguments were not JSON. No tool ran.", str(error)
        )
    if not isinstance(value, dict):
        return Sent(step.tool, raw, "input_invalid", f"{step.tool} invalid input: expected object")
    return Sent(step.tool, raw, "success", step.result)


Changed = tuple[dict[str, Any], str | None] | None


def _properties(step: Step) -> dict[str, dict[str, Any]]:
    return dict(TOOLS[step.tool]["input_schema"]["properties"])


def _of_kind(step: Step, *kinds: str) -> list[str]:
    properties = _properties(step)
    return [name for name in step.arguments if properties[name].get("type") in kinds]


def _change(
    step: Step, names: list[str], change: Callable[[Any], Any], problem: str | None, rng: Random
) -> Changed:
    if not names:
        return None
    name = rng.choice(names)
    said = problem.format(name=name) if problem else None
    return {**step.arguments, name: change(step.arguments[name])}, said


def _invalid(step: Step, problem: str) -> str:
    return f"{step.tool} invalid input: `{{name}}` {problem}"


def _enums(step: Step) -> list[str]:
    properties = _properties(step)
    return [name for name in step.arguments if "enum" in properties[name]]


def _missing(step: Step, rng: Random) -> Changed:
    name = rng.choice(TOOLS[step.tool]["input_schema"]["required"])
    left = {key: value for key, value in step.arguments.items() if key != name}
    return left, f"{step.tool} invalid input: the required parameter `{name}` is missing"


def _camel(step: Step, _: Random) -> Changed:
    def camel(name: str) -> str:
        first, *rest = name.split("_")
        return first + "".join(part.title() for part in rest)

    renamed = {camel(name): value for name, value in step.arguments.items()}
    return (renamed, None) if renamed.keys() != step.arguments.keys() else None


_NUMBERS = ("integer", "number")
_ARGUMENTS: dict[str, Callable[[Step, Random], Changed]] = {
    "number_as_text": lambda step, rng: _change(step, _of_kind(step, *_NUMBERS), str, None, rng),
    "boolean_as_text": lambda step, rng: _change(
        step, _of_kind(step, "boolean"), lambda value: str(value).lower(), None, rng
    ),
    "whole_float": lambda step, rng: _change(step, _of_kind(step, "integer"), float, None, rng),
    "one_for_list": lambda step, rng: _change(
        step, [name for name in _of_kind(step, "array") if step.arguments[name]], lambda v: v[0], None, rng
    ),
    "other_case": lambda step, rng: _change(step, _enums(step), str.upper, None, rng),
    "unknown_field": lambda step, _: ({**step.arguments, "explanation": "needed for the next step"}, None),
    "camel_case": _camel,
    "missing": _missing,
    "not_a_number": lambda step, rng: _change(
        step, _of_kind(step, *_NUMBERS), lambda _: "all of them", _invalid(step, "is no number"), rng
    ),
    "wrong_enum": lambda step, rng: _change(
        step, _enums(step), lambda _: "urgent!!", _invalid(step, "is not one of the allowed values"), rng
    ),
}  # fmt: skip


def _inner_quotes(raw: str, _: Step) -> str:
    """The quotes inside of code are sent as they stand in the code."""
    return raw.replace('\\"', '"')


def _truncated(raw: str, _: Step) -> str:
    return raw[: max(12, len(raw) * 2 // 3)]


_REMARKS = {
    "start_line": "line numbers from 1",
    "end_line": "inclusive",
    "timeout_seconds": "seconds",
    "replace_all": "only this place",
    "max_results": "enough for a first look",
    "regex": "how the query is read",
    "limit": "the first ones will do",
    "priority": "as in the ticket",
}


def _commented(raw: str, step: Step) -> str:
    """Over several lines, as in code, with a remark behind one of the values."""
    name = next((name for name in step.arguments if name in _REMARKS), None)
    if name is None:
        return raw
    lines = json.dumps(step.arguments, ensure_ascii=False, indent=2).split("\n")
    return "\n".join(
        f"{line}  // {_REMARKS[name]}" if line.startswith(f'  "{name}": ') else line for line in lines
    )


def _prose(_: str, step: Step) -> str:
    words = " ".join(str(value) for value in list(step.arguments.values())[:1])
    return f"我将调用 {step.tool} 来处理：{words}"


_TEXTS: dict[str, Callable[[str, Step], str]] = {
    "trailing_comma": lambda raw, _: raw[:-1] + ",}",
    "single_quotes": lambda _, step: repr(step.arguments),
    "python_words": lambda raw, _: raw.replace(": true", ": True").replace(": false", ": False"),
    "fenced": lambda raw, _: f"```json\n{raw}\n```",
    "narrated": lambda raw, step: f"Sure, I will use {step.tool} now:\n{raw}",
    "double_encoded": lambda raw, _: json.dumps(raw, ensure_ascii=False),
    "bare_keys": lambda _, step: (
        "{" + ", ".join(f"{k}: {json.dumps(v, ensure_ascii=False)}" for k, v in step.arguments.items()) + "}"
    ),
    "comment": _commented,
    "raw_newline": lambda raw, _: raw.replace("\\n", "\n"),
    "inner_quotes": _inner_quotes,
    "truncated": _truncated,
    "prose": _prose,
    "array_root": lambda raw, _: f"[{raw}]",
}

_REJECTED = {
    "edit_file": "old_text was not found in the file",
    "read_file": "end_line is beyond the end of the file (31 lines)",
    "search_code": "max_results must be at most 10 for this workspace",
    "update_ticket": "no ticket with this id; it may have been merged",
    "query_database": 'no such column: "ordered_at"; did you mean "order_date"?',
    "send_message": "no channel with this name",
}
_CRASHED = {
    "run_command": "Exit code 1\nFAILED tests/web/test_pages.py::test_greets - KeyError\n1 failed, 13 passed",
    "query_database": "canceling statement due to statement timeout",
    "write_file": "ENOSPC: no space left on device",
    "schedule_report": "502 Bad Gateway",
}
_HAPPENINGS: dict[str, Callable[[Step], tuple[str, str]]] = {
    "rejected": lambda step: ("tool_rejected", _REJECTED.get(step.tool, "the workspace is read-only today")),
    "crash": lambda step: ("execution_failed", _CRASHED.get(step.tool, "connection reset by peer")),
    "refused": lambda step: (
        ("approval_denied", "The user declined this call.")
        if step.tool in ("run_command", "send_message", "update_ticket")
        else ("policy_denied", "The policy of this workspace forbids this call.")
    ),
}
