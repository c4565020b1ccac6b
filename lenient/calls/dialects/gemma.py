"""Reads calls in Gemma's own notation: `call:name{key:<escape>text<escape>,number:3}` between two delimiter
tokens.

Sources: Google's FunctionGemma formatting guide; vLLM's parsers `functiongemma` and `gemma4` (strings in
`<|"|>`). In long contexts, Gemma 4 also writes a namespace before the name (`call:ns:name{…}`), round
brackets (`call:name(key=…)`) and plain quotes (issue 53642 of vLLM, issues 1830 and 1846 of oMLX).

The raw arguments are built as JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lenient.calls.reading.extracted_call import FoundCall, missing_opening
from lenient.calls.reading.model_text import ModelText
from lenient.definitions.json_schema.json_values import to_json_text
from lenient.diagnostics import Diagnostic
from lenient.regex import compile_regex

_CALL = compile_regex(
    r"(?:(?P<begin><start_function_call>|<\|tool_call\|?>|<tool_call>(?=\s*+call:))\s*+(?:call:|:)?+"
    r"|^[ \t]*+call:)"
    r"\s*+(?P<name>[\w.\-]{1,128}+(?::[\w.\-]{1,128}+){0,8}+)\s*+(?=[{(])",
    re.MULTILINE,
)
_CALL_END = compile_regex(r"\s*+(?:<end_function_call>|<tool_call\|>|<\|tool_call\|>|</tool_call>)")
_DELIMITER = compile_regex(r"<escape>|<\|\"\|>")
_TEXT = rf"(?P<delimiter>{_DELIMITER.pattern}).*?(?P=delimiter)"
_MARKS = compile_regex(
    rf"(?P<text>{_TEXT})|(?P<end>{_CALL_END.pattern})|{_CALL.pattern}", re.DOTALL | re.MULTILINE
)
_BETWEEN = compile_regex(r"\s*+(?:[,}\])][^<>]*+)?")
"""Matches what stands between two strings: whitespace, or a comma or closing bracket with what follows it."""
_QUOTE = r"(?<=[:=,\[({\s])(?P<quote>[\"'])"
_QUOTE_ENDS = {quote: compile_regex(rf"(?<!\\){quote}(?=\s*+(?:[,}}\])]|\Z))") for quote in "\"'"}
"""The quote that ends a string in plain quotes: a comma, closing bracket or the end of the reply follows."""
_BRACKETS = compile_regex(rf"{_TEXT}|{_QUOTE}|(?P<opener>[{{\[(])|(?P<closer>[}}\])])", re.DOTALL)
_WORD = r"[^\s\"'{}\[\]():=,<>]"
_KEY = rf"(?P<before>\s*+)(?P<key>(?!\d){_WORD}++(?:[ \t]++{_WORD}++)*+)(?P<colon>\s*+[:=])(?!=)"
_PARTS = compile_regex(rf"{_QUOTE}|(?P<sign>[{{\[(,])(?:{_KEY})?|(?P<closer>[}}\])])", re.DOTALL)
"""Matches quotes, brackets, and keys after a bracket or a comma."""


_OBJECT_IN_BRACKETS = compile_regex(r"\(\s*+\{")


def gemma(reply: ModelText) -> Iterator[FoundCall]:
    """Yield the tool calls in the notation of Gemma.

    The notation is `<start_function_call>call:name{…}<end_function_call>` or
    `<|tool_call>call:name{…}<tool_call|>`. A call without these tokens counts if the tool was offered and the
    lines of the call contain nothing else. Tokens inside a string are ordinary characters.
    """
    done = 0
    for opening in reply.find_tokens(_CALL):
        if opening.start() < done:
            continue
        marks = _MARKS.finditer(reply.text, opening.end())
        mark = next((mark for mark in marks if not mark["text"]), None)
        stop = mark.start() if mark is not None else len(reply.text)
        if not reply.spend_budget(stop - opening.end()):
            return
        name = _remove_namespace(reply, opening["name"])
        complete = mark is not None and mark["end"] is not None
        if not complete:
            stop = _find_closer(reply.text, opening.end(), stop)
            if not opening["begin"] and not _stands_alone(reply, name, opening.start(), stop):
                continue
        body = reply.text[opening.end() : stop].rstrip()
        done = mark.end() if mark is not None and complete else opening.end() + len(body)
        raw = _write_as_json(body, complete=complete)
        around: tuple[Diagnostic, ...] = ()
        if complete and not opening["begin"]:
            around += (missing_opening(opening.start()),)
        if name != reply.plain_name(opening["name"]):
            around += (Diagnostic("tool_name_cleaned", "$", *opening.span("name"), opening["name"], name),)
        if not all(map(_BETWEEN.fullmatch, _DELIMITER.split(body)[2::2])):
            hint = "There is text outside the delimiters, so the delimiters may be part of the text."
            around += (Diagnostic("ambiguous", "$", opening.end(), opening.end() + len(body), hint=hint),)
        yield FoundCall(name, raw, opening.start(), done, complete or raw.endswith("}"), around=around)


def _remove_namespace(reply: ModelText, name: str) -> str:
    """Return the tool name without its namespace (`ns:`) if the short name is an offered tool and the full
    name is not.

    Otherwise return the name unchanged.
    """
    rest = name = reply.plain_name(name)
    while reply.catalog is not None and not reply.offers(rest) and ":" in rest:
        rest = rest.partition(":")[2]
    return rest if reply.offers(rest) else name


def _find_closer(text: str, start: int, limit: int) -> int:
    """Return the offset after the bracket that closes the bracket at `start`.

    Return `limit` when the closing bracket is missing.
    """
    depth = 0
    for bracket in _find_outside_quotes(_BRACKETS, text, start, limit):
        depth += bool(bracket["opener"]) - bool(bracket["closer"])
        if depth == 0:
            return bracket.end()
    return limit


def _find_outside_quotes(
    parts: re.Pattern[str], text: str, start: int, limit: int
) -> Iterator[re.Match[str]]:
    """Yield the matches of `parts` outside of strings in plain quotes.

    The group `quote` of `parts` matches the opening quote of a string.
    """
    unclosed, position = "", start
    while (part := parts.search(text, position, limit)) is not None:
        position = part.end()
        quote = part["quote"]
        if not quote:
            yield part
        elif quote not in unclosed:
            end = _QUOTE_ENDS[quote].search(text, position, limit)
            unclosed += "" if end is not None else quote
            position = end.end() if end is not None else position


def _stands_alone(reply: ModelText, name: str, start: int, end: int) -> bool:
    if reply.text[end : end + 200].split("\n", 1)[0].strip(" \t;,`") or reply.is_example(start):
        return False
    return reply.offers(name) or (reply.catalog is None and reply.is_whole(start, end))


def _write_as_json(body: str, *, complete: bool) -> str:
    """Return the arguments as JSON. Delimited strings and keys get double quotes.

    Round brackets around all parameters become braces, and `=` after a key becomes a colon. When `complete`
    is False and the last delimiter is missing, the last string is not closed.
    """
    if _OBJECT_IN_BRACKETS.match(body) and body.endswith(")"):
        body = body[1:-1].strip()
    open_brackets: list[str] = []

    pieces = _DELIMITER.split(body)
    parts = list[str]()
    for index, piece in enumerate(pieces):
        if index % 2 == 0:
            parts += _write_structure(piece, open_brackets)
        elif index + 1 < len(pieces):
            parts.append(to_json_text(piece))
        else:
            parts.append(to_json_text(piece) if complete else to_json_text(piece)[:-1])
    return "".join(parts)


def _write_structure(piece: str, open_brackets: list[str]) -> Iterator[str]:
    """Yield the JSON for a piece of the arguments that contains no strings.

    `open_brackets` are the brackets that are open where the piece begins.
    """
    position = 0
    for part in _find_outside_quotes(_PARTS, piece, 0, len(piece)):
        yield piece[position : part.start()]
        position = part.end()
        if part["closer"]:
            opener = open_brackets.pop() if open_brackets else ""
            yield "}" if opener == "(" and not open_brackets else part.group()
            continue
        sign = part["sign"]
        if sign != ",":
            open_brackets.append(sign)
            sign = "{" if sign == "(" and len(open_brackets) == 1 else sign
        holder = open_brackets[-1] if open_brackets else ""
        if part["key"] is None or not (holder == "{" or (holder == "(" and len(open_brackets) == 1)):
            yield sign + part.group()[1:]
        else:
            colon = part["colon"].replace("=", ":") if holder == "(" else part["colon"]
            yield f"{sign}{part['before']}{to_json_text(part['key'])}{colon}"
    yield piece[position:]
