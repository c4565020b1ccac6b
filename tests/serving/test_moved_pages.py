"""Tests that the address of a renamed or merged page redirects to the current page."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from callgauge.dashboard.pages import PAGES
from callgauge.serving.moved_pages import MOVED, MovedPages, find_page

BROWSER = {"accept": "text/html"}


@pytest.fixture
def client() -> TestClient:
    return TestClient(Starlette(middleware=[Middleware(MovedPages)]), follow_redirects=False)


@pytest.mark.parametrize("name", MOVED)
def test_an_old_address_leads_to_a_page_that_is_listed_and_keeps_its_query(
    client: TestClient, name: str
) -> None:
    moved = MOVED[name]
    page = next(entry for entry in PAGES if entry.name == moved.to)
    assert page.listed
    answer = client.get(f"/{name}?model=a%26b&model=c", headers=BROWSER)
    assert answer.status_code == 308
    to, query = answer.headers["location"].split("?")
    assert to == moved.to
    assert query.startswith("model=a%26b&model=c")
    assert set(moved.added) <= set(page.url_keys.dropped) | set(page.url_keys.kept)


def test_an_address_below_a_proxy_stays_below_it(client: TestClient) -> None:
    assert client.get("/team/memory", headers=BROWSER).headers["location"] == "decisions"


def test_other_addresses_and_programs_are_not_redirected(client: TestClient) -> None:
    assert client.get("/memory").status_code == 404
    assert client.get("/models", headers=BROWSER).status_code == 404
    assert find_page("models", [("model", "a")]) == ("models", [("model", "a")])


def test_a_link_to_the_matrix_opens_the_view_of_models_with_the_same_cells() -> None:
    assert find_page("matrix", [("rate", "mended")]) == ("models", [("rate", "mended"), ("view", "prompt")])
    assert find_page("matrix", [("cells", "model.tool")]) == ("models", [("view", "tool")])
    assert find_page("matrix", [("cells", "model.provider")]) == ("models", [("view", "host")])
