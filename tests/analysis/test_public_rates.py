"""Tests tool-call errors by the public definition, and their comparison with public rates."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft7Validator  # type: ignore[import-untyped]

from callgauge.analysis.comparisons import public_rates
from callgauge.analysis.comparisons.public_rates import (
    CallCounts,
    PublicTable,
    compare_with_public,
    match_public_rates,
)
from callgauge.analysis.measures.comparisons import compare_pairs
from callgauge.analysis.measures.rates import PUBLIC_ERROR
from callgauge.analysis.measures.slices import Slice
from callgauge.analysis.metrics import metrics
from callgauge.analysis.metrics.published_store import read_store
from callgauge.analysis.verdicts.public_rates import PublicVerdict, describe_public_hosts
from callgauge.memory.public_rates import PublicRate
from ingest.pipeline.load import load
from lenient import CODES
from lenient.diagnostics.codes import Stage
from tests.analysis import public_logs as made
from tests.analysis.session_shares import of_sessions
from tests.analysis.store_fixture import HOSTILE, a_call, publish
from tests.analysis.test_verdict_list import listed

DAY = date(2026, 11, 9)


GOOD = [made.VALID] * 9 + [made.COERCED]
BAD = [made.VALID] * 6 + [made.COERCED, made.CUT_OFF, made.UNKNOWN]
KINDS = (
    *(made.VALID, made.REPAIRED, made.COERCED, made.RENAMED, made.UNDECLARED, made.INVALID, made.CUT_OFF),
    *(made.UNKNOWN, made.NO_TEXT),
)
PARALLEL = [
    [made.VALID, made.VALID],
    [made.VALID, made.COERCED],
    [made.COERCED, made.CUT_OFF],
    [made.COERCED, made.NO_TEXT],
]
Compare = Callable[..., PublicTable]
"""Returns the table of one model next to the given public rates."""


def many(calls: Sequence[made.Call], sessions: int, model: str, host: str = "east") -> list[str]:
    """Return sessions with one request for each call."""
    requests = [[call] for call in calls]
    return [
        made.write_session(f"{model} on {host}: {n}", requests, model=model, host=host)
        for n in range(sessions)
    ]


@pytest.fixture(scope="module")
def compare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Compare]:
    folder = tmp_path_factory.mktemp("public")
    sessions = [
        *many(GOOD, 40, "owl"),
        *many(BAD, 40, "owl", "west"),
        *many(GOOD, 12, "jay"),
        *many(GOOD, 12, "jay", "west"),
        *many([made.COERCED] * 10, 9, "few"),
        *many([made.NO_TEXT], 40, "mute"),
        *many([made.VALID], 2, f"{HOSTILE}\n# x", f"{HOSTILE}\n# y"),
        made.write_session("kinds", [[call] for call in KINDS], model="kinds"),
        made.write_session("undefined", [[made.VALID], [made.REPAIRED]], tools=None, model="kinds"),
        made.write_session("parallel", PARALLEL, model="parallel"),
    ]
    load([made.write_log(folder / "logs", *sessions)], folder / "store")
    with read_store(folder / "store", texts=True) as reader:
        yield lambda model, *rates, **chosen: compare_with_public(
            reader.ask, rates, {"models": (model,), **chosen}
        )


def test_every_kind_of_call_is_counted_as_a_strict_check_judges_it(compare: Compare) -> None:
    (row,) = compare("kinds").rows
    assert row.counts == CallCounts(
        calls=11, valid=1, not_json=2, unknown_tool=1, schema_errors=4, no_text=1, no_definition=2, unclear=0
    )
    assert (row.slice.share.k, row.slice.share.n, row.slice.total) == (7, 8, 11)
    assert row.slice.share.complement.rate == 1 / 8
    # The parser repairs or converts five of the seven wrong calls. The parse errors also count calls without
    # the model's own text or without a definition.
    assert row.parse_errors is not None
    assert (row.parse_errors.share.k, row.parse_errors.share.n) == (2, 11)


def test_a_request_is_wrong_if_one_of_its_calls_is_and_unmeasured_if_one_is(compare: Compare) -> None:
    (row,) = compare("parallel").rows
    assert (row.slice.share.k, row.slice.share.n, row.slice.total) == (2, 3, 4)
    assert row.counts.calls == 8


def test_the_newest_days_are_checked_if_the_chosen_days_have_too_many_calls(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_calls = [a_call(n, day=f"2026-11-{day}") for n, day in enumerate([10] * 5 + [11] * 4 + [12] * 3)]
    publish(store, {"tool_calls": [*made_calls, a_call(99, day=None)]})
    with read_store(store, texts=True) as reader:
        for most, first, calls in ((13, None, 13), (12, 10, 12), (11, 11, 7), (6, 12, 3), (1, 12, 3)):
            monkeypatch.setattr(public_rates, "MOST_CALLS", most)
            table = compare_with_public(reader.ask, [], {"from_day": None, "to_day": None})
            days = (date(2026, 11, first), date(2026, 11, 12)) if first else None
            assert (table.checked, sum(row.counts.calls for row in table.rows)) == (days, calls)


def test_requests_with_one_call_and_with_several_calls_add_up(store: Path) -> None:
    """The first call names the tool of a request. A filter may leave only later calls of a request."""
    several = [("s1:1", 0, "read"), ("s1:1", 1, "write"), ("s1:2", 0, "read"), ("s1:3", 1, "write")]
    made_calls = [
        a_call(n, turn_id=turn, step=0, ordinal=ordinal, tool=tool)
        for n, (turn, ordinal, tool) in enumerate(several)
    ]
    publish(store, {"tool_calls": made_calls})
    with read_store(store, texts=True) as reader:
        counted = reader.ask("public_rates", by="tool")
        assert {row.slice: (row.total, row.calls) for row in counted.itertuples()} == {
            "read": (2, 3), "write": (1, 1),
        }  # fmt: skip
        (write,) = reader.ask("public_rates", by="tool", tools=("write",)).itertuples()
        assert (write.total, write.calls) == (2, 2)


UNCLEAR = {"pattern_not_checked", "schema_keyword_unsupported", "nested_too_deep"}


def test_every_code_of_the_parser_has_a_verdict() -> None:
    sql = metrics()["public_rates"].sql
    named = set(re.findall(r"'(\w+)'", sql)) | UNCLEAR
    by_stage = {code for code, row in CODES.items() if row.stage in (Stage.UNWRAP, Stage.REPAIR)}
    assert set(CODES) - by_stage <= named


def _is_json(text: str) -> bool:
    def refuse(constant: str) -> Any:
        raise ValueError(constant)

    try:
        json.loads(text, parse_constant=refuse)
    except ValueError:
        return False
    return True


@pytest.mark.thorough
def test_the_examples_of_all_codes_are_judged_as_by_json_and_jsonschema(tmp_path: Path) -> None:
    """`json` and `jsonschema` share no code with the parser. A format is a hint for both."""
    wanted, sessions = {}, []
    for code, row in CODES.items():
        example = row.example
        if example.is_text or example.properties is None or example.called or code in UNCLEAR:
            continue
        raw = str(example.raw)
        schema = {"type": "object", "properties": dict(example.properties), "required": [*example.required]}
        for own in (schema, {**schema, "additionalProperties": False}):
            name = f"{code} {len(own)}"
            tool = {"name": "t", "description": "x", "input_schema": own}
            sessions.append(made.write_session(name, [[("t", raw)]], tools=[tool], model=name))
            wanted[name] = "not_json"
            if _is_json(raw):
                is_valid = Draft7Validator(own).is_valid(json.loads(raw))
                wanted[name] = "valid" if is_valid else "schema_errors"
    load([made.write_log(tmp_path, *sessions)], tmp_path / "store")
    with read_store(tmp_path / "store", texts=True) as reader:
        rows = compare_with_public(reader.ask, (), {}).rows
    kinds = ("valid", "not_json", "schema_errors", "unclear")
    judged = {row.slice.name: kind for row in rows for kind in kinds if getattr(row.counts, kind)}
    assert judged == wanted


# --- names ----------------------------------------------------------------------------------------


def public(model: str = "owl", host: str = "east", rate: float = 0.1, **fields: Any) -> PublicRate:
    return PublicRate(**{"model": model, "host": host, "day": DAY, "rate": rate, "source": "list", **fields})


@pytest.mark.parametrize(
    ("model", "host", "pair"),
    [
        ("gpt-5", "openai", ("gpt-5", "openai")),
        ("openai/gpt-5", "OpenAI", ("gpt-5", "openai")),
        ("openai/gpt-5:exacto", "open ai", ("gpt-5", "openai")),
        ("GPT-5-2025-08-07", "openai", ("gpt-5", "openai")),
        ("our-proxy", "openai", ("gpt-5", "openai")),
        ("moonshotai/kimi-k2-0905", "Fireworks", ("kimi-k2-0905", "fireworks")),
    ],
)
def test_a_public_name_matches_as_the_store_counts_names(
    model: str, host: str, pair: tuple[str, str]
) -> None:
    pairs = [
        ("gpt-5", "openai"),
        ("kimi-k2-0905", "fireworks"),
        ("kimi-k2-0905", "unknown"),
        ("unknown", "x"),
    ]
    matched, unmatched = match_public_rates([public(model, host)], pairs, {"our-proxy": "gpt-5"})
    assert (list(matched), unmatched) == ([pair], [])


@pytest.mark.parametrize(
    ("model", "host", "reason"),
    [
        ("gpt-6", "openai", "no calls of this model"),
        ("unknown", "x", "no calls of this model"),
        ("gpt-5", "azure", "gpt-5 has calls on openai only"),
        ("jay", "x", "the logs name no host of jay"),
        ("OWL", "x", "the name may mean Owl or owl"),
        ("gpt-4", "open-ai", "the host may be openai or openAI"),
    ],
)
def test_a_rate_that_matches_nothing_is_listed_with_the_reason(model: str, host: str, reason: str) -> None:
    pairs = [
        *(("gpt-5", "openai"), ("unknown", "x"), ("jay", "unknown"), ("owl", "x"), ("Owl", "x")),
        *(("gpt-4", "openai"), ("gpt-4", "openAI")),
    ]
    matched, (left,) = match_public_rates(
        [public(model, host), public(model, host, day=date(2026, 1, 1))], pairs, {}
    )
    assert (matched, left.rates, left.reason) == ({}, 2, reason)


def test_the_newest_rate_of_each_source_counts(compare: Compare) -> None:
    rates = [
        public("jay", rate=0.1, day=date(2026, 11, 1)),
        public("jay", rate=0.2, day=date(2026, 11, 8)),
        public("openai/jay", rate=0.3, day=date(2026, 11, 3)),
        public("jay", rate=0.4, day=date(2026, 1, 1), source="other"),
    ]
    rows = compare("jay", *rates).rows
    assert [(row.public.rate, row.days_apart) for row in rows if row.public] == [(0.2, 1), (0.4, 312)]


def test_every_sentence_is_in_the_list_of_verdicts(compare: Compare) -> None:
    rates = [public(rate=0.02), public(host="west", rate=0.6), public("owl", rate=0.1, source="other")]
    tables = [
        *(compare("owl"), compare("owl", *rates), compare("owl", public("ibis"))),
        *(compare("few", public("few")), compare("mute"), compare("no such model")),
    ]
    for table in tables:
        for sentence in table.write_sentences(str):
            assert listed().fullmatch(sentence), sentence


# --- verdicts -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rate", "n", "verdict"),
    [
        (0.02, None, PublicVerdict.HIGHER),
        (0.3, None, PublicVerdict.LOWER),
        (0.1, None, PublicVerdict.UNCLEAR),
        (0.02, 2000, PublicVerdict.HIGHER),
        (0.02, 20, PublicVerdict.UNCLEAR),
    ],
)
def test_the_verdict_uses_the_interval_and_the_published_number(
    compare: Compare, rate: float, n: int | None, verdict: PublicVerdict
) -> None:
    row = compare("owl", public(rate=rate, n=n), providers=("east",)).rows[0]
    assert row.verdict == verdict
    interval = row.slice.share.interval
    assert interval is not None
    if n is None:
        assert (interval.low <= rate <= interval.high) == (verdict is PublicVerdict.UNCLEAR)


def test_a_rate_without_enough_data_gets_no_verdict(compare: Compare) -> None:
    assert compare("few", public("few", rate=0.01)).rows[0].verdict == PublicVerdict.TOO_FEW
    unmeasured = compare("mute", public("mute", rate=0.01))
    assert unmeasured.rows[0].verdict == PublicVerdict.UNMEASURED
    assert unmeasured.write_sentences(str) == [
        "Tool-call errors were not measured: of the calls, 40 / 40 lack the model's own text."
    ]


def test_the_host_with_more_errors_is_named_with_the_ratio(compare: Compare) -> None:
    sentence, more = compare("owl").write_sentences(str)
    found = re.fullmatch(
        r"On west, owl makes 3\.3 times the tool-call errors of east \(120 / 360 against 40 / 400 requests; "
        r"95% interval ([\d.]+) to ([\d.]+)\)\.",
        sentence,
    )
    assert found
    assert float(found[1]) < 3.3 < float(found[2])
    assert more.startswith("No public rates to compare with")


def test_equal_hosts_get_the_sentence_of_the_host_comparison(compare: Compare) -> None:
    sentence, _ = compare("jay").write_sentences(str)
    assert sentence.startswith("No clear difference in tool-call errors between the hosts of a model")


def test_the_public_rates_are_counted_in_a_sentence(compare: Compare) -> None:
    rates = [public(rate=0.02), public(host="west", rate=0.6), public("owl", "north"), public("ibis")]
    table = compare("owl", *rates)
    assert table.write_sentences(str)[1] == (
        "Next to 2 public rates: owl on east has more tool-call errors than the public rate; owl on west has "
        "fewer tool-call errors than the public rate."
    )
    assert [each.reason for each in table.unmatched] == [
        "owl has calls on east and west only",
        "no calls of this model",
    ]
    assert compare("owl", rates[2]).write_sentences(str)[1] == (
        "None of the imported public rates (1) belongs to a model and a host of these calls."
    )


def test_a_pair_with_rates_of_two_sources_is_named_once(compare: Compare) -> None:
    rates = [public(rate=0.02), public(rate=0.03, source="other"), public(rate=0.1, source="third")]
    table = compare("owl", *rates, public(host="WEST", rate=0.6))
    assert table.write_sentences(str)[1] == (
        "Next to 4 public rates: owl on east (2 of 3 public rates) has more tool-call errors than the public "
        "rate; owl on west has fewer tool-call errors than the public rate; no clear difference for 1."
    )
    both = compare("owl", *rates[:2]).write_sentences(str)[1]
    assert "owl on east (all 2 public rates) has more tool-call errors" in both
    assert [row.other_spelling for row in table.rows if row.public] == [*[""] * 3, "listed as owl on WEST"]


def test_a_host_without_errors_has_no_ratio() -> None:
    slices = [
        Slice(PUBLIC_ERROR, "owl", host, of_sessions([(k, 10)] * 60), 600)
        for host, k in (("east", 0), ("west", 3))
    ]
    words = describe_public_hosts(compare_pairs([(slices[1], slices[0])]), str, 0.02)
    assert words.startswith("owl is worse on west than on east: tool-call errors 30.0% against 0%")


def test_hostile_names_stay_on_one_line(compare: Compare) -> None:
    model = f"{HOSTILE}\n# x"
    table = compare(model, public(model, "\x1b[31m"))
    assert table.rows[0].slice.name == model
    texts = [*table.write_sentences(lambda name: name.split("\n")[0]), table.unmatched[0].reason]
    assert not any("\n" in text for text in texts)


@pytest.mark.thorough
@pytest.mark.parametrize("hosts", [2, 5])
def test_of_equal_hosts_few_made_stores_name_one_with_more_errors(hosts: int) -> None:
    """Holm's correction limits false sentences to 5 % of the stores. The test allows 3 standard errors."""
    from bench.statistics.host_cells import count_named

    draws = 400
    named = count_named(np.random.default_rng(11), draws, hosts=hosts, models=2, rate=0.08, rho=0.15)
    assert named / draws <= 0.05 + 3 * (0.05 * 0.95 / draws) ** 0.5
