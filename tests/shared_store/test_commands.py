"""Tests `--store s3://…` on the command line. Each machine has its own folder for the store."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from callgauge.cli import main as cli
from callgauge.cli.options.store_option import STATE_VARIABLE
from tests.bucket import BUCKET, forget_drivers

EXAMPLE = Path(__file__).parents[2] / "docs" / "session-log.example.jsonl"
STORE = f"s3://{BUCKET}/team/store"


def run(*words: object) -> Result:
    return CliRunner().invoke(cli.app, [str(word) for word in words])


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return Path(shutil.copy(EXAMPLE, tmp_path / "night.jsonl"))


@pytest.mark.thorough
def test_one_machine_loads_and_another_asks(
    s3: Any, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path / "one"))
    loaded = run("ingest", log, "--store", STORE)
    assert loaded.exit_code == 0, loaded.output
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path / "two"))
    answer = run("models", "--store", f"{STORE}/")
    assert answer.exit_code == 0, answer.output
    assert "model calls" in answer.stdout
    (folder,) = (tmp_path / "two").iterdir()
    assert folder.name.startswith("logs-team-store-")
    assert run("verify", "--store", folder).exit_code == 0
    retained = run("retain", "--store", STORE, "--text-days", 1)
    assert retained.exit_code == 0, retained.output


@pytest.mark.thorough
def test_an_object_store_that_is_gone_is_told_and_what_was_fetched_is_read(
    s3: Any, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path))
    run("ingest", log, "--store", STORE)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    forget_drivers()
    answer = run("verify", "--store", STORE)
    assert answer.exit_code == 0, answer.output
    assert f"the shared store {STORE} cannot be reached" in answer.stderr
    assert "Data that was fetched earlier is in" in answer.stderr
    loaded = run("ingest", log, "--store", STORE)
    assert loaded.exit_code == 1
    assert loaded.stderr.count("cannot be reached") == 2
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path / "other"))
    for words in (["models"], ["serve"], ["ingest", log]):
        refused = run(*words, "--store", STORE)
        assert (refused.exit_code, refused.stdout) == (1, "")
        assert "check the network, AWS_ENDPOINT_URL" in refused.stderr


@pytest.mark.parametrize(
    "address", ["gs://bucket/store", "https://me:secret@host/store", "s3://key:secret@b"]
)
def test_other_addresses_are_wrong_use(tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(STATE_VARIABLE, str(tmp_path))
    refused = run("models", "--store", address)
    assert refused.exit_code == 2
    assert "is s3://BUCKET/FOLDER" in refused.stderr
    assert "secret" not in refused.output
    assert not list(tmp_path.iterdir())
