"""The notations in which models write tool calls, as the makers of the models document them.

`lenient/calls/dialects/` lists the sources.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any


class Values(Enum):
    """The ways in which a notation writes values."""

    JSON = "json"  # one JSON object contains all values
    TAGS = "tags"  # each value is unchanged between two tags
    PYTHON = "python"  # the values are keyword arguments of a Python call
    DELIMITERS = "delimiters"  # texts are between delimiters, all other values are JSON
    PLAIN = "plain"  # JSON without delimiter tokens


@dataclass(frozen=True, slots=True)
class Call:
    name: str
    arguments: dict[str, Any]


Write = Callable[[Call, int], str]
Arguments = Callable[[dict[str, Any]], str]
"""Writes the arguments of a tool call as JSON. A caller can pass a function that makes a mistake."""


@dataclass(frozen=True, slots=True)
class Notation:
    """The notation of one family of models.

    A reply is `section[0]`, the tool calls with `separator` between them, and `section[1]`. A tool call is
    its opening delimiter, its body and its closing delimiter; `opened` returns the opening delimiter of the
    n-th tool call. `foreign` is a delimiter of another notation that models write instead of the closing
    delimiter. `several` is False if a reply has only one tool call.
    """

    dialect: str
    values: Values
    section: tuple[str, str]
    opened: Callable[[Call, int], str]
    body: Callable[[Call, Arguments], str]
    closed: str
    separator: str = "\n"
    foreign: str | None = None
    several: bool = True
    # the opening delimiter contains the name, so without this delimiter there is no call
    header_names: bool = False


def write_json(arguments: dict[str, Any]) -> str:
    return json.dumps(arguments, ensure_ascii=False)


def _fixed(token: str) -> Callable[[Call, int], str]:
    return lambda call, index: token


def _object(name: str, arguments: str) -> Callable[[Call, Arguments], str]:
    return lambda call, write: (
        f'{{"{name}": {json.dumps(call.name)}, "{arguments}": {write(call.arguments)}}}'
    )


def _only_arguments(before: str = "", after: str = "") -> Callable[[Call, Arguments], str]:
    return lambda call, write: f"{before}{write(call.arguments)}{after}"


def _as_written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _tagged(opening: str, closing: str, between: str = "\n") -> Callable[[Call, Arguments], str]:
    """Return a function that writes each parameter between an opening and a closing tag.

    `opening` contains `{key}`, and possibly `{text}`, which becomes "true" if the value is a string, and
    "false" otherwise.
    """

    def write(call: Call, _: Arguments) -> str:
        return between.join(
            opening.replace("{key}", key).replace("{text}", "true" if isinstance(value, str) else "false")
            + _as_written(value)
            + closing.replace("{key}", key)
            for key, value in call.arguments.items()
        )

    return write


def _python(call: Call, _: Arguments) -> str:
    return f"{call.name}({', '.join(f'{key}={value!r}' for key, value in call.arguments.items())})"


def _gemma(call: Call, _: Arguments) -> str:
    def written(value: Any) -> str:
        if isinstance(value, str):
            return f"<escape>{value}<escape>"
        if isinstance(value, list):
            return f"[{','.join(map(written, value))}]"
        if isinstance(value, dict):
            return "{" + ",".join(f"{key}:{written(inner)}" for key, inner in value.items()) + "}"
        return json.dumps(value)

    return f"call:{call.name}" + written(call.arguments)


_MINIMAX = "]<]minimax[>["


def _elements(name: str, value: Any) -> str:
    """Return an element of MiniMax M3, in which members and items are inner elements."""
    members = value.items() if isinstance(value, dict) else ()
    inner = [_elements("item", item) for item in value] if isinstance(value, list) else []
    inner += [_elements(*member) for member in members]
    content = "".join(inner) if isinstance(value, list | dict) else _as_written(value)
    return f"{_MINIMAX}<{name}>{content}{_MINIMAX}</{name}>"


_XTML = {str: "string", int: "number", bool: "boolean", list: "array", dict: "object", float: "number"}
_NAMED = _object("name", "arguments")
NOTATIONS: tuple[Notation, ...] = (
    Notation("hermes", Values.JSON, ("", ""), _fixed("<tool_call>\n"), _NAMED, "\n</tool_call>",
             foreign="\n<tool_call>"),
    Notation("granite", Values.JSON, ("<|tool_call|>[", "]"), _fixed(""), _NAMED, "", separator=", ",
             foreign="</tool_call>"),
    Notation("tool_calls_tag", Values.JSON, ("<tool_calls>\n", "\n</tool_calls>"), _fixed(""), _NAMED, ""),
    Notation("nemotron", Values.JSON, ("<TOOLCALL>[", "]</TOOLCALL>"), _fixed(""), _NAMED, "",
             separator=", "),
    Notation("command", Values.JSON, ("<|START_ACTION|>[\n    ", "\n]<|END_ACTION|>"), _fixed(""),
             _object("tool_name", "parameters"), "", separator=",\n    "),
    Notation("internlm", Values.JSON, ("", ""), _fixed("<|action_start|><|plugin|>"),
             _object("name", "parameters"), "<|action_end|>", separator="", foreign="</tool_call>"),
    Notation("phi4_mini", Values.JSON, ("functools[", "]"), _fixed(""), _NAMED, "", separator=", "),
    Notation("apertus", Values.JSON, ("<|tools_prefix|>[", "]<|tools_suffix|>"), _fixed(""),
             lambda call, write: f"{{{json.dumps(call.name)}: {write(call.arguments)}}}", "",
             separator=", "),
    Notation("longcat", Values.JSON, ("", ""), _fixed("<longcat_tool_call>"), _NAMED,
             "</longcat_tool_call>", foreign="</tool_call>"),
    Notation("gigachat", Values.JSON, ("", ""), _fixed("<|message_sep|>\n\nfunction call<|role_sep|>\n"),
             _NAMED, "", several=False),
    Notation("llama3_json", Values.JSON, ("<|python_tag|>", "<|eom_id|>"), _fixed(""),
             _object("name", "parameters"), "", separator="; "),
    Notation("deepseek_v3", Values.JSON, ("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"),
             lambda call, _: f"<｜tool▁call▁begin｜>function<｜tool▁sep｜>{call.name}\n",
             _only_arguments("```json\n", "\n```"), "<｜tool▁call▁end｜>", foreign="</tool_call>",
             header_names=True),
    Notation("deepseek_v31", Values.JSON, ("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"),
             lambda call, _: f"<｜tool▁call▁begin｜>{call.name}<｜tool▁sep｜>", _only_arguments(),
             "<｜tool▁call▁end｜>", separator="", foreign="</tool_call>", header_names=True),
    Notation("kimi_k2", Values.JSON, ("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"),
             lambda call, index: f"<|tool_call_begin|>functions.{call.name}:{index}"
             "<|tool_call_argument_begin|>",
             _only_arguments(), "<|tool_call_end|>", separator="", foreign="</tool_call>",
             header_names=True),
    Notation("tool_call_name", Values.JSON, ("", ""), lambda call, _: f"<tool_call>{call.name}\n",
             _only_arguments(), "\n</tool_call>", foreign="\n</function_call>", header_names=True),
    Notation("mistral", Values.JSON, ("", "</s>"), lambda call, _: f"[TOOL_CALLS]{call.name}[ARGS]",
             _only_arguments(), "", separator="", header_names=True),
    Notation("mistral", Values.JSON, ("[TOOL_CALLS][", "]</s>"), _fixed(""), _NAMED, "", separator=", "),
    Notation("functionary", Values.JSON, ("", ""), lambda call, _: f">>>{call.name}\n", _only_arguments(),
             "", header_names=True),
    Notation("harmony", Values.JSON, ("", ""),
             lambda call, _: f"<|start|>assistant<|channel|>commentary to=functions.{call.name} "
             "<|constrain|>json<|message|>",
             _only_arguments(), "<|call|>", separator="", foreign="</tool_call>", header_names=True),
    Notation("qwen3_coder", Values.TAGS, ("", ""),
             lambda call, _: f"<tool_call>\n<function={call.name}>\n",
             _tagged("<parameter={key}>\n", "\n</parameter>"), "\n</function>\n</tool_call>",
             foreign="\n</tool_call>", header_names=True),
    Notation("qwen3_coder", Values.TAGS, ("<seed:tool_call>\n", "\n</seed:tool_call>"),
             lambda call, _: f"<function={call.name}>\n", _tagged("<parameter={key}>\n", "\n</parameter>"),
             "\n</function>", foreign="\n</tool_call>", header_names=True),
    Notation("anthropic_invoke", Values.TAGS, ("<function_calls>\n", "\n</function_calls>"),
             lambda call, _: f'<invoke name="{call.name}">\n',
             _tagged('<parameter name="{key}">', "</parameter>"), "\n</invoke>", foreign="\n</function>",
             header_names=True),
    Notation("anthropic_invoke", Values.TAGS, ("<minimax:tool_call>\n", "\n</minimax:tool_call>"),
             lambda call, _: f'<invoke name="{call.name}">\n',
             _tagged('<parameter name="{key}">', "</parameter>"), "\n</invoke>", foreign="\n</tool_call>",
             header_names=True),
    Notation("anthropic_invoke", Values.TAGS,
             (f"{_MINIMAX}<tool_call>\n", f"\n{_MINIMAX}</tool_call>"),
             lambda call, _: f'{_MINIMAX}<invoke name="{call.name}">\n',
             lambda call, _: "\n".join(_elements(*member) for member in call.arguments.items()),
             f"\n{_MINIMAX}</invoke>", foreign=f"\n{_MINIMAX}</function>", header_names=True),
    Notation("anthropic_legacy", Values.TAGS, ("<function_calls>\n", "\n</function_calls>"),
             lambda call, _: f"<invoke>\n<tool_name>{call.name}</tool_name>\n<parameters>\n",
             _tagged("<{key}>", "</{key}>"), "\n</parameters>\n</invoke>", header_names=True),
    Notation("deepseek_v32", Values.TAGS, ("<｜DSML｜function_calls>\n", "\n</｜DSML｜function_calls>"),
             lambda call, _: f'<｜DSML｜invoke name="{call.name}">\n',
             _tagged('<｜DSML｜parameter name="{key}" string="{text}">', "</｜DSML｜parameter>"),
             "\n</｜DSML｜invoke>", foreign="\n</｜DSML｜function>", header_names=True),
    Notation("glm", Values.TAGS, ("", ""), lambda call, _: f"<tool_call>{call.name}\n",
             _tagged("<arg_key>{key}</arg_key>\n<arg_value>", "</arg_value>"), "\n</tool_call>",
             foreign="\n</function>", header_names=True),
    Notation("kimi_k3", Values.TAGS, ("<|open|>tools<|sep|>", "<|close|>tools<|sep|>"),
             lambda call, index: f'<|open|>call tool="{call.name}" index="{index + 1}"<|sep|>',
             lambda call, write: "".join(
                 f'<|open|>argument key="{key}" type="{_XTML[type(value)]}"<|sep|>{_as_written(value)}'
                 "<|close|>argument<|sep|>" for key, value in call.arguments.items()
             ),
             "<|close|>call<|sep|>", separator="", header_names=True),
    Notation("gemma", Values.DELIMITERS, ("", ""), _fixed("<start_function_call>"), _gemma,
             "<end_function_call>", separator="", foreign="</tool_call>"),
    Notation("olmo3", Values.PYTHON, ("<function_calls>\n", "\n</function_calls>"), _fixed(""), _python, ""),
    Notation("llama4_pythonic", Values.PYTHON, ("<|python_start|>[", "]<|python_end|>"), _fixed(""),
             _python, "", separator=", "),
    Notation("pythonic", Values.PYTHON, ("[", "]"), _fixed(""), _python, "", separator=", "),
    Notation("gemma_tool_code", Values.PYTHON, ("```tool_code\n", "\n```"), _fixed(""), _python, ""),
    Notation("react", Values.PLAIN, ("", ""), lambda call, _: f"Action: {call.name}\nAction Input: ",
             _only_arguments(), "", header_names=True, several=False),
    Notation("fenced_json", Values.PLAIN, ("", ""), _fixed("```json\n"), _NAMED, "\n```",
             separator="\n\n"),
    Notation("bare_json", Values.PLAIN, ("", ""), _fixed(""), _NAMED, ""),
)  # fmt: skip
