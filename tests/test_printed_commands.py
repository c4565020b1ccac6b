"""Tests that the commands in pages, messages and documents use only existing commands and options."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import typer
from typer.core import TyperGroup, TyperOption

from callgauge.cli.main import Command, app

ROOT = Path(__file__).parents[1]
DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted(path for path in (ROOT / "docs").rglob("*.md") if path.name != "decisions.md"),
    *sorted((ROOT / "callgauge").rglob("*.md")),
]
SOURCES = sorted(path for name in ("callgauge", "ingest") for path in (ROOT / name).rglob("*.py"))
CALLGAUGE = typer.main.get_group(app)
NAMES = {*CALLGAUGE.commands}
# A command begins at the start of a line or of quoted code. The command ends with this line or code.
IN_TEXT = re.compile(r"(?:^|`|: |; |\$ )(callgauge (?:-h|--\w|[a-z][\w-]*\b(?!:))[^`\n]*)", re.MULTILINE)
HOLE = "VALUE"  # replaces the expressions in an f-string


def command_lines(text: str) -> Iterator[str]:
    for match in IN_TEXT.findall(text.replace("\\\n", " ")):
        line = re.split(r"\s+#|\s+(?:\||&&|>|2>)\s|; | \(|…$", match)[0].strip().rstrip(".,:;)")
        if re.match(r"callgauge (-|[a-z])", line):
            yield line


def text_of(node: ast.AST) -> str | None:
    """Return the content of a string literal. HOLE replaces each expression of an f-string."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part) or HOLE for part in node.values)
    return None


def printed() -> Iterator[tuple[str, str]]:
    for path in DOCUMENTS:
        for line in command_lines(path.read_text(encoding="utf-8")):
            yield str(path.relative_to(ROOT)), line
    for path in SOURCES:
        source = path.read_text(encoding="utf-8")
        if "callgauge " not in source:
            continue
        tree = ast.parse(source)
        parts = {
            id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values
        }
        for node in ast.walk(tree):
            text = None if id(node) in parts else text_of(node)
            for line in command_lines(text or ""):
                yield str(path.relative_to(ROOT)), line


def words_of(line: str) -> list[str]:
    """Return the words of a line. Placeholders such as {store}, [PATH] and `A|B` become ordinary words."""
    plain = re.sub(r"\{[^{}]*\}|<[^<>]*>", HOLE, line)
    plain = plain.replace("\\|", "|").replace("[", "").replace("]", "").replace("…", "").replace("...", "")
    try:
        return shlex.split(plain)
    except ValueError:  # the line is a sentence with an apostrophe
        return plain.split()


def mistake(line: str) -> str | None:
    """Return the mistake in a command: an unknown command or option, or an option without its value."""
    command: Command = CALLGAUGE
    words = words_of(line)[1:]
    # words after `--` belong to another command
    words = words[: words.index("--")] if "--" in words else words
    if words and not words[0].startswith("-") and words[0] not in NAMES:
        return f"no command {words[0]!r}"
    context = typer.Context(command, info_name="callgauge")
    while isinstance(command, TyperGroup) and words and not words[0].startswith("-"):
        if words[0].split("|")[0] not in command.commands:
            return f"no command {words[0]!r} of {context.command_path}"
        name = words.pop(0).split("|")[0]
        command = command.commands[name]
        context = typer.Context(command, info_name=name, parent=context)
    options = {
        name: parameter
        for parameter in command.get_params(context)
        if isinstance(parameter, TyperOption)
        for name in (*parameter.opts, *parameter.secondary_opts, "-h")
    }
    for word in words:
        name = word.partition("=")[0].split("|")[0]
        if re.match(r"--?[a-z]", word) and name not in options:
            return f"{context.command_path} has no option {name}"
    return None


@cache
def printed_once() -> list[tuple[str, str]]:
    return sorted(set(printed()))


def test_the_collection_finds_commands_in_documents_and_in_sources() -> None:
    places = {place.partition("/")[0] for place, _ in printed_once()}
    assert {"README.md", "docs", "callgauge", "ingest"} <= places
    assert len(printed_once()) > 100


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("callgauge trial demo --store x", "callgauge trial demo has no option --store"),
        ("callgauge lode x", "no command 'lode'"),
        ("callgauge trial show", "no command 'show' of callgauge trial"),
        ("callgauge ingest logs --store data/store", None),
    ],
)
def test_a_wrong_command_line_is_a_mistake(line: str, problem: str | None) -> None:
    assert mistake(line) == problem


def test_every_printed_command_fits_the_commands() -> None:
    wrong = {f"{place}: {line}": problem for place, line in printed_once() if (problem := mistake(line))}
    assert wrong == {}
