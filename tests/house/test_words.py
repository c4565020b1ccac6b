"""Tests that texts for users contain no banned words.

`BANNED` maps each pattern to a replacement.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from callgauge.cli.main import app

ROOT = Path(__file__).parents[2]
BANNED = {
    r"(un)?mend(s|ed|ing)?": "repair, fix",
    r"anew|once more": "again",
    r"at once": "immediately, in parallel",
    r"told": "reported, shown",
    r"said": "reported, shown",
    r"stands|stood|lies": "is",
    r"holds|held": "contains, has",
    r"besides?": "next to, and, in addition to",
    r"of (which|whom) (?!are\b|is\b|\d)": "turn the sentence round",
    r"cannot be told": "not enough data, no clear difference",
    r"what (became|becomes) of": "the result of",
    r"(comes|came) to(?! [\d{])": "is, makes",
    r"(?<!every )(?<!once a )(?<!overnight )nights?": "nightly run",
    r"arms?(?! of)": "variant",
    r"attempt chains?|chains?(?! of trust)": "retry sequence",
    r"abandon(ed|s)?": "given up",
    r"refus(e|es|ed|al|als)": "denied, invalid, rejected by the tool",
    r"rejected lines?": "unreadable line",
    r"wires?": "API",
    r"(is|are|was|were) none of": "is not",
    r"(?<!there )(is|are|was|were) no (?!longer|more|clear|difference|data)[a-z]+": "is not a …",
    r"pass(ed|es)? over": "skipped",
    r"fault layers?": "failure stage",
    r"findings?": "diagnostic",
    r"stratum|strata|makeup": "group, mix",
    r"unasked": "ask before …",
    r"ledger(?!\.jsonl)|rollups?": "an internal word",
}
_PATTERN = re.compile(rf"(?<![\w$./_-])({'|'.join(BANNED)})(?![\w/_.=(-]*[_(=])\b", re.IGNORECASE)
# Values that programs read and names with a fixed spelling are allowed.
ALLOWED = re.compile(
    r"cannot be told|held out|\*(accepted|refused)\*|\[\[?arms|not decided|no tool was run|goes? on"
    r"|CALLGAUGE_\w+|callgauge-\w+"
)
_MESSAGES = (
    "callgauge/api", "callgauge/checked_files", "callgauge/cli", "callgauge/configuration",
    "callgauge/deployment", "callgauge/gateway", "callgauge/memory", "callgauge/monitoring",
    "callgauge/nightly", "callgauge/prices", "callgauge/recorder", "callgauge/report",
    "callgauge/serving", "callgauge/stats", "callgauge/trials", "callgauge/notebooks.py",
    "callgauge/pytest_plugin.py", "callgauge/recorded_calls.py", "ingest", "lenient",
)  # fmt: skip
_PAGES = ("callgauge/analysis", "callgauge/dashboard")
_DOCUMENTS = (
    "README.md", "SECURITY.md", "CONTRIBUTING.md", "docs/index.md", "docs/gateway.md",
    "docs/integrations.md", "docs/logs.md", "docs/pages.md", "docs/parser.md", "docs/privacy.md",
    "docs/record.md", "docs/scale.md", "docs/service.md", "docs/session-log.md", "docs/start.md",
    "docs/statistics.md", "docs/trials.md", "docs/verdicts.md", "docs/reference/glossary.md",
    "docs/reference/codes.md", "docs/reference/definitions.md", "docs/reference/api.md",
)  # fmt: skip


def find_banned(text: str) -> list[str]:
    return [match[0] for match in _PATTERN.finditer(ALLOWED.sub("", text))]


def read_prose(document: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a Markdown file with their line numbers. Code, link targets and HTML are removed."""
    is_code = False
    for number, line in enumerate(document.read_text(encoding="utf-8").splitlines(), 1):
        if line.lstrip().startswith("```"):
            is_code = not is_code
        elif not is_code:
            yield number, re.sub(r"`[^`]*`|\]\([^)]*\)|<[^>]*>|\"cannot be told\"|“[^”]*”", " ", line)


def read_sentences(module: Path) -> Iterator[tuple[int, str]]:
    """Yield the string literals of a module that are prose. Docstrings, SQL and HTML are not prose."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    skipped = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            skipped.add(id(node.value))
        elif isinstance(node, ast.JoinedStr):
            skipped.update(map(id, node.values))
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        text = ""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        elif isinstance(node, ast.JoinedStr):
            parts = (part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
            text = "".join(map(str, parts))
        if _is_prose(text):
            yield getattr(node, "lineno", 0), re.sub(r"`[^`]*`|\]\([^)]*\)", " ", text)


def _is_prose(text: str) -> bool:
    is_code = re.search(r"SELECT|FROM |UPDATE |INSERT |\\b|\(\?|\.\{|</|\{\{|^[\w.-]+$|\n\[", text)
    return bool(re.search(r"[a-z]{2,} [a-z]{2,}", text)) and not is_code


def list_hits(place: str) -> list[str]:
    """Return the banned words with line numbers. `place` is a file, or a folder of modules and documents."""
    path = ROOT / place
    files = [path] if path.is_file() else sorted([*path.rglob("*.py"), *path.rglob("*.md")])
    hits = []
    for file in files:
        lines = read_prose(file) if file.suffix == ".md" else read_sentences(file)
        for number, text in lines:
            hits += [f"{file.relative_to(ROOT)}:{number}: {word}" for word in find_banned(text)]
    return hits


@pytest.mark.parametrize("place", [*_DOCUMENTS, *_MESSAGES, *_PAGES])
def test_banned_words_are_not_used(place: str) -> None:
    hits = list_hits(place)
    assert not hits, "\n".join(hits)


@pytest.mark.thorough
def test_help_has_no_banned_words() -> None:
    group = typer.main.get_command(app)
    names = [[name] for name in group.commands]  # type: ignore[attr-defined]
    for name, command in group.commands.items():  # type: ignore[attr-defined]
        names += [[name, inner] for inner in getattr(command, "commands", {})]
    hits = {}
    for words in names:
        shown = CliRunner().invoke(app, [*words, "--help"])
        assert shown.exit_code == 0, words
        if found := find_banned(" ".join(shown.stdout.split())):
            hits[" ".join(words)] = found
    assert not hits


def test_the_newest_changes_have_no_banned_words() -> None:
    section = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split("\n## ")[1]
    assert find_banned(re.sub(r"`[^`]*`", " ", section)) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Every mend is recorded as a finding, at once.", ["mend", "finding", "at once"]),
        ("'x' is no time: write 90d", ["is no time"]),
        ("What the last look said of an arm.", ["said", "arm"]),
        ("There is no clear difference; recommended, standard, nightly.", []),
    ],
)
def test_words_are_found(text: str, words: list[str]) -> None:
    assert find_banned(text) == words
