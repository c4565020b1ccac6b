"""Compares the parser with a JSON Schema validator."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lenient import ToolDefinition, parse_arguments
from lenient.diagnostics.codes import Severity
from tests.fuzz.conformance import misfit
from tests.fuzz.promises import check_fit, read
from tests.parser.strategies import (
    any_text,
    broken,
    examples,
    names,
    objects,
    scalars,
    sound_definitions,
    written,
)


@pytest.mark.thorough
@examples(400)
@given(arguments=objects, tool=sound_definitions)
def test_the_result_fits_the_definition_or_there_is_an_error(
    arguments: dict[str, Any], tool: ToolDefinition
) -> None:
    check_fit(parse_arguments(written(arguments), tool), tool)


@pytest.mark.thorough
@examples(300)
@given(raw=any_text | broken, tool=sound_definitions)
def test_what_was_mended_fits_the_definition_or_there_is_an_error(raw: str, tool: ToolDefinition) -> None:
    check_fit(parse_arguments(raw, tool), tool)


_NEAR_MISSES = scalars | st.sampled_from(
    [
        "42",
        "-1",
        "4.5",
        "true",
        "False",
        "null",
        "[1, 2]",
        '{"a": 1}',
        "2024-01-02T03:04:05",
        "read",
        "READ ",
        "x:y",
    ]
)


@pytest.mark.thorough
@examples(400)
@given(
    arguments=st.dictionaries(
        names,
        _NEAR_MISSES
        | st.lists(_NEAR_MISSES, max_size=3)
        | st.dictionaries(names, _NEAR_MISSES | st.lists(_NEAR_MISSES, max_size=2), max_size=3),
        max_size=5,
    ),
    tool=sound_definitions,
)
def test_what_was_converted_fits_the_definition_or_there_is_an_error(
    arguments: dict[str, Any], tool: ToolDefinition
) -> None:
    read(written(arguments), tool)


@examples(200)
@given(arguments=objects, tool=sound_definitions)
def test_what_fits_by_the_other_judge_is_refused_by_nobody(
    arguments: dict[str, Any], tool: ToolDefinition
) -> None:
    if misfit(tool.to_json_schema(), arguments) is None:
        diagnostics = parse_arguments(written(arguments), tool).diagnostics
        renamed = any(finding.code == "parameter_name_normalised" for finding in diagnostics)
        assert renamed or not [finding for finding in diagnostics if finding.severity is Severity.ERROR]


def test_the_other_judge_finds_a_misfit() -> None:
    tool = ToolDefinition.from_json_schema(
        name="tool", schema={"type": "object", "properties": {"a": {"type": "integer"}}}
    )
    request = parse_arguments('{"a": 1}', tool)
    request = request._replace(arguments={"a": "one"})
    with pytest.raises(AssertionError, match="fits the definition"):
        check_fit(request, tool)
