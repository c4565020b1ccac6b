"""Tests properties of the search for tool calls in any reply."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from lenient import ToolCatalog, extract_tool_calls
from tests.fuzz.definitions import CATALOG, NAMES
from tests.fuzz.promises import check_alike, read_calls, same
from tests.fuzz.texts import CALL_TOKENS, TOKENS
from tests.parser.strategies import broken, corrupted, examples, objects, written

catalogs = st.sampled_from([None, CATALOG])
tool_names = st.sampled_from([tool.name for tool in CATALOG] + ["unknown", NAMES[0]])
call_tokens = st.sampled_from(CALL_TOKENS) | st.sampled_from(TOKENS) | broken
one_call = st.builds(
    lambda shape, name, value: shape.replace("NAME", name).replace("{}", written(value)),
    st.sampled_from(
        [
            '<tool_call>\n{"name": "NAME", "arguments": {}}\n</tool_call>',
            '```json\n{"tool": "NAME", "input": {}}\n```',
            '{"name": "NAME", "parameters": {}}',
            '<invoke name="NAME"><parameter name="data">{}</parameter></invoke>',
            '[TOOL_CALLS][{"name": "NAME", "arguments": {}}]',
            '<|python_tag|>{"name": "NAME", "parameters": {}}<|eom_id|>',
            "Thought: now\nAction: NAME\nAction Input: {}\nObservation:",
            "<function=NAME>\n<parameter=data>\n{}\n</parameter>\n</function>",
        ]
    ),
    tool_names,
    objects,
)
call_texts = st.lists(one_call | st.sampled_from(["Now this: ", "\n", "{x}"]), max_size=4).map("".join)


@examples(150)
@given(text=st.text(max_size=60) | st.lists(call_tokens, max_size=12).map("".join), catalog=catalogs)
def test_calls_in_any_text_are_apart_in_order_and_keep_their_promises(
    text: str, catalog: ToolCatalog | None
) -> None:
    read_calls(text, catalog)


@examples(150)
@given(text=call_texts | corrupted(call_texts), catalog=catalogs)
def test_calls_in_a_corrupted_text_are_apart_in_order_and_keep_their_promises(
    text: str, catalog: ToolCatalog | None
) -> None:
    read_calls(text, catalog)


@examples(60)
@given(text=call_texts, other=call_texts, catalog=catalogs)
def test_the_same_text_gives_the_same_calls(text: str, other: str, catalog: ToolCatalog | None) -> None:
    first = extract_tool_calls(text, catalog)
    extract_tool_calls(other, catalog)
    second = extract_tool_calls(text, catalog)
    assert [(call.name, call.start, call.end) for call in first] == [
        (call.name, call.start, call.end) for call in second
    ]
    for earlier, again in zip(first, second, strict=True):
        check_alike(earlier.request, again.request)


@examples(100)
@given(values=st.lists(objects, min_size=1, max_size=3), name=tool_names)
def test_calls_in_hermes_tags_come_back_with_their_arguments(values: list[dict[str, Any]], name: str) -> None:
    bodies = [written({"name": name, "arguments": value}) for value in values]
    text = "Let me see.\n" + "\n".join(f"<tool_call>\n{body}\n</tool_call>" for body in bodies)
    if not any(token in body.lower() for body in bodies for token in ("tool_call>", "think")):
        calls = read_calls(text)
        assert [call.name for call in calls] == [name] * len(values)
        assert all(call.complete for call in calls)
        for call, value in zip(calls, values, strict=True):
            if not any(finding.code.startswith("string_literal") for finding in call.request.diagnostics):
                assert same(call.request.arguments, value)
