"""Tests that parsing a tool call needs few function calls."""

from __future__ import annotations

import pytest

from lenient import parse_arguments
from tests.house.call_path import LIMIT_TOOL, count_calls, list_calls


def test_valid_json_with_one_coercion_takes_few_calls_through_few_modules() -> None:
    calls, modules = count_calls('{"limit": "10"}')
    assert calls <= 40
    assert modules <= 10


def test_valid_json_that_fits_takes_one_call() -> None:
    assert count_calls('{"limit": 10}') == (1, 1)


@pytest.mark.parametrize("raw", ['{"limit": "10"}', b'{"limit": "10"}', '{"limit": 1, "other": -2.5}'])
def test_valid_json_is_not_scanned_for_repairs(raw: str | bytes) -> None:
    assert not [name for _, name in list_calls(raw) if name in ("scan", "read_value")]


@pytest.mark.parametrize(
    ("raw", "span"),
    [
        ('{"limit": "10"}', (10, 14)),
        (' {"a\\n" : [1, {"b": "]"}], "limit"\n:\t"10" }', (37, 41)),
        ('{"é😀": "\\u00e9\\"", "limit": "10"}', (28, 32)),
    ],
)
def test_spans_in_valid_json_are_those_of_the_value(raw: str, span: tuple[int, int]) -> None:
    request = parse_arguments(raw, LIMIT_TOOL)
    converted = [
        diagnostic
        for diagnostic in request.diagnostics
        if diagnostic.code == "string_literal_converted_to_integer"
    ]
    assert [(diagnostic.start, diagnostic.end) for diagnostic in converted] == [span]
    assert raw[slice(*span)] == '"10"'


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        ('{"limit": "1", "limit": "2"}', "duplicate_key"),
        ('{"limit": "1", "deep": ' + "[" * 200 + "]" * 200 + "}", "nested_too_deep"),
    ],
)
def test_what_the_locator_leaves_to_the_scanner_is_still_found(raw: str, code: str) -> None:
    assert code in [diagnostic.code for diagnostic in parse_arguments(raw, LIMIT_TOOL).diagnostics]


@pytest.mark.parametrize("limit", ["1", '"1"'])
def test_valid_json_with_a_path_is_read_as_json_whatever_stands_beside_it(limit: str) -> None:
    request = parse_arguments(f'{{"limit": {limit}, "path": "C:\\temp\\new"}}', LIMIT_TOOL)
    assert request.arguments == {"limit": 1, "path": "C:\temp\new"}


def test_a_number_that_orjson_rounds_is_read_as_sent() -> None:
    request = parse_arguments('{"limit": "1", "n": 123456789012345678901234567890}', LIMIT_TOOL)
    assert request.arguments == {"limit": 1, "n": 123456789012345678901234567890}
