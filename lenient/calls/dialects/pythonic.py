"""Reads tool calls written as Python: `[f(a=1), g(b="x")]`, or `f(a=1)` on a separate line.

Function calls inside a Python program do not count. A value in plain Python is rewritten as JSON. Any other
value is copied unchanged, and `lenient.arguments.parse` repairs and reports the value. No code is executed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from lenient.calls.reading.extracted_call import FoundCall
from lenient.calls.reading.json_in_text import pass_blanks, read_json_value
from lenient.calls.reading.model_text import FencedBlock, ModelText
from lenient.definitions.json_schema.json_values import to_json_text
from lenient.diagnostics import UnreadableError
from lenient.regex import compile_regex
from lenient.scan.source_text import SourceText
from lenient.scan.strings.string_end import Lookahead

_NAME = r"[A-Za-z_][\w.\-]{0,127}+"
_LIST = compile_regex(rf"\[(?=\s*+{_NAME}\s*+\()")
_LINE_CALL = compile_regex(rf"^[ \t]*+(?:print\(\s*+)?(?P<name>{_NAME})\(", re.MULTILINE)
_CUT_OFF = compile_regex(r"[\w.\-]*+\s*+\Z")
_KEYWORDS = frozenset(
    {"if", "for", "while", "print", "return", "def", "class", "with", "len", "range", "import"}
)


def pythonic(reply: ModelText) -> Iterator[FoundCall]:
    """Yield the calls written as a Python list, `[f(a=1), g(b="x")]`, or as single Python calls.

    Models: Llama 3.2, Llama 4 (between `<|python_start|>` and `<|python_end|>`), LFM2 and ToolACE. Sources:
    Meta's prompt format for Llama 3.2 and 4; vLLM's parsers `pythonic`, `llama4_pythonic` and `lfm2`.

    When the caller named this dialect, all lists and single calls count. Otherwise a list counts if all tools
    in the list were offered, or if the list is the whole reply. A single call counts if the tool was offered
    and the lines of the call contain nothing else.
    """
    marked = list(marked_python(reply))
    if marked:
        yield from marked
        return
    listed = list(_read_lists(reply))
    yield from listed or _read_lines(reply)


_TOKENS = compile_regex(
    r"<\|(?:python_start|python_tag|tool_call_start)\|>\s*+\[?(?=\s*+[A-Za-z_][\w.\-]*+\s*+\()"
)


def marked_python(reply: ModelText) -> Iterator[FoundCall]:
    """Yield the Python calls that follow an opening delimiter token.

    Llama 4, LFM2 and the built-in tools of Llama 3 use such tokens. A call of a built-in tool is a method
    call: `brave_search.call(query="…")`. Source: Meta's prompt format for Llama 3.1.
    """
    for call in _read_after_tokens(reply, _TOKENS):
        yield call if reply.offers(call.name) else replace(call, name=call.name.removesuffix(".call"))


def olmo3(reply: ModelText) -> Iterator[FoundCall]:
    """Yield the calls of OLMo 3: `<function_calls>`, one Python call per line, `</function_calls>`.

    Source: vLLM's parser `olmo3`.
    """
    yield from _read_after_tokens(reply, _OLMO)


_OLMO = compile_regex(
    r"<function_calls>(?=\s*+[A-Za-z_][\w.\-]*+\s*+\()|<tool_call>(?=\s*+\[?\s*+[A-Za-z_][\w.\-]*+\s*+\()"
)


def _read_after_tokens(reply: ModelText, tokens: re.Pattern[str]) -> Iterator[FoundCall]:
    done = 0
    for token in reply.find_tokens(tokens):
        if token.start() >= done:
            for call in _read_sequence(reply, token.end()):
                yield call
                done = call.end


def _read_sequence(reply: ModelText, position: int) -> Iterator[FoundCall]:
    position = pass_blanks(reply.text, position)
    position += reply.text.startswith("[", position)
    while True:
        calls, after = _read_call_list(reply, position)
        yield from calls
        if not calls or not calls[-1].complete or not _CALL.match(reply.text, after):
            return
        position = after


def _read_lists(reply: ModelText) -> Iterator[FoundCall]:
    done = 0
    for bracket in reply.find_tokens(_LIST):
        if bracket.start() < done or not reply.spend_budget(50):
            continue
        calls, after = _read_call_list(reply, bracket.end())
        done = after
        closed = reply.text[after : after + 1] == "]"
        if not calls or not (closed or _CUT_OFF.match(reply.text, after)):
            continue
        if reply.is_dialect_known or _is_meant(reply, calls, bracket.start(), after + closed):
            yield from calls


def _is_meant(reply: ModelText, calls: list[FoundCall], start: int, end: int) -> bool:
    """Return True when a list of Python calls is meant as tool calls.

    Either all tools were offered and no words before the list announce an example, or a plausible list is the
    whole reply.
    """
    if reply.catalog is not None and all(reply.offers(call.name) for call in calls):
        return not reply.is_example(start)
    return _stands_alone(reply, start, end) and _is_plausible(calls)


def _stands_alone(reply: ModelText, start: int, end: int) -> bool:
    fence = reply.fence_around(start)
    if fence is not None:
        return not reply.text[fence.body : start].strip() and reply.is_whole(fence.start, fence.end)
    return reply.is_whole(start, end)


def _is_plausible(calls: list[FoundCall]) -> bool:
    """Return True when no name is a Python keyword or built-in, and at least one call has arguments."""
    return all(call.name not in _KEYWORDS for call in calls) and any(call.raw for call in calls)


def _read_lines(reply: ModelText) -> Iterator[FoundCall]:
    done = 0
    for line in reply.find_tokens(_LINE_CALL):
        name = line["name"]
        if (
            line.start() < done
            or name in _KEYWORDS
            or not (reply.is_dialect_known or reply.offers(reply.plain_name(name)))
        ):
            continue
        if not _is_in_calls_only(reply, line.start()):
            continue
        call = _read_call_at(reply, line.start())
        if call is None:
            continue
        done = call.end
        rest = reply.text[call.end : call.end + 200].split("\n", 1)[0].strip()
        if rest in ("", ")", ";", "`", "```") or reply.is_dialect_known:
            yield call


def _is_in_calls_only(reply: ModelText, position: int) -> bool:
    fence = reply.fence_around(position)
    return fence is None or (fence.language in _CALL_LANGUAGES and _holds_only_calls(reply, fence))


_CALL_LANGUAGES = frozenset({"", "tool_code", "tool_call", "tool_calls", "python", "py", "text", "plaintext"})


def _holds_only_calls(reply: ModelText, fence: FencedBlock) -> bool:
    first = _LINE_CALL.match(reply.text, fence.body)
    return first is not None and (reply.is_dialect_known or reply.offers(reply.plain_name(first["name"])))


def gemma_tool_code(reply: ModelText) -> Iterator[FoundCall]:
    """Yield the Python calls that Gemma 2 and 3 write in `tool_code` fences.

    A call may be inside `print(…)` or follow `default_api.`. Source: Google's function calling guide for
    Gemma 3.
    """
    for fence in reply.find_fences:
        if fence.language not in ("tool_code", "tool_call", "tool_calls") or reply.is_quoted(fence.body):
            continue
        position = fence.body
        position += reply.text.startswith("[", position)
        while position < fence.close:
            call = _read_call_at(reply, position)
            if call is None or call.start >= fence.close:
                break
            yield call
            skipped = re.compile(r"[\s),;\]]*+").match(reply.text, call.end)
            position = skipped.end() if skipped else call.end


# --- one call ------------------------------------------------------------------------------------------

_CALL = compile_regex(rf"\s*+(?:print\(\s*+)?(?:await\s++)?(?P<name>{_NAME})\s*+\(")
_KEYWORD = compile_regex(r"\s*+([A-Za-z_]\w{0,127}+)\s*+=(?!=)\s*+")
_STEP = compile_regex(r"[\"'()\[\]{},]")
_STRING_END = compile_regex(
    r"\s*+(?:,\s*+(?:[A-Za-z_]\w*+\s*+=|\*\*|[\"'\[{(\d\-]|[TFN]\w++\s*+[,)\]}]|[)\]}])|[)\]}:]|\Z)"
)
_KEYWORD_STRING_END = compile_regex(
    r"\s*+(?:,\s*+(?:[A-Za-z_]\w*+\s*+=(?!=)|\*\*|\))|\)(?:[^\S\n]*+\n|\s*+(?:[,\])\n;`<]|\Z)))"
)
_PLAIN = compile_regex(r"(?:[^\\]|\\(?:[\\\"'/bfnrt]|u[0-9a-fA-F]{4}))*+")
"""A string in which all escapes have the same meaning in Python and in JSON, or are escaped quotes."""
_HEX = compile_regex(r"\\(?:x([0-9a-fA-F]{2})|.)", re.DOTALL)
_RAW = compile_regex(r"\b[rR][bB]?[\"']")
_NATIVE = frozenset(
    {
        "single_quotes", "triple_quotes", "string_prefix", "nonstandard_literal", "nonstandard_number",
        "tuple_as_array", "trailing_comma", "quote_escape", "string_concatenation", "raw_control_character",
        "comment_removed",
    }
)  # fmt: skip
"""The codes of repairs that are normal in Python."""


@dataclass(frozen=True, slots=True)
class _WrittenArgument:
    """One argument as the model wrote it.

    `start:end` is the span of the argument. `name` is None for a positional argument.
    """

    name: str | None
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _WrittenCall:
    """A Python call as the model wrote it. `complete` is False when the closing bracket is missing."""

    name: str
    start: int
    end: int
    arguments: tuple[_WrittenArgument, ...]
    complete: bool


def _read_call_at(reply: ModelText, position: int) -> FoundCall | None:
    """Return the Python call that begins at the offset `position`.

    Return None when no call begins there, or when a positional argument has no known parameter name.
    """
    call = _read_written_call(reply, position)
    return None if call is None else _make_call(reply, call)


def _read_call_list(reply: ModelText, position: int) -> tuple[list[FoundCall], int]:
    """Return the list of calls that begins after `position`, and the offset where reading stopped."""
    calls: list[FoundCall] = []
    while True:
        call = _read_written_call(reply, position)
        found_call = None if call is None else _make_call(reply, call)
        if call is None or found_call is None:
            return calls, pass_blanks(reply.text, position)
        calls.append(found_call)
        position = pass_blanks(reply.text, call.end)
        if not call.complete or reply.text[position : position + 1] not in (",", ";"):
            return calls, position
        position += 1


def _read_written_call(reply: ModelText, position: int) -> _WrittenCall | None:
    head = _CALL.match(reply.text, position)
    if head is None:
        return None
    arguments: list[_WrittenArgument] = []
    position = head.end()
    while True:
        keyword = _KEYWORD.match(reply.text, position)
        start = keyword.end() if keyword else position
        end = _find_argument_end(reply, start, keyword is not None)
        if keyword is not None or reply.text[start:end].strip():
            arguments.append(_WrittenArgument(keyword.group(1) if keyword else None, start, end))
        sign = reply.text[end : end + 1]
        if sign != ",":
            complete = sign == ")"
            return _WrittenCall(head["name"], head.start("name"), end + complete, tuple(arguments), complete)
        position = end + 1


def _find_argument_end(reply: ModelText, position: int, keyword: bool) -> int:
    """Return the offset of the comma or closing bracket that ends an argument.

    Commas and brackets inside the argument's strings and brackets do not count.
    """
    text, depth = reply.text, 0
    while reply.spend_budget(8) and (step := _STEP.search(text, position)) is not None:
        sign, at = step.group(), step.start()
        position = at + 1
        if sign in "\"'":
            position = _pass_string(reply, at, sign, outer=keyword and depth == 0)
        elif sign in "([{":
            depth += 1
        elif sign == ",":
            if depth == 0:
                return at
        elif depth == 0:
            return at
        else:
            depth -= 1
    return len(text)


def _pass_string(reply: ModelText, start: int, quote: str, *, outer: bool) -> int:
    """Return the offset after the string whose opening quote is at `start`.

    A quote ends the string only when the argument also ends there. `outer` is True for the value of a keyword
    argument outside of brackets.
    """
    text = reply.text
    if text.startswith(quote * 3, start):
        end = text.find(quote * 3, start + 3)
        return end + 3 if end >= 0 else len(text)
    ends = _KEYWORD_STRING_END if outer else _STRING_END
    position, first = start + 1, -1
    while (at := text.find(quote, position)) >= 0:
        position = at + 1
        if _is_escaped(text, at, start):
            continue
        if ends.match(text, position):
            return position
        first = position if first < 0 else first
        if not reply.spend_budget(position - start):
            break
    return first if first >= 0 else len(text)


def _is_escaped(text: str, at: int, start: int) -> bool:
    first = at
    while first > start + 1 and text[first - 1] == "\\":
        first -= 1
    return (at - first) % 2 == 1


def _make_call(reply: ModelText, call: _WrittenCall) -> FoundCall | None:
    """Return the tool call with its arguments written as JSON.

    Return None when a positional argument has no known parameter name.
    """
    text, name = reply.text, reply.plain_name(call.name)
    tool = reply.find_tool(name)
    names = [parameter.name for parameter in tool.parameters] if tool is not None else []
    positional = call.arguments[0] if len(call.arguments) == 1 and call.arguments[0].name is None else None
    if positional is not None and text[positional.start : positional.end].strip().removeprefix(
        "**"
    ).lstrip().startswith("{"):
        start = text.index("{", positional.start)
        raw = text[start : positional.end].rstrip()
        return FoundCall(name, raw, call.start, call.end, call.complete, start)
    parts: list[str] = []
    for index, argument in enumerate(call.arguments):
        key = argument.name if argument.name is not None else names[index] if index < len(names) else None
        if key is None:
            return None
        value = text[argument.start : argument.end].strip()
        last = index + 1 == len(call.arguments)
        parts.append(f"{to_json_text(key)}: {value if last and not call.complete else _write_value(value)}")
    raw = "{" + ", ".join(parts) + ("}" if call.complete else "")
    return FoundCall(name, raw if parts else "{}", call.start, call.end, call.complete)


def _write_value(value: str) -> str:
    if "\\x" in value and not _RAW.search(value):
        value = _HEX.sub(lambda match: f"\\u00{match[1]}" if match[1] else match[0], value)
    if not _PLAIN.fullmatch(value):
        return value
    read = read_json_value(SourceText(value), 0, Lookahead(value), 0)
    if isinstance(read, UnreadableError) or read.end < len(value):
        return value
    return to_json_text(read.value) if all(repair.code in _NATIVE for repair in read.repairs) else value
