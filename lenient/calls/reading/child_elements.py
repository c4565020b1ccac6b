"""Reads parameters whose names are the tag names of XML-like elements: `<city>Oslo</city>`.

An object is an element that contains elements. A list is several `<item>` elements, or one repeated element.
MiniMax M3 writes a token before each tag, so tags without the token are part of a string. In other dialects,
a value contains elements only when the definition declares an object or a list. Without a definition, the
value is a string.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lenient.calls.reading.model_text import ModelText
from lenient.calls.reading.written_parameters import (
    UndeclaredType,
    WrittenParameter,
    find_node,
    is_text,
    write_parameter,
)
from lenient.definitions.json_schema.json_values import to_json_text
from lenient.definitions.json_schema.nodes import Node
from lenient.definitions.json_schema.value_kinds import ValueKind
from lenient.regex import compile_regex

TAG_TOKEN = r"\]<\]minimax\[>\["  # noqa: S105  a token of a notation, not a password
"""The token that MiniMax M3 writes before each tag."""
_TOKEN = compile_regex(TAG_TOKEN)
_OPENING = compile_regex(rf"\s*+(?P<token>{TAG_TOKEN})?<(?P<name>[^\s<>/\"'=!?\]]{{1,64}})>")
_CALL_END = compile_regex(rf"(?:{TAG_TOKEN})?</(?:[A-Za-z_]{{1,20}}:|｜DSML｜)?(?:invoke|function)\s*+>")
_BEFORE_TAG = compile_regex(rf"\s*+(?:{TAG_TOKEN}|<|\Z)")
_WRAPPERS = frozenset({"tool_call", "tool_calls", "function_call", "function_calls", "invoke", "function"})
_LINE_TAG = compile_regex(r"\n[ \t]*+<(?P<name>[^\s<>/]{1,64})>")
_CLOSING = compile_regex(rf"\s*+(?:{TAG_TOKEN})?</(?P<name>parameters|params|arguments|args|input)>")
_HOLDERS = frozenset({"parameters", "params", "arguments", "args", "input"})
_MAX_DEPTH = 32
_Written = tuple[str, list[str]]
"""The JSON of a value, and the codes of the changes made to the value."""


@dataclass(frozen=True, slots=True)
class _Element:
    """One element of the reply.

    `body:stop` is the span of the content, and `end` is the offset after the closing tag. `doubtful` is True
    when the element could also end elsewhere.
    """

    name: str
    body: int
    stop: int
    end: int
    closed: bool
    doubtful: bool = False


def begins_with_elements(text: str, position: int, root: Node | None) -> bool:
    """Return True when each parameter of a tool call is an element. Return False when the content is JSON.

    `root` is the compiled definition, or None when the definition is unknown.
    """
    opening = _OPENING.match(text, position)
    if opening is not None and _is_holder(opening["name"], root):
        position = opening.end()
        opening = _OPENING.match(text, position) or _CLOSING.match(text, position)
    return opening is not None and opening["name"] not in _WRAPPERS


def _is_holder(name: str, root: Node | None) -> bool:
    """Return True when an element with this name contains all parameters.

    Return False when a parameter has this name.
    """
    return name in _HOLDERS and find_node(root, name) is None


class ElementReader:
    """Reads the elements of one tool call, beginning at `position`.

    `undeclared` is the type of values without a declared type. `marked` is True when the dialect's token
    precedes the tags. `end` is the offset after the last element. `dropped` is the span of the last
    characters found between elements.
    """

    def __init__(self, reply: ModelText, position: int, undeclared: UndeclaredType) -> None:
        opening = _OPENING.match(reply.text, position)
        self.reply = reply
        self.text = reply.text
        self.marked = opening is not None and opening["token"] is not None
        self.undeclared = UndeclaredType.JSON if self.marked else undeclared
        self.declared: frozenset[str] = frozenset()
        self.end = position
        self.dropped: tuple[int, int] | None = None
        self.call_end = -1  # offset of the closing tag that the latest search found for the call

    def read_parameters(self, position: int, root: Node | None) -> list[WrittenParameter]:
        """Return the elements from `position` on as parameters.

        One undeclared element such as `<parameters>` may surround the parameters. `root` is the compiled
        definition.
        """
        self.declared = frozenset(root.fields) if root is not None else frozenset()
        holder = _OPENING.match(self.text, position)
        if holder is not None and not _is_holder(holder["name"], root):
            holder = None
        elements = list(self.read_elements(holder.end() if holder else position, len(self.text)))
        self.end = elements[-1].end if elements else holder.end() if holder else position
        if holder is not None and (closing := _CLOSING.match(self.text, self.end)) is not None:
            self.end = closing.end()
        return [
            self.make_parameter(elements, find_node(root, elements[0].name))
            for elements in self.group(elements, root)
        ]

    def make_parameter(self, elements: list[_Element], node: Node | None) -> WrittenParameter:
        """Return all elements with one name as a single parameter."""
        first, last = elements[0], elements[-1]
        cut = not last.closed and last.end == len(self.text)
        doubtful = any(element.doubtful for element in elements)
        value = self.text[first.body : last.stop]
        written = self.write_all(elements, node, 0)
        return WrittenParameter(
            first.name, value, None, last.closed, cut, False, last.end, doubtful=doubtful, written=written
        )

    def read_elements(self, position: int, limit: int) -> Iterator[_Element]:
        while (opening := self.find_opening(position, limit)) is not None:
            if self.text[position : opening.start()].strip():
                self.dropped = (position, opening.start())
            element = self.find_end(opening["name"], opening.end(), limit)
            yield element
            position = element.end

    def find_opening(self, position: int, limit: int) -> re.Match[str] | None:
        """Return the next opening tag. Skip characters before the tag only if the dialect marks each tag."""
        opening = _OPENING.match(self.text, position, limit)
        if self.marked and (opening is None or opening["token"] is None):
            token = _TOKEN.search(self.text, position, limit)
            opening = _OPENING.match(self.text, token.start(), limit) if token is not None else None
        return opening if opening is not None and opening["name"] not in _WRAPPERS else None

    def find_end(self, name: str, body: int, limit: int) -> _Element:
        """Return the element whose content begins at the offset `body`."""
        if not self.reply.spend_budget(0):
            return _Element(name, body, limit, limit, False)
        depth, ends = 1, list[re.Match[str]]()
        tags = re.compile(rf"(?P<token>{TAG_TOKEN})?<(?P<close>/?){re.escape(name)}>")
        call_end = self.find_call_end(body, limit)
        for tag in tags.finditer(self.text, body, limit):
            if self.marked and tag["token"] is None:
                continue
            depth += -1 if tag["close"] else 1
            if depth == 0:
                if self.marked or _BEFORE_TAG.match(self.text, tag.end(), limit):
                    self.reply.spend_budget(tag.end() - body)
                    return _Element(name, body, tag.start(), tag.end(), True, doubtful=bool(ends))
                depth = 1
            if tag["close"] and tag.end() <= call_end:
                ends.append(tag)
        self.reply.spend_budget(limit - body)
        if ends:
            return _Element(name, body, ends[-1].start(), ends[-1].end(), True, doubtful=True)
        return self.end_unclosed(name, body, call_end)

    def find_call_end(self, position: int, limit: int) -> int:
        if self.call_end < position:
            closing = _CALL_END.search(self.text, position)
            self.call_end = closing.start() if closing is not None else len(self.text)
        return min(self.call_end, limit)

    def end_unclosed(self, name: str, body: int, stop: int) -> _Element:
        """Return an element without a closing tag. The element ends where the next tag begins."""
        if not self.marked:
            lines = _LINE_TAG.finditer(self.text, body, stop)
            end = next((line.start() for line in lines if line["name"] in self.declared), stop)
            return _Element(name, body, end, end, False, doubtful="</" in self.text[body:end])
        token = _TOKEN.search(self.text, body, stop)
        end = token.start() if token is not None else stop
        if self.text[body:end].rstrip().endswith(f"</{name}>"):
            return _Element(name, body, self.text.rindex("</", body, end), end, True)
        opens = token is not None and _OPENING.match(self.text, end) is not None
        return _Element(name, body, end, end, False, doubtful=opens)

    def group(self, elements: list[_Element], node: Node | None) -> list[list[_Element]]:
        """Return the elements in groups.

        Elements with the same name form one group if the group may be a list.
        """
        groups: dict[tuple[str, int], list[_Element]] = {}
        for position, element in enumerate(elements):
            inner = find_node(node, element.name)
            listed = self.marked if inner is None else _allows(inner, ValueKind.JSON_ARRAY)
            groups.setdefault((element.name, -1 if listed else position), []).append(element)
        return list(groups.values())

    def write_all(self, elements: list[_Element], node: Node | None, depth: int) -> _Written:
        """Return the JSON of all elements with one name. Several elements become a list."""
        if len(elements) == 1:
            return self.write_content(elements[0], node, depth)
        items = node.items if node is not None else None
        return _join("[]", [self.write_content(element, items, depth) for element in elements])

    def write_content(self, element: _Element, node: Node | None, depth: int) -> _Written:
        """Return the JSON of an element's content, which is a value or further elements."""
        children = self.find_children(element, node) if depth < _MAX_DEPTH else []
        if children:
            if _is_list(children, node):
                items = node.items if node is not None else None
                return _join("[]", [self.write_inner([child], items, depth) for child in children])
            groups = list(self.group(children, node))
            inner = [self.write_inner(group, find_node(node, group[0].name), depth) for group in groups]
            return _join("{}", inner, [to_json_text(group[0].name) + ": " for group in groups])
        value = self.text[element.body : element.stop]
        if not value.strip() and node is not None and not is_text(node, "", self.undeclared):
            for kind, brackets in ((ValueKind.JSON_ARRAY, "[]"), (ValueKind.JSON_OBJECT, "{}")):
                if _allows(node, kind):
                    return brackets, []
        cut = not element.closed and element.end == len(self.text)
        layout = not self.marked and len(value) > 1 and value[0] == "\n" == value[-1]
        trimmed = value[1:-1] if layout else value if element.closed or cut else value.removesuffix("\n")
        parameter = WrittenParameter(element.name, trimmed, None, element.closed, cut, layout, element.end)
        text, codes = write_parameter(parameter, node, self.undeclared, entities=not self.marked)
        doubtful = _TOKEN.search(value) or (node is None and not self.marked and self.split(element))
        return text, [*codes, "ambiguous"] if doubtful else codes

    def write_inner(self, elements: list[_Element], node: Node | None, depth: int) -> _Written:
        """Return the JSON of the elements inside an element, and the codes of the repairs at element ends."""
        text, codes = self.write_all(elements, node, depth + 1)
        for element in elements:
            if not element.closed:
                codes.append("unclosed_string" if element.end == len(self.text) else "missing_closing_tag")
            if element.doubtful:
                codes.append("ambiguous")
        return text, codes

    def find_children(self, element: _Element, node: Node | None) -> list[_Element]:
        """Return the elements inside an element, or [] when the element's content is a value.

        A declared string has no elements. If the dialect has no token before tags, the definition must
        declare an object or a list.
        """
        if self.marked:
            holds_elements = _allows(node, ValueKind.JSON_OBJECT) or _allows(node, ValueKind.JSON_ARRAY)
        else:
            value = self.text[element.body : element.stop].strip()
            holds_elements = node is not None and not is_text(node, value, self.undeclared)
        return self.split(element) if holds_elements else []

    def split(self, element: _Element) -> list[_Element]:
        """Return the elements in the content of an element, or [] when the content is anything else."""
        opening = _OPENING.match(self.text, element.body, element.stop)
        if opening is None or (self.marked and opening["token"] is None):
            return []
        children = list(self.read_elements(element.body, element.stop))
        rest = self.text[children[-1].end : element.stop] if children else ""
        if rest.strip() and self.marked:
            self.dropped = (children[-1].end, element.stop)
        return [] if rest.strip() and not self.marked else children


def _allows(node: Node | None, kind: ValueKind) -> bool:
    return node is None or any(branch.kind in (None, kind) for branch in node.branches or (node,))


def _is_list(children: list[_Element], node: Node | None) -> bool:
    names = {child.name for child in children}
    if node is not None and not _allows(node, ValueKind.JSON_OBJECT):
        return len(names) == 1 and _allows(node, ValueKind.JSON_ARRAY)
    return names == {"item"} and _allows(node, ValueKind.JSON_ARRAY) and find_node(node, "item") is None


def _join(brackets: str, inner: list[_Written], keys: list[str] | None = None) -> _Written:
    parts = [key + text for key, (text, _) in zip(keys or [""] * len(inner), inner, strict=True)]
    return brackets[0] + ", ".join(parts) + brackets[1], [code for _, codes in inner for code in codes]
