"""Tests the session attributes in the API."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.analysis.store_fixture import publish
from tests.api.conftest import Api, open_api
from tests.dashboard.sheets import calls


@pytest.fixture(scope="module")
def two_projects(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    folder = tmp_path_factory.mktemp("projects") / "store"
    made = {"acme/shop": calls(60, 40, tool="read"), "acme/web": calls(30, 2, tool="write")}
    shared = {"file_id": 1, "source": "session_history", "day": "2026-11-20", "duplicate": False}
    sessions = [
        {**shared, "session_id": call["session_id"], "project": project}
        for project, several in made.items()
        for call in several
    ]
    publish(folder, {"tool_calls": [*made["acme/shop"], *made["acme/web"]], "sessions": sessions})
    yield from open_api(folder)


def test_rates_calls_and_metrics_are_those_of_the_project(two_projects: Api) -> None:
    (row,) = two_projects.get("/rates", rate="parse_error", project="acme/shop")["rows"]
    assert (row["k"], row["n"]) == (40, 100)
    rows = two_projects.get("/calls", project="acme/web", limit=5)["rows"]
    assert {row["tool"] for row in rows} == {"write"}
    answer = two_projects.get("/metrics/fault_layers", projects="acme/web")
    assert sum(row["calls"] for row in answer["rows"]) == 32


def test_two_projects_are_compared(two_projects: Api) -> None:
    answer = two_projects.get("/comparison", a_project="acme/shop", b_project="acme/web")
    assert (answer["a"]["k"], answer["b"]["k"]) == (40, 2)


def test_projects_are_listed_and_an_unknown_one_is_refused(two_projects: Api) -> None:
    listed = two_projects.get("/choices", dimension="project")["rows"]
    assert {row["value"] for row in listed} == {"acme/shop", "acme/web"}
    answer = two_projects.client().get("/rates", params={"project": "acme/wep"})
    assert answer.status_code == 400
    assert "acme/web" in answer.json()["detail"]
