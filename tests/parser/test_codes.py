"""Tests that every diagnostic code is declared, explained, shown by a working example, and used in a case."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import lenient
from lenient import CODES
from lenient.coerce.coercions import COERCIONS, JsonType, json_type
from lenient.definitions.json_schema.value_kinds import ValueKind
from lenient.diagnostics.codes import RETIRED
from lenient.examples import run_example
from tests.conftest import CASES

SOURCES = sorted(Path(lenient.__file__).parent.rglob("*.py"))
CASE_FILES = sorted((CASES / "lenient").glob("[!_]*.json"))


def codes_in(value: Any) -> set[str]:
    if isinstance(value, list):
        return set().union(*(codes_in(item) for item in value))
    if not isinstance(value, dict):
        return set()
    own = {value["code"]} if isinstance(value.get("code"), str) else set()
    return own.union(*(codes_in(value.get(key)) for key in ("diagnostics", "around", "calls")))


USED = set().union(*(codes_in(json.loads(path.read_text(encoding="utf-8"))) for path in CASE_FILES))


@pytest.mark.parametrize("code", CODES.values(), ids=CODES)
def test_the_example_of_a_code_reports_it(code: lenient.diagnostics.codes.Code) -> None:
    assert code.name in {diagnostic.code for diagnostic in run_example(code).diagnostics}


@pytest.mark.parametrize("code", CODES.values(), ids=CODES)
def test_a_code_is_explained_in_sentences(code: lenient.diagnostics.codes.Code) -> None:
    assert re.fullmatch(r"[a-z0-9_]+", code.name)
    for text in (code.summary, code.why):
        assert text[0].isupper() or text[0] in "`0123456789"
        assert text.endswith(".")


def test_every_code_occurs_in_a_case_file() -> None:
    assert set(CODES) - USED == set()


def test_no_case_uses_a_code_that_is_not_declared() -> None:
    assert USED - set(CODES) == set()


def test_every_declared_code_is_emitted_somewhere_in_the_parser() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in SOURCES if path.name != "codes.py")
    assert {name for name in CODES if f'"{name}"' not in text} == set()


def pairs_of(case: dict[str, Any]) -> set[tuple[ValueKind, JsonType, str | None]]:
    """Return (parameter type, type of the sent value, code) for each argument that a case sends to the tool
    `everything`.
    """
    kinds = {
        "text": ValueKind.STRING,
        "flag": ValueKind.BOOLEAN,
        "count": ValueKind.INTEGER,
        "ratio": ValueKind.NUMBER,
        "data": ValueKind.JSON_OBJECT,
        "list": ValueKind.JSON_ARRAY,
        "numbers": ValueKind.JSON_ARRAY,
        "when": ValueKind.TIMESTAMP,
        "link": ValueKind.URI,
        "token": ValueKind.ENUM_TOKEN,
        "attachment": ValueKind.ATTACHMENT_REFERENCE,
    }
    try:
        sent = json.loads(case.get("raw", ""))
    except ValueError:  # the text is invalid on purpose, or has a number that Python cannot read
        return set()
    if not isinstance(sent, dict):
        return set()
    reported = {diagnostic["path"]: diagnostic["code"] for diagnostic in reversed(case["diagnostics"])}
    return {
        (kinds[name], json_type(value), reported.get(f"$.{name}"))
        for name, value in sent.items()
        if name in kinds
    }


def test_every_coercion_occurs_in_a_case() -> None:
    seen: set[tuple[ValueKind, JsonType, str | None]] = set()
    for path in CASE_FILES:
        for case in json.loads(path.read_text(encoding="utf-8")):
            if case.get("tool") == "everything":
                seen |= pairs_of(case)
    wanted = {(*pair, row.code) for pair, rows in COERCIONS.items() for row in rows}
    assert wanted - seen == set()


def test_names_of_the_session_logs_are_kept() -> None:
    kept = {
        "string_literal_converted_to_boolean",
        "string_literal_converted_to_null",
        "non_string_literal_retained",
        "number_coerced_to_boolean",
        "number_coerced_to_integer",
        "fractional_number_truncated_to_integer",
        "string_literal_converted_to_integer",
        "scalar_coerced_to_list",
        "unsupported_integer_literal",
        "missing_required",
        "unknown_parameter",
        "enum_out_of_range",
        "json_parse_error",
        "tool_definition_missing",
        "arguments_must_be_object",
    }
    assert kept <= set(CODES)


def test_a_retired_name_is_not_used_again() -> None:
    assert not RETIRED & CODES.keys()
