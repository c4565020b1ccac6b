"""Tests that any line gives events or is rejected."""

from __future__ import annotations

import copy
import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.decoding.containers import Container, read_records
from ingest.decoding.lines import MAX_LINE
from ingest.events import Event, Rejected
from ingest.formats import formats, line_skimmer, translate_file
from ingest.log_format import About, Record
from tests.formats.test_cases import LOGS, record_of, records_of, skimmed_records_of

RECORDS = {
    name: [
        record.value
        for path in LOGS
        if path.parent.name == name
        for record in records_of(path)
        if isinstance(record, Record)
    ]
    for name in formats()
}
STRANGE: st.SearchStrategy[Any] = st.sampled_from(
    [
        None,
        True,
        0,
        -1,
        1e308,
        2**70,
        "",
        "x",
        "\ud83d",
        "\x00",
        [],
        [None],
        [[]],
        {},
        {"type": {}},
        {"": [{}]},
    ]
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*path, key)
        yield from places(item, (*path, key))


def with_change(record: Any, path: tuple[Any, ...], value: Any) -> Any:
    changed = copy.deepcopy(record)
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return changed


def translate(name: str, values: list[Any]) -> list[Event | Rejected]:
    records = [record_of(name, value, line) for line, value in enumerate(values, start=1)]
    return list(translate_file(formats()[name], records, About()))


def changed_somewhere(data: st.DataObject, records: list[Any]) -> list[Any]:
    position = data.draw(st.integers(0, len(records) - 1))
    path = data.draw(st.sampled_from(list(places(records[position])) or [("type",)]))
    changed = with_change(records[position], path, data.draw(STRANGE))
    return [*records[:position], changed, *records[position + 1 :]]


@pytest.mark.thorough(quick=3)
@pytest.mark.parametrize("name", RECORDS)
@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_one_strange_value_anywhere_is_survived(name: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(RECORDS[name]) - 1))
    records = changed_somewhere(data, RECORDS[name][start : start + 6])
    formats()[name].recognise(records)
    for event in translate(name, records):
        assert 1 <= event.where.line <= len(records)


@pytest.mark.parametrize("name", RECORDS)
def test_a_list_or_an_object_instead_of_any_text_is_survived(name: str, runs_all: bool) -> None:
    """A list cannot be looked up in a set, so each text in the records is replaced once."""
    replaced: set[tuple[Any, ...]] = set()
    empty: tuple[Any, ...] = ([], {}) if runs_all else ([],)
    for position, record in enumerate(RECORDS[name]):
        for path in places(record):
            keys = tuple(key for key in path if isinstance(key, str))
            value = record
            for key in path:
                value = value[key]
            if not isinstance(value, str) or (kind := (keys, value if len(value) < 20 else "")) in replaced:
                continue
            replaced.add(kind)
            for strange in empty:
                records = [with_change(record, path, strange), *RECORDS[name][position + 1 : position + 3]]
                formats()[name].recognise(records)
                translate(name, records)


@pytest.mark.thorough
@pytest.mark.parametrize("name", [name for name in RECORDS if line_skimmer(formats()[name]) is not None])
@settings(max_examples=500, deadline=None)
@given(data=st.data(), torn=st.booleans(), junk=st.binary(max_size=3))
def test_a_strange_line_that_is_skimmed_gives_what_it_gives_decoded(
    name: str, data: st.DataObject, torn: bool, junk: bytes
) -> None:
    records = changed_somewhere(data, RECORDS[name])
    # All random bytes are drawn together, because separate draws took most of the time.
    chosen = data.draw(st.binary(min_size=len(records), max_size=len(records)))
    lines = [
        json.dumps(record, ensure_ascii=byte % 2 == 1) for record, byte in zip(records, chosen, strict=True)
    ]
    log = "\n".join(lines).encode("utf-8", "surrogatepass")
    if torn:
        place = data.draw(st.integers(0, len(log)))
        log = log[:place] + junk + log[data.draw(st.integers(place, place + 5)) :]
    form = formats()[name]
    expected = list(translate_file(form, read_records(io.BytesIO(log), Container.LINES, MAX_LINE), About()))
    assert list(translate_file(form, skimmed_records_of(name, log), About())) == expected


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize("name", RECORDS)
@settings(max_examples=100, deadline=None)
@given(order=st.randoms(use_true_random=False))
def test_records_in_any_order_are_survived(name: str, order: Any) -> None:
    records = order.sample(RECORDS[name], k=min(40, len(RECORDS[name])))
    assert translate(name, records)
