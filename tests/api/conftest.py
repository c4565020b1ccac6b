"""Provides API clients for the small store and for the sample."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest
from starlette.testclient import TestClient

from callgauge.analysis.metrics.published_store import open_generation, published_generation
from callgauge.api.questions.store_access import SharedStore
from callgauge.api.routes import make_application
from callgauge.serving.identity import LOCAL_USER, User, write_headers
from ingest.pipeline.load import load
from tests.analysis.store_fixture import publish, small_tables

SAMPLES = Path(__file__).parents[2] / "sample_data" / "logs"


@dataclass(slots=True)
class Api:
    """The API of a store. `connection` keeps the store file open between requests."""

    store: SharedStore
    connection: duckdb.DuckDBPyConnection

    def client(self, user: User | None = LOCAL_USER) -> TestClient:
        return make_client(self.store, user)

    def get(self, path: str, **query: Any) -> Any:
        answer = self.client().get(path, params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()


def make_client(store: SharedStore, user: User | None = LOCAL_USER) -> TestClient:
    """Return a client whose requests come from this user. If `user` is None, the requests have no user."""
    headers: dict[str, str] = {}
    if user is not None:
        headers = {name.decode(): value.decode() for name, value in write_headers(user)}
    return TestClient(make_application(store), headers=headers)


def open_api(folder: Path) -> Iterator[Api]:
    connection = open_generation(published_generation(str(folder)), texts=True)
    yield Api(SharedStore(folder), connection)
    connection.close()


@pytest.fixture(scope="package")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    folder = tmp_path_factory.mktemp("api") / "store"
    publish(folder, small_tables())
    yield from open_api(folder)


@pytest.fixture(scope="package")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    folder = tmp_path_factory.mktemp("api") / "sample"
    load([SAMPLES], folder)
    yield from open_api(folder)
