"""Tests the nesting depth of arguments, which is computed for any string in linear time."""

from __future__ import annotations

import json
import time

import pytest

from ingest.sessions.table_rows import text_depth, value_depth


@pytest.mark.parametrize(
    ("text", "depth"),
    [
        (None, None),
        ("", 0),
        ("7", 0),
        ('"{[{["', 0),
        ("{}", 1),
        ("[]", 1),
        ('{"path": "a.py"}', 1),
        ('{"path": "{["}', 1),
        ('{"path": "a \\" {{{"}', 1),
        ('{"a\\\\": {"b": 1}}', 2),
        ('{"a": [1, {"b": []}]}', 4),
        ('{"a": {}, "b": {}}', 2),
        ("[[], [], []]", 2),
        ('  {"a": 1}', 1),
        ('{"a": "\n{\n"}', 1),
        ('{"北京": ["{"]}', 2),
    ],
)
def test_the_depth_of_a_text(text: str | None, depth: int | None) -> None:
    assert text_depth(text) == depth
    if text:
        assert value_depth(json.loads(text, strict=False)) == depth


@pytest.mark.parametrize(
    ("text", "depth"),
    [
        ('{"a": {"b": [', 3),
        ('{"a": "never closed {[{[', 1),
        ('{"a": "never closed \\', 1),
        ('{"a": "\\', 1),
        ("}}}}{", 1),
        ("]]]][[", 2),
        ("{]}", 1),
        ("{'a': {'b': 1}}", 2),
        ("Sure! {", 1),
        ('```json\n{"a": [1]}\n```', 2),
        ("{\x00[\ud800", 2),
    ],
)
def test_a_broken_text_has_a_depth_too(text: str, depth: int) -> None:
    assert text_depth(text) == depth


@pytest.mark.parametrize(
    ("text", "depth"),
    [
        ("[" * 1_000_000, 65_536),
        ("{" * 1_000_000, 65_536),
        ("[]" * 500_000, 1),
        ("}" * 1_000_000, 0),
        ('"' * 1_000_000, 0),
        ('"\\' * 500_000, 0),
        ("\\" * 1_000_000, 0),
        ('{"a": "' + '\\"' * 500_000, 1),
        ('["' * 500_000, 16_384),
        ('{"a": "' + "x" * 1_000_000 + '", "b": [[]]}', 1),
    ],
)
def test_a_megabyte_of_hostile_text_is_quick(text: str, depth: int) -> None:
    began = time.process_time()
    assert text_depth(text) == depth
    assert time.process_time() - began < 0.2
