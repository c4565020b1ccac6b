"""Declares the keys of a task with their allowed values and descriptions. The task reader and the JSON Schema
use them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from callgauge.checked_files.field_types import (
    REQUIRED,
    UNREAD,
    AnyTable,
    AnyValue,
    Choice,
    Field,
    Flag,
    KeyedTable,
    ListOf,
    Schema,
    Text,
)
from callgauge.checked_files.file_problems import KeyPath, Mistake, quote_value
from callgauge.trials.planning.plan_fields import FUNCTION

_ADVICE = 'write {"search_orders": {"customer": ["Acme"], "limit": [10, ""]}}: a tool, and accepted values'


@dataclass(frozen=True, slots=True)
class _CallChoice:
    """An expected tool call in BFCL's format, or only the name of a tool. A name allows any arguments."""

    def read(self, value: Any, key: KeyPath, mistakes: list[Mistake]) -> Any:
        if isinstance(value, str) and value.strip():
            return value, None
        if not isinstance(value, Mapping) or len(value) != 1:
            mistakes.append(Mistake(key, f"{quote_value(value)} is not an expected call", _ADVICE))
            return UNREAD
        ((tool, accepted),) = value.items()
        if not isinstance(accepted, Mapping):
            mistakes.append(
                Mistake((*key, tool), f"{quote_value(accepted)} is not a table of parameters", _ADVICE)
            )
            return UNREAD
        mistakes_before = len(mistakes)
        for name, values in accepted.items():
            if not isinstance(values, list) or not values:
                what = f"{quote_value(values)} is not a list of accepted values"
                advice = (
                    f"write [{quote_value(values)}]" if values != [] else 'name one, [""] if it is left out'
                )
                mistakes.append(Mistake((*key, tool, name), what, advice))
        return (
            UNREAD
            if len(mistakes) > mistakes_before
            else (tool, {name: tuple(vs) for name, vs in accepted.items()})
        )

    def to_schema(self) -> Schema:
        values = {"type": "array", "minItems": 1}
        parameters = {"type": "object", "additionalProperties": values}
        call = {"type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": parameters}
        return {"anyOf": [{"type": "string", "pattern": r"\S"}, call]}


@dataclass(frozen=True, slots=True)
class _Messages:
    """The conversation before the first request: a string, or messages in OpenAI's chat format."""

    def read(self, value: Any, key: KeyPath, mistakes: list[Mistake]) -> Any:
        if isinstance(value, str):
            return Text("write the user's message").read(value, key, mistakes)
        if isinstance(value, list):
            return ListOf(_MESSAGE).read(value, key, mistakes)
        mistakes.append(
            Mistake(key, f"{quote_value(value)} is not an input", "write a text, or a list of messages")
        )
        return UNREAD

    def to_schema(self) -> Schema:
        return {"anyOf": [Text().to_schema(), ListOf(_MESSAGE).to_schema()]}


@dataclass(frozen=True, slots=True)
class _Content:
    """The content of a message: a string, or a list of text parts."""

    def read(self, value: Any, key: KeyPath, mistakes: list[Mistake]) -> Any:
        if value is None or isinstance(value, str):
            return value or ""
        parts = value if isinstance(value, list) else []
        texts = [
            part["text"] for part in parts if isinstance(part, Mapping) and isinstance(part.get("text"), str)
        ]
        if texts and len(texts) == len(parts):
            return "\n".join(texts)
        mistakes.append(
            Mistake(key, f"{quote_value(value)} is not a text", "write a text: images are not sent")
        )
        return UNREAD

    def to_schema(self) -> Schema:
        part = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
        return {"anyOf": [{"type": ["string", "null"]}, {"type": "array", "items": part, "minItems": 1}]}


_ANY_TEXT = Text(may_be_empty=True)
_CALL_MADE = KeyedTable(
    {
        "id": Field(Text(), "The call's id.", REQUIRED),
        "type": Field(Choice(("function",)), "function."),
        "function": Field(
            KeyedTable(
                {
                    "name": Field(Text(), "The tool.", REQUIRED),
                    "arguments": Field(_ANY_TEXT, "The arguments, as the text that was sent.", REQUIRED),
                }
            ),
            "What was called.",
            REQUIRED,
        ),
    }
)
_MESSAGE = KeyedTable(
    {
        "role": Field(Choice(("system", "user", "assistant", "tool")), "The role of the speaker.", REQUIRED),
        "content": Field(_Content(), "The text of the message.", ""),
        "tool_calls": Field(ListOf(_CALL_MADE, fewest=0), "An assistant's calls.", ()),
        "tool_call_id": Field(Text(), "Of the role `tool`: the id of the call that this is the result of."),
        "name": Field(Text(), "Of the role `tool`: the tool."),
    }
)
_ANSWER = KeyedTable(
    {
        "contains": Field(ListOf(Text(), takes_one=True), "Texts that it must contain, ignoring case.", ()),
        "regex": Field(Text(), "A regular expression that is found in it."),
        "equals": Field(_ANY_TEXT, "The whole text, ignoring surrounding blanks."),
    }
)
_EXPECT = KeyedTable(
    {
        "calls": Field(ListOf(_CallChoice()), "The calls that are made, each with its accepted values.", ()),
        "ordered": Field(Flag(), "They are made in this order.", False),
        "more": Field(Flag(), "Further calls may be made.", False),
        "loose": Field(Flag(), "Compare text as BFCL does, ignoring case, blanks and , . / - _ * ^ .", False),
        "no_call": Field(Flag(), "No call is made at all.", False),
        "not_called": Field(ListOf(Text()), "Tools that are not called.", ()),
        "answer": Field(_ANSWER, "What the final answer is."),
        "check": Field(FUNCTION, "A Python function, module:function, called with the task and the turn."),
    }
)
_RECORDED = KeyedTable(
    {
        "tool": Field(Text(), "The tool.", REQUIRED),
        "when": Field(AnyTable(), "What its arguments contain; any arguments without it."),
        "result": Field(AnyValue(), "What it answers; what is not a text is written as JSON.", REQUIRED),
        "status": Field(
            Choice(("success", "tool_rejected", "execution_failed")), "How the call ends.", "success"
        ),
    }
)
TASK = KeyedTable(
    {
        "id": Field(Text(), "The task's name, once in the file.", REQUIRED),
        "input": Field(
            _Messages(), "The user's message, or all messages before the model answers.", REQUIRED
        ),
        "tools": Field(ListOf(Text(), fewest=0), "The offered tools. Default: all tools of the variant."),
        "definitions": Field(
            ListOf(AnyTable()), "Definitions of this task; they override those of the variant.", ()
        ),
        "expect": Field(_EXPECT, "The conditions for a correct trial; all must be met."),
        "suggested": Field(
            _EXPECT, "What may be right, for a person to move to `expect`; nothing asks for it."
        ),
        "answers": Field(ListOf(_RECORDED, fewest=0), "Recorded answers of tools; the first that fits.", ()),
        "group": Field(Text(), "Tasks of one group are not independent of each other."),
        "origin": Field(Text(), "Where the task comes from."),
    }
)


def task_schema() -> Schema:
    """Return the JSON Schema of a task, which is one line of a task file (draft 7)."""
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "A task of Callgauge's trials",
        **TASK.to_schema(),
    }
