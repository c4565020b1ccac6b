"""Reads calls in Gemma's own notation: `call:name{key:<escape>text<escape>,number:3}` between two tokens.

Source: Google's FunctionGemma formatting guide; vLLM `functiongemma` and `gemma4` (strings in `<|"|>`). The
raw arguments are built as JSON: keys and the texts between delimiters are put in double quotes, all other
text is kept as the model wrote it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lenient.calls.reading.extracted_call import FoundCall, missing_opening
from lenient.calls.reading.model_text import ModelText
from lenient.definitions.json_schema.json_values import to_json_text
from lenient.diagnostics import Diagnostic

_CALL = re.compile(
    r"(?:(?P<begin><start_function_call>|<\|tool_call>)\s*+|^[ \t]*+)"
    r"call:\s*+(?P<name>[\w.\-]{1,128}+)\s*+(?=\{)",
    re.MULTILINE,
)
_CALL_END = re.compile(r"\s*+(?:<end_function_call>|<tool_call\|>|<\|tool_call\|>)")
_DELIMITER = re.compile(r"<escape>|<\|\"\|>")
_MARKS = re.compile(
    rf"(?P<text>(?P<delimiter>{_DELIMITER.pattern}).*?(?P=delimiter))|(?P<end>{_CALL_END.pattern})"
    rf"|{_CALL.pattern}",
    re.DOTALL | re.MULTILINE,
)
_BETWEEN = re.compile(r"\s*+(?:[,}\]][^<>]*+)?")
"""What stands between two texts: a comma or a closing bracket comes first."""
_KEY = re.compile(r"(?<![\w.\-])([A-Za-z_][\w.\-]*+)(?=\s*+:)")


def gemma(reply: ModelText) -> Iterator[FoundCall]:
    """Yield the calls in the notation of Gemma.

    The notation is `<start_function_call>call:name{…}<end_function_call>` or
    `<|tool_call>call:name{…}<tool_call|>`. Without the opening token a call must have its closing one. Tokens
    between two delimiters are text.
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
        complete = mark is not None and mark["end"] is not None
        if not complete and not opening["begin"]:
            continue
        body = reply.text[opening.end() : stop].rstrip()
        done = mark.end() if mark is not None and complete else opening.end() + len(body)
        raw = _write_as_json(body, complete=complete)
        around: tuple[Diagnostic, ...] = ()
        if not opening["begin"]:
            around += (missing_opening(opening.start()),)
        if not all(map(_BETWEEN.fullmatch, _DELIMITER.split(body)[2::2])):
            hint = "There is text outside the delimiters, so the delimiters may be part of the text."
            around += (Diagnostic("ambiguous", "$", opening.end(), opening.end() + len(body), hint=hint),)
        yield FoundCall(
            opening["name"], raw, opening.start(), done, complete or raw.endswith("}"), around=around
        )


def _write_as_json(body: str, *, complete: bool) -> str:
    """Return the body as JSON: the texts between delimiters as strings, keys in double quotes.

    When `complete` is False and the last delimiter is missing, the last string is left open.
    """
    pieces = _DELIMITER.split(body)
    parts = []
    for index, piece in enumerate(pieces):
        if index % 2 == 0:
            parts.append(_KEY.sub(r'"\1"', piece))
        elif index + 1 < len(pieces):
            parts.append(to_json_text(piece))
        else:
            parts.append(to_json_text(piece) if complete else to_json_text(piece)[:-1])
    return "".join(parts)
