"""Tests which requests the server answers, and the headers of its responses."""

from __future__ import annotations

from http.client import HTTPConnection, HTTPResponse

import pytest

from tests.browser.conftest import App, Served

SWITCHING, OK, FORBIDDEN, NO_ROUTE, NO_METHOD, OTHER_NAME = 101, 200, 403, 404, 405, 421


def ask(served: Served, path: str, method: str = "GET", **headers: str) -> HTTPResponse:
    port = int(served.url.rpartition(":")[2])
    connection = HTTPConnection("127.0.0.1", port, timeout=90)
    written = {name.replace("_", "-"): value.replace("PORT", str(port)) for name, value in headers.items()}
    connection.request(method, path, headers={"Host": f"127.0.0.1:{port}", **written})
    answer = connection.getresponse()
    if answer.status != SWITCHING:
        answer.read()
    connection.close()
    return answer


@pytest.mark.parametrize(
    ("host", "origin", "expected"),
    [
        ("localhost:PORT", "http://localhost:PORT", SWITCHING),
        ("127.0.0.1:PORT", "http://127.0.0.1:PORT", SWITCHING),
        ("localhost:9000", "http://localhost:9000", SWITCHING),  # a request through an SSH tunnel
        ("evil.example:PORT", "http://evil.example:PORT", FORBIDDEN),
        ("localhost:PORT", "http://localhost:9", FORBIDDEN),  # a page of another server on this machine
        ("localhost:PORT", "http://evil.example", FORBIDDEN),
        ("localhost:PORT", "null", FORBIDDEN),
        ("user@localhost:PORT", "http://localhost:PORT", FORBIDDEN),
    ],
)
def test_only_our_own_pages_get_data(served: Served, host: str, origin: str, expected: int) -> None:
    answer = ask(
        served,
        "/_stcore/stream",
        Host=host,
        Origin=origin,
        Connection="Upgrade",
        Upgrade="websocket",
        Sec_WebSocket_Version="13",
        Sec_WebSocket_Key="dGhlIHNhbXBsZSBub25jZQ==",
    )
    assert answer.status == expected


@pytest.mark.parametrize("path", ["/", "/models", "/media/x.csv", "/static/js/x.js", "/_stcore/health"])
def test_no_route_answers_under_another_name(served: Served, path: str) -> None:
    assert ask(served, path, Host="evil.example").status == OTHER_NAME
    assert ask(served, path, Origin="http://evil.example").status == FORBIDDEN


def test_what_no_page_asks_for_is_closed(served: Served) -> None:
    for path in ("metrics", "agent/openapi.json", "agent/mcp", "script-health-check", "upload_file/a/b"):
        assert ask(served, f"/_stcore/{path}").status == NO_ROUTE
        assert ask(served, f"/x/_stcore/{path}").status == NO_ROUTE
    for method in ("PUT", "POST", "DELETE", "PATCH"):
        assert ask(served, "/_stcore/upload_file/a/b", method).status == NO_METHOD
        assert ask(served, "/", method).status == NO_METHOD


def test_every_answer_has_the_headers_of_a_careful_site(served: Served) -> None:
    for path in (
        "/",
        "/_stcore/health",
        "/_stcore/metrics",
        "/media/none.csv",
        "/app/static/inter-latin.woff2",
    ):
        answer = ask(served, path)
        policy = answer.headers["content-security-policy"]
        assert "frame-ancestors 'none'" in policy
        assert "unsafe-eval'" not in policy.replace("wasm-unsafe-eval", "")
        script = next(part for part in policy.split("; ") if part.startswith("script-src"))
        assert "unsafe-inline" not in script
        assert "sha256-" in script
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["referrer-policy"] == "same-origin"
        assert "access-control-allow-origin" not in answer.headers
        if not path.startswith("/app/static"):
            assert answer.headers["cache-control"] == "no-store"


def test_another_site_cannot_show_it_in_a_frame(app: App, served: Served) -> None:
    app.page.goto("about:blank")
    app.page.set_content(f'<iframe src="{served.url}/" width="900" height="600"></iframe>')
    app.page.wait_for_timeout(2000)
    assert app.page.frames[1].url.startswith("chrome-error://")
    app.problems.clear()
