"""Tests that the first bytes of a file, not its name, decide its type."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.decoding.containers import Container, detect_container, read_records
from ingest.events import LogLine, Rejected
from ingest.log_format import Record


def read(data: bytes, max_line: int = 1_000_000) -> list[Record | Rejected]:
    return list(read_records(io.BytesIO(data), detect_container(data), max_line))


def values(data: bytes) -> list[Any]:
    return [record.value if isinstance(record, Record) else record.code for record in read(data)]


@pytest.mark.parametrize(
    ("data", "container"),
    [
        (b'{"a": 1}\n{"a": 2}\n', Container.LINES),
        (b'{"a": 1}', Container.LINES),
        (b'{"a": torn\n{"a": 2}\n', Container.LINES),
        (b'{\n  "a": 1\n}\n', Container.DOCUMENT),
        (b'{"a": [\n  {"b": 1}\n]}\n', Container.DOCUMENT),
        (b'[{"a": 1}]', Container.DOCUMENT),
        (b'\xef\xbb\xbf  [\n{"a": 1}\n]', Container.DOCUMENT),
        (b'{\n"a": 1}\n{\n"a": 2}\n', Container.DOCUMENT),
        (b'event: message\ndata: {"a": 1}\n\n', Container.STREAM),
        (b': keep-alive\n\ndata: {"a": 1}\n\n', Container.STREAM),
        (b"interactions:\n- request: {}\n", Container.YAML),
        (b"---\nversion: 1\ninteractions: []\n", Container.YAML),
        (b"", Container.LINES),
        (b"plain text\n", Container.LINES),
    ],
)
def test_the_first_bytes_tell_what_it_is(data: bytes, container: Container) -> None:
    assert detect_container(data) is container


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'{\n "a": 1\n}', [{"a": 1}]),
        (b'[\n {"a": 1},\n {"a": 2}\n]', [{"a": 1}, {"a": 2}]),
        (b'{\n "a": 1\n}\n{\n "a": 2\n}\n', [{"a": 1}, {"a": 2}]),
        (b"[]", []),
        (b'[{"a": 1}, 7, {"a": 2}]', [{"a": 1}, "not_an_object", {"a": 2}]),
        (b'[{"a": 1}, {"a": }]', [{"a": 1}, "not_json"]),
        (b'{\n "a": 1\n', ["not_json"]),
        (b'{\n "a": "\xff"\n}', ["not_utf8"]),
        (b'data: {"a": 1}\n\ndata: [DONE]\n\n', [{"a": 1}]),
        (b'data: {"a": 1}\n\ndata: {"a"\n\n', [{"a": 1}, "not_json"]),
        (b"interactions:\n- request:\n    body: 'x'\n", [{"interactions": [{"request": {"body": "x"}}]}]),
        (b"interactions: [\n", ["not_yaml"]),
        (b"interactions: !!python/object/apply:os.system ['true']\n", ["not_yaml"]),
    ],
)
def test_what_is_whole_comes_out_and_what_is_not_is_rejected(data: bytes, expected: list[Any]) -> None:
    assert values(data) == expected


def test_a_document_over_the_limit_is_refused_by_its_size() -> None:
    (rejected,) = read(b'{\n "a": "' + b"x" * 5000 + b'"\n}', max_line=1000)
    assert isinstance(rejected, Rejected)
    assert (rejected.code, "1,000 bytes" in rejected.reason) == ("line_too_long", True)


def test_items_know_their_lines_and_bytes() -> None:
    data = '[\n  {"a": "ä"},\n  {"b":\n   {"id": "c1"}}\n]'.encode()
    first, second = read(data)
    assert isinstance(first, Record)
    assert isinstance(second, Record)
    assert (first.where, first.start) == (LogLine(2, 2), 4)
    assert data[second.start :].startswith(b'{"b":')
    assert second.where == LogLine(3, data.index(b'  {"b"'))
    assert second.find_line("c1") == LogLine(4, data.index(b'   {"id"'))
    assert second.find_line("nowhere") == second.where


def test_places_are_asked_for_in_order() -> None:
    (record,) = read(b'{\n"x": ["c1",\n"c2",\n"c1"]\n}')
    assert isinstance(record, Record)
    assert [record.find_line(token).line for token in ("c1", "c2", "c1")] == [2, 3, 4]


def test_a_deeply_nested_document_is_refused_not_a_crash() -> None:
    read_values = values(b"[" + b'{\n"a":' * 100_000)
    assert read_values == ["not_json"]


@pytest.mark.thorough
@given(st.lists(st.dictionaries(st.text(max_size=5), st.text() | st.integers(-9, 9), max_size=4), max_size=5))
def test_any_objects_come_back_from_any_container(objects: list[dict[str, Any]]) -> None:
    lines = "".join(json.dumps(value) + "\n" for value in objects)
    pretty = json.dumps(objects, indent=1, ensure_ascii=False)
    one_by_one = "\n".join(json.dumps(value, indent=1) for value in objects)
    for text in (lines, pretty, one_by_one):
        assert values(text.encode("utf-8", "surrogatepass")) == objects


@given(st.binary(max_size=200), st.sampled_from([b"", b"[", b"{\n", b"data: ", b"interactions:\n"]))
def test_any_bytes_end_in_records_and_rejects(data: bytes, start: bytes) -> None:
    for item in read(start + data):
        assert isinstance(item, Record | Rejected)
