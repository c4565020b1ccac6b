"""Tests the installation of the programs that these tests need."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from tests.real_software import environment, programs
from tests.real_software.environment import Environment, InstallError, install_node, run_installer


def install_nothing(folder: Path) -> None:
    (folder / "program").touch()


def fail(folder: Path) -> None:
    run_installer(folder / "install.log", sys.executable, "-c", "print('no route to host'); exit(3)")


def test_an_environment_is_made_once_and_again_after_a_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environment, "HERE", tmp_path)
    (tmp_path / "lock").write_text("a==1")
    made = Environment("made", ("lock",), install_nothing, tmp_path / "folder")
    assert "./dev test --all installs it" in (made.why_missing() or "")
    made.make()
    assert made.is_ready()
    (tmp_path / "lock").write_text("a==2")
    assert not made.is_ready()
    made.make()
    assert made.why_missing() is None


def test_a_test_is_skipped_with_the_reason_of_a_failed_installer(tmp_path: Path) -> None:
    failed = Environment("failed", (), fail, tmp_path / "folder")
    failed.make()
    assert not failed.is_ready()
    with pytest.raises(pytest.skip.Exception, match="failed with exit code 3"):
        programs.require(failed)
    assert "no route to host" in (tmp_path / "folder" / "failed.log").read_text()


def test_an_installation_that_was_killed_does_not_count(tmp_path: Path) -> None:
    def die(folder: Path) -> None:
        raise KeyboardInterrupt

    killed = Environment("killed", (), die, tmp_path / "folder")
    with pytest.raises(KeyboardInterrupt):
        killed.make()
    assert not killed.is_ready()


def test_a_machine_without_npm_is_named_as_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(InstallError, match="node and npm are not installed"):
        install_node(tmp_path)
