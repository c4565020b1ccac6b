"""Adds lossless defects to the JSON of a value, and returns the codes that the parser must report.

A defect is always between two JSON tokens, never in a string.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from tests.fuzz.choices import Choices
from tests.parser.strategies import written

_ESCAPE = re.compile(r"\\(u[0-9a-f]{4}|.)")
_RAW = {"n": "\n", "t": "\t", "r": "\r"}
_CLOSERS = ("}", "]")


class Broken(NamedTuple):
    """Broken JSON and the codes of its defects. There are no codes if no position fits the defect."""

    text: str
    codes: frozenset[str]


def parts(value: Any) -> list[str]:
    """Return the JSON tokens of the value: brackets, separators, strings, numbers and literals."""
    return list(_parts(value))


def _parts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield "{"
        for at, (name, inner) in enumerate(value.items()):
            yield from ((", ",) if at else ())
            yield from (written(name), ": ")
            yield from _parts(inner)
        yield "}"
    elif isinstance(value, list):
        yield "["
        for at, inner in enumerate(value):
            yield from ((", ",) if at else ())
            yield from _parts(inner)
        yield "]"
    else:
        yield written(value)


def _broken(text: str, *codes: str) -> Broken:
    return Broken(text, frozenset(codes))


def trailing_comma(value: Any, choices: Choices) -> Broken:
    written = parts(value)
    places = [
        at for at in range(1, len(written)) if written[at] in _CLOSERS and written[at - 1] not in ("{", "[")
    ]
    if not places:
        return _broken("".join(written))
    written.insert(choices.one_of(places), choices.one_of((",", ", ", ",\n")))
    return _broken("".join(written), "trailing_comma")


def comments(value: Any, choices: Choices) -> Broken:
    written = parts(value)
    for _ in range(1 + choices.below(3)):
        comment = choices.one_of(("/* one */", "// one\n", '/* {"a": 1} */', '// it\'s "so"\n', " # one\n"))
        written.insert(1 + choices.below(len(written) - 1), comment)
    return _broken("".join(written), "comment_removed")


def missing_closers(value: Any, choices: Choices) -> Broken:
    written = parts(value)
    most = next(count for count in range(len(written)) if written[-1 - count] not in _CLOSERS)
    return _broken("".join(written[: -1 - choices.below(most)]), "missing_closer")


def raw_controls(value: Any, choices: Choices) -> Broken:
    text = "".join(parts(value))
    raw = _ESCAPE.sub(lambda escape: _RAW.get(escape.group(1), escape.group()), text)
    return _broken(raw) if raw == text else _broken(raw, "raw_control_character")


def fenced(value: Any, choices: Choices) -> Broken:
    text = json.dumps(value, ensure_ascii=False, indent=choices.one_of((None, 2)))
    shape = choices.one_of(
        ("```json\n{}\n```", "```\n{}\n```\n", "~~~json\n{}\n~~~", "```json\n{}", "{}\n```")
    )
    return _broken(shape.replace("{}", text), "code_fence_removed")


def narrated(value: Any, choices: Choices) -> Broken:
    text = json.dumps(value, ensure_ascii=False, indent=choices.one_of((None, 2)))
    before = choices.one_of(("", "Sure! Here are the arguments: ", "参数如下：\n", "I'll call it now.\n\n"))
    after = (
        "" if before and choices.below(2) else choices.one_of(("\nLet me know.", "\n\nIs that all right?"))
    )
    return _broken(before + text + after, "narration_removed")


def string_encoded(value: Any, choices: Choices) -> Broken:
    text = written(value)
    for _ in range(1 + choices.below(4)):
        text = json.dumps(text, ensure_ascii=choices.one_of((True, False)))
    return _broken(text, "string_encoding_removed")


def byte_order_mark(value: Any, choices: Choices) -> Broken:
    return _broken("\ufeff" + json.dumps(value), "byte_order_mark")


REVERSIBLE: Mapping[str, Callable[[Any, Choices], Broken]] = {
    way.__name__: way
    for way in (
        trailing_comma, comments, missing_closers, raw_controls, fenced, narrated, string_encoded,
        byte_order_mark,
    )
}  # fmt: skip


def in_python(value: Any) -> Broken:
    text = repr(value)
    codes = {"single_quotes"} if "'" in text else set()
    words = {part for part in parts(value) if part in ("true", "false", "null")}
    return _broken(text, *codes, *({"nonstandard_literal"} if words else ()))
