"""Tests the error messages for a missing extra."""

from __future__ import annotations

import importlib.util
import shlex
import sys
from pathlib import Path

import pytest

from ingest.version import install_command


@pytest.fixture
def prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "my env" / "python"))
    return tmp_path


def test_pip_of_this_python(prefix: Path) -> None:
    python = str(prefix / "my env" / "python")
    assert shlex.split(install_command("mcp")) == [python, "-m", "pip", "install", "callgauge[mcp]"]


def test_an_environment_without_pip_is_one_of_uv(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    python = str(prefix / "my env" / "python")
    expected = ["uv", "pip", "install", "--python", python, "callgauge[mcp]"]
    assert shlex.split(install_command("mcp")) == expected


@pytest.mark.parametrize(
    ("mark", "command"),
    [
        ("pipx_metadata.json", 'pipx install --force "callgauge[s3]"'),
        ("uv-receipt.toml", 'uv tool install --force "callgauge[s3]"'),
    ],
)
def test_tools_have_environments_of_their_own(prefix: Path, mark: str, command: str) -> None:
    (prefix / mark).touch()
    assert install_command("s3") == command
