"""Raw arguments and a tool definition → a ToolCallRequest: the stages in order. The only module that knows
them all.

Never raises for any text, bytes or definition. Valid JSON that fits its definition takes the short way
through `lenient.compiled` and meets no other stage.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Any

from orjson import JSONDecodeError, loads

from lenient.apart import LONG, decode_apart
from lenient.codes import CODES, Stage
from lenient.compiled import compiled, holds_each_key_once, is_plain
from lenient.conform import Conformer
from lenient.diagnostics import Diagnostic, Findings, Path, TooManyFindingsError, shorten
from lenient.exact import NO_JSON, read_exactly
from lenient.json_values import compact
from lenient.layers import decode_held, read_value
from lenient.leaks import clean_tool_name
from lenient.located import Located
from lenient.nodes import Node
from lenient.repair import UnreadableError
from lenient.repair.bodies import REPLACEMENT
from lenient.request import LENIENT, NOTHING_REJECTED, Outcome, Policy, ToolCallRequest, outcome_of
from lenient.source import Piece
from lenient.tools import ToolCatalog, ToolDefinition
from lenient.undeclared import NO_DEFINITION, read_undeclared

_CLEAN, _REPAIRED, _UNMEASURED = (
    Outcome.CLEAN,
    Outcome.REPAIRED,
    Outcome.UNMEASURED,
)  # looking a member up takes a tenth of a quick run
_NEW = tuple.__new__  # a named tuple made by its own name takes twice as long
_HALVES = re.compile(r"[\ud800-\udfff]")
_MAX_NAME = 100  # characters; comparing names costs the product of their lengths
_NAMESPACE = re.compile(r"\A.*(?:[.:/]|__)", re.DOTALL)


def parse_arguments(
    raw: str | bytes,
    tool: ToolDefinition | ToolCatalog | None = None,
    *,
    policy: Policy = LENIENT,
    tool_name: str | None = None,
    tool_call_id: str | None = None,
) -> ToolCallRequest:
    """Read the arguments of one call.

    `policy` decides which diagnostics count as errors in `parse_error`; what is found, and `arguments`, are
    the same under each. `tool_name` is the tool's own name unless given. A catalog is all that the model was
    offered: `tool_name` is looked up in it, and a name that it does not hold is an unknown tool. What leaked
    into `tool_name` from the model's own format is taken off, and said.
    """
    if tool_name is not None and not tool_name.isidentifier():
        clean, leaked = clean_tool_name(tool_name)
        if leaked and clean != tool_name:
            return _called_by_clean_name(raw, tool, policy, (tool_name, clean, tool_call_id))
    text = raw
    try:
        if len(raw) < LONG or type(raw) is not str or (apart := decode_apart(raw)) is None:
            value = loads(raw)
        else:
            value, text = apart
    except JSONDecodeError:
        value = NO_JSON
    if type(value) is dict and type(text) is str:
        if type(tool) is ToolDefinition:
            quotes = (tool.compiled or compiled(tool)).fit(value)
            if quotes >= 0 and (text.count('"') == quotes or holds_each_key_once(text, value)):
                name = tool.name if tool_name is None else tool_name
                request = (name, tool_call_id, raw, value, _CLEAN, (), policy, tool, NOTHING_REJECTED, ())
                return _NEW(ToolCallRequest, request)
        elif tool is None and is_plain(value, text):
            rest = (value, _UNMEASURED, NO_DEFINITION, policy, None, NOTHING_REJECTED, ())
            return _NEW(ToolCallRequest, (tool_name, tool_call_id, raw, *rest))
    if isinstance(tool, ToolCatalog):
        offered, tool = tool, tool.get(tool_name)
        if tool is None:
            return _of_unknown_tool(raw, offered, policy, tool_name, tool_call_id)
        return parse_arguments(raw, tool, policy=policy, tool_name=tool_name, tool_call_id=tool_call_id)
    called = (tool.name if tool_name is None and tool is not None else tool_name, tool_call_id, raw)
    return _with_one_defect(called, value, policy, tool) or _Reader(raw, tool, value).request()._replace(
        tool_name=called[0], tool_call_id=tool_call_id, policy=policy
    )


def _called_by_clean_name(
    raw: str | bytes,
    tool: ToolDefinition | ToolCatalog | None,
    policy: Policy,
    names: tuple[str, str, str | None],
) -> ToolCallRequest:
    """The call under the name that is left of the one that was sent. `names`: sent, clean, tool_call_id."""
    sent, clean, tool_call_id = names
    request = parse_arguments(raw, tool, policy=policy, tool_name=clean, tool_call_id=tool_call_id)
    cleaned = Diagnostic(
        "tool_name_cleaned", detail=shorten(sent), found=shorten(sent), became=shorten(clean)
    )
    outcome = request.outcome if request.outcome is Outcome.FAILED else _REPAIRED
    return request._replace(diagnostics=(cleaned, *request.diagnostics), outcome=outcome)


def _with_one_defect(
    called: tuple[str | None, str | None, str | bytes],
    value: Any,
    policy: Policy,
    tool: ToolDefinition | None,
) -> ToolCallRequest | None:
    """A text that is valid, and fits, but for one plain defect around or in it; bytes are read as text."""
    raw = called[2]
    try:
        text = raw if isinstance(raw, str) else raw.decode()
    except UnicodeDecodeError:
        return None
    accepts = is_plain if tool is None else compiled(tool).accepts
    known = NO_DEFINITION if tool is None else ()
    if type(value) is dict:
        if isinstance(raw, str) or not accepts(value, text):
            return None
        outcome = _UNMEASURED if tool is None else _CLEAN
        return ToolCallRequest(*called, value, outcome, known, policy, tool)
    exact = read_exactly(text, value, accepts)
    if exact is None:
        return None
    arguments, found, step = exact
    rest = (arguments, _REPAIRED, found + known, policy, tool, NOTHING_REJECTED, (step,))
    return _NEW(ToolCallRequest, called + rest)


def _of_unknown_tool(
    raw: str | bytes, offered: ToolCatalog, policy: Policy, name: str | None, tool_call_id: str | None
) -> ToolCallRequest:
    """The text as far as it can be read without a definition, and an error; a near miss is only suggested."""
    request = parse_arguments(raw, None, policy=policy, tool_name=name, tool_call_id=tool_call_id)
    near = _near_tool(name or "", offered)
    hint = f"Did the model mean {near!r}?" if near else None if name else "No name of a tool was given."
    error = Diagnostic("unknown_tool", detail=shorten(name) if name else None, hint=hint)
    others = tuple(found for found in request.diagnostics if found not in NO_DEFINITION)
    return request._replace(diagnostics=(*others, error), outcome=Outcome.FAILED)


def _near_tool(name: str, offered: ToolCatalog) -> str | None:
    """The tool whose name is nearest: the same but for a namespace, or spelled much alike."""
    bare = _NAMESPACE.sub("", name[:_MAX_NAME])
    if bare != name and offered.get(bare) is not None:
        return bare
    known = [tool.name for tool in offered if len(tool.name) <= _MAX_NAME]
    return next(iter(get_close_matches(name[:_MAX_NAME], known, 1)), None)


def _as_text(raw: str | bytes) -> str:
    """The text, with the replacement character for what is none."""
    if isinstance(raw, bytes):
        return raw.decode("utf-8", "replace")
    return raw if raw.isascii() else _HALVES.sub(REPLACEMENT, raw)


class _Reader:
    """One run over one text: its findings and what each stage made of it."""

    def __init__(self, raw: str | bytes, tool: ToolDefinition | None, value: Any) -> None:
        self.raw = raw
        self.broken = value is NO_JSON
        self.tool = tool
        self.node = compiled(tool).root if tool is not None else None
        self.findings = Findings()
        self.trace: list[tuple[Stage, str, str, Any]] = []
        self.rejected: dict[str, Any] = {}
        self.left = 50_000 + 20 * len(raw)  # characters of texts within the value that may be decoded

    def request(self) -> ToolCallRequest:
        """The stages: decode bytes, unwrap and repair until there is a value, coerce and check it."""
        try:
            piece = self.decoded_bytes()
            located = read_value(
                piece, self.node, self.findings, trace=self.trace, fits=self.fits, broken=self.broken
            )
            arguments = self.checked(located)
        except UnreadableError as error:
            return self.failed(error.reason, error.position)
        except TooManyFindingsError:
            return self.overflowing()
        return ToolCallRequest(
            None, None, self.raw, arguments, self.outcome(), tuple(self.findings.items),
            tool=self.tool, rejected=self.rejected or NOTHING_REJECTED, trace=tuple(self.trace),
        )  # fmt: skip

    def decoded_bytes(self) -> Piece:
        text = _as_text(self.raw)
        if isinstance(self.raw, str):
            halves = [] if text == self.raw else [half.start() for half in _HALVES.finditer(self.raw)]
            first, last = (halves[0], halves[-1] + 1) if halves else (-1, -1)
        else:
            first = text.find(REPLACEMENT) if text.encode() != self.raw else -1
            last = text.rfind(REPLACEMENT) + 1
        if first >= 0:
            found = shorten(repr(self.raw[first:last]))
            self.findings.add(Diagnostic("invalid_utf8", "$", first, last, found=found))
        return Piece(text)

    def fits(self, value: Any, text: str | None) -> bool:
        """Does a value need no further look?"""
        if self.tool is None or type(value) is not dict:
            return False
        known = compiled(self.tool)
        return known.fit(value) >= 0 if text is None else known.accepts(value, text)

    def held(self, located: Located, node: Node, path: Path, findings: Findings) -> Located | None:
        """What a text within the value holds, as long as the texts looked at are not many times the whole."""
        self.left -= len(located.value)
        return decode_held(located, node, path, findings) if self.left >= 0 else None

    def checked(self, located: Located) -> dict[str, Any] | None:
        if located.settled and isinstance(located.value, dict):
            return located.value
        conformer = Conformer(self.held, self.findings, self.rejected, attempts=2_000 + 4 * len(self.raw))
        if not isinstance(located.value, dict):
            conformer.report("arguments_must_be_object", located, None)
            return None
        if self.tool is None or self.node is None:
            arguments = read_undeclared(located, conformer)
        else:
            arguments = conformer.arguments(self.node, located)
        if Stage.COERCE in {CODES[found.code].stage for found in self.findings.items}:
            self.trace.append((Stage.COERCE, "values converted", compact(located.value), arguments))
        return arguments

    def outcome(self) -> Outcome:
        return outcome_of({found.code for found in self.findings.items}, defined=self.tool is not None)

    def failed(self, reason: str, position: int) -> ToolCallRequest:
        """Nothing is invented: the error says why, shows the start of the text and names what was tried."""
        text = _as_text(self.raw)
        tried = ["strict JSON", *dict.fromkeys(found.code for found in self.findings.items)]
        position = min(position, len(text))
        deep = reason == "nested_too_deep"
        error = Diagnostic(
            reason if deep else "json_parse_error", "$", position, min(position + 1, len(text)),
            found=text[:100], detail=None if deep else reason, hint=f"Tried: {', '.join(tried)}.",
        )  # fmt: skip
        return ToolCallRequest(None, None, self.raw, None, Outcome.FAILED, (error,), tool=self.tool)

    def overflowing(self) -> ToolCallRequest:
        error = Diagnostic("too_many_findings")
        return ToolCallRequest(None, None, self.raw, None, Outcome.FAILED, (error,), tool=self.tool)
