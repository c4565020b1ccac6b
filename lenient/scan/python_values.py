"""Reads what Python writes as calls: `Decimal("1.5")`, `set(["a"])`, `dict(a=1)`; and sets in braces."""

from __future__ import annotations

import re

from lenient.definitions.json_schema.nodes import Node
from lenient.definitions.json_schema.value_kinds import ValueKind
from lenient.regex import compile_regex
from lenient.scan.open_brackets import OpenContainer
from lenient.scan.scan_state import ScanState
from lenient.scan.source_text import ValueSpan

_NUMBER = re.compile(
    r"(?:(?:decimal\.)?Decimal|int|float)\(\s*+([\"']?)([+-]?(?:0|[1-9]\d{0,300})(?:\.\d{1,300})?)\1\s*+\)"
)
_LIST = re.compile(r"(?:list|tuple|set|frozenset)\(\s*+(?=\(\s*+[\"'\d\-]|\[\s*+[\"'\d\-\]]|(\{))")
_MAPPING = re.compile(r"(?:dict|(?:collections\.)?OrderedDict)\(\s*+(?=\{\s*+[\"'}])")
"""The name of a container's type and its bracket, before the container itself; a group for braces."""
_DICT = re.compile(r"dict\((?=\s*+[A-Za-z_]\w*+\s*+=(?!=))")
_LITERAL = r"(?:\"[^\"\\\n]*+\"|'[^'\\\n]*+'|-?\d[\d.]*+)"
_SET = compile_regex(rf"\{{\s*+{_LITERAL}\s*+(?:,\s*+{_LITERAL}\s*+)*+,?\s*+\}}(?!\s*+:)")
_STARTS = frozenset("Dcdiflsto{")


def read_python_value(reading: ScanState, node: Node | None) -> bool:
    """Read the number, or open the container, that Python writes as a call at the current position.

    A set in braces is opened, too. Return False when nothing of this kind stands there.
    """
    text, at = reading.text, reading.position
    if text[at] not in _STARTS or not reading.stack or reading.strings.strict:
        return False
    if text[at] == "{":
        return _open_set(reading, node)
    if (number := _NUMBER.match(text, at)) is not None:
        _put_number(reading, number, node)
        return True
    if (known := _DICT.match(text, at)) is not None:
        reading.report("wrong_opener", at, known.end(), found=known.group(), became="{")
        frame = OpenContainer("}", at, node)
        frame.also = ")"
        reading.stack.append(frame)
        reading.position = known.end()
        return True
    return False


def pass_python_type(reading: ScanState) -> bool:
    """Skip the name of a container's type and its bracket at the current position; report them.

    Return False when there is none. Who opens the container lets it end with that bracket.
    """
    if reading.text[reading.position] not in _STARTS or not reading.stack or reading.strings.strict:
        return False
    text, at = reading.text, reading.position
    wrapped = _LIST.match(text, at) or _MAPPING.match(text, at)
    if wrapped is None or (wrapped.lastindex and _SET.match(text, wrapped.end()) is None):
        return False
    reading.report("string_prefix", at, wrapped.end(), found=wrapped.group())
    reading.position = wrapped.end()
    return True


def _open_set(reading: ScanState, node: Node | None) -> bool:
    at = reading.position
    found = _SET.match(reading.text, at)
    if found is None or (node is not None and node.kind not in (None, ValueKind.JSON_ARRAY)):
        return False
    reading.report("tuple_as_array", at, at + 1, found="{", became="[")
    frame = OpenContainer("]", at, node)
    frame.also = "}"
    reading.stack.append(frame)
    reading.position = at + 1
    return True


def _put_number(reading: ScanState, number: re.Match[str], node: Node | None) -> None:
    """Store the number in a call; its text where the definition wants text."""
    start, digits = reading.position, number[2]
    wants_text = node is not None and node.kind is ValueKind.STRING
    value = digits if wants_text else float(digits) if "." in digits else int(digits)
    reading.report("nonstandard_number", start, number.end(), found=number.group(), became=digits)
    reading.position = number.end()
    reading.put_value(value, ValueSpan(start, number.end()))
