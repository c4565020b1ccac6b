"""Tests which data each user gets from a dashboard with sign-in and hidden content.

Some tests check Streamlit's code on which the gate relies.
"""

from __future__ import annotations

import re
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import duckdb
import httpx2
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from callgauge.analysis.texts.url_texts import pack_text
from callgauge.serving.open_pages import _NOT_BINARY
from callgauge.serving.sign_in.users_file import FILE, UsersFile
from callgauge.serving.streamlit_answers import SCRIPTS
from ingest.store.generations import published_generation
from tests.analysis.store_fixture import publish, small_tables
from tests.browser.conftest import Served, serving
from tests.dashboard import hostile_log
from tests.serving.page_traffic import PageTraffic, open_socket, run_page
from tests.serving.test_gate import HTML, ROUTES, read_hidden
from tests.serving.test_users import PASSWORD, put_quickly

ROOT = Path(__file__).parents[2]
# These fields of the hostile log contain arguments, messages, results, errors, or the name of a person.
TEXTS = (
    *("broken", "sent", "more", "CHOSEN", "path", "asks", "prompttext", "snippet", "reason", "nolog", "user"),
    *("probe", "enginesaid", "steptext", "result", "leakedtext", "answer", "turnstatus", "task", "exit"),
    *("says", "command"),
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("signed")
    with pytest.MonkeyPatch.context() as patch:
        # the log has no long texts, because another test covers them
        patch.setattr(hostile_log, "_long_session", list)
        store = hostile_log.publish_hostile(folder)
    users = UsersFile(store / FILE)
    put_quickly(users, "ann", "admin", PASSWORD)
    put_quickly(users, "bob", "viewer", PASSWORD)
    with serving(store, folder, options=("--sign-in", "password", "--no-texts")) as running:
        yield running


@pytest.fixture(scope="module")
def cookies(site: Served) -> dict[str, str]:
    return {name: sign_in(site, name) for name in ("ann", "bob")}


def sign_in(site: Served, name: str) -> str:
    with httpx2.Client(base_url=site.url, timeout=90) as browser:
        form = read_hidden(browser.get("/sign-in").text)
        origin = {"origin": site.url}
        data = form | {"name": name, "password": PASSWORD}
        assert browser.post("/sign-in", data=data, headers={"origin": "http://else.test"}).status_code == 403
        assert browser.post("/sign-in", data=data, headers=origin).status_code == 303
        return f"callgauge_session={browser.cookies['callgauge_session']}"


def test_nobody_gets_a_byte_before_the_sign_in(site: Served) -> None:
    with httpx2.Client(base_url=site.url, timeout=90) as browser:
        for headers in ({}, HTML, {"x-callgauge-user": "ann", "x-callgauge-role": "admin"}):
            for route in ROUTES:
                answer = browser.get(route, headers=headers)
                assert answer.status_code in (303, 401, 404), route
                # the answer has room for the reason and the next step, but not for data
                assert len(answer.content) < 400, route
        for headers in ({}, {"cookie": "callgauge_session=x"}, {"x-callgauge-role": "admin"}):
            with pytest.raises(InvalidStatus) as refused:
                open_socket(site.url, headers)
            assert refused.value.response.status_code == 403
        page = browser.get("/sign-in")
        assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
        assert page.headers["cache-control"] == "no-store"
        for place in re.findall(r'(?:src|srcset|href)="(/app/[^"]+)"|url\("([^"]+)"\)', page.text):
            assert browser.get(place[0] or place[1]).status_code == 200
        assert len(browser.get("/_stcore/health").content) < 10


@pytest.mark.thorough
def test_no_text_comes_over_the_network(site: Served, cookies: dict[str, str]) -> None:
    generation = published_generation(site.store)
    assert generation is not None
    with duckdb.connect(str(generation), read_only=True) as connection:
        call, session = connection.execute(
            "SELECT call_id, session_id FROM tool_calls WHERE contains(raw_arguments, 'zqbroken') LIMIT 1"
        ).fetchone() or ("", "")
    sql = pack_text("SELECT max(raw_arguments), count(*) AS my_own_column FROM tool_calls")
    with open_socket(site.url, {"cookie": cookies["ann"]}) as socket:
        first = run_page(socket)
        names = first.find_page_names()
        assert len(names) > 12
        opened = [(name, "") for name in names] + [
            ("calls", urlencode({"call": call})),
            ("sessions", urlencode({"session": session})),
            (
                "calls",
                urlencode({"q": f"{hostile_log.MARK}broke"}),
            ),  # the page repeats this text in its search box
            ("sql", urlencode({"sql": sql})),
        ]
        traffic_of = {(name, query): run_page(socket, name, query, names[name]) for name, query in opened}
    everything = b"".join(traffic.data for traffic in (first, *traffic_of.values()))
    for name in ("model", "tool", "session", "provider"):
        assert f"{hostile_log.MARK}{name}".encode() in everything
    for (name, query), traffic in traffic_of.items():
        assert not crashed(traffic), (name, query)
        for field in TEXTS:
            assert f"{hostile_log.MARK}{field} ".encode() not in traffic.data, (name, query, field)
    assert str(ROOT).encode() not in everything
    assert b"my_own_column" in traffic_of["sql", urlencode({"sql": sql})].data


def crashed(traffic: PageTraffic) -> bool:
    return any(
        message.WhichOneof("type") == "delta"
        and message.delta.WhichOneof("type") == "new_element"
        and message.delta.new_element.WhichOneof("type") == "exception"
        for message in traffic.messages
    )


@pytest.mark.thorough
def test_a_viewer_sees_pages_and_asks_no_sql(site: Served, cookies: dict[str, str]) -> None:
    with open_socket(site.url, {"cookie": cookies["bob"], "x-callgauge-role": "admin"}) as socket:
        names = run_page(socket).find_page_names()
        traffic = run_page(socket, "sql", urlencode({"start": "query:long_arguments"}), names["sql"])
        models = run_page(socket, "models", "", names["models"])
    assert b"SQL is for admins" in traffic.data
    assert b"sql_editor" not in traffic.data
    assert f"{hostile_log.MARK}model".encode() in models.data
    assert b"bob" in models.data
    log = (site.store / "access.jsonl").read_text()
    assert '"event": "page", "user": "bob", "role": "viewer", "page": "sql"' in log


@pytest.mark.thorough
def test_streamlit_takes_the_user_from_the_gate_for_whom_it_resumes(
    site: Served, cookies: dict[str, str]
) -> None:
    """A user who sends the session id of another user gets a new session."""
    with open_socket(site.url, {"cookie": cookies["ann"]}) as socket:
        new = next(message for message in run_page(socket).messages if message.HasField("new_session"))
        session = new.new_session.initialize.session_id
        for name, is_resumed in (("bob", False), ("ann", True)):
            protocols = f"streamlit, x, {session}"
            with open_socket(site.url, {"cookie": cookies[name]}, protocols) as other:
                resumed = run_page(other)
            opened = next(message for message in resumed.messages if message.HasField("new_session"))
            assert (opened.new_session.initialize.session_id == session) is is_resumed
            assert name.encode() in resumed.data
            assert new.new_session.main_script_path == "app.py"


def leave_early(url: str, method: str, path: str, size: int) -> None:
    """Announce more data than is sent, and then reset the connection."""
    address = urlsplit(url)
    request = (
        f"{method} {path} HTTP/1.1\r\nHost: {address.netloc}\r\nAccept: text/html\r\n"
        f"Accept-Encoding: gzip\r\nContent-Length: {size}\r\n\r\n"
    )
    with socket.create_connection((address.hostname, address.port)) as connection:
        connection.sendall(request.encode() + b"x" * (size // 2))
        time.sleep(0.02)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


@pytest.mark.thorough
def test_a_browser_that_leaves_early_leaves_no_error_in_the_log(tmp_path: Path) -> None:
    publish(tmp_path / "store", small_tables())
    script = f"/static/js/{next(SCRIPTS.glob('Button.*.js')).name}"
    with serving(tmp_path / "store", tmp_path) as running:
        for path in ("/", script, "/_stcore/upload_file/a/b", "/api/v1/calls"):
            for method in ("GET", "POST", "PUT"):
                for size in (0, 5_000):
                    leave_early(running.url, method, path, size)
        with open_socket(running.url, {}) as page:
            page.send("a frame of text")
            with suppress(ConnectionClosed):
                while True:
                    page.recv(10)
            assert page.close_code == _NOT_BINARY
        time.sleep(1)


@pytest.mark.thorough
def test_a_page_that_finds_no_user_shows_nothing(site: Served, tmp_path: Path) -> None:
    from streamlit.testing.v1 import AppTest

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CALLGAUGE_STORE", str(site.store))
        patch.setenv("CALLGAUGE_SIGN_IN", '{"method": "password"}')
        page = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
    assert [error.value for error in page.error] == [
        "The server could not tell who you are, so it shows nothing. Sign in again."
    ]
    assert not page.title
    assert not page.markdown
