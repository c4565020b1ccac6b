"""Tests mutants of tool calls in which characters between two members are lost, and the verdicts on these
mutants.
"""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from bench.parser.mutations.answers import Mutant, verdict
from bench.parser.mutations.boundaries import boundary_losses, lose
from bench.parser.readings import Finding, Reading, Tool
from bench.parser.scoring import Verdict, is_strict_json
from bench.peers import OURS, PEERS
from lenient import ToolDefinition, parse_arguments

EACH = 300
SILENT_REACHED = 1
"""The number of silently wrong results in this part of the mutants. Lower it when the parser improves."""
WRONG_REACHED = 2
"""The number of results in this part that are silently wrong, lossy or rejected."""
MARKED = (Finding("unclosed_string", 3, 4, warns=True),)
WRITE = Tool(
    "write",
    {
        "type": "object",
        "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
        "required": ["path", "content"],
    },
)
CALL = {"path": "a.py", "content": "x = 1"}


def loss(text: str) -> Mutant:
    """Draw mutants of one tool call until the mutant's arguments equal this string. Return the mutant."""
    random = Random(1)
    for _ in range(20000):
        made = lose(WRITE, CALL, random)
        if made is not None and made[1].text == text:
            return made[1]
    raise AssertionError(text)


def test_the_same_seed_loses_the_same_pieces_and_no_text_is_valid_json() -> None:
    texts = [mutant.text for _, mutant in boundary_losses(200)]
    assert texts == [mutant.text for _, mutant in boundary_losses(200)]
    assert texts != [mutant.text for _, mutant in boundary_losses(200, seed=21)]
    assert not any(map(is_strict_json, texts))
    assert len({kind for kind, _ in boundary_losses(200)}) == 8


def test_what_is_lost_is_one_to_four_characters_in_a_row() -> None:
    for _, mutant in boundary_losses(200):
        whole = [
            json.dumps(mutant.intended, ensure_ascii=ascii_only, indent=indent, separators=separators)
            for ascii_only in (True, False)
            for indent, separators in ((None, None), (None, (",", ":")), (2, None))
        ]
        assert min(abs(len(text) - len(mutant.text)) for text in whole) <= 4


@pytest.mark.parametrize(
    ("text", "value", "defined", "right"),
    [
        ('{"path": "a.py "content": "x = 1"}', CALL, False, Verdict.RIGHT),
        ('{"path": "a.py "content": "x = 1"}', {"path": 'a.py "content": "x = 1'}, False, Verdict.SILENT),
        ('{"path": "a.py "content": "x = 1"}', None, True, Verdict.REFUSED),
        ('{"path": "a. "content": "x = 1"}', CALL | {"path": "a."}, True, Verdict.RIGHT),
        ('{"path": "a. "content": "x = 1"}', CALL, True, Verdict.SILENT),
        ('{"path": "a.py", ntent": "x = 1"}', CALL, True, Verdict.RIGHT),
        ('{"path": "a.py", ntent": "x = 1"}', None, True, Verdict.RIGHT),
        ('{"path": "a.py", ntent": "x = 1"}', {"path": "a.py", "ntent": "x = 1"}, True, Verdict.SILENT),
        ('{"path": "a.py", ntent": "x = 1"}', {"path": "a.py", "ntent": "x = 1"}, False, Verdict.RIGHT),
        ('{"path": "a.pycontent": "x = 1"}', None, True, Verdict.RIGHT),
        ('{"path": "a.py", "content: "x = 1"}', CALL, False, Verdict.RIGHT),
    ],
)  # fmt: skip
def test_a_reading_is_right_with_exactly_what_was_lost(
    text: str, value: dict[str, Any] | None, defined: bool, right: Verdict
) -> None:
    reading = Reading(value) if value is not None else Reading(refusal="no")
    assert verdict(loss(text), reading, defined=defined) is right


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ('{"path": "a.py", ntent": "x = 1"}', Verdict.RIGHT),
        ('{"path": "a.py "content": "x = 1"}', Verdict.TOLD),
    ],
)  # fmt: skip
def test_another_object_with_a_mark_is_right_only_where_a_person_could_not_tell(
    text: str, right: Verdict
) -> None:
    reading = Reading({"path": "a.py"}, findings=MARKED)
    assert verdict(loss(text), reading, defined=True) is right


def test_no_more_readings_are_wrong_without_a_mark_than_the_figure_reached() -> None:
    silent = wrong = 0
    for _, mutant in boundary_losses(EACH):
        for defined in (False, True):
            reader = PEERS[OURS].prepare(mutant.tool if defined else None)
            reading = reader.reading(mutant.text, reader.read(mutant.text))
            outcome = verdict(mutant, reading, defined=defined)
            silent += outcome is Verdict.SILENT
            wrong += outcome is not Verdict.RIGHT
    assert silent <= SILENT_REACHED
    assert wrong <= WRONG_REACHED


CODE = 'x = ["a", "b"]; y.get("t", "?"); ' * 4


@pytest.mark.parametrize(
    ("raw", "marked"),
    [
        (f'{{"path": "p", "content": "{CODE}"}}', False),
        (f'{{"content": "{CODE}", "path": "p"}}', False),
        (f'{{"content": "{CODE} "path": "p"}}', True),  # the code contains `path`, which is a declared name
        # the code contains `note`, which is no declared name
        (f'{{"path": "p", "content": "{CODE} "note": "q"}}', True),
    ],
)
def test_quotes_of_code_are_text_unless_a_name_stands_among_them(raw: str, marked: bool) -> None:
    write = ToolDefinition.from_json_schema(name=WRITE.name, schema=WRITE.schema)
    request = parse_arguments(raw, write)
    assert (
        any(diagnostic.lossy or diagnostic.code == "ambiguous" for diagnostic in request.diagnostics)
        is marked
    )
    if not marked:
        assert request.arguments == {"path": "p", "content": CODE}
