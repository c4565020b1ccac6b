"""Tests that regular expressions match equally on every Python version. Before 3.11.5, Python matched
possessive groups incorrectly.
"""

from __future__ import annotations

import ast
import copy
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import ingest
import lenient
from lenient.regex import LazyPattern, compile_regex, make_atomic

MATCHES = (
    (r"/\*(?:[^*]|\*(?!/))*+\*/", " /* a ** b */ c", " /* a ** b */"),
    (r'"""(?:(?!""").)*+"""', 'a """b"c""" d', '"""b"c"""'),
    (r"\w++(?:[ \-](?!>)[\w$.]++)*+", "a-b c -> d", "a-b c"),
    (r"(?:x[^,;]*,){0,3}+x", "xa,xb,x;", "xa,xb,x"),
    (r"(?:\((?:[^()]|\)\))?+\))?+a", "(b)a", "(b)a"),
    (r"[\])*+](?:a|\)b)?+c", "+)bc", "+)bc"),
    (r"(?:\[[^]\]]++\](?!x))++", "[a][b]x", "[a]"),
)
_POSSESSIVE_GROUP = re.compile(r"(?<!\\)\)(?:[*+?]|\{[^}]*\}+)\+")


@pytest.mark.parametrize(("pattern", "text", "found"), MATCHES)
def test_a_group_that_is_repeated_possessively_is_an_atomic_one(pattern: str, text: str, found: str) -> None:
    atomic = make_atomic(pattern)
    assert atomic != pattern
    assert make_atomic(atomic) == atomic
    for compiled in (re.compile(atomic), compile_regex(pattern)):
        match = compiled.search(text)
        assert match is not None
        assert match[0].strip() == found.strip()


@pytest.mark.parametrize("pattern", [r"[^a]*+", r"(a)+b", r"\)*+", r"[)*+]", r"(?:a++|b)*", r"[^]()*+]?"])
def test_other_patterns_stay_as_they_are(pattern: str) -> None:
    assert make_atomic(pattern) == pattern


def test_a_pattern_is_compiled_at_its_first_use_only(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[Any] = []
    compile_now = re.compile

    def compile_and_note(*words: Any) -> re.Pattern[str]:
        compiled.append(words)
        return compile_now(*words)

    monkeypatch.setattr(re, "compile", compile_and_note)
    pattern = compile_regex(r"(?P<name>a+)", re.IGNORECASE)
    other = compile_regex(f"{pattern.pattern}b", pattern.flags)
    assert compiled == []
    assert pattern.sub("c", "bAb") == "bcb"
    assert [match["name"] for match in pattern.finditer("aAba")] == ["aA", "a"]
    assert compiled == [(r"(?P<name>a+)", re.IGNORECASE)]
    assert other.fullmatch("Ab")
    assert copy.deepcopy(pattern).sub("c", "bAb") == "bcb"  # as with pickle


def test_import_of_the_parser_compiles_few_patterns() -> None:
    """The rest would take longer than the import itself."""
    program = "import re; compile_now = re._compiler.compile; patterns = []\n"
    program += "re._compiler.compile = lambda *words: patterns.append(words) or compile_now(*words)\n"
    program += "import lenient; print(len(patterns))"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(ended.stdout) < 80  # more than half of them of the standard library


def test_every_pattern_of_the_project_can_be_compiled() -> None:
    """A mistake in a pattern must not wait for its first use."""
    for name in sorted(sys.modules):
        if name.startswith(("lenient.", "ingest.")):
            for value in vars(sys.modules[name]).values():
                if isinstance(value, LazyPattern):
                    re.compile(value.pattern, value.flags)


def test_no_code_compares_the_pattern_of_a_match() -> None:
    """A match has the compiled pattern, which is another object than the pattern in the module."""
    for package in (lenient, ingest):
        for path in Path(package.__path__[0]).rglob("*.py"):
            assert not re.search(r"\.re (?:is|==|in) ", path.read_text("utf-8")), path


def test_no_pattern_with_such_a_group_is_compiled_otherwise() -> None:
    missed = []
    for package in (lenient, ingest):
        for path in Path(package.__path__[0]).rglob("*.py"):
            written = path.read_text("utf-8")
            if not _POSSESSIVE_GROUP.search(written):
                continue
            for call in ast.walk(ast.parse(written)):
                if isinstance(call, ast.Call) and ast.unparse(call.func) == "re.compile" and call.args:
                    texts = [
                        constant.value
                        for constant in ast.walk(call.args[0])
                        if isinstance(constant, ast.Constant)
                    ]
                    if any(isinstance(text, str) and _POSSESSIVE_GROUP.search(text) for text in texts):
                        missed.append(f"{path.name}:{call.lineno}")
    assert missed == []
