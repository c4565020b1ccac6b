"""Reads Claude's older call format, which uses parameter names as tag names.

The raw arguments are built as JSON.
"""

from __future__ import annotations

from collections.abc import Iterator

from lenient.calls.reading.child_elements import ElementReader
from lenient.calls.reading.extracted_call import FoundCall, missing_opening
from lenient.calls.reading.model_text import ModelText
from lenient.calls.reading.written_parameters import UndeclaredType, build_arguments
from lenient.regex import compile_regex

_CALL = compile_regex(
    r"(?:(?P<begin><invoke>)\s*+)?+<tool_name>\s*+(?P<name>[\w.\-]{1,128}+)\s*+</tool_name>"
    r"(?(begin)|(?=\s*+<parameters>))"
)
_CALL_END = compile_regex(r"</invoke>")


def anthropic_legacy(reply: ModelText) -> Iterator[FoundCall]:
    """Yield the calls in the notation of Claude 2.

    The notation is `<invoke><tool_name>name</tool_name><parameters><key>value</key></parameters></invoke>`.
    Source: Anthropic's XML tool use guide of 2024. Values are read as in
    `lenient.calls.dialects.tagged_parameters.anthropic_invoke`.
    """
    done = 0
    for opening in reply.find_tokens(_CALL):
        if opening.start() < done:
            continue  # the match is an example inside the value of the previous call
        root = reply.arguments_node(opening["name"])
        reader = ElementReader(reply, opening.end(), UndeclaredType.TEXT)
        parameters = reader.read_parameters(opening.end(), root)
        closing = _CALL_END.search(reply.text, reader.end)
        following = _CALL.search(reply.text, reader.end)
        if closing is not None and following is not None and following.start() < closing.start():
            closing = None
        complete = closing is not None
        raw, built = build_arguments(parameters, root, UndeclaredType.TEXT, entities=True, cut=not complete)
        done = closing.end() if closing is not None else reader.end
        around = () if opening["begin"] else (missing_opening(opening.start()),)
        yield FoundCall(opening["name"], raw, opening.start(), done, complete, built=built, around=around)
