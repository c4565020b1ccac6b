"""Generates strings like those of models.

The strings consist of JSON punctuation, and of delimiters from the dialects in which models write tool calls.
"""

from __future__ import annotations

import json
from typing import Any

from tests.fuzz.choices import Choices
from tests.fuzz.corruptions import CORRUPTIONS, damaged
from tests.fuzz.definitions import NAMES

TOKENS = (
    "{", "}", "[", "]", '"', ":", ",", "'", "\\", "\n", " ", "true", "null", "1", "a", '"a"',
    '"path": "', '", "', '": "', '"a": ', '{"a": 1}', "```json\n", "```", "\\n", '\\"', "\\\\",
    "\\u00e9", "\\ud83d", "\\d", "C:\\dir\\", "0", "-", "1.5", ".5", "1e9", "1e999", "0x1F",
    "1_000", "1,000", "NaN", "True", "None", "undefined", "tru", "//", "/*", "*/", "#", "...", "…",
    "“", "”", "‘", "’", "`", '"""', "'''", "：", "，", "｛", "｝", "(", ")", "=", "=>", ";", "+", 'r"',
    "\ufeff", "\x00", "\t", "\r\n", "\x0b", "\u2028", "\ud800", "é", "汉", "😀", "{}", "[]", '""',
    "Sure, here: ", "<think>", "</think>", "<arguments>", "</arguments>", "def f(", '"content": "',
    '"query": ', "limit: ", "'tags': [", '"2024-01-02T03:04:05Z"', '"42"', '"true"',
    '"{\\"a\\": 1}"', "key=value", "- item\n", "name: ", "\\'", "\\/", "|", "<|", "|>", "$", "%",
    "&quot;", "\\x41", "\\",
)  # fmt: skip
CALL_TOKENS = (
    "<tool_call>", "</tool_call>", '{"name": "write", "arguments": ',
    '{"name": "search", "parameters": {', '<invoke name="write">', '<parameter name="path">',
    "</parameter>", "</invoke>", "<function_calls>", "[TOOL_CALLS]", "[ARGS]", "[CALL_ID]",
    "<|python_tag|>", "<|eom_id|>", "<|eot_id|>", "<function=write>", "<parameter=path>",
    "</function>", "<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>", "function", "<｜tool▁sep｜>",
    "<｜tool▁call▁end｜>", "<｜tool▁calls▁end｜>", '<｜DSML｜invoke name="write">',
    "<|tool_calls_section_begin|>", "<|tool_call_begin|>", "functions.write:0",
    "<|tool_call_argument_begin|>", "<|tool_call_end|>", "<|tool_calls_section_end|>", "<arg_key>",
    "</arg_key>", "<arg_value>", "</arg_value>", "<|channel|>commentary to=functions.write ",
    "<|constrain|>json", "<|message|>", "<|call|>", "<|start|>assistant", "Thought: ",
    "\nAction: write", "\nAction Input: ", "\nObservation: ", "Final Answer:", "[write(path='a'",
    ")]", "write(", '"tool": "write", ', '"input": ', '"action_input": ', '{"tool_calls": [',
    '"function": {', "\n\n",
)  # fmt: skip


def json_value(choices: Choices, depth: int = 0) -> Any:
    """Return any JSON value, at most four levels deep."""
    kind = choices.below(11 if depth < 4 else 8)
    if kind < 8:
        return _scalar(choices, kind)
    if kind == 8:
        return [json_value(choices, depth + 1) for _ in range(choices.below(4))]
    return json_object(choices, depth + 1)


def _scalar(choices: Choices, kind: int) -> Any:
    if kind < 4:
        return "".join(choices.one_of(TOKENS) for _ in range(choices.below(4)))
    if kind == 4:
        return choices.below(65_536) - choices.below(256)
    if kind == 5:
        return choices.below(65_536) / (1 + choices.below(256))
    return choices.one_of((None, True, False, 0, 1, -1, 1.0, 10**20, 1e300, "", "42", "true"))


def json_object(choices: Choices, depth: int = 0) -> dict[str, Any]:
    return {choices.one_of(NAMES): json_value(choices, depth) for _ in range(choices.below(5))}


def json_text(choices: Choices, value: Any) -> str:
    options: dict[str, Any] = choices.one_of(
        ({"ensure_ascii": False}, {"indent": 2, "ensure_ascii": False}, {"separators": (",", ":")})
    )
    return json.dumps(value, **options)


def corrupted(choices: Choices, text: str, most: int = 4) -> str:
    names = tuple(CORRUPTIONS)
    for _ in range(choices.below(most) + 1):
        text = CORRUPTIONS[choices.one_of(names)](text, choices)[:100_000]
    return text


def tokens_in_a_row(choices: Choices, tokens: tuple[str, ...] = TOKENS) -> str:
    parts: list[str] = []
    while choices.left and len(parts) < 2_000:
        parts.append(choices.one_of(tokens))
    return "".join(parts)


def repetition(choices: Choices, tokens: tuple[str, ...] = TOKENS) -> str:
    """Return a string that repeats a pattern up to about 60,000 characters. Such strings reveal non-linear
    time.
    """
    size = choices.one_of((500, 5_000, 60_000))
    head, unit, tail = (
        "".join(choices.one_of(tokens) for _ in range(choices.below(most) + least))
        for least, most in ((0, 4), (1, 4), (0, 4))
    )
    return head + unit * (size // len(unit)) + tail


def raw_arguments(choices: Choices) -> str | bytes:
    kind = choices.below(8)
    if kind == 0:
        return choices.rest()
    if kind == 1:
        return choices.rest().decode("utf-8", "replace")
    if kind == 2:
        return tokens_in_a_row(choices)
    if kind == 3:
        return repetition(choices)
    text = corrupted(choices, json_text(choices, json_object(choices)))
    if kind == 4:
        return damaged(text.encode("utf-8", "surrogatepass"), choices)
    return text


def text_with_calls(choices: Choices) -> str:
    tokens = (*CALL_TOKENS, *TOKENS)
    kind = choices.below(4)
    if kind == 0:
        return choices.rest().decode("utf-8", "replace")
    if kind == 1:
        return repetition(choices, tokens)
    if kind == 2:
        return tokens_in_a_row(choices, tokens)
    parts: list[str] = []
    for _ in range(1 + choices.below(8)):
        parts.append(choices.one_of(tokens))
        if choices.below(2):
            parts.append(corrupted(choices, json_text(choices, json_object(choices)), 2))
    return "".join(parts)
