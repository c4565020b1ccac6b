"""Tests the command `callgauge which-model`."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner, Result

from callgauge.cli.main import app
from callgauge.memory.records import ModelPrice
from callgauge.memory.team_memory import TeamMemory
from tests.analysis.made_models import join_rows, make_rows
from tests.analysis.store_fixture import publish


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("which") / "store"
    publish(folder, join_rows(make_rows("owl\x1b[31m", 300), make_rows("jay", 260)))
    prices = [
        ModelPrice(name, date(2026, 1, 1), each, each) for name, each in (("owl\x1b[31m", 2), ("jay", 1))
    ]
    TeamMemory(folder).replace_prices(prices)
    return folder


def which(store: Path, *options: str) -> Result:
    return CliRunner().invoke(app, ["which-model", "--store", str(store), *options])


def test_the_text_has_the_sentence_the_evidence_and_the_saving(store: Path) -> None:
    result = which(store)
    assert result.exit_code == 0, result.output
    first, _, name, suggestion, current, other, saved = result.stdout.splitlines()
    assert first.startswith(
        "For the only prompt, a cheaper model is not worse; it would have saved $300 (95% "
    )
    assert first.endswith(" The models are compared on the calls of 2026-10-24 to 2026-11-20.")
    assert name == "p1"
    assert suggestion.startswith("  Use jay instead of owl")
    assert current.startswith("  owl")
    assert "parse errors 0% (0 / 600; 0–" in current
    assert other.startswith("  jay: parse errors 0% (0 / 520; ")
    assert saved.startswith("  Saved in the last 28 days: $300 (95% interval ")
    assert "\x1b" not in result.stdout


@pytest.mark.thorough
def test_each_format_says_the_same(store: Path, tmp_path: Path) -> None:
    answer = json.loads(which(store, "--format", "json").stdout)
    (row,) = answer["rows"]
    assert (row["verdict"], row["model"], row["current"]["model"]) == ("switch", "jay", "owl\x1b[31m")
    assert answer["days"] == {"from": "2026-10-24", "to": "2026-11-20"}
    assert (row["current"]["parse_error"]["n"], row["suggestion"]["parse_error"]["n"]) == (600, 520)
    assert answer["saved"]["estimate"] == pytest.approx(300)
    file = tmp_path / "routes.yaml"
    assert which(store, "--format", "litellm", "-o", str(file)).exit_code == 0
    assert yaml.safe_load(file.read_text("utf-8"))["model_list"][0]["litellm_params"] == {"model": "jay"}
    routes = json.loads(which(store, "--format", "openrouter").stdout)
    assert routes["_compared_days"] == "2026-10-24 to 2026-11-20"
    assert routes["p1"]["models"] == ["jay", "owl\x1b[31m"]


@pytest.mark.thorough
def test_tools_have_rows_of_their_own(store: Path) -> None:
    result = which(store, "--by", "tool", "--days", "all")
    assert "\nread_file\n" in result.stdout
    assert result.exit_code == 0


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (("--format", "xml"), 2, "xml"),
        (("--by", "host"), 2, "host"),
        (("-o", "{missing}/routes.yaml"), 1, "cannot write"),
    ],
)
def test_wrong_use_gets_a_message(
    store: Path, tmp_path: Path, options: tuple[str, ...], code: int, words: str
) -> None:
    result = which(store, *(each.replace("{missing}", str(tmp_path / "missing")) for each in options))
    assert result.exit_code == code
    assert words in result.output
