"""Tests the search for tool calls in a model's reply. Calls of each dialect are found, and nothing else.

The time grows linearly with the length of the reply.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lenient import (
    DIALECTS,
    Outcome,
    TextCall,
    ToolCatalog,
    ToolDefinition,
    clean_tool_name,
    extract_tool_calls,
    leaked_tool_calls,
)
from tests.fuzz.promises import check_request
from tests.parser.strategies import written

QUICK = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
Arguments = Mapping[str, Any]

TOOL = ToolDefinition.from_json_schema(
    name="save_note",
    schema={
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "count": {"type": "integer"},
            "ratio": {"type": "number"},
            "flag": {"type": "boolean"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "extra": {"type": "object"},
        },
    },
)
OTHER = ToolDefinition.from_json_schema(name="ls", schema={"type": "object", "properties": {}})
CATALOG = ToolCatalog.from_definitions([TOOL, OTHER])

# Text like code and prose, without any delimiter of a dialect.
words = st.text(st.sampled_from(list("abc XY09 \t\n\"'`<>&{}[](),:;=\\/#$%é日😀-_.")), max_size=40)
lines = words.filter(lambda text: text == text.strip() and "\n" not in text and "`" not in text)
arguments = st.fixed_dictionaries(
    {"text": words},
    optional={
        "count": st.integers(-(10**6), 10**6),
        "ratio": st.floats(-1e6, 1e6).filter(lambda number: not number.is_integer()),
        "flag": st.booleans(),
        "tags": st.lists(lines, max_size=3),
        "extra": st.dictionaries(st.sampled_from(["a", "b"]), words, max_size=2),
    },
)


def plain(value: Any) -> str:
    """Return the content between a parameter's tags. A string is unchanged, and any other value is JSON."""
    return value if isinstance(value, str) else written(value)


def tagged(before: str, after: str, parameter: str) -> Callable[[Arguments], str]:
    """Return a function that writes calls in a dialect with tags. `parameter` is a template with `{key}` and
    `{value}`.
    """

    def write(sent: Arguments) -> str:
        parts = (parameter.replace("{key}", key).replace("{value}", plain(sent[key])) for key in sent)
        return before + "".join(parts) + after

    return write


def around(before: str, after: str) -> Callable[[Arguments], str]:
    """Return a function that writes calls in a dialect that puts JSON arguments between two fixed strings."""
    return lambda sent: before + written(sent) + after


def dsml(sent: Arguments) -> str:
    parts = "".join(
        f'<｜DSML｜parameter name="{key}" string="{"true" if isinstance(value, str) else "false"}">'
        f"{plain(value)}</｜DSML｜parameter>\n"
        for key, value in sent.items()
    )
    head, tail = '<｜DSML｜function_calls>\n<｜DSML｜invoke name="save_note">\n', "</｜DSML｜invoke>\n"
    return f"{head}{parts}{tail}</｜DSML｜function_calls>"


def python(sent: Arguments) -> str:
    return f"save_note({', '.join(f'{key}={value!r}' for key, value in sent.items())})"


def gemma(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}:{gemma(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(gemma, value)) + "]"
    return f'<|"|>{value}<|"|>' if isinstance(value, str) else written(value)


OBJECT = '{"name": "save_note", "arguments": ', "}"
WRITERS: dict[str, Callable[[Arguments], str]] = {
    "hermes": around("<tool_call>\n" + OBJECT[0], OBJECT[1] + "\n</tool_call>"),
    "granite": around("<|tool_call|>[" + OBJECT[0], OBJECT[1] + "]"),
    "tool_calls_tag": around("<tool_calls>[" + OBJECT[0], OBJECT[1] + "]</tool_calls>"),
    "nemotron": around("<TOOLCALL>[" + OBJECT[0], OBJECT[1] + "]</TOOLCALL>"),
    "command": around(
        '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "save_note", "parameters": ', "}]<|END_ACTION|>"
    ),
    "internlm": around('<|action_start|><|plugin|>{"name": "save_note", "parameters": ', "}<|action_end|>"),
    "phi4_mini": around("functools[" + OBJECT[0], OBJECT[1] + "]"),
    "apertus": around('<|tools_prefix|>[{"save_note": ', "}]<|tools_suffix|>"),
    "longcat": around("<longcat_tool_call>\n" + OBJECT[0], OBJECT[1] + "\n</longcat_tool_call>"),
    "gigachat": around("function call" + OBJECT[0], OBJECT[1]),
    "llama3_json": around('<|python_tag|>{"name": "save_note", "parameters": ', "}<|eom_id|>"),
    "mistral": around("[TOOL_CALLS]save_note[ARGS]", ""),
    "deepseek_v3": around(
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>save_note\n```json\n",
        "\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    ),
    "deepseek_v31": around(
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>save_note<｜tool▁sep｜>",
        "<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    ),
    "kimi_k2": around(
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.save_note:0<|tool_call_argument_begin|>",
        "<|tool_call_end|><|tool_calls_section_end|>",
    ),
    "tool_call_name": around("<tool_call>\nsave_note\n", "\n</tool_call>"),
    "functionary": around(">>>save_note\n", ""),
    "harmony": around(
        "<|channel|>analysis<|message|>I save it.<|end|><|start|>assistant<|channel|>commentary "
        "to=functions.save_note <|constrain|>json<|message|>",
        "<|call|>",
    ),
    "anthropic_invoke": tagged(
        '<invoke name="save_note">\n', "</invoke>", '<parameter name="{key}">{value}</parameter>\n'
    ),
    "anthropic_legacy": tagged(
        "<invoke>\n<tool_name>save_note</tool_name>\n<parameters>\n",
        "</parameters>\n</invoke>",
        "<{key}>{value}</{key}>\n",
    ),
    "qwen3_coder": tagged(
        "<tool_call>\n<function=save_note>\n",
        "</function>\n</tool_call>",
        "<parameter={key}>\n{value}\n</parameter>\n",
    ),
    "glm": tagged(
        "<tool_call>save_note\n",
        "</tool_call>",
        "<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>\n",
    ),
    "kimi_k3": tagged(
        '<|open|>tools<|sep|><|open|>call tool="save_note" index="1"<|sep|>',
        "<|close|>call<|sep|><|close|>tools<|sep|>",
        '<|open|>argument key="{key}"<|sep|>{value}<|close|>argument<|sep|>',
    ),
    "deepseek_v32": dsml,
    "gemma": lambda sent: f"<|tool_call>call:save_note{gemma(sent)}<tool_call|>",
    "pythonic": lambda sent: f"[{python(sent)}]",
    "llama4_pythonic": lambda sent: f"<|python_start|>[{python(sent)}]<|python_end|>",
    "olmo3": lambda sent: f"<function_calls>\n{python(sent)}\n</function_calls>",
    "gemma_tool_code": lambda sent: f"```tool_code\nprint(default_api.{python(sent)})\n```",
    "react": around("Thought: I save it.\nAction: save_note\nAction Input: ", ""),
    "fenced_json": around("```json\n" + OBJECT[0], OBJECT[1] + "\n```"),
    "bare_json": around(OBJECT[0], OBJECT[1]),
}
GUESSED = ("xml_entities_decoded", "layout_newlines_removed")


def only(calls: tuple[TextCall, ...]) -> TextCall:
    assert [call.name for call in calls] == ["save_note"]
    return calls[0]


def test_every_dialect_has_a_writer_here() -> None:
    assert set(WRITERS) == set(DIALECTS)


@pytest.mark.thorough(quick=8)
@pytest.mark.parametrize("dialect", DIALECTS)
@QUICK
@given(sent=arguments)
def test_a_call_comes_back_as_it_was_written(dialect: str, sent: dict[str, Any]) -> None:
    text = WRITERS[dialect](sent)
    for dialect_given in (dialect, None):
        call = only(extract_tool_calls(text, CATALOG, dialect=dialect_given))
        codes = {diagnostic.code for diagnostic in call.request.diagnostics}
        if codes & set(GUESSED):
            return  # the dialect of this text is ambiguous, and the parser reported its guess
        assert call.dialect == dialect
        assert call.complete
        assert call.request.arguments == sent, call.request.raw_arguments
        assert call.request.outcome is Outcome.CLEAN
        check_request(call.request, call.request.raw_arguments, built=True)


@pytest.mark.thorough(quick=8)
@pytest.mark.parametrize("dialect", DIALECTS)
@QUICK
@given(sent=arguments, part=st.floats(0, 1))
def test_a_call_that_is_cut_off_invents_nothing(dialect: str, sent: dict[str, Any], part: float) -> None:
    text = WRITERS[dialect](sent)
    text = text[: int(len(text) * part)]
    for call in extract_tool_calls(text, CATALOG, dialect=dialect):
        assert 0 <= call.start <= call.end <= len(text)
        check_request(call.request, call.request.raw_arguments, built=True)
        offset, raw = call.offset, str(call.request.raw_arguments)
        assert offset is None or text.startswith(raw, offset)


@QUICK
@given(text=words, catalog=st.sampled_from([None, CATALOG]))
def test_code_and_prose_hold_no_call(text: str, catalog: ToolCatalog | None) -> None:
    assert extract_tool_calls(text, catalog) == ()
    assert leaked_tool_calls(text, catalog) == ()


def test_a_dialect_that_does_not_exist_is_an_error_of_the_caller() -> None:
    with pytest.raises(ValueError, match="'klingon' is not a dialect"):
        extract_tool_calls("", dialect="klingon")


def test_the_offset_leads_from_a_span_to_the_text() -> None:
    text = 'So:\n<tool_call>\n{"name": "save_note", "arguments": {"count": "5"}}\n</tool_call>'
    call = only(extract_tool_calls(text, CATALOG))
    [diagnostic] = call.request.diagnostics
    assert call.offset is not None
    assert diagnostic.start is not None
    assert diagnostic.end is not None
    assert text[call.offset + diagnostic.start : call.offset + diagnostic.end] == '"5"'


@pytest.mark.parametrize(
    ("name", "clean"),
    [
        ("bash", ("bash", False)),
        ("functions.bash", ("functions.bash", False)),
        ("functions.bash<|channel|>commentary", ("bash", True)),
        ("bash<|channel|>json", ("bash", True)),
        ("bash<|constrain|>json", ("bash", True)),
        ("functions.bash:0", ("bash", True)),
        ("to=functions.bash<|channel|>analysis", ("bash", True)),
        ("search</tool_call>", ("search", True)),
        ("search[ARGS]", ("search", True)),
        ("mcp__github__list:issues", ("mcp__github__list:issues", False)),
        ("<|constrain|>json", ("<|constrain|>json", True)),
        ("", ("", False)),
    ],
)
def test_what_leaked_into_a_name_is_taken_off(name: str, clean: tuple[str, bool]) -> None:
    assert clean_tool_name(name) == clean


# --- the work grows with the text ----------------------------------------------------------------------

UNITS = (
    "<tool_call>", "<tool_call>{", '<tool_call>{"name":"ls","arguments":{"a":"x', '<tool_call>[{"',
    '<invoke name="ls">', '<invoke name="', '<invoke name="ls"><parameter name="a">', "</parameter>",
    "<invoke name='ls'><parameter name='a'>x</parameter>y", "<function=ls><parameter=a>", "<function=",
    "<invoke><tool_name>ls</tool_name><a>", "[TOOL_CALLS]", "[TOOL_CALLS]ls", '[TOOL_CALLS]ls[ARGS]{"',
    "Action: ", "Action: ls\n", 'Action: ls\nAction Input: {"a": "', '<｜DSML｜invoke name="ls">',
    "<｜tool▁call▁begin｜>", "<｜tool▁call▁begin｜>function<｜tool▁sep｜>ls\n```json\n{",
    "<|tool_call_begin|>functions.ls:0<|tool_call_argument_begin|>{",
    "<tool_call>ls\n<arg_key>a</arg_key><arg_value>",
    "<|channel|>commentary to=functions.ls<|message|>{", "commentary to=functions.", "<|channel|>", "<think>",
    "x <think>", "</think>", "x [THINK]", "```json\n", '```\n{"name": "ls", ',
    '{"name": "ls", "arguments": {}} ',
    '{"a":', '{"', '{"content": "', "[ls(", '[ls(a="', "[ls(a='x', ", 'ls(a="', "print(ls(", "[ls(a=[1,",
    "<start_function_call>call:ls{", '<|tool_call>call:ls{a:<|"|>', '<|python_tag|>ls(a="', "functools[{",
    '<function_calls>ls(a="x"', '<|tools_prefix|>[{"ls":', '<|open|>call tool="ls"<|sep|>', ">>>ls\n{",
    'function call{"name', "`<tool_call>`", "<tool_call>{}", " ", "\n", '"', "\\", "> > > ",
)  # fmt: skip


@contextmanager
def counted() -> Iterator[list[int]]:
    """Count the Python and C functions that are called in the `with` block."""
    count = [0]

    def step(_frame: FrameType, event: str, _argument: Any) -> None:
        count[0] += event in ("call", "c_call")

    sys.setprofile(step)
    try:
        yield count
    finally:
        sys.setprofile(None)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("unit", UNITS)
def test_twice_the_text_takes_no_more_than_about_twice_the_steps(unit: str) -> None:
    steps = []
    for size in (10_000, 20_000):
        # the number of units is even, so that each quote is closed
        text = unit * (size // len(unit) // 2 * 2)
        with counted() as count:
            assert isinstance(extract_tool_calls(text, CATALOG), tuple)
        steps.append(count[0])
    assert steps[1] <= 2.5 * steps[0] + 5_000
    assert steps[1] <= 100 * 20_000


def test_no_pattern_repeats_what_it_may_give_back() -> None:
    """A repetition in a regular expression must be possessive, or end at a fixed character. Otherwise, it
    could cause backtracking.
    """
    import lenient.calls

    for name, module in sys.modules.items():
        if name.startswith(lenient.calls.__name__ + "."):
            for pattern in vars(module).values():
                if isinstance(pattern, re.Pattern):
                    assert not re.search(r"\)[*+](?![+?])|\.[*+](?![+?])", pattern.pattern), (name, pattern)
