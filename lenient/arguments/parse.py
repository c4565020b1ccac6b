"""Reads the raw arguments of a tool call in several stages and returns a ToolCallRequest.

Never raises for any string, bytes or definition.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Any, NamedTuple

from orjson import JSONDecodeError, loads

from lenient.arguments.envelopes import HOLDS_ARGUMENTS, open_envelopes
from lenient.arguments.request import (
    CHANGES,
    CONVERTED,
    LENIENT,
    NOTHING_REJECTED,
    OUTCOMES,
    Outcome,
    Policy,
    ToolCallRequest,
)
from lenient.coerce.compiled_tool import (
    compile_tool,
    find_misfits,
    is_plain,
    needs_no_conversion,
    read_undeclared_plain,
)
from lenient.coerce.misfits import convert_misfits
from lenient.coerce.validator import NO_DEFINITION, Validator, read_undeclared
from lenient.definitions.json_schema.nodes import Node
from lenient.definitions.tools import ToolCatalog, ToolDefinition
from lenient.diagnostics import (
    MAX_DEPTH,
    MAX_FINDINGS,
    Diagnostic,
    Findings,
    Path,
    TooManyFindingsError,
    UnreadableError,
    shorten,
)
from lenient.diagnostics.codes import Stage
from lenient.regex import compile_regex
from lenient.scan.source_text import LocatedValue, SourceText
from lenient.scan.strings.escapes import REPLACEMENT
from lenient.scan.valid_json import NO_JSON, holds_each_key_once, locate_values
from lenient.unwrap.extraction import decode_nested, extract_value
from lenient.unwrap.fast_path import read_one_defect, read_plain_text
from lenient.unwrap.wrappers import MAX_LAYERS

_CLEAN, _REPAIRED, _UNMEASURED = (
    Outcome.CLEAN,
    Outcome.REPAIRED,
    Outcome.UNMEASURED,
)  # constants, because enum lookups would take 10 % of the time of a fast parse
_COERCE = Stage.COERCE
_NEW = tuple.__new__  # calling the named tuple takes twice as long
_SURROGATE = compile_regex(r"[\ud800-\udfff]")
_MAX_SEARCHED = 200_000  # maximum product of the number of misfits and the length of the text
_MAX_NAME = 100  # longer names are not compared, because the time grows with the product of both lengths
_NAMESPACE = compile_regex(r"\A.*(?:[.:/]|__)", re.DOTALL)


def parse_arguments(
    raw: str | bytes,
    tool: ToolDefinition | ToolCatalog | None = None,
    *,
    policy: Policy = LENIENT,
    tool_name: str | None = None,
    tool_call_id: str | None = None,
) -> ToolCallRequest:
    """Read the raw arguments of one tool call. Return the typed arguments and the diagnostics.

    `tool` is the tool's definition, or a catalog of all tools that the model was offered. `tool_name` is
    looked up in the catalog. A name that is not in the catalog is reported as an unknown tool. The default of
    `tool_name` is the name of `tool`. Special tokens in `tool_name` are removed and reported.

    `policy` decides which diagnostics count as errors in `parse_error`. The diagnostics and `arguments` do
    not depend on `policy`.
    """
    if tool_name is not None and not tool_name.isidentifier():
        clean, leaked = clean_tool_name(tool_name)
        if leaked and clean != tool_name:
            return _read_under_clean_name(raw, tool, policy, (tool_name, clean, tool_call_id))
    value = None
    if type(raw) is str:  # a fast path, because most calls are valid JSON that fits unchanged
        if type(tool) is ToolDefinition:
            value = (tool.compiled or compile_tool(tool)).read(raw)
            if type(value) is dict:
                own_name = tool.name if tool_name is None else tool_name
                request = (own_name, tool_call_id, raw, value, _CLEAN, (), policy, tool, NOTHING_REJECTED, ())
                return _NEW(ToolCallRequest, request)
        elif tool is None and type(value := read_undeclared_plain(raw)) is dict:
            rest = (value, _UNMEASURED, NO_DEFINITION, policy, None, NOTHING_REJECTED, ())
            return _NEW(ToolCallRequest, (tool_name, tool_call_id, raw, *rest))
    if isinstance(tool, ToolCatalog):
        offered, tool = tool, tool.get(tool_name)
        if tool is None:
            return _read_for_unknown_tool(raw, offered, policy, tool_name, tool_call_id)
        return parse_arguments(raw, tool, policy=policy, tool_name=tool_name, tool_call_id=tool_call_id)
    if value is not NO_JSON:
        try:
            value = loads(raw)
        except JSONDecodeError:
            value = NO_JSON
    name = tool.name if tool_name is None and tool is not None else tool_name
    call = _NEW(_Call, (raw, value, tool, (name, tool_call_id, raw), policy))
    if type(value) is dict:  # valid JSON fits unchanged, or its values are converted and checked
        accepted = None if type(raw) is str else _accept_bytes(call)
        return accepted or _convert_misfits(call) or _convert_values(call) or _TolerantReader(call).read()
    # Repair simple defects with a fast method. For all other text, use the slower reader that repairs any
    # text.
    return _repair_plainly(call) or _TolerantReader(call).read()


def _read_under_clean_name(
    raw: str | bytes,
    tool: ToolDefinition | ToolCatalog | None,
    policy: Policy,
    names: tuple[str, str, str | None],
) -> ToolCallRequest:
    """Read a tool call after special tokens were removed from the tool name, and report the removal.

    `names` contains the name that was sent, the cleaned name and the call id.
    """
    sent, clean, tool_call_id = names
    request = parse_arguments(raw, tool, policy=policy, tool_name=clean, tool_call_id=tool_call_id)
    cleaned = Diagnostic(
        "tool_name_cleaned", detail=shorten(sent), found=shorten(sent), became=shorten(clean)
    )
    outcome = request.outcome if request.outcome is Outcome.FAILED else _REPAIRED
    return request._replace(diagnostics=(cleaned, *request.diagnostics), outcome=outcome)


def _read_for_unknown_tool(
    raw: str | bytes, offered: ToolCatalog, policy: Policy, name: str | None, tool_call_id: str | None
) -> ToolCallRequest:
    request = parse_arguments(raw, None, policy=policy, tool_name=name, tool_call_id=tool_call_id)
    near = _find_similar_name(name or "", offered)
    hint = f"Did the model mean {near!r}?" if near else None if name else "No name of a tool was given."
    error = Diagnostic("unknown_tool", detail=shorten(name) if name else None, hint=hint)
    others = tuple(diagnostic for diagnostic in request.diagnostics if diagnostic not in NO_DEFINITION)
    return request._replace(diagnostics=(*others, error), outcome=Outcome.FAILED)


def _find_similar_name(name: str, offered: ToolCatalog) -> str | None:
    """Return the offered tool name that is most similar to `name`, or None when no name is similar.

    An offered name that equals `name` without the namespace is preferred.
    """
    bare = _NAMESPACE.sub("", name[:_MAX_NAME])
    if offered.get(bare) is not None:
        return bare
    names = [tool.name for tool in offered if len(tool.name) <= _MAX_NAME]
    return next(iter(get_close_matches(name[:_MAX_NAME], names, 1)), None)


class _Call(NamedTuple):
    """A tool call whose arguments are not read yet.

    `value` is the value that orjson decoded from the raw arguments, or NO_JSON. `head` contains the tool's
    name, the call id and the raw arguments.
    """

    raw: str | bytes
    value: Any
    tool: ToolDefinition | None
    head: tuple[str | None, str | None, str | bytes]  # tool name, call id and raw arguments
    policy: Policy

    def make_validator(self, findings: list[Diagnostic], rejected: dict[str, Any]) -> Validator:
        return _Run(self, Findings(findings), rejected).make_validator(depth=1)


def _accept_bytes(call: _Call) -> ToolCallRequest | None:
    if isinstance(call.raw, str):
        return None
    if not (is_plain if call.tool is None else compile_tool(call.tool).accepts)(
        call.value, call.raw.decode()
    ):
        return None
    outcome, diagnostics = (_UNMEASURED, NO_DEFINITION) if call.tool is None else (_CLEAN, ())
    return ToolCallRequest(*call.head, call.value, outcome, diagnostics, call.policy, call.tool)


def _convert_misfits(call: _Call) -> ToolCallRequest | None:
    """Convert those members of valid JSON that do not fit the definition.

    Return None when the definition or the JSON is too complex for this fast method.
    """
    sent, tool = call.value, call.tool
    if tool is None or not (compiled := tool.compiled or compile_tool(tool)).is_plain:
        return None
    text = call.raw if isinstance(call.raw, str) else call.raw.decode()
    misfits, quotes = find_misfits(compiled.root, sent)
    if text.count('"') != quotes and not holds_each_key_once(text, sent):
        return None
    if misfits and not HOLDS_ARGUMENTS.isdisjoint(misfits):
        return None
    if len(misfits) * len(text) > _MAX_SEARCHED and len(misfits) > 1:
        return None
    try:
        converted = convert_misfits(compiled.root, misfits, sent, text, call.make_validator)
    except TooManyFindingsError:
        return _Run(call).refuse_too_many()
    if converted is None or len(converted[1]) > MAX_FINDINGS:
        return None
    arguments, findings, rejected = converted
    changes = 0
    for diagnostic in findings:
        changes |= CHANGES[diagnostic.code]
    steps = ((_COERCE, "values converted", sent, arguments),) if changes & CONVERTED else ()
    rest = (tuple(findings), call.policy, tool, rejected or NOTHING_REJECTED, steps)
    return _NEW(ToolCallRequest, (*call.head, arguments, OUTCOMES[changes], *rest))


def _convert_values(call: _Call) -> ToolCallRequest | None:
    """Convert and check the values of valid JSON. Return None when the tolerant scanner is needed."""
    text = call.raw if isinstance(call.raw, str) else call.raw.decode()
    mark = locate_values(text)
    if mark is None:
        return None
    run = _Run(call)
    try:
        return run.check(LocatedValue(call.value, mark, SourceText(text), strict=True))
    except TooManyFindingsError:
        return run.refuse_too_many()


def _repair_plainly(call: _Call) -> ToolCallRequest | None:
    try:
        text = call.raw if isinstance(call.raw, str) else call.raw.decode()
    except UnicodeDecodeError:
        return None
    compiled = None if call.tool is None else compile_tool(call.tool)
    repaired = read_one_defect(text, call.value, read_undeclared_plain if compiled is None else compiled.read)
    if repaired is not None:
        arguments, diagnostics, step = repaired
    else:
        plain = read_plain_text(text) if call.value is NO_JSON else None
        if plain is None:
            return None
        arguments, diagnostics = plain
        if not (needs_no_conversion(arguments) if compiled is None else compiled.check(arguments) >= 0):
            return _convert_plain(call, text, arguments, diagnostics)
        step = (Stage.REPAIR, "text repaired", text, arguments)
    added = NO_DEFINITION if compiled is None else ()
    rest = (arguments, _REPAIRED, diagnostics + added, call.policy, call.tool, NOTHING_REJECTED, (step,))
    return _NEW(ToolCallRequest, call.head + rest)


def _convert_plain(
    call: _Call, text: str, arguments: dict[str, Any], diagnostics: tuple[Diagnostic, ...]
) -> ToolCallRequest | None:
    """Convert and check the values of arguments with simple defects. Return None if the scanner is needed."""
    mark = locate_values(text, plain=True)
    if mark is None:
        return None
    run = _Run(call)
    run.findings.extend(diagnostics)
    run.tried.append("repairs")
    run.trace.append((Stage.REPAIR, "text repaired", text, arguments))
    try:
        located = LocatedValue(arguments, mark, SourceText(text), strict=False)
        return run.check(located)
    except TooManyFindingsError:
        return run.refuse_too_many()


class _Run:
    """The diagnostics of one tool call, and the steps that changed the arguments."""

    def __init__(
        self, call: _Call, findings: Findings | None = None, rejected: dict[str, Any] | None = None
    ) -> None:
        self.call = call
        self.tool = call.tool
        self.findings = Findings() if findings is None else findings
        self.trace: list[tuple[Stage, str, Any, Any]] = []
        self.rejected: dict[str, Any] = {} if rejected is None else rejected
        self.tried = ["strict JSON"]
        self.decoded = 0  # the number of characters in all decoded string values

    @property
    def node(self) -> Node | None:
        return compile_tool(self.tool).root if self.tool is not None else None

    def check(self, located: LocatedValue) -> ToolCallRequest:
        may_hold = not located.settled and isinstance(located.value, dict)
        if self.node is not None and may_hold and not HOLDS_ARGUMENTS.isdisjoint(located.value):
            located = self.unpack_call(located, self.node)
        earlier = len(self.findings.items)
        return self.finish(self.validate(located), located.value, earlier)

    def finish(self, arguments: dict[str, Any] | None, sent: Any, earlier: int = 0) -> ToolCallRequest:
        """Return the request with the converted `arguments`.

        `sent` is the value before the conversion. The first `earlier` diagnostics were added before the
        conversion.
        """
        changes = converted = 0
        for diagnostic in self.findings.items[:earlier]:
            changes |= CHANGES[diagnostic.code]
        for diagnostic in self.findings.items[earlier:]:
            converted |= CHANGES[diagnostic.code]
        changes |= converted
        if converted & CONVERTED and arguments is not sent:
            self.trace.append((_COERCE, "values converted", sent, arguments))
        outcome = OUTCOMES[changes] if changes or self.tool is not None else _UNMEASURED
        rest = (
            arguments, outcome, tuple(self.findings.items), self.call.policy, self.tool,
            self.rejected or NOTHING_REJECTED, tuple(self.trace),
        )  # fmt: skip
        return _NEW(ToolCallRequest, self.call.head + rest)

    def validate(self, located: LocatedValue) -> dict[str, Any] | None:
        if located.settled and isinstance(located.value, dict):
            return located.value
        validator = self.make_validator()
        if not isinstance(located.value, dict):
            validator.report("arguments_must_be_object", located, None, hint=self.describe_tried())
            return None
        if self.node is None:
            return read_undeclared(located, validator)
        return validator.validate_root(self.node, located)[0]

    def make_validator(self, depth: int = 0) -> Validator:
        attempts = 2_000 + 4 * len(self.call.raw)
        return Validator(self.decode_text, self.findings, self.rejected, attempts=attempts, depth=depth)

    def unpack_call(self, located: LocatedValue, node: Node) -> LocatedValue:
        """Return the arguments inside a tool call or an envelope. Return any other value unchanged."""
        name = self.tool.name if self.tool is not None else ""

        def decode(text: LocatedValue, findings: Findings) -> LocatedValue | None:
            return self.decode_text(text, node, None, findings)

        opened = open_envelopes(located, node, name, decode, MAX_LAYERS)
        self.findings.extend(envelope.report() for envelope in opened if envelope.is_call)
        for envelope in opened:
            self.findings.extend(envelope.report_text())
            self.trace.append((Stage.UNWRAP, "call opened", envelope.outer.snippet(), envelope.inner.value))
        self.findings.extend(envelope.report() for envelope in opened if not envelope.is_call)
        return opened[-1].inner if opened else located

    def decode_text(
        self, located: LocatedValue, node: Node, path: Path, findings: Findings
    ) -> LocatedValue | None:
        """Return the object or array that a string value contains as JSON.

        Return None for any other string, and when all decoded strings together are many times longer than the
        raw arguments.
        """
        self.decoded += len(located.value)
        is_affordable = self.decoded <= 50_000 + 20 * len(self.call.raw)
        return decode_nested(located, node, path, findings) if is_affordable else None

    def describe_tried(self) -> str:
        return f"Tried: {', '.join(dict.fromkeys(self.tried))}."

    def refuse_too_many(self) -> ToolCallRequest:
        text = _replace_invalid(self.call.raw)
        return self.refuse(Diagnostic("too_many_findings", found=text[:100], hint=self.describe_tried()))

    def refuse(self, error: Diagnostic) -> ToolCallRequest:
        rest = (None, Outcome.FAILED, (error,), self.call.policy, self.tool, NOTHING_REJECTED, ())
        return _NEW(ToolCallRequest, self.call.head + rest)


class _TolerantReader(_Run):
    def read(self) -> ToolCallRequest:
        try:
            piece = self.decode_bytes()
            located = extract_value(
                piece,
                self.node,
                self.findings,
                trace=self.trace,
                tried=self.tried,
                fits=self.fits,
                broken=self.call.value is NO_JSON,
            )
            return self.check(located)
        except UnreadableError as error:
            return self.refuse_unreadable(error.reason, error.position)
        except TooManyFindingsError:
            return self.refuse_too_many()

    def decode_bytes(self) -> SourceText:
        """Return the raw arguments as a string.

        Invalid bytes and lone surrogates become replacement characters and are reported.
        """
        raw, text = self.call.raw, _replace_invalid(self.call.raw)
        if isinstance(raw, str):
            halves = [] if text == raw else [half.start() for half in _SURROGATE.finditer(raw)]
            first, last = (halves[0], halves[-1] + 1) if halves else (-1, -1)
        else:
            first = text.find(REPLACEMENT) if text.encode() != raw else -1
            last = text.rfind(REPLACEMENT) + 1
        if first >= 0:
            invalid = shorten(repr(raw[first:last]))
            self.findings.add(Diagnostic("invalid_utf8", "$", first, last, found=invalid))
        return SourceText(text)

    def fits(self, value: Any, text: str | None) -> bool:
        if self.tool is None or type(value) is not dict:
            return False
        compiled = compile_tool(self.tool)
        return compiled.check(value) >= 0 if text is None else compiled.accepts(value, text)

    def refuse_unreadable(self, reason: str, position: int) -> ToolCallRequest:
        """Return a failed request for input that cannot be read.

        The error contains the reason, the position, the start of the input and the steps that were tried.
        """
        text = _replace_invalid(self.call.raw)
        made = ", ".join(dict.fromkeys(diagnostic.code for diagnostic in self.findings.items))
        hint = self.describe_tried() + (f" Repaired so far: {made}." if made else "")
        position = min(position, len(text))
        if deep := reason == "nested_too_deep":
            hint = f"The limit is {MAX_DEPTH} levels. {hint}"
        error = Diagnostic(
            reason if deep else "json_parse_error", "$", position, min(position + 1, len(text)),
            found=text[:100], detail=None if deep else reason, hint=hint,
        )  # fmt: skip
        return self.refuse(error)


def _replace_invalid(raw: str | bytes) -> str:
    if isinstance(raw, bytes):
        return raw.decode("utf-8", "replace")
    return raw if raw.isascii() else _SURROGATE.sub(REPLACEMENT, raw)


# --- the name of the tool ------------------------------------------------------------------------------

_SPECIAL = compile_regex(r"<[|｜][^<>\s]{0,60}[|｜]?>?|</?tool_calls?>|\[(?:ARGS|CALL_ID|TOOL_CALLS)\]")
_KIMI_ID = compile_regex(r"functions\.([^\s:]+):\d+")


def clean_tool_name(name: str) -> tuple[str, bool]:
    """Return the tool name without the special tokens of a model's format, and True if tokens were removed.

    `functions.bash<|channel|>commentary`, `bash<|channel|>json` and Kimi's id `functions.bash:0` all become
    `bash`. A name that consists only of special tokens is returned unchanged.
    """
    if name.isidentifier():
        return name, False
    kimi = _KIMI_ID.fullmatch(name.strip())
    if kimi is not None:
        return kimi.group(1), True
    token = _SPECIAL.search(name)
    if token is None:
        return name, False
    clean_name = name[: token.start()].strip().removeprefix("to=").removeprefix("functions.")
    return clean_name or name, True
