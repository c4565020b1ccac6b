"""Tests that the fast paths of the parser give exactly the same result as the full parser."""

from __future__ import annotations

import json
import math
import random
from difflib import get_close_matches
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lenient import ToolDefinition, parse_arguments
from lenient.arguments.request import ToolCallRequest
from lenient.coerce.validator import Validator, suggest_name
from lenient.definitions.json_schema.nodes import Node
from lenient.diagnostics import MAX_FINDINGS
from lenient.scan.valid_json import LONG, NO_JSON, decode_around_string
from lenient.unwrap.fast_path import read_one_defect, read_plain_text
from tests.parser.strategies import definitions, examples, objects, spelled
from tests.parser.test_typed_decoder import plain_calls

QUICK = examples(150)
TOOL = ToolDefinition.from_json_schema(
    name="tool",
    schema={
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "content": {"type": "string"},
            "limit": {"type": "integer"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "filters": {"type": "object", "properties": {"year": {"type": "integer"}}},
        },
        "required": ["path"],
    },
)
ANY = ToolDefinition.from_json_schema(
    name="tool", schema={"type": "object", "properties": {"path": {"type": "string"}}}
)
NONE = ToolDefinition.from_json_schema(name="tool", schema={"type": "object", "properties": {}})
texts = st.text(st.sampled_from(list("abz {}[]\":,'\\\n\té中\U0001f600")), max_size=12)
values = st.fixed_dictionaries(
    {"path": texts},
    optional={
        "content": texts,
        "limit": st.integers(-9, 10**15),
        "tags": st.lists(texts, max_size=3),
        "filters": st.fixed_dictionaries({}, optional={"year": st.integers(0, 3000)}),
    },
)
LONG_TEXT = 'def read(path):\n    return {"a": [1, 2]}\n' * 300


def both(raw: str, tool: ToolDefinition | None) -> tuple[ToolCallRequest, ToolCallRequest]:
    with patch("lenient.arguments.parse._repair_plainly", return_value=None):
        long_way = parse_arguments(raw, tool)
    return parse_arguments(raw, tool), long_way


def broken(text: str) -> list[str]:
    """Return variants of a JSON string, each with one simple defect."""
    return [
        f"```json\n{text}\n```",
        f"\n```\n{text}```  ",
        f"Sure, here it is: {text}",
        f"Here you are:\n\n{text}\n\nLet me know.",
        text.replace("\\n", "\n"),
        text.replace("\\t", "\t").replace("\\n", "\n"),
        text[:-1],
        text.rstrip("}]"),
        text[:-2],
        json.dumps(text),
        json.dumps(text, ensure_ascii=False),
    ]


@QUICK
@given(value=values, indent=st.sampled_from([None, 2]), tool=st.sampled_from([TOOL, None]))
def test_the_quick_ways_find_what_the_long_way_finds(
    value: dict[str, Any], indent: int | None, tool: ToolDefinition | None
) -> None:
    for raw in broken(json.dumps(value, indent=indent, ensure_ascii=False)):
        quick, long_way = both(raw, tool)
        assert quick == long_way


@pytest.mark.parametrize(
    "before", ["", "Sure, here it is: ", "stringbeforeobject ", "Here you are:\n\n", "```json\n"]
)
@pytest.mark.parametrize("after", ["", " and so on", "\n\nLet me know.", "\n```"])
@pytest.mark.parametrize("value", ["{}", "{ }", '{"path": "a"}', '{"other": "a"}', '"{}"', '{"limit": 1,}'])
@pytest.mark.parametrize(
    "tool", [None, TOOL, ANY, NONE], ids=["no definition", "required", "optional", "empty"]
)
def test_an_object_within_prose_is_read_alike(
    before: str, after: str, value: str, tool: ToolDefinition | None
) -> None:
    quick, long_way = both(before + value + after, tool)
    assert quick == long_way


class Writer:
    """Writes a value as models do, with varied commas, quotes, literals and keys."""

    def __init__(self, chosen: random.Random, habits: int) -> None:
        self.chosen = chosen
        self.habits = habits

    def has(self, habit: int) -> bool:
        """Return True if this JSON has the variation and a random choice applies it at this position."""
        return bool(self.habits >> habit & 1) and self.chosen.random() < 0.6

    def write(self, value: Any) -> str:
        if isinstance(value, dict):
            return self.enclose("{", [f"{self.write_key(n)}: {self.write(v)}" for n, v in value.items()], "}")
        if isinstance(value, list):
            return self.enclose("[", list(map(self.write, value)), "]")
        if isinstance(value, str):
            return self.write_text(value)
        return str(value) if self.has(0) else json.dumps(value)

    def enclose(self, opener: str, parts: list[str], closer: str) -> str:
        gap = self.chosen.choice(["", " ", "\n  "])
        text = opener + gap + parts[0] if parts else opener
        for part in parts[1:]:
            text += ("" if self.has(1) else ",") + self.chosen.choice([" ", "\n  ", "", gap]) + part
        return text + ("," if parts and self.has(2) else "") + gap + closer

    def write_key(self, name: str) -> str:
        return name if self.has(3) else self.quote(json.dumps(name, ensure_ascii=False))

    def write_text(self, text: str) -> str:
        written = json.dumps(text, ensure_ascii=self.has(4))
        if self.has(5):
            written = written.replace("\\n", "\n").replace("\\t", "\t").replace("\\r", "\r")
        return self.quote(written)

    def quote(self, written: str) -> str:
        if not self.has(6):
            return written.replace("'", "\\'") if self.has(7) else written
        inner = written[1:-1].replace("'", "\\'")
        return "'" + (inner.replace('\\"', '"') if self.has(8) else inner) + "'"


scalars = st.none() | st.booleans() | st.integers(-9, 10**20) | st.floats(-1e20, 1e20) | texts
nested = st.recursive(
    scalars
    | st.sampled_from(["C:\\temp\\new", "\\\\host\\b", '{"a": 1}', "a\tb\nc", '", "b": ["', "'x'", "None"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "year", "the key", "it's", ""]), inner, max_size=3)
    ),
    max_leaves=8,
)


@QUICK
@given(
    value=values | st.dictionaries(st.sampled_from(["path", "content", "x"]), nested, max_size=3),
    habits=st.integers(0, 511),
    seed=st.integers(0, 999),
    edit=st.none()
    | st.tuples(st.integers(0, 200), st.integers(0, 2), st.sampled_from(["", ",", '"', "\n", "}"])),
    tool=st.sampled_from([TOOL, None]),
)
def test_plain_texts_are_read_as_the_long_way_reads_them(
    value: dict[str, Any],
    habits: int,
    seed: int,
    edit: tuple[int, int, str] | None,
    tool: ToolDefinition | None,
) -> None:
    raw = Writer(random.Random(seed), habits).write(value)
    if edit is not None:
        at = edit[0] % (len(raw) + 1)
        raw = raw[:at] + edit[2] + raw[at + edit[1] :]
    quick, long_way = both(raw, tool)
    assert quick == long_way


def test_texts_of_plain_parts_are_read_at_once() -> None:
    value = {"path": 'it\'s\n"a"', "n": [{"x": None, "y": ["a", "b"]}, {"x": [True]}], "o": 2.5}
    for habit in range(9):
        read = [read_plain_text(Writer(random.Random(seed), 1 << habit).write(value)) for seed in range(20)]
        assert sum(plain is not None for plain in read) >= 3, habit
        assert all(plain is None or plain[0] == value for plain in read)


def test_each_plain_defect_is_read_the_quick_way() -> None:
    text = json.dumps({"path": "a b.txt", "limit": 3, "content": "one\ntwo"})
    quick = [read_one_defect(raw, _decoded(raw), _read_any) for raw in broken(text)]
    # only one text has no fast path: the text that is cut within a string
    assert [exact is not None for exact in quick].count(False) == 1
    assert all(exact is None or exact.diagnostics for exact in quick)


def _read_any(text: str) -> dict[str, Any] | None:
    value = _decoded(text)
    return value if isinstance(value, dict) else None


def _stay(_: object, position: int, *__: object) -> int:
    """Return the position unchanged, so that the fast path reads no member here."""
    return position


def _decoded(raw: str) -> Any:
    try:
        return json.loads(raw)
    except ValueError:
        return NO_JSON


@QUICK
@given(value=values, name=st.sampled_from(["content", "path"]), ends=st.text(max_size=3))
def test_a_long_string_is_decoded_apart_only_when_the_whole_is_json(
    value: dict[str, Any], name: str, ends: str
) -> None:
    text = json.dumps(value | {name: LONG_TEXT})
    assert len(text) >= LONG
    for raw in (text + ends, text[:-1] + ends, text.replace("\\n", "\n", 1), text.replace('\\"', '"', 1)):
        apart = decode_around_string(raw)
        assert apart is None or apart[0] == json.loads(raw)


def test_a_key_sent_twice_beside_a_long_string_is_seen() -> None:
    long = json.dumps(LONG_TEXT)
    for raw in (
        f'{{"path": "a", "content": {long}, "path": "b"}}',
        f'{{"path": "a", "path": "b", "content": {long}}}',
        f'{{"path": "a", "content": {long}, "content": {long}}}',
    ):
        codes = [diagnostic.code for diagnostic in parse_arguments(raw, TOOL).diagnostics]
        assert codes == ["repeated_member" if raw.count(long) == 2 else "duplicate_key"]


def test_many_quotes_hide_no_undeclared_parameter() -> None:
    raw = json.dumps({"path": "a", "tags": [""] * 40_000, "colour": "red"})
    codes = [diagnostic.code for diagnostic in parse_arguments(raw, TOOL).diagnostics]
    assert codes == ["unknown_parameter"]


@QUICK
@given(
    value=values,
    cuts=st.lists(
        st.tuples(
            st.integers(0, 200),
            st.integers(0, 2),
            st.text(st.sampled_from(list("{}[],:\"' \\\nax1")), max_size=2),
        ),
        max_size=3,
    ),
    single=st.booleans(),
    tool=st.sampled_from([TOOL, None]),
)
def test_plain_parts_are_read_as_the_scanner_reads_them(
    value: dict[str, Any], cuts: list[tuple[int, int, str]], single: bool, tool: ToolDefinition | None
) -> None:
    raw = repr(value) if single else json.dumps(value, ensure_ascii=False)
    for at, length, put in cuts:
        raw = raw[: at % (len(raw) + 1)] + put + raw[at % (len(raw) + 1) + length :]
    where = "lenient.scan.simple_members.SimpleReader"
    with patch(f"{where}.read_members", _stay), patch(f"{where}.read_items", _stay):
        slow = parse_arguments(raw, tool)
    assert parse_arguments(raw, tool) == slow


pieces = st.sampled_from(
    [
        '"', '"', '"a"', '"path"', '"content": ', '"limit" ', "limit: 3", "year", ", ", ",",
        ";", ": ", " ", "\n", "}", "]", ")",
        "})", "{", "[", "(", "/* x */", "// x\n", "# x\n", "--", "-- ", "+", "=", "...", "…", "\\",
        '\\"', "\\\\",
        "'", "a", "B.c(",
        "$x", ":y", "，", "”", "“", "｝", "0", "x=", "\u200b",
        "```", ". ", "| ", "& ", "[limit]: ", "**limit**: ", '__"limit"__: ', 'r"limit": ', "b -> ",
        "],", ")",
    ]
)  # fmt: skip


@pytest.mark.thorough
@examples(500)
@given(
    before=st.lists(pieces, max_size=6),
    inner=st.lists(pieces, max_size=25),
    after=st.sampled_from(['"}', '", "limit": 3}', '"]}', "", '", "tags": ["x"]}', '"}}']),
    tool=st.sampled_from([TOOL, None]),
)
def test_quotes_within_a_text_are_passed_as_if_each_was_looked_at(
    before: list[str], inner: list[str], after: str, tool: ToolDefinition | None
) -> None:
    raw = '{"path": "' + "".join(before) + ' "b" ' + "".join(inner) + after
    with patch("lenient.scan.strings.string_end._pass_inner_quotes", lambda *_: -1):
        slow = parse_arguments(raw, tool)
    assert parse_arguments(raw, tool) == slow


def test_plain_defects_need_no_scanner_where_values_are_converted() -> None:
    raw = "{'path': 7, limit: '12', 'tags': 'new', 'filters': {'year': 1999.0,},}"
    quick, long_way = both(raw, TOOL)
    assert quick == long_way
    assert quick.arguments == {"path": "7", "limit": 12, "tags": ["new"], "filters": {"year": 1999}}
    with patch("lenient.arguments.parse._TolerantReader", side_effect=AssertionError):
        assert parse_arguments(raw, TOOL) == long_way


def test_comments_after_commas_need_no_scanner() -> None:
    raw = "{ // first\n 'path': 'a // b', /* second */ \"tags\": ['x', # third\n 'y'], // fourth\n limit: 5}"
    quick, long_way = both(raw, TOOL)
    assert quick == long_way
    assert [diagnostic.code for diagnostic in quick.diagnostics].count("comment_removed") == 4
    with patch("lenient.arguments.parse._TolerantReader", side_effect=AssertionError):
        assert parse_arguments(raw, TOOL) == long_way


def test_a_number_at_the_end_of_the_text_may_be_cut() -> None:
    for raw in ('{"path": "x", "limit": 12', '{"path": "x", "filters": {"year": 1999', '{"a": [{"b": -1.5e3'):
        for tool in (TOOL, None):
            quick, long_way = both(raw, tool)
            assert quick == long_way
            assert "truncated_number" in [diagnostic.code for diagnostic in quick.diagnostics]


def test_more_findings_than_are_kept_are_refused_the_quick_way_too() -> None:
    many = MAX_FINDINGS + 1
    tags = json.dumps(["a\nb"] * many).replace("\\n", "\n")
    for raw in (f'{{"path": "a", "tags": {tags}}}', str({"path": "a", "tags": ["b"] * many})):
        quick, long_way = both(raw, TOOL)
        assert quick == long_way
        assert quick.parse_error == "too_many_findings"


def test_quotes_that_are_passed_at_once_take_no_more_than_was_left() -> None:
    raw = '{"path": "a"' + '"b' * 40_000 + '"}'
    with patch("lenient.scan.strings.string_end._pass_inner_quotes", lambda *_: -1):
        slow = parse_arguments(raw, TOOL)
    assert parse_arguments(raw, TOOL) == slow


# --- valid JSON with values that do not fit ---------------------------------------------------------------


def converted_both_ways(raw: str, tool: ToolDefinition) -> tuple[ToolCallRequest, ToolCallRequest]:
    """Return the result of the fast path, and the result of the full parser."""
    with (
        patch("lenient.arguments.parse.convert_misfits", return_value=None),
        patch("lenient.coerce.validator._MAX_CHECKED_DEPTH", 0),
    ):
        long_way = parse_arguments(raw, tool)
    return parse_arguments(raw, tool), long_way


def agree_on_conversions(raw: str, tool: ToolDefinition) -> None:
    quick, long_way = converted_both_ways(raw, tool)
    assert repr(quick) == repr(long_way)  # this also compares the order of members and the types of numbers
    assert (quick.parse_error, quick.parse_warning) == (long_way.parse_error, long_way.parse_warning)
    assert quick.steps == long_way.steps


misfits: st.SearchStrategy[Any] = st.sampled_from(
    [
        None, True, "true", "False", "null", 0, 1, 3.0, -2.5, 1e300, 10**30, 12345678901234567890, "42",
        " 7.0 ", "", "x", "READ", "2026-12-01T09:00:00Z", "2026-12-01", 1764579600, "https://a/b", "a, b",
        [], ["a", 1], [[]], {}, {"a": "1"}, {"a": {"b": "2"}, "c d": [None]}, '{"a": 1}', "[1, '2']",
        '["x", {"a": "1"}]', "C:\\temp\\new", "tab: \t", 'say "path": no', "\\u0022", "é中😀",
    ]
)  # fmt: skip


@st.composite
def misfitting(draw: st.DrawFn, arguments: Any) -> Any:
    """Draw arguments in which some values are changed, and some names are changed, missing or added."""
    if isinstance(arguments, list):
        return [draw(misfitting(item)) if draw(st.booleans()) else item for item in arguments]
    if not isinstance(arguments, dict):
        return draw(misfits)
    changed: dict[str, Any] = {}
    for name, value in arguments.items():
        change = draw(st.integers(0, 9))
        if change in (0, 1):
            changed[name] = draw(misfitting(value))
        elif change == 2:
            changed[draw(st.sampled_from([name.upper(), name + "s", "filePath", "Tags", "\u200bmode"]))] = (
                value
            )
        elif change > 3:
            changed[name] = value
    if draw(st.booleans()):
        changed[draw(st.sampled_from(["limit", "tag", "extra", 'a"b', "path", "arguments"]))] = draw(misfits)
    return changed


@examples(400)
@given(call=plain_calls(), data=st.data())
def test_values_that_do_not_fit_are_converted_as_the_long_way_converts_them(
    call: tuple[ToolDefinition, Any], data: st.DataObject
) -> None:
    agree_on_conversions(data.draw(spelled(data.draw(misfitting(call[1])))), call[0])


@pytest.mark.thorough
@examples(400)
@given(arguments=objects, tool=definitions, data=st.data())
def test_any_valid_json_is_converted_as_the_long_way_converts_it(
    arguments: dict[str, Any], tool: ToolDefinition, data: st.DataObject
) -> None:
    agree_on_conversions(data.draw(spelled(data.draw(misfitting(arguments)))), tool)


DEEP = '{"a": ' * 130 + '"1"' + "}" * 130


@pytest.mark.parametrize(
    "raw",
    [
        '{"path": "a", "limit": "1", "limit": "2"}',
        '{"limit": "1", "path": "a", "li\\u006dit": "2"}',
        '{"li\\u006dit": "1", "path": "limit"}',
        '{"path": "limit", "filters": {"limit": 1}, "limit": "2"}',
        '{"path": "\\u0022limit\\u0022: 1", "limit": "2"}',
        '{"path": "a\\"", "\\u0022limit": 1, "limit": "2"}',
        r'{"path": "C:\temp\new", "limit": "2"}',
        r'{"path": "C:\\temp\\new", "limit": "2"}',
        '{"path": "a:\\n", "limit": "2"}',
        '{"path": "a", "limit": 12345678901234567890123.0}',
        '{"path": "a", "limit": 1e19}',
        '{"path": "a", "score": 0.1234567890123456789012345, "limit": "2"}',
        '{"path": "a", "x": 1e400}',
        f'{{"path": "a", "deep": {DEEP}, "limit": "2"}}',
        f'{{"path": "a", "limit": "2", "deep": {DEEP}}}',
        f'{{"limit": "2", "deep": {DEEP[6:-1]}}}',
        f'{{"filters": {DEEP}, "path": 2}}',
        '{"path": "a", "filters": "{\\"year\\": \\"1999\\"}", "tags": "[\\"a\\", 1]"}',
        '{"PATH": "a", "path": 1}',
        ' {"Limit" : "2" ,\n"tags" : [ "a" , 1 ] , "path":null}\t',
        "{}",
        '{"limit": "x"}',
        '{"name": "tool", "arguments": {"path": 1, "limit": "3"}}',
        '{"name": "tool", "arguments": "{\\"path\\": \\"a\\"}"}',
        f'{{"path": "{"x" * 5_000}", "limit": "2"}}',
        f'{{"limit": "2", "content": {json.dumps(LONG_TEXT)}}}',
    ],
    ids=lambda raw: ascii(raw[:40]),
)
def test_edges_of_valid_json_are_converted_as_the_long_way_converts_them(raw: str) -> None:
    agree_on_conversions(raw, TOOL)
    assert parse_arguments(raw.encode(), TOOL)[3:6] == parse_arguments(raw, TOOL)[3:6]


@examples(300)
@given(
    digits=st.integers(0, 10**17).map(str),
    point=st.integers(0, 17),
    exponent=st.sampled_from(["", "e0", "e2", "E-2", "e15", "e-400"]),
    sign=st.sampled_from(["", "-"]),
)
def test_a_number_for_an_integer_is_what_its_digits_say(
    digits: str, point: int, exponent: str, sign: str
) -> None:
    written = f"{sign}{digits[:-point] or '0'}.{digits[-point:]}{exponent}" if point else f"{digits}.0"
    exact = Fraction(written)
    arguments = parse_arguments(f'{{"path": "a", "limit": {written}}}', TOOL).arguments
    assert arguments == {"path": "a", "limit": math.trunc(exact)}


@examples(300)
@given(name=texts.filter(bool), declared=st.sets(texts, min_size=1, max_size=5))
def test_the_most_similar_name_is_found_among_all_names(name: str, declared: set[str]) -> None:
    node = Node(fields={other: Node() for other in sorted(declared)})
    near = get_close_matches(name, sorted(declared), 1, 0.75)
    assert suggest_name(node, name) == (near[0] if near else None)


def test_only_values_that_do_not_fit_are_examined() -> None:
    raw = json.dumps({"path": "a", "content": "b", "limit": 3, "tags": [1], "filters": {"year": 1999}})
    examine = Validator.convert_field
    with patch.object(Validator, "convert_field", autospec=True, side_effect=examine) as examined:
        assert parse_arguments(raw, TOOL).outcome.value == "coerced"
        assert examined.call_count == 1
        assert parse_arguments(raw.replace("3", '"3"').replace("[1]", '"x"'), TOOL).outcome.value == "coerced"
    assert examined.call_count == 1
