"""Tests the users file, the sessions, the access log, and the settings of a server."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from argon2 import PasswordHasher
from typer.testing import CliRunner

from callgauge.cli.main import app
from callgauge.configuration.settings import SignInSettings
from callgauge.serving.access_log import AccessLog
from callgauge.serving.identity import Role, User
from callgauge.serving.settings import SIGN_IN_VARIABLE, sign_in_from_environment, write_sign_in
from callgauge.serving.sign_in import users_file
from callgauge.serving.sign_in.admission import Identity
from callgauge.serving.sign_in.sessions import SecretError, Sessions, Signer, read_secret
from callgauge.serving.sign_in.setup import SignInSetupError, check_sign_in
from callgauge.serving.sign_in.users_file import FILE, UsersFile, UsersFileError

PASSWORD = "correct horse battery"  # noqa: S105 - of nobody


def put_quickly(users: UsersFile, name: str, role: Role, password: str | None) -> None:
    """Add a user with a fake password hash, because real hashes take long to compute."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(users_file, "_hasher", lambda: PasswordHasher(1, 8, 1))
        users.put(name, role, password)


def run(*words: object, typed: str = "") -> tuple[int, str]:
    result = CliRunner().invoke(app, list(map(str, words)), input=typed)
    return result.exit_code, result.output


def test_users_are_added_changed_listed_and_removed(tmp_path: Path) -> None:
    where = ("--store", tmp_path)
    assert run("users", "list", *where)[0] == 0
    code, text = run("users", "add", "Ann@Example.com", "--admin", *where, typed=f"{PASSWORD}\n")
    assert (code, "ann@example.com may sign in as an admin" in text) == (0, True), text
    assert run("users", "add", "bob", "--without-password", *where)[0] == 0
    path = tmp_path / FILE
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert PASSWORD not in path.read_text()
    assert "$argon2id$" in path.read_text()
    assert run("users", "list", *where)[1].split() == [
        *("ann@example.com", "admin", "password"),
        *("bob", "viewer", "links", "only"),
    ]
    users = UsersFile(path)
    user = users.check_password("ANN@example.com", PASSWORD)
    assert user is not None
    assert (user.name, user.role) == ("ann@example.com", "admin")
    assert users.check_password("bob", "") is None
    assert users.check_password("nobody", PASSWORD) is None
    before = users.find("ann@example.com")
    put_quickly(users, "ann@example.com", "viewer", None)
    after = users.find("ann@example.com")
    assert before is not None
    assert after is not None
    assert (after.role, after.password, after.stamp != before.stamp) == ("viewer", before.password, True)
    code, text = run("users", "link", "bob", "--address", "https://gauge.test/", *where)
    assert text.startswith("https://gauge.test/sign-in/link?token=")
    assert run("users", "remove", "bob", *where)[0] == 0
    assert users.read_link(text.split("token=")[1].split()[0]) is None
    assert run("users", "remove", "bob", *where)[0] == 1
    assert run("users", "link", "bob", *where)[0] == 1


@pytest.mark.parametrize("name", ["", " ", "x" * 101, "a\nb", "a\u202eb", "\x1b[31m"])
def test_a_name_that_cannot_be_seen_is_refused(tmp_path: Path, name: str) -> None:
    code, text = run("users", "add", "--without-password", "--store", tmp_path, "--", name)
    assert code == 2
    assert "invalid user name" in text
    assert not (tmp_path / FILE).exists()


def test_a_short_password_is_refused(tmp_path: Path) -> None:
    code, text = run("users", "add", "ann", "--store", tmp_path, typed="short\n")
    assert (code, "12 to 1000 characters" in text) == (2, True)
    assert run("users", "add", "ann")[0] == 2
    assert run("users", "add", "ann", "--store", tmp_path / "none")[0] == 2


def test_a_file_that_others_read_or_that_is_damaged_lets_nobody_in(tmp_path: Path) -> None:
    users = UsersFile(tmp_path / FILE)
    put_quickly(users, "ann", "admin", PASSWORD)
    users.path.chmod(0o644)
    with pytest.raises(UsersFileError, match="chmod 600"):
        UsersFile(users.path).find("ann")
    users.path.chmod(0o600)
    whole = users.path.read_text()
    for damaged in (
        "",
        "{",
        "[]",
        whole[:-9],
        whole.replace('"admin"', '"root"'),
        '{"version": 2}',
        "\udcff",
    ):
        users.path.write_bytes(damaged.encode("utf-8", "surrogateescape"))
        with pytest.raises(UsersFileError, match="is damaged"):
            UsersFile(users.path).find("ann")
        with pytest.raises(UsersFileError):
            users.put("bob", "viewer", None)
        assert users.path.read_bytes() == damaged.encode("utf-8", "surrogateescape")


def test_a_session_is_ours_and_ends(tmp_path: Path) -> None:
    now = [1_800_000_000.0]
    signer = Signer("s" * 32)
    sessions = Sessions(signer, 12, tmp_path, clock=lambda: now[0])
    cookie = sessions.begin(Identity("ann", ("chiefs",), "1"))
    session = sessions.read(cookie)
    assert session is not None
    assert session.identity == Identity("ann", ("chiefs",), "1")
    assert sessions.read(sessions.begin(Identity("ann"))) != session
    other = Sessions(Signer("t" * 32), 12, tmp_path)
    for forged in ("", "x", cookie[:-1], cookie + "x", signer.sign("form", {"id": "1"})):
        assert sessions.read(forged) is None
    assert other.read(cookie) is None
    damaged: tuple[object, ...] = ([], {}, {"id": 1, "name": "ann"}, None, {**vars_of(session), "until": "x"})
    for content in damaged:
        assert sessions.read(signer.sign("session", content)) is None
    now[0] += 12 * 3600 + 1
    assert sessions.read(cookie) is None


def vars_of(session: object) -> dict[str, object]:
    return {"id": "1", "name": "ann", "groups": [], "stamp": "", "session": str(session)}


def test_the_secret_is_the_variables_or_a_file_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = read_secret("GAUGE_SECRET", tmp_path)
    assert len(made) == 64
    assert read_secret("GAUGE_SECRET", tmp_path) == made
    path = tmp_path / "sign_in.key"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o640)
    with pytest.raises(SecretError, match="chmod 600"):
        read_secret("GAUGE_SECRET", tmp_path)
    path.chmod(0o600)
    path.write_text("")
    with pytest.raises(SecretError, match="damaged"):
        read_secret("GAUGE_SECRET", tmp_path)
    monkeypatch.setenv("GAUGE_SECRET", "short")
    with pytest.raises(SecretError, match="less than 32"):
        read_secret("GAUGE_SECRET", tmp_path)
    monkeypatch.setenv("GAUGE_SECRET", "x" * 32)
    assert read_secret("GAUGE_SECRET", tmp_path) == "x" * 32


def test_the_log_is_bounded_escaped_and_stops_nobody(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = AccessLog(tmp_path, most_bytes=2_000)
    user = User('\x1b]8;;http://evil\x07"\n{"at": "forged"}\u202e' + "x" * 5_000, "viewer", False)
    for number in range(60):
        log.write("page", user, page="calls", number=number, call=None)
    files = sorted(tmp_path.glob("*.jsonl"))
    assert [path.name for path in files] == [*(f"access.{n}.jsonl" for n in range(1, 5)), "access.jsonl"]
    assert all(path.stat().st_size <= 2_000 and stat.S_IMODE(path.stat().st_mode) == 0o600 for path in files)
    lines = [line for path in files for line in path.read_text("ascii").splitlines()]
    assert all(json.loads(line)["event"] == "page" for line in lines)
    assert not any(ord(char) < 32 for line in lines for char in line)
    newest = json.loads((tmp_path / "access.jsonl").read_text().splitlines()[-1])
    assert (newest["number"], newest["user"][:3], len(newest["user"])) == (59, "\x1b]8", 500)
    gone = AccessLog(tmp_path / "gone")
    gone.write("page")
    gone.write("page")
    assert capsys.readouterr().err.count("cannot be written") == 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (SignInSettings(method="oidc"), "needs issuer"),
        (SignInSettings(method="oidc", issuer="http://login.test", client_id="x"), "not an https"),
        (SignInSettings(method="oidc", issuer="https://login.test", client_id="x"), "SECRET_OF_TESTS"),
        (SignInSettings(method="header", proxies=()), "needs proxies"),
        (SignInSettings(method="header", proxies=("proxy.test",)), "proxies"),
        (SignInSettings(method="password"), "callgauge users add"),
        (SignInSettings(method="link"), "callgauge users add"),
    ],
)
def test_a_server_that_would_let_in_nobody_or_anybody_does_not_start(
    tmp_path: Path, settings: SignInSettings, message: str
) -> None:
    from msgspec.structs import replace

    with pytest.raises(SignInSetupError, match=message):
        check_sign_in(replace(settings, client_secret_variable="SECRET_OF_TESTS"), tmp_path)  # noqa: S106


def test_oidc_for_anybody_does_not_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALLGAUGE_CLIENT_SECRET", "x")
    open_to_all = SignInSettings(method="oidc", issuer="https://login.test", client_id="x")
    with pytest.raises(SignInSetupError, match="names nobody"):
        check_sign_in(open_to_all, tmp_path)


def test_the_settings_come_through_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = SignInSettings(method="header", domains=("a.test",), password_file=Path("/x/users"), hours=3.5)
    monkeypatch.setenv(SIGN_IN_VARIABLE, write_sign_in(settings))
    assert sign_in_from_environment() == settings
    monkeypatch.setenv(SIGN_IN_VARIABLE, '{"methode": "none"}')
    with pytest.raises(TypeError):
        sign_in_from_environment()
    monkeypatch.delenv(SIGN_IN_VARIABLE)
    assert sign_in_from_environment().method == "none"


def test_serve_takes_the_configuration_and_options_win(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gauge").mkdir()
    put_quickly(UsersFile(tmp_path / "gauge" / FILE), "ann", "admin", PASSWORD)
    config = tmp_path / "callgauge.toml"
    config.write_text(
        'store = "gauge"\n[serve]\nport = 1\nhosts = "gauge.test"\ntexts = false\n'
        '[sign_in]\nmethod = "password"\n'
    )
    started: list[dict[str, str]] = []
    monkeypatch.setattr(os, "execve", lambda _program, _words, environment: started.append(environment))
    code, text = run("serve", "--config", config, "--port", 58_731, "--address", "0.0.0.0")  # noqa: S104
    assert code == 0, text
    assert "no sign-in" not in text
    environment = started[0]
    assert environment["CALLGAUGE_STORE"] == str(tmp_path / "gauge")
    assert environment["CALLGAUGE_TEXTS"] == "no"
    assert "gauge.test" in environment["CALLGAUGE_HOSTS"]
    assert environment["FORWARDED_ALLOW_IPS"] == ""
    assert json.loads(environment[SIGN_IN_VARIABLE])["method"] == "password"
    (tmp_path / "gauge" / FILE).unlink()
    code, text = run("serve", "--config", config, "--port", 58_731)
    assert (code, "callgauge users add" in text) == (2, True)
    config.write_text('store = "gauge"\n[sign_in]\nmethod = "magic"\n')
    assert run("serve", "--config", config)[0] == 2
    assert run("serve")[0] == 2
