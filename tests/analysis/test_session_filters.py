"""Tests filters by session attributes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from callgauge.analysis.metrics import MetricError, answer_metric, metrics
from callgauge.analysis.metrics.published_store import Connection, open_generation, published_generation
from callgauge.analysis.metrics.session_filters import SESSION_FILTERS
from ingest.pipeline.load import load
from tests.analysis.store_fixture import publish, small_tables
from tests.analysis.test_hosts import ASKED, PAGE
from tests.store.night import session
from tests.store.sealed_months import seal_everything

IDS = ("call_id", "session_id", "turn_id", "chain_id")
PROJECTS = ("acme/shop", "a,b", None)
FILTERED = sorted(name for name, metric in metrics().items() if "sources" in metric.parameters)
# These metrics count files. A file belongs to no session.
WHOLE = {"files", "kept_since", "rejected_files", "rejects", "rejects_by_code"}
MADE = {"changed"}  # the test store has sums for this metric, but no matching rows


def copies(*projects: str | None) -> dict[str, Any]:
    """Return the tables of a store that contains the rows of the small store once per project, with different
    ids.
    """
    small = small_tables()
    tables: dict[str, Any] = {**small}
    for table in ("tool_calls", "turns", "sessions", "diagnostics"):
        tables[table] = [
            {
                **row,
                **{key: f"{row[key]}-{PROJECTS.index(project)}" for key in IDS if row.get(key)},
                **({"project": project, "branch": "main"} if table == "sessions" else {}),
            }
            for project in projects
            for row in small[table]
        ]
    return tables


def open_store(folder: Path, *projects: str | None) -> Iterator[Connection]:
    publish(folder, copies(*projects))
    with open_generation(published_generation(str(folder)), texts=True) as connection:
        yield connection


@pytest.fixture(scope="module")
def every(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    yield from open_store(tmp_path_factory.mktemp("every") / "store", *PROJECTS)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    yield from open_store(tmp_path_factory.mktemp("alone") / "store", "acme/shop")


def rows_of(connection: Connection, name: str, parameters: Mapping[str, Any]) -> list[list[str]]:
    rows = answer_metric(connection, name, {**PAGE, **ASKED.get(name, {}), **parameters})
    return sorted(rows.astype(object).map(str).values.tolist())


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize("name", sorted(set(FILTERED) - MADE))
def test_a_project_answers_as_a_store_that_holds_it_alone(
    every: Connection, alone: Connection, name: str
) -> None:
    assert rows_of(every, name, {"projects": ["acme/shop"], "branches": ["main"]}) == rows_of(alone, name, {})


@pytest.mark.thorough(quick=6)
@pytest.mark.parametrize("name", sorted(set(FILTERED) - WHOLE))
def test_a_project_that_no_log_names_counts_nothing(every: Connection, name: str) -> None:
    rows = answer_metric(every, name, {**PAGE, **ASKED.get(name, {}), "projects": ["other"]})
    counts = {
        value
        for column in rows.columns
        if not column.startswith("group_")
        for value in rows[column]
        if isinstance(value, int) and not isinstance(value, bool)
    }
    assert counts <= {0}, rows


def test_days_narrow_the_sums_that_are_made_anew(every: Connection) -> None:
    parameters = {"rates": ["parse_error"], "projects": ["a,b"]}
    all_days = answer_metric(every, "slices", parameters)
    none = answer_metric(every, "slices", {**parameters, "to_day": "2026-11-01"})
    assert (all_days.total.sum() > 0, none.empty) == (True, True)


def test_sessions_without_a_project_are_unknown(every: Connection) -> None:
    rows = answer_metric(every, "choices", {})
    assert set(rows[rows.dimension == "project"].value) == {"acme/shop", "a,b", "unknown"}
    calls = answer_metric(every, "calls", {**PAGE, "projects": ["unknown"]})
    assert len(calls) == 44


def test_two_slices_of_different_projects_are_not_counted_together(every: Connection) -> None:
    with pytest.raises(MetricError, match="different projects"):
        answer_metric(every, "shared_tasks", {"a_projects": ["a,b"], "b_projects": ["acme/shop"]})
    answer_metric(every, "shared_tasks", {"a_projects": ["a,b"], "b_projects": ["a,b"]})


@pytest.mark.thorough
def test_a_store_without_texts_and_in_segments_answers_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seal_everything(monkeypatch)
    logs, store = tmp_path / "logs", tmp_path / "store"
    logs.mkdir()
    for name, project in (("a", "acme/shop"), ("b", "acme/web")):
        records = [json.loads(line) for line in session(name, raw="]").splitlines()]
        records[0]["meta"]["project"] = project
        (logs / f"{name}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    load([logs], store)
    for texts in (True, False):
        with open_generation(published_generation(str(store)), texts=texts) as connection:
            parameters = {"rates": ["parse_error", "retried"], "by": "tool"}
            narrowed = answer_metric(connection, "slices", {**parameters, "projects": ["acme/shop"]})
            whole = answer_metric(connection, "slices", parameters)
            assert (2 * narrowed.n).tolist() == whole.n.tolist()
            assert (
                answer_metric(connection, "signatures", {**PAGE, "projects": ["acme/shop"]}).calls.sum() == 3
            )


def test_every_filter_is_a_column_of_sessions(every: Connection) -> None:
    columns = {name for (name,) in every.execute("SELECT column_name FROM (DESCRIBE sessions)").fetchall()}
    assert set(SESSION_FILTERS.values()) <= columns
