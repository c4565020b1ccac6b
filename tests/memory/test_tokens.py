"""Tests tokens. A token is shown once, stored as a hash, and valid until it expires or is revoked."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from callgauge.cli.main import app
from callgauge.memory.memory_file import FILE
from callgauge.memory.tokens import PREFIX, TokenList, TokenProblemError, match_token
from callgauge.serving.identity import User
from callgauge.serving.tokens import TokenFinder, find_token

SOON = datetime(2100, 1, 1, tzinfo=UTC)


def test_commands_refuse_a_folder_that_is_no_store(tmp_path: Path) -> None:
    for words in (["create", "ci"], ["list"], ["revoke", "ci"]):
        result = CliRunner().invoke(app, ["token", *words, "--store", str(tmp_path / "gone")])
        assert (result.exit_code, "is not a store; name the folder" in result.stderr) == (2, True), words


def test_a_token_is_kept_as_a_hash_only(tmp_path: Path) -> None:
    text = TokenList(tmp_path).create("ci", "viewer", SOON, "Ada")
    (kept,) = TokenList(tmp_path).read()
    assert (kept.name, kept.role, kept.expires, kept.by) == ("ci", "viewer", SOON, "Ada")
    assert text.startswith(PREFIX)
    assert len(text) > 40
    assert text.encode() not in (tmp_path / FILE).read_bytes()
    assert text.removeprefix(PREFIX).encode() not in (tmp_path / FILE).read_bytes()


def test_a_token_finds_its_user_who_may_not_write(tmp_path: Path) -> None:
    tokens = TokenList(tmp_path)
    viewer, admin = tokens.create("ci", "viewer", None), tokens.create("ops", "admin", SOON)
    finder = TokenFinder(tmp_path)
    assert finder.find(viewer) == User("ci", "viewer", may_write=False)
    assert finder.find(admin) == User("ops", "admin", may_write=False)
    for other in ("", viewer[:-1], viewer + "x", viewer.removeprefix(PREFIX), "Bearer", "\ud800", PREFIX):
        assert finder.find(other) is None


def test_a_token_ends_when_it_expires_and_soon_after_it_is_revoked(tmp_path: Path) -> None:
    now = 0.0
    tokens, finder = TokenList(tmp_path), TokenFinder(tmp_path, clock=lambda: now)
    text = tokens.create("ci", "viewer", SOON)
    assert finder.find(text)
    assert match_token(text, tokens.read(), SOON - timedelta(seconds=1))
    assert match_token(text, tokens.read(), SOON) is None
    assert tokens.revoke("ci")
    assert not tokens.revoke("ci")
    now = 2.0
    assert finder.find(text) is None


def test_nobody_gets_in_while_the_memory_cannot_be_read(tmp_path: Path) -> None:
    text = TokenList(tmp_path).create("ci", "viewer", None)
    (tmp_path / FILE).write_bytes(b"no database at all, but long enough to look like one" * 10)
    assert TokenFinder(tmp_path).find(text) is None


def test_the_gate_asks_the_served_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = TokenList(tmp_path).create("ci", "viewer", None)
    monkeypatch.delenv("CALLGAUGE_STORE", raising=False)
    assert find_token(text) is None
    monkeypatch.setenv("CALLGAUGE_STORE", str(tmp_path))
    assert find_token(text) == User("ci", "viewer", may_write=False)


def test_bad_names_roles_and_times_are_refused(tmp_path: Path) -> None:
    tokens = TokenList(tmp_path)
    tokens.create("ci", "viewer", None)
    for name, role, expires, words in (
        ("ci", "viewer", None, "already"),
        ("", "viewer", None, "not a valid token name"),
        ("a\nb", "viewer", None, "not a valid token name"),
        ("a" * 81, "viewer", None, "not a valid token name"),
        ("other", "owner", None, "not a role"),
        ("other", "viewer", datetime(2020, 1, 1, tzinfo=UTC), "in the past"),
    ):
        with pytest.raises(TokenProblemError, match=words):
            tokens.create(name, role, expires)


def test_the_command_makes_lists_and_revokes_tokens(tmp_path: Path) -> None:
    def run(*words: str) -> tuple[int, str]:
        done = CliRunner().invoke(app, ["token", *words, "--store", str(tmp_path)])
        return done.exit_code, done.stdout

    code, made = run("create", "ci", "--role", "admin", "--expires", "8w")
    assert code == 0
    user = TokenFinder(tmp_path).find(made.strip())
    assert user == User("ci", "admin", may_write=False)
    code, listed = run("list")
    assert code == 0
    assert "ci" in listed
    assert "admin" in listed
    assert made.strip() not in listed
    assert run("create", "ci")[0] == 2
    assert run("create", "late", "--expires", "soon")[0] == 2
    assert run("revoke", "ci")[0] == 0
    assert run("revoke", "ci")[0] == 1
    assert run("list", "--json") == (0, "[]\n")
