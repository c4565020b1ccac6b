"""Tests examples in the documentation. Commands are parsed, and configuration files and JSON are read."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from callgauge.cli.main import app
from callgauge.configuration.configuration_file import read_configuration
from callgauge.trials.planning.plan_fields import plan_schema
from callgauge.trials.planning.task_file import read_task
from ingest.pipeline.planning.naming import read_naming

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted(
    [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *ROOT.glob("docs/*.md")]
)
BLOCK = re.compile(r"^```(\w*) ?(\S*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
COMMANDS: Any = typer.main.get_command(app)


def list_blocks(*languages: str) -> list[Any]:
    """Return all documents' code blocks in these programming languages. Each block has a readable name."""
    blocks = []
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        for block in BLOCK.finditer(text):
            if block[1] in languages:
                line = text.count("\n", 0, block.start()) + 1
                blocks.append(pytest.param(block[2], block[3], id=f"{document.name}:{line}"))
    return blocks


def list_shell_lines() -> list[Any]:
    lines = []
    for block in list_blocks("sh"):
        joined = block.values[1].replace("\\\n", " ")
        lines += [pytest.param(line, id=f"{block.id} {line[:60]}") for line in joined.splitlines() if line]
    return lines


def parse(words: list[str]) -> None:
    """Parse a command line without executing the command. Raises a usage error."""
    command, parent = COMMANDS, None
    while hasattr(command, "commands"):
        assert words, "a group of commands is not a command"
        parent = command.make_context(command.name, [], parent=parent, resilient_parsing=True)
        assert words[0] in command.commands, f"there is no command {words[0]}"
        name, command, words = command.resolve_command(parent, words)
    command.make_context(name, words, parent=parent)


@pytest.mark.parametrize("line", list_shell_lines())
def test_a_command_of_an_example_is_understood(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = shlex.split(line, comments=True)
    if words[:4] == ["docker", "compose", "run", "--rm"]:
        words = ["callgauge", *words[5:]] if words[4] == "server" else []
    if words[:1] == ["callgauge"]:
        # without "s3://", because parsing this option would open a shared store
        parse([re.sub("^s3://", "", word) for word in words[1:]])
    elif words[:2] == ["pip", "install"]:
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        for extra in re.findall(r"\[(.*?)\]", line.partition("#")[0]):
            assert set(extra.split(",")) <= set(project["optional-dependencies"])


@pytest.mark.parametrize(("name", "text"), list_blocks("toml"))
def test_a_file_of_an_example_is_read(name: str, text: str, tmp_path: Path) -> None:
    tables = tomllib.loads(text)
    path = tmp_path / (Path(name).name or "callgauge.toml")
    if path.name == "naming.toml":
        path.write_text(text, encoding="utf-8")
        read_naming(tmp_path)
    elif "project" in tables:  # this is the pyproject.toml of a package with a log format
        assert set(tables["project"]["entry-points"]) <= {"callgauge.formats"}
    elif "arms" in tables:
        assert set(tables) <= set(plan_schema()["properties"])
    elif "detectors" not in tables:  # tests/privacy reads the block with detectors
        path.write_text(text if "store" in tables else f'store = "store"\n{text}', encoding="utf-8")
        read_configuration(path)


@pytest.mark.parametrize(("name", "text"), list_blocks("json"))
def test_json_of_an_example_is_json(name: str, text: str) -> None:
    if name:  # tests/cli/test_mapping.py loads these JSON lines
        assert [json.loads(line) for line in text.splitlines()]
    elif "expect" in (value := json.loads(text)):
        mistakes: list[Any] = []
        assert read_task(value, mistakes) is not None
        assert mistakes == []


@pytest.mark.parametrize(("name", "text"), list_blocks("yaml"))
def test_yaml_of_an_example_is_yaml(name: str, text: str) -> None:
    assert isinstance(yaml.safe_load(text), dict | list)
