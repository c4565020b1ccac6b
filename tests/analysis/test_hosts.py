"""Tests hosts as a dimension: every metric can be filtered by host, as it can be filtered by model."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from callgauge.analysis.comparisons.hosts import HostComparison, compare_hosts, pair_hosts
from callgauge.analysis.measures.comparisons import compare_pairs
from callgauge.analysis.measures.rates import RATES
from callgauge.analysis.measures.slices import Slice
from callgauge.analysis.metrics import answer_metric, metrics
from callgauge.analysis.metrics.published_store import (
    Connection,
    open_generation,
    published_generation,
    read_store,
)
from callgauge.analysis.verdicts.hosts import describe_hosts
from tests.analysis.session_shares import draw_share
from tests.analysis.store_fixture import HOSTILE, a_call, a_turn, publish, small_tables
from tests.dashboard.sheets import calls

HOSTS = ("east-1", "a,b", HOSTILE, None)
# The filter bar does not filter these metrics. Only trial plans and trends do.
OF_MODELS_ALONE = {"first_uses", "turn_sizes"}
IDS = ("call_id", "session_id", "turn_id", "chain_id")
PAGE = {"limit": 1000, "offset": 0}
ASKED: Mapping[str, Mapping[str, Any]] = {
    "breakdown": {"rates": list(RATES), "dimensions": ["model", "tool", "prompt", "provider"]},
    "new_errors": {"newest": date(2026, 11, 20), "least_days": 0},
    "parameter_values": {"parameter": ""},
    "pass_k": {"measure": "parse_error"},
    "session_counts": {"rate": "parse_error"},
    "signature_use": {"signature": "none"},
    "slice_views": {"views": json.dumps([{"view": 0, "rates": list(RATES), "by": "model"}])},
    "slices": {"rates": list(RATES), "by": "model"},
    "strata": {"rates": list(RATES), "first": "tool"},
}
UPPER_BOUNDS = {"session_days"}  # for these metrics, the count is an upper bound
FILTERED = sorted(
    name
    for name, metric in metrics().items()
    if "providers" in metric.parameters and name not in UPPER_BOUNDS
)


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """Yield a store with calls of four hosts: a hostile name, a name with a comma, a missing name, and a
    normal name.
    """
    folder = tmp_path_factory.mktemp("hosts") / "store"
    small, tables = small_tables(), {}
    for table in ("tool_calls", "turns", "sessions", "diagnostics"):
        tables[table] = [
            {
                **row,
                **{key: f"{row[key]}-{place}" for key in IDS if row.get(key)},
                **({"provider": host} if table in ("tool_calls", "turns") else {}),
            }
            for place, host in enumerate(HOSTS)
            for row in small[table]
        ]
    publish(folder, {**small, **tables})
    with open_generation(published_generation(str(folder)), texts=True) as connection:
        yield connection


def test_every_metric_that_filters_by_model_filters_by_host() -> None:
    for name, metric in metrics().items():
        for prefix in ("", "a_", "b_"):
            if f"{prefix}models" in metric.parameters and name not in OF_MODELS_ALONE:
                assert f"{prefix}providers" in metric.parameters, name


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize("metric", FILTERED)
def test_all_hosts_together_answer_as_without_the_filter(hosts: Connection, metric: str) -> None:
    parameters = {**PAGE, **ASKED.get(metric, {})}
    named = ["unknown" if host is None else host for host in HOSTS]
    every, all_named = (
        answer_metric(hosts, metric, parameters | chosen).astype(object).map(str).values.tolist()
        for chosen in ({}, {"providers": named})
    )
    assert sorted(all_named) == sorted(every)


@pytest.mark.parametrize("metric", FILTERED)
def test_a_host_that_no_log_names_counts_nothing(hosts: Connection, metric: str) -> None:
    rows = answer_metric(hosts, metric, {**PAGE, **ASKED.get(metric, {}), "providers": ["no such host"]})
    counts = {
        value
        for name in rows.columns
        if name not in ("turn_id", "first_day") and not name.startswith("group_")
        for value in rows[name]
        if isinstance(value, int)
    }
    assert counts <= {0}, rows


@pytest.mark.parametrize("host", HOSTS)
def test_a_host_counts_its_own_calls(hosts: Connection, host: str | None) -> None:
    chosen = {"providers": ["unknown" if host is None else host]}
    rows = answer_metric(hosts, "calls", {**PAGE, **chosen})
    assert len(rows) == 44
    assert set(rows.provider) == {host}
    rows = answer_metric(hosts, "sessions", {**PAGE, **chosen})
    assert [list(row) for row in rows.providers] == [[host] if host else []]
    days = answer_metric(hosts, "call_days", chosen)
    assert (days.most.sum(), set(days.exact)) == (44, {True})


def test_hosts_are_among_the_choices_also_without_a_call(store: Path) -> None:
    publish(
        store,
        {
            "tool_calls": [a_call(1, provider="east-1")],
            "turns": [a_turn(1, provider="east-1"), a_turn(2, calls=0, provider="mute")],
        },
    )
    with open_generation(published_generation(str(store)), texts=True) as connection:
        rows = answer_metric(connection, "choices", {})
    named = rows[rows.dimension == "provider"]
    assert dict(zip(named.value, named.calls, strict=True)) == {"east-1": 1, "mute": 0}


Counts = tuple[str, str | None, int, int]
"""The model, the host, the number of calls without and with a parse error. Each call has its own session."""


def compared(store: Path, *counts: Counts, rate: str = "parse_error") -> HostComparison:
    made = [
        call for model, host, good, bad in counts for call in calls(good, bad, model=model, provider=host)
    ]
    publish(store, {"tool_calls": made})
    with read_store(store, texts=True) as reader:
        return compare_hosts(reader.ask, RATES[rate], {})


def sentence(comparison: HostComparison) -> str:
    return describe_hosts(comparison.rows, str, 0.02, has_thin=bool(comparison.thin))


def test_the_worse_of_two_hosts_is_named_with_both_rates(store: Path) -> None:
    comparison = compared(store, ("owl", "east", 490, 10), ("owl", "west", 340, 60), ("jay", "east", 90, 10))
    assert sentence(comparison).startswith(
        "owl is worse on west than on east: parse errors 15.0% against 2.0%, +13.0 points (+"
    )
    assert [(row.slice.also, comparison.list_against(row)) for row in comparison.rows] == [
        ("east", []),
        ("west", ["east"]),
    ]


def test_the_sentence_is_the_same_when_the_worse_host_is_the_one_used_most(store: Path) -> None:
    comparison = compared(store, ("owl", "east", 340, 60), ("owl", "west", 290, 10))
    assert sentence(comparison).startswith(
        "owl is worse on east than on west: parse errors 15.0% against 3.3%, +"
    )


def test_of_several_hosts_each_is_compared_with_the_others_together(store: Path) -> None:
    hosts = [("owl", f"h{n}", 95, 5) for n in range(5)]
    comparison = compared(store, *hosts, ("owl", "bad", 600, 200))
    assert sentence(comparison).startswith(
        "owl is worse on bad than on 5 other hosts: parse errors 25.0% against"
    )
    assert (comparison.rows[0].slice.also, len(comparison.list_against(comparison.rows[0]))) == ("bad", 5)
    assert len(comparison.rows) == 6


@pytest.mark.thorough
def test_what_only_differs_alone_is_named_as_such(store: Path) -> None:
    even = [(f"model-{n}", host, 190, 10) for n in range(9) for host in ("east", "west")]
    comparison = compared(store, *even, ("owl", "east", 194, 6), ("owl", "west", 184, 16))
    assert sentence(comparison).startswith(
        "Compared alone, owl is worse on west than on east: parse errors 8.0%"
    )
    assert sentence(comparison).endswith("Among 10 comparisons of hosts, that can be chance.")


def test_where_nothing_differs_it_says_what_could_have_been_found(store: Path) -> None:
    comparison = compared(store, ("owl", "east", 190, 10), ("owl", "west", 191, 9))
    assert sentence(comparison) == (
        "No clear difference in parse errors between the hosts of a model (1 comparison). A difference below "
        "about 7 points may not show yet."
    )


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ([("owl", "east", 90, 10), ("owl", None, 90, 10)], "No model ran on two hosts"),
        ([("owl", "east", 90, 10), ("jay", "west", 90, 10)], "No model ran on two hosts"),
        ([("owl", "east", 90, 10), ("owl", "west", 4, 1)], "Not enough data to compare hosts"),
    ],
)
def test_what_is_missing_is_said(store: Path, counts: list[Counts], words: str) -> None:
    assert sentence(compared(store, *counts)).startswith(words)


def test_a_hostile_host_is_one_line_of_the_sentence(store: Path) -> None:
    comparison = compared(store, ("owl", "east", 490, 10), ("owl", f"{HOSTILE}\n\n# x", 340, 60))
    assert "\n" not in sentence(comparison)


def test_rows_beyond_the_limit_are_counted(store: Path) -> None:
    publish(store, {"tool_calls": [call for n in range(4) for call in calls(50, 5, provider=f"h{n}")]})
    with read_store(store, texts=True) as reader:
        comparison = compare_hosts(reader.ask, RATES["parse_error"], {}, most=3)
    assert (len(comparison.rows), comparison.left) == (3, 1)


@pytest.mark.thorough
@pytest.mark.parametrize("hosts", [2, 6])
def test_of_equal_hosts_one_is_called_worse_in_few_of_many_stores(hosts: int) -> None:
    """Holm's correction limits wrong verdicts to 5 % of the generated stores. The test allows 3 standard
    errors more.
    """
    random, named, draws = np.random.default_rng(7), 0, 300
    for _ in range(draws):
        by_model = {
            model: [
                Slice(RATES["parse_error"], model, f"h{number}", share, share.n)
                for number in range(hosts)
                if (share := draw_share(random, 60, 6, 0.08, 0.15))
            ]
            for model in ("owl", "jay")
        }
        pairs, _thin = pair_hosts(by_model)
        words = describe_hosts(compare_pairs(pairs), str, 0.0)
        named += words.startswith(("owl", "jay"))
    assert named / draws <= 0.05 + 3 * (0.05 * 0.95 / draws) ** 0.5
