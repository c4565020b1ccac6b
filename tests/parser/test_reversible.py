"""Tests defects that lose no data."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lenient import Outcome, parse_arguments
from tests.fuzz.choices import Choices
from tests.fuzz.promises import read, same
from tests.parser.reversible import REVERSIBLE, Broken, in_python
from tests.parser.strategies import CODE_LIKE, examples, names, numbers

# The texts true, false and null become values, unless a definition declares them as strings.
_kept = st.sampled_from(CODE_LIKE) | st.text(st.characters(codec="utf-8"), max_size=20)
_texts = _kept.filter(lambda text: text not in ("true", "false", "null"))
_plain_texts = st.text("abc xyz019_-+é汉'.", max_size=12).filter(
    lambda text: text not in ("true", "false", "null")
)


def _objects(
    texts: st.SearchStrategy[str], keys: st.SearchStrategy[str]
) -> st.SearchStrategy[dict[str, Any]]:
    scalars = st.none() | st.booleans() | numbers | texts
    values = st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
        max_leaves=8,
    )
    return st.dictionaries(keys, values, min_size=1, max_size=4)


_keys = names | st.text(
    st.characters(codec="utf-8", categories=("L", "N"), include_characters=" _-."), max_size=8
)
objects = _objects(_texts, _keys)
plain_objects = _objects(_plain_texts, names)
choices = st.binary(min_size=8, max_size=8)


def assert_undone(broken: Broken, value: Any) -> None:
    request = read(broken.text)
    codes = {finding.code for finding in request.diagnostics}
    assert same(request.arguments, value)
    assert broken.codes <= codes
    assert request.outcome is (Outcome.REPAIRED if broken.codes else Outcome.UNMEASURED)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("way", REVERSIBLE)
@examples(60)
@given(value=objects, chosen=choices)
def test_a_defect_between_the_parts_is_undone(way: str, value: dict[str, Any], chosen: bytes) -> None:
    broken = REVERSIBLE[way](value, Choices(chosen))
    assert_undone(broken, value)


@examples(100)
@given(value=plain_objects)
def test_what_python_prints_is_read_as_it_was(value: dict[str, Any]) -> None:
    assert_undone(in_python(value), value)


@pytest.mark.parametrize("around", ["fenced", "narrated", "string_encoded"])
@examples(40)
@given(value=plain_objects, chosen=choices)
def test_a_defect_is_undone_inside_surroundings_too(
    around: str, value: dict[str, Any], chosen: bytes
) -> None:
    python = in_python(value)
    dressed = REVERSIBLE[around]({"placeholder": 0}, Choices(chosen))
    if around == "string_encoded":
        inner = python.text.replace("\\", "\\\\").replace('"', '\\"')
        text = f'"{inner}"'
    else:
        plain, indented = '{"placeholder": 0}', '{\n  "placeholder": 0\n}'
        text = dressed.text.replace(plain, python.text).replace(indented, python.text)
    assert_undone(Broken(text, python.codes | dressed.codes), value)


@pytest.mark.thorough
@examples(100)
@given(value=objects)
def test_a_cut_text_gives_what_was_sent_of_it_marked_as_lossy_or_an_error(value: dict[str, Any]) -> None:
    text = json.dumps(value, ensure_ascii=False)
    for length in range(1, min(len(text), 200)):
        request = parse_arguments(text[:length])
        if request.outcome is not Outcome.FAILED:
            assert _is_part(request.arguments, value), f"invented, from {text[:length]!r}"
            whole = same(request.arguments, value)
            assert request.lossy or whole or _ends_after_a_value(text[:length])


def _is_part(some: Any, whole: Any) -> bool:
    """Return True if `whole` contains every value in `some`. In `some`, containers, strings and numbers may
    be cut.
    """
    if isinstance(some, dict) and isinstance(whole, dict):
        return all(name in whole and _is_part(inner, whole[name]) for name, inner in some.items())
    if isinstance(some, list) and isinstance(whole, list):
        return len(some) <= len(whole) and all(_is_part(part, whole[at]) for at, part in enumerate(some))
    if isinstance(some, str) and isinstance(whole, str):
        # in a cut text, a character that is cut becomes U+FFFD
        return whole.startswith(some.removesuffix("\ufffd"))
    if isinstance(some, (int, float)) and isinstance(whole, (int, float)):
        return True
    return same(some, whole)


def _ends_after_a_value(text: str) -> bool:
    """Return True if the JSON ends after a string, a literal or a bracket. The parser cannot notice such a
    cut.
    """
    return text.rstrip()[-1] in '"}]el'
