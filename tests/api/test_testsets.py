"""Tests that admins get the same test set from the API, the pages, and `callgauge export-tests`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from callgauge.serving.identity import User
from callgauge.serving.settings import TEXTS_VARIABLE
from tests.analysis.store_fixture import publish
from tests.api.conftest import Api, open_api
from tests.trials.stored_failures import RIGHT, store_tables


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Api]:
    publish(tmp_path / "store", store_tables())
    yield from open_api(tmp_path / "store")


def test_a_test_set_is_the_text_of_its_file_with_its_companion(api: Api) -> None:
    answer = api.get("/testsets/inspect", outcome="failed", days="all")
    assert (answer["file"], answer["lines"], answer["left_out"]) == ("inspect_dataset.jsonl", 1, [])
    assert json.loads(answer["content"])["target"] == RIGHT
    assert answer["companion"]["file"] == "inspect_task.py"
    assert "companion" not in api.get("/testsets/k2vv", days="all")


def test_a_test_set_takes_an_admin_and_content(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    assert api.client(User("ci", "viewer", may_write=False)).get("/testsets/k2vv").status_code == 403
    assert api.client().get("/testsets/csv").status_code == 400
    monkeypatch.setenv(TEXTS_VARIABLE, "no")
    hidden = api.client().get("/testsets/k2vv", params={"days": "all"})
    assert (hidden.status_code, "--hide-content" in hidden.text) == (403, True)
    assert "Read a" not in hidden.text
