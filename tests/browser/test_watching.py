"""Tests `/healthz` and `/metrics` in a real server."""

from __future__ import annotations

import json
import socket
import urllib.request
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext

from callgauge.serving.streamlit_answers import SCRIPTS
from tests.analysis.store_fixture import publish, small_tables
from tests.browser.conftest import App, Served, serving
from tests.browser.test_hosts import FORBIDDEN, NO_METHOD, OK, OTHER_NAME, ask

LARGEST = max(SCRIPTS.glob("*.js"), key=lambda path: path.stat().st_size).name


def test_health_is_told_under_any_name(served: Served) -> None:
    request = urllib.request.Request(f"{served.url}/healthz/live", headers={"Host": "10.0.0.7"})  # noqa: S310
    with urllib.request.urlopen(request, timeout=90) as alive:  # noqa: S310 - our own server
        assert json.load(alive) == {"status": "ok"}
        assert alive.headers["cache-control"] == "no-store"
    # the status is 503 if the last load is too old
    assert ask(served, "/healthz", Host="10.0.0.7").status in (OK, 503)
    assert ask(served, "/healthz", "POST").status == NO_METHOD


def test_metrics_are_not_told_to_everybody(served: Served) -> None:
    answer = ask(served, "/metrics")
    assert answer.status == OK
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert ask(served, "/metrics", Host="evil.example").status == OTHER_NAME
    assert ask(served, "/metrics", Origin="http://evil.example").status == FORBIDDEN
    assert ask(served, "/metrics", X_Forwarded_For="10.0.0.7").status == FORBIDDEN


@pytest.mark.thorough
def test_a_restart_waits_for_no_slow_reader_and_an_open_page_comes_back(
    tmp_path: Path, context: BrowserContext
) -> None:
    publish(tmp_path / "store", small_tables())
    with serving(tmp_path / "store", tmp_path) as first:
        port = int(first.url.rpartition(":")[2])
        app = App(context.new_page(), first).open("/errors")
        shown = app.page.get_by_test_id("stMain").inner_text()
        slow = socket.create_connection(("127.0.0.1", port))
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.sendall(f"GET /static/js/{LARGEST} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        assert slow.recv(1) == b"H"
    app.page.wait_for_function(
        """document.querySelector('[data-testid="stApp"]').dataset.testConnectionState !== "CONNECTED" """
    )
    with serving(tmp_path / "store", tmp_path, port=port):
        app.settle()
        assert app.page.get_by_test_id("stMain").inner_text() == shown
    app.page.close()
    slow.close()
