"""Tests how many queries a page sends to the store, because each query of a large store takes time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import duckdb
import pandas as pd
import pytest

from callgauge.analysis.metrics import answer_metric
from callgauge.dashboard import store_queries
from callgauge.dashboard.pages import PAGES
from callgauge.dashboard.store_queries import DerivedResults
from tests.dashboard.conftest import opened

FILES = {entry.name: entry.file for entry in PAGES}


@pytest.fixture
def queries(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list to which each query adds the name of its metric."""
    names: list[str] = []

    def note(connection: duckdb.DuckDBPyConnection, name: str, parameters: Mapping[str, Any]) -> pd.DataFrame:
        names.append(name)
        return answer_metric(connection, name, parameters)

    monkeypatch.setattr(store_queries, "answer_metric", note)
    return names


@pytest.fixture
def derived(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list to which each computation of a derived result adds the name of the result."""
    names: list[str] = []
    keep = DerivedResults.keep

    def note(results: DerivedResults, key: tuple[str, ...], result: Any) -> None:
        names.append(key[0])
        keep(results, key, result)

    monkeypatch.setattr(DerivedResults, "keep", note)
    return names


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("page", "first", "filtered"),
    [("overview", 17, 7), ("models", 11, 6), ("compare", 8, 3), ("tools", 7, 5)],
)
def test_a_page_sends_few_queries(page: str, first: int, filtered: int, queries: list[str]) -> None:
    """Raise the limits only for a query that no other query of the page can answer."""
    opened(FILES[page])
    assert len(queries) <= first, queries
    del queries[:]
    app = opened(FILES[page], model="falcon-3")
    assert app.multiselect(key="model").value == ["falcon-3"]
    assert len(queries) <= filtered, queries


@pytest.mark.usefixtures("small")
def test_a_query_is_not_repeated_for_a_filter_that_it_lacks(queries: list[str]) -> None:
    """A turn's tokens belong to no tool. So the metric `costs` has no filter on tools."""
    opened(FILES["overview"])
    assert "costs" in queries
    del queries[:]
    opened(FILES["overview"], tool="read_file")
    assert "slice_views" in queries
    assert "costs" not in queries


@pytest.mark.usefixtures("few_of_many")
def test_a_comparison_of_two_models_reads_the_parts_of_both_at_once(queries: list[str]) -> None:
    opened(FILES["compare"], a_model="egret", b_model="heron")
    assert [queries.count(name) for name in ("strata", "breakdown")] == [1, 1]


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("page", ["overview", "models", "compare", "tools"])
def test_a_rerun_computes_nothing_again(page: str, queries: list[str], derived: list[str]) -> None:
    app = opened(FILES[page])
    assert queries
    assert derived
    del queries[:], derived[:]
    app.run()
    assert not app.exception
    assert not queries
    assert not derived
