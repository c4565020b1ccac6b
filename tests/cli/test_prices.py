"""Tests `callgauge prices`. A price file is stored completely or not at all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from callgauge.cli.main import app
from callgauge.memory.memory_file import FILE
from callgauge.memory.team_memory import TeamMemory
from ingest.pipeline.load import load
from tests.store.night import session

PRICES = "model,from_day,input,output\nm,2026-11-01,1,2\n"


def run(*words: object) -> Result:
    return CliRunner().invoke(app, ["prices", *map(str, words)])


@pytest.fixture
def store(tmp_path: Path) -> Path:
    log = tmp_path / "a.jsonl"
    log.write_text(session("a"), encoding="utf-8")
    load([log], tmp_path / "store")
    return tmp_path / "store"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "prices.csv"
    path.write_text(PRICES, encoding="utf-8")
    return path


def test_a_file_is_kept_and_the_models_without_a_price_are_named(store: Path, file: Path) -> None:
    result = run(file, "--store", store)
    assert result.exit_code == 0, result.output
    assert [price.model for price in TeamMemory(store).prices()] == ["m"]
    assert "The team's prices: 1, for 1 model." in result.stdout
    assert "Models without a price:" in run("--store", store).stdout


def test_a_bad_file_changes_nothing(store: Path, file: Path) -> None:
    run(file, "--store", store)
    file.write_text(PRICES + "n,2026-11-01,x,2\n", encoding="utf-8")
    result = run(file, "--store", store)
    assert result.exit_code == 2
    assert "line 3: input is 'x': write the price per million tokens" in result.stderr
    assert [price.model for price in TeamMemory(store).prices()] == ["m"]


def test_the_list_is_data_too(store: Path, file: Path) -> None:
    prices = json.loads(run(file, "--store", store, "--json").stdout)
    assert prices["currency"] == "USD"
    assert {price["owner"] for price in prices["prices"]} == {"team", "ours"}
    assert all(model["price"] is None for model in prices["models"])


def test_a_store_without_data_and_a_broken_memory_are_said_in_a_sentence(
    store: Path, file: Path, tmp_path: Path
) -> None:
    assert "is empty" in run(file, "--store", tmp_path / "none").stderr
    (store / FILE).write_bytes(b"no database" * 1000)
    result = run("--store", store)
    assert result.exit_code == 1
    assert "cannot be read or written" in result.stderr


def test_names_of_models_cannot_control_the_terminal(store: Path, file: Path) -> None:
    file.write_text(PRICES + '"\x1b[31mred",2026-11-01,1,2\n', encoding="utf-8")
    assert "\x1b" not in run(file, "--store", store).output
