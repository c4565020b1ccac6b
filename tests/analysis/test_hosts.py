"""Hosts as a dimension of every metric: who served the model is filtered like the model itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from callgauge.analysis.measures.rates import RATES
from callgauge.analysis.metrics import answer_metric, metrics
from callgauge.analysis.metrics.published_store import Connection, open_generation, published_generation
from tests.analysis.store_fixture import HOSTILE, a_call, a_turn, publish, small_tables

HOSTS = ("east-1", "a,b", HOSTILE, None)
# The filters of these do not come from the filter bar: plans of trials ask for a model, and what is new is
# looked up for the models of a trend.
OF_MODELS_ALONE = {"first_uses", "turn_sizes"}
IDS = ("call_id", "session_id", "turn_id", "chain_id")
PAGE = {"limit": 1000, "offset": 0}
ASKED: Mapping[str, Mapping[str, Any]] = {
    "breakdown": {"rates": list(RATES), "dimensions": ["model", "tool", "prompt", "provider"]},
    "culprit_slices": {"by": "model", "tools": ["read_file"], "parameter": "", "code": "json_parse_error"},
    "new_errors": {"newest": date(2026, 11, 20), "least_days": 0},
    "pass_k": {"measure": "parse_error"},
    "session_counts": {"rate": "parse_error"},
    "signature_use": {"signature": "none"},
    "slices": {"rates": list(RATES), "by": "model"},
    "strata": {"rates": list(RATES), "first": "tool"},
}
UPPER_BOUNDS = {"session_days"}  # how many may match at most
FILTERED = sorted(
    name
    for name, metric in metrics().items()
    if "providers" in metric.parameters and name not in UPPER_BOUNDS
)


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """The small store, each of whose calls ran on four hosts: one hostile, one with a comma, one unnamed."""
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


@pytest.mark.parametrize("metric", FILTERED)
def test_all_hosts_together_answer_as_without_the_filter(hosts: Connection, metric: str) -> None:
    asked = {**PAGE, **ASKED.get(metric, {})}
    named = ["unknown" if host is None else host for host in HOSTS]
    every, all_named = (
        answer_metric(hosts, metric, asked | chosen).astype(str).values.tolist()
        for chosen in ({}, {"providers": named})
    )
    assert sorted(all_named) == sorted(every)


@pytest.mark.parametrize("metric", FILTERED)
def test_a_host_that_no_log_names_counts_nothing(hosts: Connection, metric: str) -> None:
    found = answer_metric(hosts, metric, {**PAGE, **ASKED.get(metric, {}), "providers": ["no such host"]})
    counts = {
        value
        for name in found.columns
        if name not in ("turn_id", "first_day") and not name.startswith("group_")
        for value in found[name]
        if isinstance(value, int)
    }
    assert counts <= {0}, found


@pytest.mark.parametrize("host", HOSTS)
def test_a_host_counts_its_own_calls(hosts: Connection, host: str | None) -> None:
    chosen = {"providers": ["unknown" if host is None else host]}
    found = answer_metric(hosts, "calls", {**PAGE, **chosen})
    assert len(found) == 44
    assert set(found.provider) == {host}
    found = answer_metric(hosts, "sessions", {**PAGE, **chosen})
    assert [list(row) for row in found.providers] == [[host] if host else []]
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
        found = answer_metric(connection, "choices", {})
    named = found[found.dimension == "provider"]
    assert dict(zip(named.value, named.calls, strict=True)) == {"east-1": 1, "mute": 0}
