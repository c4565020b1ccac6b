"""Calls written as Python: `[f(a=1), g(b="x")]`, or `f(a=1)` on a line of its own.

Goes in: a reply. Comes out: calls whose raw arguments are built as JSON. A value that is plain Python is
rewritten as JSON; any other goes in as it was written, for `lenient.parse` to mend and report. Runs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lenient.calls.found import Found
from lenient.calls.reply import BLANK, Fence, Reply, read_value
from lenient.coerce import compact
from lenient.repair import UnreadableError
from lenient.repair.strings import Lookahead
from lenient.source import Piece

_NAME = r"[A-Za-z_][\w.\-]{0,127}+"
_CALL = re.compile(rf"\s*+(?:print\(\s*+)?(?:await\s++)?(?P<name>{_NAME})\s*+\(")
_LIST = re.compile(rf"\[(?=\s*+{_NAME}\s*+\()")
_LINE_CALL = re.compile(rf"^[ \t]*+(?:print\(\s*+)?(?P<name>{_NAME})\(", re.MULTILINE)
_KEYWORD = re.compile(r"\s*+([A-Za-z_]\w{0,127}+)\s*+=(?!=)\s*+")
_STEP = re.compile(r"[\"'()\[\]{},]")
_STRING_END = re.compile(
    r"\s*+(?:,\s*+(?:[A-Za-z_]\w*+\s*+=|\*\*|[\"'\[{(\d\-]|[TFN]\w++\s*+[,)\]}]|[)\]}])|[)\]}:]|\Z)"
)
_KEYWORD_STRING_END = re.compile(
    r"\s*+(?:,\s*+(?:[A-Za-z_]\w*+\s*+=(?!=)|\*\*|\))|\)(?:[^\S\n]*+\n|\s*+(?:[,\])\n;`<]|\Z)))"
)
_ODD_ESCAPE = re.compile(r"\\(?![\\\"'/bfnrt\n]|u[0-9a-fA-F]{4})")
_NATIVE = frozenset(
    {
        "single_quotes", "triple_quotes", "string_prefix", "nonstandard_literal", "nonstandard_number",
        "tuple_as_array", "trailing_comma", "quote_escape", "string_concatenation", "raw_control_character",
        "comment_removed",
    }
)  # fmt: skip
"""What is a mend in JSON and plain in Python."""
_KEYWORDS = frozenset(
    {"if", "for", "while", "print", "return", "def", "class", "with", "len", "range", "import"}
)


@dataclass(frozen=True, slots=True)
class _Argument:
    """One argument as written. `name` None = it has none."""

    name: str | None
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Call:
    """A call as written: its parts, and whether its closing bracket was found."""

    name: str
    start: int
    end: int
    arguments: tuple[_Argument, ...]
    complete: bool


def call_at(reply: Reply, position: int) -> Found | None:
    """The call that begins at a place; None when its arguments cannot be named."""
    call = _call(reply, position)
    return None if call is None else _found(reply, call)


def call_list(reply: Reply, position: int) -> tuple[list[Found], int]:
    """The calls of the list whose first call begins at a place, and where reading stopped."""
    found: list[Found] = []
    while True:
        call = _call(reply, position)
        one = None if call is None else _found(reply, call)
        if call is None or one is None:
            return found, position
        found.append(one)
        gap = BLANK.match(reply.text, call.end)
        position = gap.end() if gap else call.end
        if not call.complete or reply.text[position : position + 1] not in (",", ";"):
            return found, position
        position += 1


def pythonic(reply: Reply) -> Iterator[Found]:
    """`[f(a=1), g(b="x")]`: Llama 3.2 and 4 (between `<|python_start|>` and `<|python_end|>`), LFM2, ToolACE.

    Source: Meta's prompt format for Llama 3.2 and 4; vLLM `pythonic`, `llama4_pythonic`, `lfm2`. A single
    call without brackets is one when told, or on a line of its own when its name and parameters are those
    of a tool. A list counts when its names were offered, or when it is the whole reply.
    """
    marked = list(_in_tokens(reply))
    if marked:
        yield from marked
        return
    listed = list(_lists(reply))
    yield from listed or _lines(reply)


_TOKENS = re.compile(
    r"<\|(?:python_start|python_tag|tool_call_start)\|>\s*+\[?(?=\s*+[A-Za-z_][\w.\-]*+\s*+\()"
)


def marked_python(reply: Reply) -> Iterator[Found]:
    """Python calls after a token that announces them: Llama 4, LFM2, and Llama 3's built-in tools."""
    yield from _in_tokens(reply)


def olmo3(reply: Reply) -> Iterator[Found]:
    """`<function_calls>`, one Python call a line, `</function_calls>`: OLMo 3. Source: vLLM `olmo3`."""
    for token in reply.tokens(_OLMO):
        yield from _several(reply, token.end())


_OLMO = re.compile(
    r"<function_calls>(?=\s*+[A-Za-z_][\w.\-]*+\s*+\()|<tool_call>(?=\s*+\[?\s*+[A-Za-z_][\w.\-]*+\s*+\()"
)


def _in_tokens(reply: Reply) -> Iterator[Found]:
    for token in reply.tokens(_TOKENS):
        yield from _several(reply, token.end())


def _several(reply: Reply, position: int) -> Iterator[Found]:
    """The calls from a place on, parted by commas, semicolons or lines."""
    bracket = BLANK.match(reply.text, position)
    position = bracket.end() if bracket else position
    position += reply.text.startswith("[", position)
    while True:
        found, after = call_list(reply, position)
        yield from found
        if not found or not found[-1].complete or not _CALL.match(reply.text, after):
            return
        position = after


def _lists(reply: Reply) -> Iterator[Found]:
    done = 0
    for bracket in reply.tokens(_LIST):
        if bracket.start() < done or not reply.spend(50):
            continue
        found, after = call_list(reply, bracket.end())
        done = after
        closed = reply.text[after : after + 1] == "]"
        if not found or not (closed or not found[-1].complete):
            continue
        known = [reply.offers(call.name) for call in found]
        if reply.told or (reply.catalog is not None and all(known) and not reply.is_example(bracket.start())):
            yield from found
        elif _alone(reply, bracket.start(), after + closed) and _plausible(found):
            yield from found


def _alone(reply: Reply, start: int, end: int) -> bool:
    fence = reply.fence_around(start)
    if fence is not None:
        return not reply.text[fence.body : start].strip() and reply.is_whole(fence.start, fence.end)
    return reply.is_whole(start, end)


def _plausible(found: list[Found]) -> bool:
    """A list of calls with named arguments, none of them a word of the language."""
    return all(call.name not in _KEYWORDS for call in found) and any(call.raw for call in found)


def _lines(reply: Reply) -> Iterator[Found]:
    """Single calls, each on lines of its own."""
    done = 0
    for line in reply.tokens(_LINE_CALL):
        name = line["name"]
        if (
            line.start() < done
            or name in _KEYWORDS
            or not (reply.told or reply.offers(reply.plain_name(name)))
        ):
            continue
        if not _in_calls_only(reply, line.start()):
            continue
        found = call_at(reply, line.start())
        if found is None:
            continue
        done = found.end
        rest = reply.text[found.end : found.end + 200].split("\n", 1)[0].strip()
        if rest in ("", ")", ";", "`", "```") or reply.told:
            yield found


def _in_calls_only(reply: Reply, position: int) -> bool:
    """Is the place outside fences, or in one that holds nothing but calls?"""
    fence = reply.fence_around(position)
    return fence is None or (fence.language in _CALL_LANGUAGES and _only_calls(reply, fence))


_CALL_LANGUAGES = frozenset({"", "tool_code", "tool_call", "tool_calls", "python", "py", "text", "plaintext"})


def _only_calls(reply: Reply, fence: Fence) -> bool:
    """Does the fence begin with a call of an offered tool? `x = f()` and a program do not."""
    first = _LINE_CALL.match(reply.text, fence.body)
    return first is not None and (reply.told or reply.offers(reply.plain_name(first["name"])))


def gemma_tool_code(reply: Reply) -> Iterator[Found]:
    """A fence `tool_code` with Python calls, perhaps in `print(…)` or after `default_api.`: Gemma 2 and 3.

    Source: Google's function calling guide for Gemma 3.
    """
    for fence in reply.fences:
        if fence.language not in ("tool_code", "tool_call", "tool_calls") or reply.quoted(fence.body):
            continue
        position = fence.body
        position += reply.text.startswith("[", position)
        while position < fence.close:
            found = call_at(reply, position)
            if found is None or found.start >= fence.close:
                break
            yield found
            skipped = re.compile(r"[\s),;\]]*+").match(reply.text, found.end)
            position = skipped.end() if skipped else found.end


# --- one call ----------------------------------------------------------------------------------------------


def _call(reply: Reply, position: int) -> _Call | None:
    head = _CALL.match(reply.text, position)
    if head is None:
        return None
    arguments: list[_Argument] = []
    position = head.end()
    while True:
        keyword = _KEYWORD.match(reply.text, position)
        start = keyword.end() if keyword else position
        end = _argument_end(reply, start, keyword is not None)
        if keyword is not None or reply.text[start:end].strip():
            arguments.append(_Argument(keyword.group(1) if keyword else None, start, end))
        sign = reply.text[end : end + 1]
        if sign != ",":
            complete = sign == ")"
            return _Call(head["name"], head.start("name"), end + complete, tuple(arguments), complete)
        position = end + 1


def _argument_end(reply: Reply, position: int, keyword: bool) -> int:
    """Where an argument ends: at a comma or closing bracket outside of its strings and brackets."""
    text, depth = reply.text, 0
    while (step := _STEP.search(text, position)) is not None:
        sign, at = step.group(), step.start()
        position = at + 1
        if sign in "\"'":
            position = _string_end(reply, at, sign, outer=keyword and depth == 0)
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


def _string_end(reply: Reply, start: int, quote: str, *, outer: bool) -> int:
    """The place after the string whose opening quote is at `start`.

    A quote ends it when an argument's end follows: inner quotes may not be escaped.
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
        if not reply.spend(position - start):
            break
    return first if first >= 0 else len(text)


def _is_escaped(text: str, at: int, start: int) -> bool:
    """Does an odd number of backslashes stand before a sign?"""
    first = at
    while first > start + 1 and text[first - 1] == "\\":
        first -= 1
    return (at - first) % 2 == 1


def _found(reply: Reply, call: _Call) -> Found | None:
    """The call with its raw arguments; None when they cannot be named."""
    text, name = reply.text, reply.plain_name(call.name)
    tool = reply.tool(name)
    names = [parameter.name for parameter in tool.parameters] if tool is not None else []
    one = call.arguments[0] if len(call.arguments) == 1 and call.arguments[0].name is None else None
    if one is not None and text[one.start : one.end].strip().removeprefix("**").lstrip().startswith("{"):
        start = text.index("{", one.start)
        raw = text[start : one.end].rstrip()
        return Found(name, raw, call.start, call.end, call.complete, start)
    parts: list[str] = []
    for index, argument in enumerate(call.arguments):
        key = argument.name if argument.name is not None else names[index] if index < len(names) else None
        if key is None:
            return None
        value = text[argument.start : argument.end].strip()
        last = index + 1 == len(call.arguments)
        parts.append(f"{compact(key)}: {value if last and not call.complete else _json_text(value)}")
    raw = "{" + ", ".join(parts) + ("}" if call.complete else "")
    return Found(name, raw if parts else "{}", call.start, call.end, call.complete)


def _json_text(value: str) -> str:
    """The JSON of a value in plain Python; any other value as it was written."""
    if _ODD_ESCAPE.search(value):
        return value
    read = read_value(Piece(value), 0, Lookahead(value), 0)
    if isinstance(read, UnreadableError) or read.end < len(value):
        return value
    return compact(read.value) if all(mend.code in _NATIVE for mend in read.mends) else value
