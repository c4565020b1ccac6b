"""Tests that regular expressions match equally on every Python version. Before 3.11.5, Python matched
possessive groups incorrectly.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import ingest
import lenient
from lenient.regex import compile_regex, make_atomic

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
