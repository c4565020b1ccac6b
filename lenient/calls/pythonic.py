"""Calls written as Python: `[f(a=1), g(b="x")]`, or `f(a=1)` on a line of its own.

Goes in: a reply. Comes out: the calls that are meant as calls, and no programs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lenient.calls.found import Found
from lenient.calls.python_syntax import CALL, NAME, call_at, call_list
from lenient.calls.reply import Fence, Reply
from lenient.calls.values import blank_end

_LIST = re.compile(rf"\[(?=\s*+{NAME}\s*+\()")
_LINE_CALL = re.compile(rf"^[ \t]*+(?:print\(\s*+)?(?P<name>{NAME})\(", re.MULTILINE)
_CUT_OFF = re.compile(r"[\w.\-]*+\s*+\Z")
_KEYWORDS = frozenset(
    {"if", "for", "while", "print", "return", "def", "class", "with", "len", "range", "import"}
)


def pythonic(reply: Reply) -> Iterator[Found]:
    """`[f(a=1), g(b="x")]`: Llama 3.2 and 4 (between `<|python_start|>` and `<|python_end|>`), LFM2, ToolACE.

    Source: Meta's prompt format for Llama 3.2 and 4; vLLM `pythonic`, `llama4_pythonic`, `lfm2`. A single
    call without brackets is one when told, or on a line of its own when its name and parameters are those
    of a tool. A list counts when its names were offered, or when it is the whole reply.
    """
    marked = list(marked_python(reply))
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
    yield from _after_tokens(reply, _TOKENS)


def olmo3(reply: Reply) -> Iterator[Found]:
    """`<function_calls>`, one Python call a line, `</function_calls>`: OLMo 3. Source: vLLM `olmo3`."""
    yield from _after_tokens(reply, _OLMO)


_OLMO = re.compile(
    r"<function_calls>(?=\s*+[A-Za-z_][\w.\-]*+\s*+\()|<tool_call>(?=\s*+\[?\s*+[A-Za-z_][\w.\-]*+\s*+\()"
)


def _after_tokens(reply: Reply, tokens: re.Pattern[str]) -> Iterator[Found]:
    """The calls after each token, but for tokens within a call."""
    done = 0
    for token in reply.tokens(tokens):
        if token.start() >= done:
            for found in _several(reply, token.end()):
                yield found
                done = found.end


def _several(reply: Reply, position: int) -> Iterator[Found]:
    """The calls from a place on, parted by commas, semicolons or lines."""
    position = blank_end(reply.text, position)
    position += reply.text.startswith("[", position)
    while True:
        found, after = call_list(reply, position)
        yield from found
        if not found or not found[-1].complete or not CALL.match(reply.text, after):
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
        if not found or not (closed or _CUT_OFF.match(reply.text, after)):
            continue
        if reply.told or _meant(reply, found, bracket.start(), after + closed):
            yield from found


def _meant(reply: Reply, found: list[Found], start: int, end: int) -> bool:
    """Is a list of calls meant as calls? Its names were offered, or it is the whole reply."""
    if reply.catalog is not None and all(reply.offers(call.name) for call in found):
        return not reply.is_example(start)
    return _alone(reply, start, end) and _plausible(found)


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
