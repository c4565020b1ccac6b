"""Tests commands that read callgauge.toml."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from callgauge.checked_files.field_types import KeyedTable, NamedTables
from callgauge.cli.main import app
from callgauge.configuration.configuration_file import CONFIGURATION, EXAMPLE
from callgauge.memory.nights.source_states import SourceStates
from tests.configuration.team import TOML, write_log, write_team
from tests.store.night import ask

# These options are not about loading or serving a team's store.
_NO_KEY = {
    "ingest": {
        "config": "names the file itself",
        "mine": "one person's machine",
        "yes": "one person's machine",
        "limit": "for a try",
        "dry_run": "for a try",
        "watch": "a night ends",
        "strict": "says the exit code",
        "wait": "a night waits",
        "wait_at_most": "a night waits",
        "quiet": "how it is told",
        "as_json": "how it is told",
    },
    "serve": {
        "config": "names the file itself",
        "no_sign_in": "said anew at each start: sign_in.method says the rest",
    },
}
_KEYS = {
    "ingest": {"paths": "sources.paths", "manifest": "sources.manifests", "form": "sources.format",
               "model": "sources.model", "from_path": "sources.from_path", "mapping": "sources.map",
               "no_results": "load.results", "store": "store"},
    "serve": {"store": "store", "allowed_host": "serve.hosts", "hide_content": "serve.texts",
              "sign_in": "sign_in.method"},
}  # fmt: skip
_SECTION = {"ingest": "load", "serve": "serve"}
# The nightly run reads this key, so none of these commands has an option for it.
_NO_OPTION = {"sources.silent_after": "the night's"}


def run(*words: object) -> Any:
    return CliRunner().invoke(app, [str(word) for word in words])


def list_keys(section: str) -> set[str]:
    kind: Any = CONFIGURATION.fields[section].type
    table = kind.item if isinstance(kind, NamedTables) else kind
    assert isinstance(table, KeyedTable)
    return {f"{section}.{name}" for name in table.fields}


@pytest.mark.parametrize("name", ["ingest", "serve"])
def test_every_option_of_a_command_has_its_key(name: str) -> None:
    group: Any = typer.main.get_command(app)
    shown = [param for param in group.commands[name].params if not getattr(param, "hidden", False)]
    options = {param.name for param in shown if param.name} - _NO_KEY[name].keys()
    keys = {_KEYS[name].get(option, f"{_SECTION[name]}.{option}") for option in options}
    known = {"store"} | list_keys("load") | list_keys("sources") | list_keys("serve") | list_keys("sign_in")
    assert keys <= known, f"without a key: {keys - known}"
    ours = list_keys("serve") if name == "serve" else list_keys("load") | list_keys("sources")
    assert ours - keys <= _NO_OPTION.keys(), f"without an option: {ours - keys}"


def test_a_configuration_that_fits_this_machine_is_told(tmp_path: Path) -> None:
    result = run("check-config", write_team(tmp_path))
    assert result.exit_code == 0, result.output
    assert "sources    eu: 2 files, the newest of " in result.output
    assert not (tmp_path / "store").exists(), "it changes nothing"


def test_a_bad_map_is_told_with_its_line(tmp_path: Path) -> None:
    file = write_team(tmp_path, TOML + 'map = { modle = ".a" }\n')
    result = run("check-config", file)
    assert result.exit_code == 1
    assert "6: sources.us.map: 'modle' is not a field; did you mean model?" in result.stderr


def test_everything_that_is_missing_here_is_told_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    file = write_team(
        tmp_path,
        'store = "none/store"\n[sources.eu]\npaths = "nowhere"\nformat = "otlpp"\nfrom_path = "{modle}"\n'
        '[load]\ntools = "tools.json"\nsince = "2026-99-99"\n[backup]\nto = "file/backup"\n[report]\n'
        'address = "https://cg.test"\n[[report.webhooks]]\nurl = "env:CALLGAUGE_TEST_HOOK"\n',
    )
    monkeypatch.delenv("CALLGAUGE_TEST_HOOK", raising=False)
    result = run("check-config", file)
    assert result.exit_code == 1
    problems = [line.partition("callgauge.toml:")[2] for line in result.stderr.splitlines()]
    for number, begins in enumerate(
        [
            f"1: store: cannot make the store {tmp_path}/none/store: no folder",
            f"2: sources.eu: {tmp_path}/nowhere does not exist",
            "4: sources.eu.format: unknown format 'otlpp'; did you mean otlp?",
            "5: sources.eu.from_path: --from-path '{modle}' has {modle}, which is unknown",
            "6: load: --since “2026-99-99” is not a time",
            f"7: load.tools: {tmp_path}/tools.json is not a readable file on this machine",
            f"10: backup.to: {tmp_path}/file/backup cannot be written",
            "14: report.webhooks[0].url: the variable CALLGAUGE_TEST_HOOK is not set here",
        ]
    ):
        assert problems[number].startswith(begins), problems
    assert "--store" not in problems[0], "the file has no options"
    monkeypatch.setenv("CALLGAUGE_TEST_HOOK", "https://hooks.test/swordfish")
    result = run("check-config", file, "--json")
    assert "swordfish" not in result.output
    assert len(json.loads(result.stdout)["problems"]) == 7


def test_mistakes_of_the_file_end_every_command_that_reads_it_each_on_its_line(tmp_path: Path) -> None:
    file = tmp_path / "callgauge.toml"
    file.write_text('stroe = 1\n[sources."two words"]\npaths = 3\n[serve]\nport = 99999\n')
    readers = ("nightly", "ingest", "serve", "report", "users list", "install-service --for cron")
    for words in (("check-config", file), *((*command.split(), "--config", file) for command in readers)):
        result = run(*words)
        lines = [line.removeprefix(f"callgauge: {file}:").strip() for line in result.stderr.splitlines()]
        assert result.exit_code == 2, words
        begins = (
            "store: ",
            "1: stroe: ",
            "2: sources.two words: ",
            "3: sources.two words.paths: ",
            "5: serve.port: ",
        )
        for line, begin in zip(lines, begins, strict=True):
            assert line.startswith(begin), result.output


def test_a_file_that_is_not_there_says_how_to_get_one(tmp_path: Path) -> None:
    assert "`callgauge init-config` writes" in run("check-config", tmp_path / "no.toml").stderr


def test_files_of_a_source_that_cannot_be_read_say_why(tmp_path: Path) -> None:
    file = write_team(tmp_path)
    (tmp_path / "eu" / "c.jsonl").symlink_to(tmp_path / "nowhere")
    result = run("check-config", file)
    assert (result.exit_code, "3 files" in result.stdout) == (1, True), result.output
    assert f"2: sources.eu: {tmp_path}/eu/c.jsonl " in result.stderr


def test_the_example_is_written_once(tmp_path: Path) -> None:
    file = tmp_path / "callgauge.toml"
    assert (run("init-config", file).exit_code, file.read_text("utf-8")) == (0, EXAMPLE)
    file.write_text("mine")
    assert (run("init-config", file).exit_code, file.read_text("utf-8")) == (1, "mine")
    assert run("init-config", tmp_path / "no" / "callgauge.toml").exit_code == 1


@pytest.mark.thorough
def test_ingest_loads_all_sources_of_a_file(tmp_path: Path) -> None:
    file = write_team(tmp_path, TOML + "[load]\nresults = false\n")
    result = run("ingest", "--config", file, "--quiet")
    assert result.exit_code == 0, result.output
    store = tmp_path / "store"
    assert ask(store, "SELECT count(*), count(DISTINCT privacy), min(privacy) FROM files") == [
        (4, 1, "without_results")
    ]
    assert [state.name for state in SourceStates(store).read()] == ["eu", "us"]
    (tmp_path / "us").rename(tmp_path / "away")
    result = run("ingest", "--config", file, "--quiet")
    assert (result.exit_code, "source us:" in result.stderr) == (3, True)
    assert run("ingest", "--config", file, "--watch").exit_code == 2


def test_what_the_command_line_says_counts_before_the_file(tmp_path: Path) -> None:
    file = write_team(
        tmp_path, TOML + '[load]\nresults = false\nmax_line = 2000\n[aliases]\naurora = "aurora-large"\n'
    )
    write_log(tmp_path / "one.jsonl", "one")
    other = tmp_path / "other"
    words = ("--config", file, "--store", other, "--model", "aurora", "--quiet")
    result = run("ingest", tmp_path / "one.jsonl", *words)
    assert result.exit_code == 0, result.output
    assert ask(other, "SELECT path, privacy, path_facts LIKE '%aurora%' FROM files") == [
        (f"{tmp_path}/one.jsonl", "without_results", True)
    ]
    assert ask(other, "SELECT DISTINCT model FROM turns") == [("aurora-large",)]
    forecast = run("ingest", "--config", file, "--dry-run")
    assert (forecast.exit_code, "source us:" in forecast.stderr) == (0, True), forecast.output


def test_ingest_without_a_store_says_how_to_name_one() -> None:
    result = run("ingest", "logs")
    assert (result.exit_code, "--store, or a callgauge.toml with --config" in result.stderr) == (2, True)


@pytest.mark.thorough
def test_a_night_is_told_and_its_exit_code_too(tmp_path: Path) -> None:
    file = write_team(tmp_path)
    (tmp_path / "us").rename(tmp_path / "away")
    result = run("nightly", "--config", file)
    assert result.exit_code == 4
    assert "load       failed: 2 files, 6 calls" in result.stdout
    assert "does not exist; check the spelling" in result.stderr
    (tmp_path / "away").rename(tmp_path / "us")
    night = json.loads(run("nightly", "--config", file, "--json").stdout)
    assert (night["exit"], night["steps"][0]["outcome"]) == (0, "done")
    assert "is already complete; --again runs it again" in run("nightly", "--config", file).stdout
