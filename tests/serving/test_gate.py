"""Tests the sign-in gate. With any method, an unknown user gets no data, and a known user has limits."""

from __future__ import annotations

import asyncio
import json
import shutil
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from callgauge import server
from callgauge.configuration.settings import SignInSettings
from callgauge.monitoring.store_health import StoreHealth
from callgauge.serving import open_pages
from callgauge.serving.clients import ClientAddresses
from callgauge.serving.identity import User, write_headers
from callgauge.serving.request_limits import OpenCount, RateLimit, SlowTurns
from callgauge.serving.sign_in import gate
from callgauge.serving.sign_in import sessions as sessions_module
from callgauge.serving.sign_in.admission import Identity
from callgauge.serving.sign_in.page import FILES
from callgauge.serving.sign_in.sessions import Sessions, Signer
from callgauge.serving.sign_in.setup import SignInSetupError
from callgauge.serving.sign_in.users_file import FILE, UsersFile
from ingest.safe_files import replace_private
from tests.serving.conftest import ADDRESS, DATA, PASSWORD, TOKEN, Site
from tests.serving.test_users import put_quickly

HTML = {"accept": "text/html,*/*"}
# Some of these addresses once gave data to anonymous clients. The others are one example of each kind.
ROUTES = (
    "/",
    "/models",
    "/calls?call=1",
    "/x/sign-in",
    "/sign-inn",
    "/index.html",
    "/media/abc123.csv",
    "/media/../media/abc123.csv",
    "/_stcore/host-config",
    "/_stcore/metrics",
    "/_stcore/upload_file/a/b",
    "/_stcore/agent/openapi.json",
    "/_stcore/bidi-components/x",
    "/_stcore/health/",
    "//_stcore/health",
    "/component/x/index.html",
    "/static/js/index.js",
    "/app/static/inter-latin-ext.woff2",
    "/app/static/favicon.png/x",
    "/oauth2callback",
    "/auth/login",
    "/api/v1/rates",
    "/mcp",
    "/metrics",
    "/SIGN-IN",
    "/sign-in/../models",
    "/%2e%2e/models",
)
# Proxies add headers to a request. This list has one example of each kind of header.
OF_PROXIES = (
    {"x-forwarded-for": "192.0.2.1"},
    {"x-forwarded-proto": "https"},
    {"x-forwarded-host": "gauge.test"},
    {"x-real-ip": "192.0.2.1"},
    {"via": "1.1 squid"},
    {"forwarded": "for=192.0.2.1"},
    {"cf-connecting-ip": "192.0.2.1"},
    {"x-envoy-external-address": "192.0.2.1"},
    {"origin": "https://gauge.test"},
    {"referer": "https://gauge.test/models"},
    {"origin": "null"},
    {"origin": "http://[::1"},
)
OURS = {name.decode(): value.decode() for name, value in write_headers(User("eve", "admin", may_write=True))}
STREAM = f"{ADDRESS.replace('http:', 'ws:')}/_stcore/stream"


@pytest.fixture
def password_site(tmp_path: Path) -> Site:
    users = UsersFile(tmp_path / FILE)
    put_quickly(users, "ann", "admin", PASSWORD)
    put_quickly(users, "bob", "viewer", PASSWORD)
    return Site(SignInSettings(method="password"), tmp_path)


@pytest.fixture
def header_site(tmp_path: Path) -> Site:
    return Site(
        SignInSettings(
            method="header", proxies=("10.0.0.0/24",), domains=("example.com",), admin_groups=("chiefs",)
        ),
        tmp_path,
    )


@pytest.fixture(params=["password", "link", "header", "oidc"])
def site(request: pytest.FixtureRequest) -> Site:
    if request.param != "link":
        found: Site = request.getfixturevalue(f"{request.param}_site")
        return found
    folder = request.getfixturevalue("tmp_path")
    put_quickly(UsersFile(folder / FILE), "ann", "admin", None)
    return Site(SignInSettings(method="link"), folder)


def fill(browser: TestClient, name: str, password: str, then: str = "/") -> Any:
    page = browser.get("/sign-in", params={"next": then}).text
    return browser.post("/sign-in", data=read_hidden(page) | {"name": name, "password": password})


def read_hidden(page: str) -> dict[str, str]:
    import re

    return dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page))


@pytest.mark.parametrize("headers", [{}, HTML, OURS, {"authorization": f"Bearer {TOKEN[:-1]}"}])
def test_nobody_gets_anything_without_a_sign_in(site: Site, headers: dict[str, str]) -> None:
    browser = site.browser()
    for route in ROUTES:
        for method in ("GET", "HEAD", "POST", "PUT", "OPTIONS"):
            answer = browser.request(method, route, headers=headers)
            assert DATA not in answer.text, (method, route)
            assert answer.status_code in (303, 401, 404), (method, route)
    with pytest.raises(WebSocketDisconnect), browser.websocket_connect(STREAM, headers=headers):
        pass


def test_only_what_the_sign_in_needs_is_there_for_all(site: Site) -> None:
    browser = site.browser()
    for place in (*FILES, *gate.HEALTH):
        assert DATA in browser.get(place).text
        assert DATA not in browser.post(place).text
    page = browser.get("/sign-in")
    assert page.status_code == 200
    assert DATA not in page.text
    assert "<script" not in page.text
    for place in (
        "/sign-in/none",
        "/sign-in/oidc/callback?code=1&state=1",
        "/sign-in/link?token=x",
        "/sign-out",
    ):
        assert DATA not in browser.get(place).text
        assert "callgauge_session" not in browser.get(place).headers.get("set-cookie", "")


def test_a_token_opens_what_programs_ask_and_nothing_else(site: Site) -> None:
    browser = site.browser()
    bearer = {"authorization": f"Bearer {TOKEN}"}
    assert "name='ci', role='viewer', may_write=False" in browser.get("/api/v1/rates", headers=bearer).text
    assert DATA in browser.post("/mcp", headers=bearer).text
    for route in ("/", "/models", "/media/abc123.csv"):
        assert DATA not in browser.get(route, headers=bearer).text
    for wrong in ("Bearer ", "Bearer x", f"Basic {TOKEN}", TOKEN):
        answer = browser.get("/api/v1/rates", headers={"authorization": wrong})
        assert (answer.status_code, answer.headers["www-authenticate"][:6]) == (401, "Bearer")
        assert answer.headers["content-type"] == "application/problem+json"
        assert "callgauge token create" in answer.json()["detail"]


def test_the_password_lets_in_and_the_deep_link_stays(password_site: Site) -> None:
    browser = password_site.browser()
    answer = fill(browser, " Ann ", PASSWORD, "/calls?call=7")
    assert (answer.status_code, answer.headers["location"]) == (303, "/calls?call=7")
    assert "User(name='ann', role='admin', may_write=True)" in browser.get("/").text
    with browser.websocket_connect(STREAM, headers=OURS) as socket:
        assert b"name='ann', role='admin'" in socket.receive_bytes()
    assert "name='bob', role='viewer'" in _signed_in(password_site, "bob").get("/", headers=OURS).text


def _signed_in(site: Site, name: str) -> TestClient:
    browser = site.browser()
    assert fill(browser, name, PASSWORD).status_code == 303
    return browser


@pytest.mark.parametrize(
    "then",
    [
        "//else.test/",
        "/\\else.test",
        "\\\\else.test",
        "https://else.test/",
        "javascript:alert(1)",
        "/\t/else.test",
        "/x\r\nset-cookie: a=b",
        "/sign-in/oidc",
        "/sign-out",
        "else.test",
        "/" + "x" * 9_000,
    ],
)
def test_nobody_is_sent_elsewhere(password_site: Site, then: str) -> None:
    browser = password_site.browser()
    form = read_hidden(browser.get("/sign-in").text)
    answer = browser.post("/sign-in", data=form | {"name": "ann", "password": PASSWORD, "next": then})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")


def test_guesses_are_refused_and_slowed_down(password_site: Site) -> None:
    assert fill(password_site.browser("192.0.2.8"), "ann", PASSWORD).status_code == 303
    known_browser = password_site.browser("192.0.2.8")
    assert fill(known_browser, "ann", PASSWORD).status_code == 303
    browser = password_site.browser()
    for name, password in (("ann", PASSWORD + "x"), ("ann", ""), ("nobody", PASSWORD), ("", PASSWORD)):
        answer = fill(browser, name, password)
        assert answer.status_code == 403
        assert "do not fit together" in answer.text
        assert "callgauge_session" not in answer.headers.get("set-cookie", "")
    with patch("callgauge.serving.request_limits.asyncio.sleep") as paused:
        statuses = [fill(browser, "ann", "x" * 12).status_code for _ in range(20)]
        assert statuses == [403] * 20
        assert paused.await_count == 4  # after twenty attempts, each further attempt has to wait
        # a colleague behind the same proxy can still sign in
        assert fill(browser, "bob", PASSWORD).status_code == 303
        assert paused.await_count == 5
        statuses = [fill(browser, "ann", "x" * 12).status_code for _ in range(40)]
        # there were too many attempts for one name, although they came from different addresses
        assert statuses[-1] == 429
    assert fill(password_site.browser("192.0.2.8"), "ann", PASSWORD).status_code == 429
    assert (
        fill(known_browser, "ann", PASSWORD).status_code == 303
    )  # ann has signed in with this browser before, so the limit does not apply to her
    for _ in range(25):  # a team may share one address, so correct passwords do not count as attempts
        assert fill(password_site.browser("192.0.2.9"), "bob", PASSWORD).status_code == 303
    assert '"reason": "too many tries"' in password_site.log()
    assert PASSWORD not in password_site.log()


def test_only_named_proxies_say_where_a_request_comes_from() -> None:
    scope: dict[str, Any] = {"type": "http", "client": ("10.0.0.1", 1)}
    scope["headers"] = [(b"x-forwarded-for", b"203.0.113.9, 192.0.2.1")]
    assert ClientAddresses().find(scope) == "10.0.0.1"
    assert ClientAddresses(("10.0.0.0/8",)).find(scope) == "192.0.2.1"
    assert ClientAddresses(("10.0.0.0/8", "192.0.2.1")).find(scope) == "203.0.113.9"
    scope["headers"] = [(b"x-forwarded-for", b"unknown")]
    assert ClientAddresses(("10.0.0.0/8",)).find(scope) == "10.0.0.1"
    local = {"type": "http", "client": ("127.0.0.1", 1), "headers": [(b"x-forwarded-for", b"192.0.2.1")]}
    assert ClientAddresses(SignInSettings(method="password").trusted_proxies).find(local) == "127.0.0.1"
    assert ClientAddresses(SignInSettings(method="header").trusted_proxies).find(local) == "192.0.2.1"


def test_only_so_many_wait_for_their_slow_turn() -> None:
    async def ask_at_once(number: int) -> list[bool]:
        turns = SlowTurns(0.01, most=3)

        async def ask() -> bool:
            async with turns.take("192.0.2.7") as is_free:
                return is_free

        return list(await asyncio.gather(*(ask() for _ in range(number))))

    assert asyncio.run(ask_at_once(5)) == [True, True, True, False, False]


def test_another_sites_form_signs_nobody_in(password_site: Site) -> None:
    ours, theirs = password_site.browser(), password_site.browser()
    form = read_hidden(theirs.get("/sign-in").text) | {"name": "bob", "password": PASSWORD}
    assert ours.post("/sign-in", data=form).status_code == 403  # the request has no cookie
    ours.get("/sign-in")
    assert ours.post("/sign-in", data=form).status_code == 403  # the request has the cookie of another user
    assert ours.post("/sign-in", data=form | {"form": ""}).status_code == 403
    assert DATA not in ours.get("/").text


def test_a_session_ends_everywhere_when_its_owner_signs_out(password_site: Site) -> None:
    browser = _signed_in(password_site, "ann")
    stolen = password_site.browser(cookies=dict(browser.cookies))
    assert DATA in stolen.get("/").text
    with stolen.websocket_connect(STREAM) as socket:
        socket.receive_bytes()
        answer = browser.get("/sign-out")  # such a request could come from a link on another site
        assert "Sign out?" in answer.text
        assert DATA in stolen.get("/").text
        assert browser.post("/sign-out", data=read_hidden(answer.text)).status_code == 200
        socket.send_bytes(b"more")
        with pytest.raises(WebSocketDisconnect):
            socket.receive_bytes()
    assert DATA not in stolen.get("/").text
    again = Site(SignInSettings(method="password"), password_site.folder)
    assert DATA not in again.browser(cookies=dict(stolen.cookies)).get("/").text
    assert '"event": "sign_out", "user": "ann"' in password_site.log()


def fill_disk(*_: object) -> None:
    raise OSError(28, "No space left on device")


def test_a_sign_out_that_cannot_be_saved_is_an_error_and_is_saved_later(
    password_site: Site, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = _signed_in(password_site, "ann")
    stolen = password_site.browser(cookies=dict(browser.cookies))
    monkeypatch.setattr(sessions_module, "replace_private", fill_disk)
    answer = browser.post("/sign-out", data=read_hidden(browser.get("/sign-out").text))
    assert answer.status_code == 500
    assert "the server could not save it" in answer.text
    assert "Free some space" in capsys.readouterr().err
    assert (
        '"event": "sign_out", "user": "ann", "role": "admin", "client": "192.0.2.7", "reason": "not saved"'
        in (password_site.log())
    )
    assert DATA not in stolen.get("/").text
    sessions = password_site.sessions
    assert "No space left on device" in (sessions.find_problem() or "")
    monkeypatch.setattr(sessions_module, "replace_private", replace_private)
    assert sessions.find_problem() is None
    again = Site(SignInSettings(method="password"), password_site.folder)
    assert DATA not in again.browser(cookies=dict(stolen.cookies)).get("/").text


def test_a_clock_that_was_ahead_does_not_bring_a_signed_out_session_back(tmp_path: Path) -> None:
    now = [1_000.0]
    servers = [Sessions(Signer("x" * 40), 12, tmp_path, lambda: now[0]) for _ in range(2)]
    cookie, other = (servers[0].begin(Identity(name, (), "")) for name in ("ana", "ben"))
    session, other_session = servers[0].read(cookie), servers[0].read(other)
    assert session is not None
    assert other_session is not None
    servers[0].end(session)
    now[0] += 365 * 86_400
    servers[1].end(other_session)
    now[0] = 1_010.0
    assert servers[0].read(cookie) is None
    assert Sessions(Signer("x" * 40), 12, tmp_path, lambda: now[0]).read(cookie) is None


def test_healthz_reports_a_sign_out_that_is_not_saved(
    password_site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = _signed_in(password_site, "ann")
    monkeypatch.setattr(sessions_module, "replace_private", fill_disk)
    browser.post("/sign-out", data=read_hidden(browser.get("/sign-out").text))
    monkeypatch.setattr(server, "_health_watch", FreshStore)
    monkeypatch.setattr(server, "_sessions", password_site.sessions)
    reason = "A sign-out could not be saved; see the log of the server."
    assert server._check_health() == (False, {"limit_seconds": 1, "reason": reason})
    monkeypatch.setattr(sessions_module, "replace_private", replace_private)
    assert server._check_health() == (True, {"limit_seconds": 1})
    assert len(json.loads((password_site.folder / "signed_out.json").read_text())) == 1


class FreshStore:
    def check(self) -> StoreHealth:
        return StoreHealth(None, timedelta(seconds=1), None)


def test_a_sign_out_at_one_server_counts_at_the_other_servers_of_the_store(password_site: Site) -> None:
    other = Site(SignInSettings(method="password"), password_site.folder)
    browsers = [_signed_in(password_site, "ann"), _signed_in(other, "bob")]
    at_other = other.browser(cookies=dict(browsers[0].cookies))
    assert DATA in at_other.get("/").text
    for browser in browsers:
        browser.post("/sign-out", data=read_hidden(browser.get("/sign-out").text))
    assert DATA not in at_other.get("/").text
    again = Site(SignInSettings(method="password"), password_site.folder)
    for browser in browsers:
        assert DATA not in again.browser(cookies=dict(browser.cookies)).get("/").text
    assert len(json.loads((password_site.folder / "signed_out.json").read_text())) == 2


@pytest.mark.parametrize("content", ["{", "[]", '{"a": "x"}', "\ud83d"])
def test_a_damaged_list_of_sign_outs_stops_the_start_of_a_server(password_site: Site, content: str) -> None:
    (password_site.folder / "signed_out.json").write_bytes(content.encode("utf-8", "surrogatepass"))
    with pytest.raises(
        SignInSetupError, match=r"signed_out\.json.*sign_in\.key; everybody then signs in again"
    ):
        Site(SignInSettings(method="password"), password_site.folder)
    assert "cannot be read" in (password_site.sessions.find_problem() or "")


def test_a_sign_in_takes_over_no_cookie_of_the_browser(password_site: Site) -> None:
    """This is session fixation: before the sign-in, an attacker put a session cookie into the browser."""
    planted = dict(_signed_in(password_site, "bob").cookies)["callgauge_session"]
    victim = password_site.browser(cookies={"callgauge_session": planted})
    assert fill(victim, "ann", PASSWORD).status_code == 303
    own = [cookie.value for cookie in victim.cookies.jar if cookie.name == "callgauge_session"]
    assert len({planted, *own}) >= 2
    attacker = password_site.browser(cookies={"callgauge_session": planted})
    assert "name='bob', role='viewer'" in attacker.get("/").text
    first, second = (_signed_in(password_site, "ann").cookies["callgauge_session"] for _ in range(2))
    assert first != second


def test_a_server_whose_store_was_removed_lets_nobody_in(
    password_site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    browser = _signed_in(password_site, "ann")
    assert DATA in browser.get("/").text
    shutil.rmtree(password_site.folder)
    assert DATA not in browser.get("/").text
    answer = fill(password_site.browser(), "ann", PASSWORD)
    assert (answer.status_code, DATA in answer.text) == (403, False)
    assert "access.jsonl cannot be written" in capsys.readouterr().err
    assert password_site.sessions.find_problem() is None, "no sign-out is lost"


def test_who_is_removed_is_out_at_once(password_site: Site) -> None:
    users = UsersFile(password_site.folder / FILE)
    ann, bob = _signed_in(password_site, "ann"), _signed_in(password_site, "bob")
    put_quickly(users, "bob", "admin", None)  # the role of bob changes, so he must sign in again
    assert DATA not in bob.get("/").text
    users.remove("ann")
    assert DATA not in ann.get("/").text


def test_a_damaged_file_of_users_lets_nobody_in(
    password_site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    ann = _signed_in(password_site, "ann")
    with ann.websocket_connect(STREAM) as socket:
        socket.receive_bytes()
        (password_site.folder / FILE).write_text("{}")
        socket.send_bytes(b"more")
        with pytest.raises(WebSocketDisconnect):
            socket.receive_bytes()
    assert DATA not in ann.get("/").text
    assert fill(password_site.browser(), "ann", PASSWORD).status_code == 503
    assert "is damaged" in capsys.readouterr().err


def test_a_cookie_of_another_server_is_none(password_site: Site, tmp_path: Path) -> None:
    cookies = dict(_signed_in(password_site, "ann").cookies)
    (password_site.folder / "sign_in.key").unlink()
    again = Site(SignInSettings(method="password"), password_site.folder)
    assert DATA not in again.browser(cookies=cookies).get("/").text
    for forged in ("", "x", cookies["callgauge_session"][:-1], "." + cookies["callgauge_session"]):
        assert DATA not in password_site.browser(cookies={"callgauge_session": forged}).get("/").text


def test_cookies_are_for_https_where_that_is_spoken(password_site: Site, tmp_path: Path) -> None:
    site = Site(SignInSettings(method="password", address="https://gauge.test"), password_site.folder)
    browser = site.browser()
    browser.base_url = ADDRESS.replace("http:", "https:")
    answer = fill(browser, "ann", PASSWORD)
    assert all(
        "; Secure" in cookie or "Max-Age=0" in cookie for cookie in answer.headers.get_list("set-cookie")
    )
    assert "; Secure" not in fill(password_site.browser(), "ann", PASSWORD).headers["set-cookie"]


def test_a_link_works_once(tmp_path: Path) -> None:
    users = UsersFile(tmp_path / FILE)
    put_quickly(users, "bob", "viewer", None)
    site = Site(SignInSettings(method="link"), tmp_path)
    text = users.make_link("bob")
    browser, late = site.browser(), site.browser()
    for _ in range(2):
        assert "Sign in as bob" in late.get(f"/sign-in/link?token={text}").text
    page = browser.get(f"/sign-in/link?token={text}&next=/models").text
    answer = browser.post("/sign-in/link", data=read_hidden(page))
    assert (answer.status_code, answer.headers["location"]) == (303, "/models")
    assert "name='bob', role='viewer'" in browser.get("/").text
    again = late.post("/sign-in/link", data=read_hidden(page) | read_hidden(late.get("/sign-in").text))
    assert again.status_code == 403
    form = read_hidden(late.get(f"/sign-in/link?token={users.make_link('bob')}").text)
    assert late.post("/sign-in/link", data=form | {"token": text}).status_code == 403
    assert late.get(f"/sign-in/link?token={text}").status_code == 403
    old = users.make_link("bob", hours=-1)
    assert late.get(f"/sign-in/link?token={old}").status_code == 403
    assert str(text) not in (tmp_path / FILE).read_text() + site.log()


def test_a_header_counts_from_the_proxy_alone(header_site: Site) -> None:
    ann = {"x-forwarded-email": "Ann@example.com", "x-forwarded-groups": "team, chiefs"}
    proxy = header_site.browser("10.0.0.9")
    assert "name='ann@example.com', role='admin'" in proxy.get("/", headers=ann).text
    assert "role='viewer'" in proxy.get("/", headers={"x-forwarded-email": "bob@example.com"}).text
    for address in ("10.0.1.9", "127.0.0.1", "192.0.2.7", "::1", ""):
        assert DATA not in header_site.browser(address).get("/", headers=ann).text
        assert (
            DATA
            not in header_site.browser(address).get("/", headers=ann | {"x-forwarded-for": "10.0.0.9"}).text
        )
    two = [("x-forwarded-email", "ann@example.com"), ("x-forwarded-email", "bob@example.com")]
    assert DATA not in proxy.get("/", headers=two).text
    for name in ("", " ", "ann@else.test", "x" * 400 + "@example.com"):
        assert DATA not in proxy.get("/", headers={"x-forwarded-email": name}).text
    refused = proxy.get("/", headers={"x-forwarded-email": "eve@else.test"})
    assert refused.status_code == 403
    assert "eve@else.test may not see this" in refused.text


def test_a_hostile_name_is_text_on_the_page_and_in_the_log(header_site: Site) -> None:
    name = '<script>alert(1)</script>"\u202e@else.test'
    proxy = header_site.browser("10.0.0.9")
    answer = proxy.get("/", headers={"x-forwarded-email": name.replace("\u202e", "")})
    assert answer.status_code == 403
    assert "<script>" not in answer.text


def test_without_sign_in_this_machine_writes_and_the_network_reads(tmp_path: Path) -> None:
    site = Site(SignInSettings(), tmp_path)
    local = site.browser("127.0.0.1", headers={"host": "localhost:8501"})
    assert "role='admin', may_write=True" in local.get("/").text
    assert "role='admin', may_write=True" in local.get("/", headers={"host": "[::1]:8501"}).text
    # The request may come from a proxy that sends no client headers, or from another site whose name points
    # to this machine.
    for host in ("gauge.test", "localhost.gauge.test:8501", "", "[::1"):
        assert "role='viewer', may_write=False" in local.get("/", headers={"host": host}).text
    assert "role='viewer', may_write=False" in local.get("/", headers={"x-forwarded-for": "192.0.2.1"}).text
    # The proxy sends its own host name instead of the name that the browser sent.
    for headers in OF_PROXIES:
        assert "role='viewer', may_write=False" in local.get("/", headers=headers).text, headers
    for origin in ("http://localhost:8501", "http://127.0.0.1:8501", "http://[::1]:8501"):
        headers = {"origin": origin, "referer": f"{origin}/models"}
        assert "role='admin', may_write=True" in local.get("/", headers=headers).text
    named = Site(SignInSettings(proxies=("127.0.0.1",)), tmp_path)
    direct = named.browser("127.0.0.1", headers={"host": "localhost:8501"})
    assert "role='viewer', may_write=False" in direct.get("/").text
    remote = site.browser("192.0.2.7").get("/", headers=OURS).text
    assert "User(name='', role='viewer', may_write=False)" in remote
    assert not list(tmp_path.iterdir())


def test_a_file_is_only_for_whom_it_was_offered(password_site: Site) -> None:
    ann, bob = _signed_in(password_site, "ann"), _signed_in(password_site, "bob")
    assert ann.get("/media/abc123.csv").status_code == 404
    with ann.websocket_connect(STREAM) as socket:
        socket.receive_bytes()
    assert DATA in ann.get("/media/abc123.csv").text
    assert bob.get("/media/abc123.csv").status_code == 404
    assert ann.get("/media/typed123.csv").status_code == 404
    assert '"event": "export", "user": "ann", "role": "admin", "file": "calls.csv"' in password_site.log()
    logged = password_site.log()
    assert ann.get("/media/abc123.csv", headers={"range": "bytes=0-"}).status_code == 206
    assert password_site.log().count('"event": "export"') == logged.count('"event": "export"') + 1


def test_a_viewer_gets_no_file_of_an_admin_that_he_was(header_site: Site) -> None:
    proxy = header_site.browser("10.0.0.9")
    viewer = {"x-forwarded-email": "ann@example.com"}
    admin = viewer | {"x-forwarded-groups": "chiefs"}
    with proxy.websocket_connect(STREAM, headers=admin) as socket:
        socket.receive_bytes()
    assert DATA in proxy.get("/media/abc123.csv", headers=admin).text
    assert proxy.get("/media/abc123.csv", headers=viewer).status_code == 404


def test_a_client_that_asks_too_much_waits(password_site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = _signed_in(password_site, "ann")
    now = [0.0]
    monkeypatch.setattr(password_site.gate, "_requests", RateLimit(5, 60, clock=lambda: now[0]))
    statuses = [browser.get("/").status_code for _ in range(7)]
    assert statuses == [200] * 5 + [429] * 2
    assert browser.get("/static/js/x.js").status_code == 200
    with pytest.raises(WebSocketDisconnect), browser.websocket_connect(STREAM):
        pass
    assert password_site.browser("192.0.2.9").get("/sign-in").status_code == 200
    now[0] = 13.0
    assert browser.get("/").status_code == 200


def test_a_page_that_sends_too_much_is_cut_off(password_site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = _signed_in(password_site, "ann")
    monkeypatch.setattr(gate, "MOST_MESSAGE", 100)
    with browser.websocket_connect(STREAM) as socket:
        socket.receive_bytes()
        socket.send_bytes(b"x" * 101)
        with pytest.raises(WebSocketDisconnect) as closed:
            socket.receive_bytes()
    assert closed.value.code == open_pages._TOO_MUCH
    monkeypatch.setattr(gate, "MOST_MESSAGES", 2)
    with browser.websocket_connect(STREAM) as socket:
        for _ in range(3):
            socket.receive_bytes()
            socket.send_bytes(b"x")
        with pytest.raises(WebSocketDisconnect):
            socket.receive_bytes()
    monkeypatch.setattr(password_site.gate, "_pages", OpenCount(each=1, most=5))
    with (
        browser.websocket_connect(STREAM),
        pytest.raises(WebSocketDisconnect),
        browser.websocket_connect(STREAM),
    ):
        pass
    with browser.websocket_connect(STREAM) as socket:
        assert DATA.encode() in socket.receive_bytes()


def test_nobody_sends_more_than_a_form_needs(password_site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = password_site.browser()
    form = read_hidden(browser.get("/sign-in").text) | {"name": "ann", "password": PASSWORD}
    much = {**form, "more": "x" * gate.MOST_BODY}
    assert browser.post("/sign-in", data=much).status_code == 413
    for length in ("-1", "x", "9" * 30):
        assert browser.post("/sign-in", data=form, headers={"content-length": length}).status_code == 413
    monkeypatch.setattr(gate, "MOST_BODY", 100)
    in_parts = (part.encode() for part in ("name=ann&password=", "x" * 99))
    kind = {"content-type": "application/x-www-form-urlencoded"}
    assert browser.post("/sign-in", content=in_parts, headers=kind).status_code == 403
    many = {f"field{number}": "x" for number in range(50)}
    assert browser.post("/sign-in", data=many).status_code in (403, 413)


def test_limits_forget_the_oldest_of_too_many() -> None:
    limit = RateLimit(1, 60, keys=3, clock=lambda: 0.0)
    assert all(limit.take(key) for key in "abcd")
    assert not limit.take("d")
    assert limit.take("a")  # the limit has forgotten the attempts of this key
    assert len(limit._left) == 3
