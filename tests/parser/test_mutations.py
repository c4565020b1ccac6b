"""Tests tool calls with seeded defects. Apart from a few known cases, no defect is silently read as another
call.
"""

from __future__ import annotations

import json
from functools import cache
from random import Random
from typing import Any

import pytest

from bench.parser.mutations import KINDS, mutants, mutate
from bench.parser.mutations.answers import Mutant, answers, misfits, verdict
from bench.parser.mutations.measure import JudgedMutant, judge, kinds_table, readers_table, shown, tally
from bench.parser.page import promises_table, with_promises, with_section
from bench.parser.promises import Promise
from bench.parser.readings import Finding, Reading, Tool
from bench.parser.scoring import Verdict
from bench.peers import OURS, PEERS, read_with

EACH = 4
SILENT_REACHED = 0
"""The number of silently wrong results in this part of the mutants. Lower it when the parser improves."""
WRONG_REACHED = 4
"""The number of results in this part that are silently wrong, lossy or rejected."""
LOSSY = Finding("unclosed_string", 3, 4, warns=True)
FILTERS = Tool(
    "search",
    {
        "type": "object",
        "properties": {
            "filters": {
                "type": "object",
                "properties": {
                    "tags": {"type": "array", "items": {"type": "string"}},
                    "range": {"type": "object", "properties": {"min": {"type": "number"}}},
                },
            },
            "sort": {"type": "string"},
        },
        "required": ["filters"],
    },
)
CALL: dict[str, Any] = {"filters": {"tags": ["red", "blue"], "range": {"min": 1}}, "sort": "asc"}


@cache
def judged() -> list[JudgedMutant]:
    """Judge some of the mutants, with and without the definition. Any exception is an error."""
    made = []
    for kind, mutant in mutants(EACH):
        for defined in (False, True):
            reader = PEERS[OURS].prepare(mutant.tool if defined else None)
            reading = reader.reading(mutant.text, reader.read(mutant.text))
            made.append(judge(kind, OURS, mutant, reading, defined))
    return made


def test_no_more_calls_are_misread_than_the_figure_reached() -> None:
    counted = tally(judged())
    wrong = counted.total - counted.counts[Verdict.RIGHT]
    assert counted.counts[Verdict.SILENT] <= SILENT_REACHED, "\n".join(shown(judged(), "all"))
    assert wrong <= WRONG_REACHED, "\n".join(shown(judged(), "all"))


def test_every_finding_about_the_text_has_a_place_in_it() -> None:
    assert [judgement.mutant.text for judgement in judged() if judgement.unplaced] == []
    for judgement in judged():
        for finding in judgement.reading.findings:
            if finding.start is not None and finding.end is not None:
                assert 0 <= finding.start <= finding.end <= len(judgement.mutant.text)


def test_the_same_seed_makes_the_same_texts_and_another_seed_others() -> None:
    once, again = ([mutant.text for _, mutant in mutants(2)] for _ in range(2))
    assert once == again
    assert once != [mutant.text for _, mutant in mutants(2, seed=21)]


def test_every_kind_of_defect_is_made_and_breaks_the_text() -> None:
    made = {kind for kind, _ in mutants(1)}
    assert made == {*KINDS, "two defects", "three defects"}
    valid = {kind for kind, mutant in mutants(2) if _read_by_json(mutant.text) == mutant.intended}
    # the text of these mutants is valid JSON, and the last of the equal names counts
    assert valid <= {"member repeated", "member contradicted"}


def _read_by_json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def made(text: str, intended: dict[str, Any] = CALL, **settings: Any) -> Mutant:
    fields: dict[str, Any] = {
        "certain": True, "certain_if_defined": True, "unmarked": True, "loose": frozenset(), "readings": (),
        "closed_at_end": None,
    }  # fmt: skip
    return Mutant(("made",), FILTERS, text, intended, **(fields | settings))


@pytest.mark.parametrize(
    ("known", "reading", "expected"),
    [
        ({}, Reading(CALL), Verdict.RIGHT),
        ({}, Reading(refusal="no"), Verdict.REFUSED),
        ({}, Reading({"sort": "asc"}), Verdict.SILENT),
        ({}, Reading({"sort": "asc"}, findings=(LOSSY,)), Verdict.TOLD),
        ({"certain": False}, Reading(CALL), Verdict.RIGHT),
        ({"certain": False}, Reading(refusal="no"), Verdict.RIGHT),
        ({"certain": False}, Reading({"sort": "asc"}), Verdict.SILENT),
        ({"certain": False}, Reading({"sort": "asc"}, findings=(LOSSY,)), Verdict.RIGHT),
        ({"certain": False}, Reading({"sort": "as"}, findings=(LOSSY,)), Verdict.RIGHT),
        ({"certain": False}, Reading({"sort": "x"}, findings=(LOSSY,)), Verdict.TOLD),
        ({"certain": False, "loose": {"sort"}}, Reading({"sort": "x"}, findings=(LOSSY,)), Verdict.RIGHT),
        ({"certain": False, "unmarked": False}, Reading(CALL), Verdict.SILENT),
        ({"certain": False, "unmarked": False}, Reading(CALL, findings=(LOSSY,)), Verdict.RIGHT),
        ({"certain": False, "closed_at_end": {"sort": "asc"}}, Reading({"sort": "asc"}), Verdict.RIGHT),
    ],
)
def test_where_nobody_could_tell_a_refusal_or_a_marked_part_is_right(
    known: dict[str, Any], reading: Reading, expected: Verdict
) -> None:
    assert verdict(made("{", **known), reading, defined=False) is expected


def test_where_brackets_allow_two_objects_the_definition_chooses() -> None:
    moved = {"filters": {"tags": ["red", "blue"]}, "range": {"min": 1}, "sort": "asc"}
    mutant = made("{", readings=(moved, CALL))
    assert misfits(moved, FILTERS.schema) == 1
    assert not answers(mutant, defined=False).certain
    assert verdict(mutant, Reading(moved, findings=(LOSSY,)), defined=False) is Verdict.RIGHT
    assert verdict(mutant, Reading(moved), defined=False) is Verdict.SILENT
    assert answers(mutant, defined=True).certain
    assert verdict(mutant, Reading(moved, findings=(LOSSY,)), defined=True) is Verdict.TOLD


def test_a_wrong_closer_leaves_one_reading_and_a_lost_one_several() -> None:
    wrong = mutate(FILTERS, CALL, ("wrong closer",), Random(3))
    lost = mutate(FILTERS, {"a": {"b": 1, "c": 2}, "d": 3}, ("missing closer inside",), Random(3))
    assert wrong is not None
    assert wrong.readings == (CALL,)
    assert lost is not None
    assert len(lost.readings) > 1
    assert lost.closed_at_end == {"a": {"b": 1, "c": 2, "d": 3}}


def test_a_tiny_share_is_counted_by_reader_and_by_kind() -> None:
    mutant = made("{")
    read = [
        judge("extra closer", OURS, mutant, Reading(CALL), False),
        judge("extra closer", OURS, mutant, Reading({}), True),
        judge(
            "extra closer", "jsonmend", mutant, read_with(PEERS["orjson"].prepare(None), mutant.text), False
        ),
    ]
    assert readers_table(read)[2].replace(" ", "").startswith("|lenient|2|50.0%|0.0%|0.0%|50.0%|100.0%|")
    assert kinds_table(read)[2].replace(" ", "") == "|extracloser|2|50.0%|0.0%|0.0%|50.0%|0%/0%|"
    assert shown(read, "all")[0].startswith("--- extra closer: wrong, silent, with the definition")


def test_a_section_of_the_page_is_replaced_or_put_before_the_speed() -> None:
    page = "# P\n\n## A\n\nold\n\n## Speed\n\nfast\n"
    assert with_section(page, ["## A", "", "new"]) == "# P\n\n## A\n\nnew\n\n## Speed\n\nfast\n"
    assert with_section(page, ["## Speed", "", "new"]) == "# P\n\n## A\n\nold\n\n## Speed\n\nnew\n"
    with_new = "# P\n\n## A\n\nold\n\n## B\n\nnew\n\n## Speed\n\nfast\n"
    assert with_section(page, ["## B", "", "new"]) == with_new


def test_promises_of_one_part_are_replaced_by_name_and_new_ones_stand_last() -> None:
    old, other, new = (Promise(what, "0", "1", kept=False) for what in ("a", "b", "c"))
    better = Promise("a", "0", "0", kept=True)

    def page(*promises: Promise) -> str:
        return "\n".join(["## Targets", "", *promises_table(promises), "", "## Speed", ""])

    assert with_promises(page(old, other), [better, new]) == page(better, other, new)
