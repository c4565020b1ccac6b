"""Tests which host names the guard accepts, and which origins may send requests."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from callgauge.serving.guard import ServerGuard
from tests.serving.conftest import DATA, secret_app

NAMES = ("localhost", "gauge.test")


@pytest.mark.parametrize(
    ("host", "origin", "may"),
    [
        ("gauge.test", "https://gauge.test", True),
        ("gauge.test:443", "https://gauge.test", True),  # some proxies add the port
        ("gauge.test:8501", "http://gauge.test:8501", True),
        ("GAUGE.test.", "https://gauge.test", True),
        ("localhost:8501", "https://gauge.test", True),  # the proxy sends its own host name for this server
        ("gauge.test", "https://gauge.test:8443", False),  # another server on the same host
        ("gauge.test:8501", "http://gauge.test:3000", False),
        ("gauge.test:8501", "http://gauge.test", False),
        ("localhost:8501", "https://gauge.test:8443", False),
        ("gauge.test", "http://localhost", False),
        ("gauge.test", "https://other.test", False),
        ("gauge.test", "null", False),
        ("gauge.test", "file://gauge.test", False),
        ("gauge.test", "https://gauge.test:x", False),
    ],
)
def test_pages_of_another_port_are_another_site(host: str, origin: str, may: bool) -> None:
    browser = TestClient(ServerGuard(secret_app, "", NAMES))
    answer = browser.get("/", headers={"host": host, "origin": origin})
    assert (answer.status_code, DATA in answer.text) == ((200, True) if may else (403, False))


@pytest.mark.parametrize(
    ("host", "origin", "may"),
    [
        ("localhost:8501", "https://gauge.test:8443", True),
        ("gauge.test", "https://gauge.test:8443", True),
        ("gauge.test", "https://gauge.test", False),
        # this page came over plain HTTP, so an attacker may have changed it
        ("gauge.test:8443", "http://gauge.test:8443", False),
        ("localhost:8501", "http://localhost:8501", True),
    ],
)
def test_behind_a_proxy_the_address_alone_counts(host: str, origin: str, may: bool) -> None:
    browser = TestClient(ServerGuard(secret_app, "", NAMES, address="https://gauge.test:8443/"))
    assert browser.get("/", headers={"host": host, "origin": origin}).status_code == (200 if may else 403)


@pytest.mark.parametrize(
    ("site", "mode", "may"),
    [
        ("same-origin", "cors", True),
        ("none", "navigate", True),
        ("cross-site", "navigate", True),  # a click on a link in a mail
        ("cross-site", "no-cors", False),  # an image whose address runs a query
        ("same-site", "no-cors", False),  # a page on another port of this machine
    ],
)
def test_pages_of_other_sites_make_no_query_run(site: str, mode: str, may: bool) -> None:
    browser = TestClient(ServerGuard(secret_app, "", NAMES), "http://localhost:8501")
    headers = {"sec-fetch-site": site, "sec-fetch-mode": mode}
    assert browser.get("/api/v1/sql?query=SELECT", headers=headers).status_code == (200 if may else 403)
