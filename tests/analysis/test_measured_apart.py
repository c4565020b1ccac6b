"""Tests a store in which only one model has tool definitions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from callgauge.analysis.comparisons.hosts import compare_hosts
from callgauge.analysis.comparisons.rankings import judge_ranking, read_ranked_slices
from callgauge.analysis.comparisons.versions import judge_pairs
from callgauge.analysis.measures.measurability import find_undefined
from callgauge.analysis.measures.rates import RATES
from callgauge.analysis.measures.slices import Slice, make_slices
from callgauge.analysis.metrics.published_store import StoreReader, read_store
from callgauge.analysis.verdicts.headlines import ArmNames, write_headline
from callgauge.analysis.verdicts.tools import judge_tools, write_tools
from tests.analysis.session_shares import of_slice
from tests.analysis.store_fixture import a_call, publish

SEEN = {"syntax_seen": "full", "schema_seen": "full", "outcome": "clean", "definition_id": "d"}
UNSEEN = {"syntax_seen": "full", "schema_seen": "none", "outcome": "clean"}
INVALID = {**SEEN, "outcome": "failed", "fault_layer": "schema"}


def calls(model: str, provider: str, prompt: str, tool: str, *, defined: bool) -> Iterator[dict[str, Any]]:
    """Return the calls of six days, with 40 calls in 20 sessions on each day. In one of ten calls, an
    argument has the wrong type.
    """
    for day in range(10, 16):
        for number in range(40):
            session = f"{model}-{provider}-{day}-{number // 2}"
            judged = (INVALID if number % 10 == 0 else SEEN) if defined else UNSEEN
            yield a_call(
                number,
                call_id=f"{session}-{number}",
                session_id=session,
                day=f"2026-11-{day}",
                ts=f"2026-11-{day}T10:00:00",
                model=model,
                provider=provider,
                prompt_id=prompt,
                tool=tool,
                **judged,
            )


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoreReader]:
    folder = tmp_path_factory.mktemp("mixed") / "store"
    made = [
        *calls("heron", "west", "p@1", "defined", defined=True),
        *calls("falcon", "west", "p@2", "bare", defined=False),
        *calls("heron", "east", "p@2", "bare", defined=False),
    ]
    publish(folder, {"tool_calls": made})
    with read_store(folder, texts=True) as opened:
        yield opened


def measure(name: str, defined: int) -> list[Slice]:
    """Return a slice of 600 calls for each of three rates. `defined` is the number of calls that have a tool
    definition.
    """
    return [
        of_slice(name, 0, 600, rate="syntax_error"),
        of_slice(name, 30, 600),
        of_slice(name, defined, 600, rate="defined"),
    ]


def test_one_slice_without_definitions_gets_no_rank_and_takes_nothing_from_the_others() -> None:
    slices = [*measure("a", 600), *measure("b", 590), *measure("bare", 0), *measure("half", 300)]
    assert find_undefined("parse_error", slices[:-3]) == {"bare": "its logs have no tool definitions"}
    assert find_undefined("emission", slices) == {}
    assert set(find_undefined("parse_error", slices)) == {"bare", "half"}
    assert find_undefined("parse_error", slices[:3] + slices[6:9]) == {}, "nothing would be left to rank"
    most_bare = [*measure("a", 600), *measure("b", 600), *(x for n in "cde" for x in measure(n, 0))]
    assert find_undefined("parse_error", most_bare) == {}, "the others hold most of the calls"


SYNTAX = "Compared on JSON syntax only: "


def test_no_model_is_the_best(reader: StoreReader) -> None:
    rate = RATES["parse_error"]
    slices = read_ranked_slices(reader.ask, rate, "model", {})
    ranking = judge_ranking(reader.ask, slices, rate, "model", {})
    assert ranking.rate.name == "syntax_error"
    assert not ranking.table.wins
    assert SYNTAX in ranking.write_sentence({})
    assert " is the best" not in ranking.write_sentence({})


def test_no_version_is_better(reader: StoreReader) -> None:
    (breakdown,) = judge_pairs(reader.ask, RATES["parse_error"], "prompt", [("p@2", "p@1")], {})
    assert breakdown is not None
    assert breakdown.whole.slice.rate.name == "syntax_error"
    sentence = write_headline(breakdown, ArmNames("@2", "@1"), lambda _, value: value, 0.02)
    assert sentence.endswith(f"{SYNTAX}the logs of p@2 have no tool definitions.")
    (breakdown,) = judge_pairs(reader.ask, RATES["tool_rejected"], "prompt", [("p@2", "p@1")], {})
    assert breakdown is not None
    assert breakdown.whole.p is None


def test_no_host_is_worse(reader: StoreReader) -> None:
    comparison = compare_hosts(reader.ask, RATES["parse_error"], {})
    assert comparison.basis.rate == "syntax_error"
    assert all(row.p is None or row.p > 0.05 for row in comparison.rows)


def test_a_tool_without_a_definition_is_not_compared(reader: StoreReader) -> None:
    measured = make_slices(reader.ask("slices", rates=("parse_error", "defined"), by="tool"))
    verdict = judge_tools([each for each in measured if each.rate.name == "parse_error"], measured)
    assert [each.name for each in verdict.judged] == ["defined"]
    assert verdict.undefined == 1
    assert write_tools(verdict).startswith(
        "Only defined has enough data (parse errors: 24 of 240 calls (10.0%))."
    )
