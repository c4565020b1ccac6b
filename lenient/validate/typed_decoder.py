"""Decodes and checks the arguments of a tool in one step, where msgspec is installed.

A definition of plain types becomes a msgspec decoder. It gives the values that orjson gives and the fast
check accepts, only faster. msgspec keeps the last value of a repeated key and drops undeclared fields:
counting quotes finds both.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Required, TypedDict, Union

from lenient.definitions.json_schema.nodes import Node
from lenient.diagnostics import MAX_DEPTH
from lenient.unwrap.long_strings import LONG, NO_JSON, Accepts, ReadFitting, decode_around_string
from lenient.validate.fast_check import FIRST_TYPES, SCALARS, compile_function
from lenient.validate.repeated_keys import holds_each_key_once

try:
    import msgspec
except ImportError:  # it is optional
    _IS_INSTALLED = False
else:
    _IS_INSTALLED = True

_Written = dict[type, Any]
"""The Python types that a node allows without a diagnostic, each as msgspec's type; {} allows no value."""


class _NotPlainError(Exception):
    """A part of the definition has no msgspec type."""


def compile_reader(root: Node, accepts: Accepts) -> ReadFitting | None:
    """Compile a reader of the arguments that fit a definition; `accepts` checks those with a long string.

    Return None when the definition demands more than plain types, or when msgspec is not installed.
    """
    if not _IS_INSTALLED:
        return None
    writer = _TypeWriter()
    try:
        written = writer.write(root, 0).get(dict)
        decode = None if written is None else msgspec.json.Decoder(written).decode
    except (_NotPlainError, UnicodeEncodeError):
        return None
    if decode is None:
        return None
    bound = {
        "decode": decode, "accepts": accepts, "NO_JSON": NO_JSON, "NoJson": msgspec.DecodeError,
        "Misfit": (msgspec.ValidationError, UnicodeEncodeError, RecursionError),
        "decode_around_string": decode_around_string, "holds_each_key_once": holds_each_key_once,
    }  # fmt: skip
    reader: Any = compile_function("text", _READ_PLAIN + writer.write_quote_count(root), bound)
    return reader  # type: ignore[no-any-return]


_READ_PLAIN = [
    " if text[-1:] != '}': return None",  # a refusal takes as long as reading
    f" if len(text) >= {LONG} and (apart := decode_around_string(text)) is not None:",
    "  return apart[0] if accepts(*apart) else None",
    " try: value = decode(text)",
    " except Misfit: return None",
    " except NoJson: return NO_JSON",
]


class _TypeWriter:
    """Writes the nodes of one definition as msgspec types."""

    def __init__(self) -> None:
        self.written: dict[int, _Written | None] = {}  # by id; None while a node is being written

    def write(self, node: Node, depth: int) -> _Written:
        """Return what a node allows. Raises _NotPlainError where the fast check would call a function."""
        if id(node) in self.written:
            known = self.written[id(node)]
            if known is None:  # the node holds itself
                raise _NotPlainError
            return known
        if depth > MAX_DEPTH // 4:
            raise _NotPlainError
        self.written[id(node)] = None
        written = self.written[id(node)] = self.write_anew(node, depth)
        return written

    def write_anew(self, node: Node, depth: int) -> _Written:
        if node.remarks or node.demands or node.never:
            return {}
        null: _Written = {type(None): None} if node.nullable else {}
        if node.branches:
            return null | self.write_branches(node, depth)
        first = SCALARS if node.kind is None else FIRST_TYPES.get(node.kind, ())
        if first and (node.rules or (node.pattern is not None and str in first)):
            raise _NotPlainError
        written = {found: self.write_type(node, found, depth) for found in first}
        return {found: one for found, one in written.items() if one is not None or found is type(None)} | null

    def write_branches(self, node: Node, depth: int) -> _Written:
        merged: _Written = {}
        for branch in node.branches:
            for found, one in self.write(branch, depth + 1).items():
                if merged.setdefault(found, one) != one:
                    raise _NotPlainError  # msgspec would have to try one after the other
        return merged

    def write_type(self, node: Node, found: type, depth: int) -> Any:
        """Return the msgspec type of the values of one Python type, None when no such value is allowed."""
        if node.choices is not None:
            texts = tuple(value for value in node.choices.allowed if isinstance(value, str))
            if found is not str:
                raise _NotPlainError
            for text in texts:
                text.encode()
            return Literal[texts] if texts else None
        if found is float:  # within this orjson's numbers are the numbers sent
            return Annotated[float, msgspec.Meta(gt=-1e18, lt=1e18)]
        if found is list:
            return self.write_list(node, depth)
        return self.write_object(node, depth) if found is dict else found

    def write_list(self, node: Node, depth: int) -> Any:
        items = {} if node.prefix or node.items is None else self.write(node.items, depth + 1)
        if not items:
            return Annotated[list[None], msgspec.Meta(max_length=0)]
        return list[_join(items)]  # type: ignore[misc]  # made at run time

    def write_object(self, node: Node, depth: int) -> Any:
        """Return the type of an object. A field that allows no value is left out, as if undeclared."""
        fields: dict[str, Any] = {}
        for name, field in node.fields.items():
            name.encode()  # msgspec would take half of a surrogate pair for nothing
            types = self.write(field, depth + 1)
            if types:
                fields[name] = Required[_join(types)] if name in node.required else _join(types)
            elif name in node.required:
                return None
        if not node.required <= fields.keys():
            return None
        make: Any = TypedDict
        return make("Arguments", fields, total=False)

    def write_quote_count(self, root: Node) -> list[str]:
        """Write the end of `read_plain`, which finds keys that are repeated or undeclared by their quotes.

        Quotes are counted by the declared types, unless an object or a mixed list is declared: then writing
        the value again is faster. An escaped quote makes the two differ, and is settled by writing, too.
        """
        always, lines = 0, []
        for name, field in root.fields.items():
            types = self.written[id(field)] or {}
            items = (field.items is not None and self.written.get(id(field.items))) or {}
            if dict in types or (str in items and len(items) > 1) or dict in items or list in items:
                return [" return value if holds_each_key_once(text, value) else None"]
            if str in types and len(types) == 1 and name in root.required:
                always += 2
            elif str in types:
                lines.append(f" if type(value.get({name!r})) is str: total += 2")
            if list in types and str in items:
                lines.append(f" if type(v := value.get({name!r})) is list: total += 2 * len(v)")
        head = f" total = {always} + 2 * len(value)"
        last = " return value if text.count('\"') == total or holds_each_key_once(text, value) else None"
        return [head, *lines, last]


def _join(types: _Written) -> Any:
    return Union[tuple(types.values())]  # noqa: UP007  of as many as there are
