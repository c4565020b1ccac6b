"""Tests `callgauge fix-definition` on a store with five faults of a definition."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from bench.replay.fix_cells import FAULTY
from callgauge.cli.main import app
from lenient import ToolCatalog
from tests.analysis.made_fixes import publish_made
from tests.analysis.test_definition_fixes import made

DECLARED = {"name": "search", "description": "Runs search.", "input_schema": FAULTY}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fix") / "store"
    publish_made(folder, made())
    return folder


def run(store: Path, *words: str) -> Result:
    return CliRunner().invoke(app, ["fix-definition", *words, "--store", str(store)])


def test_the_answer_the_edits_and_the_diff_are_printed(store: Path) -> None:
    result = run(store, "search", "--shape", "python")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == "Days: 2026-10-24 to 2026-11-20."
    assert lines[1].startswith("search: These 5 edits would have made 160 of 160 repaired and 160 of")
    assert "  1. limit: also accept string" in lines
    assert "+    limit: int | str," in lines


def test_without_a_tool_all_tools_with_edits_are_listed(store: Path) -> None:
    result = run(store, "--format", "json")
    [answer] = json.loads(result.stdout)
    assert answer["tool"] == "search"
    assert answer["shape"] == "openai"
    assert answer["days"] == {"from": "2026-10-24", "to": "2026-11-20"}
    assert [edit["kind"] for edit in answer["edits"]] == [
        "accept_type", "add_enum_value", "name_unit", "type_example", "drop_parameter",
    ]  # fmt: skip
    assert json.loads(answer["definition"])["function"]["name"] == "search"


def test_the_edits_are_made_in_the_users_own_file(store: Path, tmp_path: Path) -> None:
    file = tmp_path / "tools.json"
    file.write_text(json.dumps([DECLARED, {"name": "other", "input_schema": {}}], indent=4))
    file.chmod(0o640)
    link = tmp_path / "link.json"
    link.symlink_to(file)
    result = run(store, "search", "--apply", str(link))
    assert result.exit_code == 0, result.output
    assert "edited: limit: also accept string" in result.stderr
    tool = ToolCatalog.load(file).get("search")
    assert tool is not None
    assert tool.schema is not None
    assert tool.schema["properties"]["limit"]["type"] == ["integer", "string"]
    assert "trace" not in tool.schema["properties"]
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert link.is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.json", "tools.json"]
    again = run(store, "search", "--apply", str(file))
    assert "does not fit, not edited: limit" in again.stderr
    assert "the definition differs from the newest one in the store" in again.stderr


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"def search(): ...", "it is not JSON"),
        (b"\xff\xfe", "it is not JSON in UTF-8"),
        (b"[]", "it has no tool 'search'"),
        (None, "No such file"),
    ],
)
def test_a_file_that_cannot_be_edited_stays_as_it_is(
    store: Path, tmp_path: Path, content: bytes | None, words: str
) -> None:
    file = tmp_path / "tools.json"
    if content is not None:
        file.write_bytes(content)
    result = run(store, "search", "--apply", str(file))
    assert result.exit_code == 1
    assert words in result.stderr
    assert "the file is unchanged" in result.stderr
    assert not file.exists() if content is None else file.read_bytes() == content


def test_the_days_choose_the_calls(store: Path) -> None:
    assert "No call of search is in this selection" in run(store, "search", "--days", "2020-01-01").stdout
    assert run(store, "search", "--days", "all").stdout.startswith("Days: all.\n")


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--apply", "x.json"], "--apply needs the name of a tool"),
        (["serch"], "There is no tool 'serch'. Did you mean search?"),
        (["search", "--mcp-server", "githb"], "There is no MCP server 'githb'."),
    ],
)
def test_wrong_use_gets_a_message(store: Path, words: list[str], problem: str) -> None:
    result = run(store, *words)
    assert result.exit_code == 2
    assert problem in result.stderr
    assert result.stdout == ""
