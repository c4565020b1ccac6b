"""Tests `callgauge public-rates`. A file of public rates is imported completely or not at all."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from callgauge.cli.main import app
from callgauge.memory.memory_file import FILE
from callgauge.memory.team_memory import TeamMemory
from ingest.pipeline.load import load
from tests.analysis.public_logs import COERCED, VALID, write_log, write_session

RATES = "model,host,date,rate,source\nopenai/owl,EAST,2025-06-01,0.5%,=1+1\nibis,north,2025-06-01,2%,list\n"


def run(*words: object) -> Result:
    return CliRunner().invoke(app, ["public-rates", *map(str, words)])


@pytest.fixture
def store(tmp_path: Path) -> Path:
    sessions = [write_session(f"s{n}", [[VALID], [COERCED]]) for n in range(20)]
    sessions.append(write_session("t", [[VALID]], tools=None, model="\x1b[31mred"))
    load([write_log(tmp_path / "logs", *sessions)], tmp_path / "store")
    return tmp_path / "store"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "rates.csv"
    path.write_text(RATES, encoding="utf-8")
    return path


def test_rates_are_imported_and_stand_next_to_the_errors_of_the_store(store: Path, file: Path) -> None:
    result = run("--store", store, "--import", file)
    assert result.exit_code == 0, result.output
    assert "imported 2 public rates from" in result.stderr
    lines = result.stdout.splitlines()
    assert "Next to 1 public rate: owl on east has more tool-call errors than the public rate." in lines
    (row,) = (line for line in lines if line.startswith("owl"))
    assert row.split("  ")[-1] == "higher than the public rate"
    assert "50% (20 / 40)" not in row
    assert "20 / 40" in row
    assert "0.50% (2025-06-01, =1+1, 526 days apart, listed as openai/owl on EAST)" in row
    assert "  ibis on north: no calls of this model" in lines
    assert "Not listed: 1 pair of model and host" in result.stdout
    assert "\x1b" not in result.output
    assert "Days: 2026-10-13 to 2026-11-09." in lines


def test_the_rows_are_data_too(store: Path, file: Path) -> None:
    run("--store", store, "--import", file)
    answer = json.loads(run("--store", store, "--format", "json").stdout)
    (row,) = (row for row in answer["rows"] if row["model"] == "owl")
    assert (row["k"], row["n"], row["schema_accuracy"], row["public_rate"]) == (20, 40, 0.5, 0.005)
    assert [each["model"] for each in answer["unmatched"]] == ["ibis"]
    table = list(csv.DictReader(run("--store", store, "--format", "csv").stdout.splitlines()))
    assert [each["public_source"] for each in table if each["public_source"]] == ["'=1+1"]
    assert list(table[0]) == [*row, "from_day", "to_day"]
    assert answer["days"] == {"from": "2026-10-13", "to": "2026-11-09"}
    assert (table[0]["from_day"], table[0]["to_day"]) == ("2026-10-13", "2026-11-09")


def test_only_the_chosen_days_are_compared(store: Path, tmp_path: Path) -> None:
    late = [write_session(f"late {n}", [[VALID]], day="2026-11-11") for n in range(20)]
    load([write_log(tmp_path / "late", *late)], store)
    answers = {
        days: json.loads(run("--store", store, "--format", "json", *words).stdout)
        for days, words in (("default", ()), ("1d", ("--days", "1d")), ("all", ("--days", "all")))
    }
    counts = {
        days: next((row["k"], row["n"]) for row in answer["rows"] if row["model"] == "owl")
        for days, answer in answers.items()
    }
    assert counts == {"default": (20, 60), "1d": (0, 20), "all": (20, 60)}
    assert answers["1d"]["days"] == {"from": "2026-11-11", "to": "2026-11-11"}
    assert "Days: all." in run("--store", store, "--days", "all").stdout


def test_the_rates_of_a_source_are_removed_or_replaced(store: Path, file: Path) -> None:
    run("--store", store, "--import", file)
    unknown = run("--store", store, "--remove", "lits")
    assert (unknown.exit_code, unknown.stdout) == (2, "")
    assert "no public rate has the source 'lits'; the sources are '=1+1', 'list'" in unknown.stderr
    file.write_text("model,host,date,rate,source\nibis,west,2025-06-02,nine,list\n", encoding="utf-8")
    assert run("--store", store, "--remove", "list", "--import", file).exit_code == 2
    assert len(TeamMemory(store).read().public_rates) == 2
    file.write_text("model,host,date,rate,source\nibis,west,2025-06-02,3%,list\n", encoding="utf-8")
    replaced = run("--store", store, "--remove", "list", "--import", file)
    assert "removed 1 public rate of list" in replaced.stderr
    assert [each.host for each in TeamMemory(store).read().public_rates] == ["west", "EAST"]
    assert run("--store", store, "--remove", "=1+1").exit_code == 0
    assert [each.source for each in TeamMemory(store).read().public_rates] == ["list"]
    run("--store", store, "--remove", "list")
    assert "no public rates are imported" in run("--store", store, "--remove", "list").stderr


def test_a_bad_line_imports_nothing(store: Path, file: Path) -> None:
    run("--store", store, "--import", file)
    file.write_text(f"{RATES}jay,east,2025-06-01,120 %,list\n", encoding="utf-8")
    result = run("--store", store, "--import", file)
    assert (result.exit_code, result.stdout) == (2, "")
    assert 'rates.csv:4: rate: "120 %" cannot be used; write a share' in result.stderr
    assert [each.model for each in TeamMemory(store).read().public_rates] == ["ibis", "openai/owl"]


def test_what_is_missing_is_said(store: Path, file: Path, tmp_path: Path) -> None:
    assert "No public rates to compare with. Import" in run("--store", store).stdout
    assert run("--store", store, "--import", tmp_path / "none.csv").exit_code == 2
    empty = run("--store", tmp_path / "none", "--import", file)
    assert (empty.exit_code, "Nothing has been loaded yet" in empty.stderr) == (1, True)
    assert not (tmp_path / "none").exists()
    (store / FILE).write_bytes(b"no database" * 1000)
    result = run("--store", store)
    assert (result.exit_code, "cannot be read or written" in result.stderr) == (1, True)


def test_other_commands_do_not_import_pandas() -> None:
    code = "import sys; import callgauge.cli.main; print('pandas' in sys.modules, 'duckdb' in sys.modules)"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout
    assert output.split() == ["False", "False"]
