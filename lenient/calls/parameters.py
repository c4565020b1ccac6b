"""Parameters that a dialect writes one by one → the raw arguments as JSON, and what was changed on the way.

A value is text unless the tool's definition, or the dialect, says otherwise; then it goes in as it was
written, and `lenient.parse` reads, coerces and checks it. Knows no tags.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from xml.sax.saxutils import unescape

from lenient.calls.values import is_json
from lenient.diagnostics import Diagnostic, render_path, shorten
from lenient.json_values import compact
from lenient.nodes import Node, spelling
from lenient.parameters import ValueKind

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
_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|apos|#39);")
_BARE_SIGN = re.compile(r"<|&(?!(?:lt|gt|amp|quot|apos|#39);)")
_QUOTES = {"&quot;": '"', "&apos;": "'", "&#39;": "'"}


class Undeclared(Enum):
    """What a value is of which neither the definition nor the model says the type."""

    TEXT = "text"
    JSON = "json"  # JSON where it can be


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter as written. `is_text` = what the model says of its type, None when it says nothing.

    `cut` = the text ends within the value; `layout` = line breaks around it were taken for layout; `end` is
    the place after it in the reply.
    """

    name: str
    value: str
    is_text: bool | None
    closed: bool
    cut: bool
    layout: bool
    end: int


def built_arguments(
    parameters: Sequence[Parameter], root: Node | None, undeclared: Undeclared, *, entities: bool, cut: bool
) -> tuple[str, tuple[Diagnostic, ...]]:
    """The JSON text of the parameters, in order and with repetitions; findings have spans in it.

    `cut` = the call was not closed: more parameters may have followed.
    """
    parts, findings, length = list[str](), list[Diagnostic](), 1
    for parameter in parameters:
        key = compact(parameter.name) + ": "
        text, codes = _json_text(parameter, _node(root, parameter.name), undeclared, entities)
        if not parameter.closed and not parameter.cut:
            codes.append("missing_closing_tag")
        start = length + len(key)
        path, end = render_path((None, parameter.name)), start + len(text)
        found = shorten(parameter.value)
        findings += [Diagnostic(code, path, start, end, found) for code in codes]
        parts.append(key + text)
        length = end + 2
    raw = "{" + ", ".join(parts) + "}"
    if cut and not (parameters and parameters[-1].cut):
        findings.append(Diagnostic("truncated_text", "$", len(raw) - 1, len(raw)))
    return raw, tuple(findings)


def _node(root: Node | None, name: str) -> Node | None:
    """What the definition says of a parameter, in any spelling of its name."""
    if root is None:
        return None
    declared = name if name in root.fields else root.spellings.get(spelling(name))
    if declared is None:
        return root.extra if isinstance(root.extra, Node) else None
    return root.fields[declared]


def _json_text(
    parameter: Parameter, node: Node | None, undeclared: Undeclared, entities: bool
) -> tuple[str, list[str]]:
    """The JSON text of one value, and the codes of what was done to it."""
    trimmed = parameter.value.strip()
    said = parameter.is_text
    if said is None:
        said = _is_text(node, trimmed, undeclared)
    if not said:
        if parameter.cut:
            return compact(trimmed), ["unclosed_string"]
        return (trimmed if is_json(trimmed) or trimmed in _PYTHON_LITERALS else compact(trimmed)), []
    codes = ["layout_newlines_removed"] if parameter.layout else []
    value = parameter.value
    if entities and _ENTITY.search(value) and not _BARE_SIGN.search(value):
        value = unescape(value, _QUOTES)
        codes.append("xml_entities_decoded")
    if parameter.cut:
        codes.append("unclosed_string")
    return compact(value), codes


def _is_text(node: Node | None, value: str, undeclared: Undeclared) -> bool:
    """Is a value text, by its definition? One that may be text or something else is what it looks like."""
    if node is None:
        return undeclared is Undeclared.TEXT or not is_json(value)
    if node.nullable and value in ("null", "None"):
        return False
    branches = node.branches or (node,)
    kinds = {branch.kind for branch in branches}
    if kinds <= _TEXT_KINDS:
        return True
    if None in kinds:
        return node.choices is not None or undeclared is Undeclared.TEXT or not is_json(value)
    return bool(kinds & _TEXT_KINDS) and not is_json(value)
