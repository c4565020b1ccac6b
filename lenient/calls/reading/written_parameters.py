"""Builds the raw arguments as JSON for dialects that write each parameter separately.

A value is a string unless the tool's definition or the dialect declares another type. Values that are not
strings are copied unchanged; `lenient.arguments.parse` reads, converts and checks these values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from lenient.calls.reading.json_in_text import is_json
from lenient.definitions.json_schema.json_values import to_json_text
from lenient.definitions.json_schema.nodes import Node, normalise_name
from lenient.definitions.json_schema.value_kinds import ValueKind
from lenient.diagnostics import Diagnostic, render_path, shorten
from lenient.regex import compile_regex

_TEXT_KINDS = frozenset(
    {
        ValueKind.STRING,
        ValueKind.ENUM_TOKEN,
        ValueKind.URI,
        ValueKind.TIMESTAMP,
        ValueKind.ATTACHMENT_REFERENCE,
    }
)
_PYTHON_LITERALS = frozenset({"True", "False", "None"})
_ENTITY = compile_regex(r"&(?:lt|gt|amp|quot|apos|#39);")
_BARE_SIGN = compile_regex(r"<|&(?!(?:lt|gt|amp|quot|apos|#39);)")
_HINTS = {"ambiguous": "A later tag could end the value as well."}
# `&amp;` is last, so that the text of an entity is not decoded twice. `xml.sax.saxutils.unescape` does the
# same, but imports an HTTP client.
_ENTITIES = {"&gt;": ">", "&lt;": "<", "&quot;": '"', "&apos;": "'", "&#39;": "'", "&amp;": "&"}


class UndeclaredType(Enum):
    """The type of a value for which neither the definition nor the model declares a type."""

    TEXT = "text"
    JSON = "json"  # the value is read as JSON if it is valid JSON


@dataclass(frozen=True, slots=True)
class WrittenParameter:
    """One parameter as the model wrote it.

    `is_text` is True when the model declares a string, False when the model declares another type, and None
    when the model declares no type. `closed` is False when the closing tag is missing. `cut` is True when the
    reply ends within the value. `layout` is True when line breaks around the value were removed as layout.
    `end` is the offset where the parameter ends in the reply. `doubtful` is True when the parameter could
    also end elsewhere. `written` is the JSON of a value that was already read, with the codes of the changes
    made to the value.
    """

    name: str
    value: str
    is_text: bool | None
    closed: bool
    cut: bool
    layout: bool
    end: int
    doubtful: bool = False
    written: tuple[str, list[str]] | None = None


def build_arguments(
    parameters: Sequence[WrittenParameter],
    root: Node | None,
    undeclared: UndeclaredType,
    *,
    entities: bool,
    cut: bool,
) -> tuple[str, tuple[Diagnostic, ...]]:
    """Return the parameters as one JSON object, and the diagnostics of building this JSON.

    The order of parameters is kept, and repeated names stay. The spans of the diagnostics point into the
    JSON. `root` is the compiled definition, or None when the definition is unknown. `undeclared` is the type
    of values without a declared type. `entities` is True when XML entities are decoded. `cut` is True when
    the tool call was not closed, so parameters may be missing at the end.
    """
    parts, findings, length = list[str](), list[Diagnostic](), 1
    for parameter in parameters:
        key = to_json_text(parameter.name) + ": "
        text, codes = parameter.written or write_parameter(
            parameter, find_node(root, parameter.name), undeclared, entities=entities
        )
        if not parameter.closed and not parameter.cut:
            codes.append("missing_closing_tag")
        if parameter.doubtful:
            codes.append("ambiguous")
        start = length + len(key)
        path, end = render_path((None, parameter.name)), start + len(text)
        snippet = shorten(parameter.value)
        findings += [Diagnostic(code, path, start, end, snippet, hint=_HINTS.get(code)) for code in codes]
        parts.append(key + text)
        length = end + 2
    raw = "{" + ", ".join(parts) + "}"
    if cut and not (parameters and parameters[-1].cut):
        findings.append(Diagnostic("truncated_text", "$", len(raw) - 1, len(raw)))
    return raw, tuple(findings)


def find_node(root: Node | None, name: str) -> Node | None:
    """Return the node of a parameter, or None when the parameter is not declared.

    The name of the parameter may have any spelling.
    """
    if root is None:
        return None
    declared = name if name in root.fields else root.spellings.get(normalise_name(name))
    if declared is None:
        return root.extra if isinstance(root.extra, Node) else None
    return root.fields[declared]


def write_parameter(
    parameter: WrittenParameter, node: Node | None, undeclared: UndeclaredType, *, entities: bool
) -> tuple[str, list[str]]:
    """Return the JSON of one value, and the codes of the changes made to the value."""
    trimmed = parameter.value.strip()
    as_text = parameter.is_text
    if as_text is None:
        as_text = is_text(node, trimmed, undeclared)
    if not as_text:
        if parameter.cut:
            return to_json_text(trimmed), ["unclosed_string"]
        return (trimmed if is_json(trimmed) or trimmed in _PYTHON_LITERALS else to_json_text(trimmed)), []
    codes = ["layout_newlines_removed"] if parameter.layout else []
    value = parameter.value
    if entities and _ENTITY.search(value) and not _BARE_SIGN.search(value):
        for entity, sign in _ENTITIES.items():
            value = value.replace(entity, sign)
        codes.append("xml_entities_decoded")
    if parameter.cut:
        codes.append("unclosed_string")
    return to_json_text(value), codes


def is_text(node: Node | None, value: str, undeclared: UndeclaredType) -> bool:
    """Return True when the definition declares a value as a string.

    If the definition is missing or also allows other types, valid JSON is not a string.
    """
    if node is None:
        return undeclared is UndeclaredType.TEXT or not is_json(value)
    if node.nullable and value in ("null", "None"):
        return False
    branches = node.branches or (node,)
    kinds = {branch.kind for branch in branches}
    if kinds <= _TEXT_KINDS:
        return True
    if None in kinds:
        return node.choices is not None or undeclared is UndeclaredType.TEXT or not is_json(value)
    return bool(kinds & _TEXT_KINDS) and not is_json(value)
