"""Tests files of benchmark answers. A file is rejected as an answer key only if many lines look like an
answer key.
"""

from __future__ import annotations

from typing import Any

import orjson

from ingest.events import CallMade, LogLine, Rejected
from ingest.formats import query_answers, translate_file
from ingest.log_format import About, Record

TOOLS = [{"name": "find", "parameters": {"type": "object", "properties": {"place": {"type": "string"}}}}]


def line(number: int, place: Any) -> Record:
    value = {"query": "Where?", "tools": TOOLS, "answers": [{"name": "find", "arguments": {"place": place}}]}
    return Record(LogLine(number, 0), value, orjson.dumps(value), 0)


def places_in(records: list[Record]) -> list[Any]:
    places: list[Any] = []
    for event in translate_file(query_answers, records, About(identity="x")):
        if isinstance(event, CallMade):
            places.append(event.arguments["place"])
        elif isinstance(event, Rejected):
            places.append(f"line {event.where.line} refused")
    return places


def test_a_list_where_one_value_is_declared_makes_a_key_if_many_lines_have_one() -> None:
    lines = [line(number, ["Bonn", "Bonn, DE"] if number % 5 == 4 else "Bonn") for number in range(1, 90)]
    assert places_in(lines) == ["line 4 refused"]


def test_one_such_list_among_many_answers_is_a_slip_of_whoever_wrote_it() -> None:
    lines = [line(number, ["Bonn", "Rome"] if number == 7 else "Bonn") for number in range(1, 90)]
    places = places_in(lines)
    assert (len(places), places[6]) == (89, ["Bonn", "Rome"])


def test_predictions_are_a_models_own_whatever_they_hold() -> None:
    value = {"query": "Where?", "tools": TOOLS,
             "predict_tools": [{"name": "find", "arguments": {"place": ["Bonn"]}}]}  # fmt: skip
    assert places_in([Record(LogLine(1, 0), value, orjson.dumps(value), 0)]) == [["Bonn"]]
