"""Reads calls written as Python: `[f(a=1), g(b="x")]`, or `f(a=1)` on a line of its own.

Only calls that the model means as tool calls count; calls in a program do not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from lenient.calls.reading.extracted_call import FoundCall
from lenient.calls.reading.json_in_text import pass_blanks
from lenient.calls.reading.model_text import FencedBlock, ModelText
from lenient.calls.reading.python_call import CALL, NAME, read_call_at, read_call_list

_LIST = re.compile(rf"\[(?=\s*+{NAME}\s*+\()")
_LINE_CALL = re.compile(rf"^[ \t]*+(?:print\(\s*+)?(?P<name>{NAME})\(", re.MULTILINE)
_CUT_OFF = re.compile(r"[\w.\-]*+\s*+\Z")
_KEYWORDS = frozenset(
    {"if", "for", "while", "print", "return", "def", "class", "with", "len", "range", "import"}
)


def pythonic(reply: ModelText) -> Iterator[FoundCall]:
    """Yield the calls written as a Python list, `[f(a=1), g(b="x")]`, or as single Python calls.

    Llama 3.2 and 4 (between `<|python_start|>` and `<|python_end|>`), LFM2 and ToolACE write this. Source:
    Meta's prompt format for Llama 3.2 and 4; vLLM `pythonic`, `llama4_pythonic`, `lfm2`. When the caller
    named this dialect, all lists and single calls count. Otherwise a list counts when its names were offered
    or when it is the whole reply, and a single call counts when it has its lines to itself and its name was
    offered.
    """
    marked = list(marked_python(reply))
    if marked:
        yield from marked
        return
    listed = list(_read_lists(reply))
    yield from listed or _read_lines(reply)


_TOKENS = re.compile(
    r"<\|(?:python_start|python_tag|tool_call_start)\|>\s*+\[?(?=\s*+[A-Za-z_][\w.\-]*+\s*+\()"
)


def marked_python(reply: ModelText) -> Iterator[FoundCall]:
    """Yield the Python calls after an announcing token: Llama 4, LFM2 and the built-in tools of Llama 3.

    Llama 3 calls its built-in tools by a method, `brave_search.call(query="…")`. Source: Meta's prompt format
    for Llama 3.1.
    """
    for found in _read_after_tokens(reply, _TOKENS):
        yield found if reply.offers(found.name) else replace(found, name=found.name.removesuffix(".call"))


def olmo3(reply: ModelText) -> Iterator[FoundCall]:
    """Yield the calls of OLMo 3: `<function_calls>`, one Python call per line, `</function_calls>`.

    Source: vLLM `olmo3`.
    """
    yield from _read_after_tokens(reply, _OLMO)


_OLMO = re.compile(
    r"<function_calls>(?=\s*+[A-Za-z_][\w.\-]*+\s*+\()|<tool_call>(?=\s*+\[?\s*+[A-Za-z_][\w.\-]*+\s*+\()"
)


def _read_after_tokens(reply: ModelText, tokens: re.Pattern[str]) -> Iterator[FoundCall]:
    """Yield the calls after each match of `tokens`; a match inside a call is skipped."""
    done = 0
    for token in reply.find_tokens(tokens):
        if token.start() >= done:
            for found in _read_sequence(reply, token.end()):
                yield found
                done = found.end


def _read_sequence(reply: ModelText, position: int) -> Iterator[FoundCall]:
    """Yield the calls from `position` on, which commas, semicolons or line breaks separate."""
    position = pass_blanks(reply.text, position)
    position += reply.text.startswith("[", position)
    while True:
        found, after = read_call_list(reply, position)
        yield from found
        if not found or not found[-1].complete or not CALL.match(reply.text, after):
            return
        position = after


def _read_lists(reply: ModelText) -> Iterator[FoundCall]:
    done = 0
    for bracket in reply.find_tokens(_LIST):
        if bracket.start() < done or not reply.spend_budget(50):
            continue
        found, after = read_call_list(reply, bracket.end())
        done = after
        closed = reply.text[after : after + 1] == "]"
        if not found or not (closed or _CUT_OFF.match(reply.text, after)):
            continue
        if reply.told or _is_meant(reply, found, bracket.start(), after + closed):
            yield from found


def _is_meant(reply: ModelText, found: list[FoundCall], start: int, end: int) -> bool:
    """Return True when a list of Python calls is meant as tool calls.

    This holds when all names were offered and no words before the list announce an example, or when the list
    is plausible and the whole reply.
    """
    if reply.catalog is not None and all(reply.offers(call.name) for call in found):
        return not reply.is_example(start)
    return _stands_alone(reply, start, end) and _is_plausible(found)


def _stands_alone(reply: ModelText, start: int, end: int) -> bool:
    fence = reply.fence_around(start)
    if fence is not None:
        return not reply.text[fence.body : start].strip() and reply.is_whole(fence.start, fence.end)
    return reply.is_whole(start, end)


def _is_plausible(found: list[FoundCall]) -> bool:
    """Return True when no name is a Python keyword or built-in function, and a call has raw arguments."""
    return all(call.name not in _KEYWORDS for call in found) and any(call.raw for call in found)


def _read_lines(reply: ModelText) -> Iterator[FoundCall]:
    """Yield the single Python calls that stand on lines of their own."""
    done = 0
    for line in reply.find_tokens(_LINE_CALL):
        name = line["name"]
        if (
            line.start() < done
            or name in _KEYWORDS
            or not (reply.told or reply.offers(reply.plain_name(name)))
        ):
            continue
        if not _is_in_calls_only(reply, line.start()):
            continue
        found = read_call_at(reply, line.start())
        if found is None:
            continue
        done = found.end
        rest = reply.text[found.end : found.end + 200].split("\n", 1)[0].strip()
        if rest in ("", ")", ";", "`", "```") or reply.told:
            yield found


def _is_in_calls_only(reply: ModelText, position: int) -> bool:
    """Return True when `position` is outside of fences, or in a fence that holds nothing but calls."""
    fence = reply.fence_around(position)
    return fence is None or (fence.language in _CALL_LANGUAGES and _holds_only_calls(reply, fence))


_CALL_LANGUAGES = frozenset({"", "tool_code", "tool_call", "tool_calls", "python", "py", "text", "plaintext"})


def _holds_only_calls(reply: ModelText, fence: FencedBlock) -> bool:
    """Return True when the fence begins with a call of an offered tool.

    A fence that begins with `x = f()`, or with another statement of a program, does not.
    """
    first = _LINE_CALL.match(reply.text, fence.body)
    return first is not None and (reply.told or reply.offers(reply.plain_name(first["name"])))


def gemma_tool_code(reply: ModelText) -> Iterator[FoundCall]:
    """Yield the Python calls in `tool_code` fences, as Gemma 2 and 3 write them.

    A call may stand in `print(…)` or after `default_api.`. Source: Google's function calling guide for Gemma
    3.
    """
    for fence in reply.find_fences:
        if fence.language not in ("tool_code", "tool_call", "tool_calls") or reply.is_quoted(fence.body):
            continue
        position = fence.body
        position += reply.text.startswith("[", position)
        while position < fence.close:
            found = read_call_at(reply, position)
            if found is None or found.start >= fence.close:
                break
            yield found
            skipped = re.compile(r"[\s),;\]]*+").match(reply.text, found.end)
            position = skipped.end() if skipped else found.end
