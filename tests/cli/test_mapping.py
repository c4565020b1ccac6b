"""Tests `--map` with all examples in docs/mapping.md."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from callgauge.cli.main import app
from ingest.record_mapping import FIELDS, FieldPath

PAGE = (Path(__file__).parents[2] / "docs" / "mapping.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^## (Example \d.*?)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)


def blocks(text: str, kind: str) -> list[tuple[str, str]]:
    return re.findall(rf"^```{kind} ?(\S*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def rows(section: str) -> list[str]:
    text = PAGE.partition(f"## {section}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| `(.+?)` \|", text, re.MULTILINE)


def test_the_page_has_five_examples() -> None:
    assert len(EXAMPLES) == 5


@pytest.mark.parametrize(("title", "text"), EXAMPLES, ids=[title for title, _ in EXAMPLES])
def test_an_example_prints_what_the_page_says(
    title: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, content in [*blocks(text, "json"), *blocks(text, "toml")]:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    ((_, command),), ((_, expected),) = blocks(text, "sh"), blocks(text, "text")
    program, *words = shlex.split(command)
    result = CliRunner().invoke(app, words)
    assert (program, result.exit_code) == ("callgauge", 0), result.output
    assert result.stdout.replace(f"{tmp_path}/", "") == expected, title


def test_the_page_names_every_field_and_paths_that_are_read() -> None:
    assert rows("Fields") == list(FIELDS)
    assert [FieldPath.parse(path).text for path in rows("Paths")] == rows("Paths")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["messages"], "--map 'messages' has no =; write --map messages=.request.messages"),
        (["model=.a", "model=.b"], "--map has model twice; keep one of .a and .b"),
        (["modle=.a"], "--map 'modle' is not a field; did you mean model?"),
        (["model=a"], "--map model: 'a' is not a path: a path begins with a dot; write .a"),
    ],
)
def test_a_mistake_stops_the_load_with_what_to_write(
    options: list[str], problem: str, tmp_path: Path
) -> None:
    words = [word for option in options for word in ("--map", option)]
    result = CliRunner().invoke(app, ["ingest", str(tmp_path), "--store", str(tmp_path / "store"), *words])
    assert (result.exit_code, problem in result.stderr) == (2, True), result.stderr


def test_the_command_line_replaces_the_map_of_a_source(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    messages = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi!"}]
    (tmp_path / "logs" / "a.jsonl").write_text(json.dumps({"a": messages, "b": "m"}) + "\n")
    file = tmp_path / "callgauge.toml"
    file.write_text(
        'store = "store"\n[sources.a]\npaths = "logs"\nmap = {messages = ".nowhere", id = ".b"}\n'
    )
    options = ["--map", "messages=.a", "--map", "model=.b"]
    result = CliRunner().invoke(app, ["ingest", "--config", str(file), "--dry-run", "--json", *options])
    (record,) = json.loads(result.stdout)["mapped"]
    assert record["fields"] == {"messages": "1 user, 1 assistant", "model": "m"}
