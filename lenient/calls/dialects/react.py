"""Reads calls in the ReAct format: `Action:` and the tool's name, `Action Input:` and the arguments.

Sources: Yao et al. 2022 (`Action: search[query]`); LangChain's ReAct agents, where the input is one JSON
object or a plain string. Nothing after `Observation:` is read, because the model invented this tool result.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from lenient.calls.reading.extracted_call import FoundCall
from lenient.calls.reading.json_in_text import is_json, pass_blanks
from lenient.calls.reading.model_text import ModelText
from lenient.definitions.json_schema.json_values import to_json_text
from lenient.regex import compile_regex

_BOLD = r"(?:\*\*|__)?"
_ACTION = compile_regex(
    rf"^[ \t>\-]*+{_BOLD}(?:Action|Tool)(?:[ \t]*+\d++)?{_BOLD}:{_BOLD}[ \t]*+(?:[`\[\"'*]*+)"
    rf"(?P<name>[\w.:/\-]{{1,128}}+)(?P<after>[`\]\"'*]*+|[\[(][^\n]*+)[ \t]*+$",
    re.MULTILINE,
)
_INPUT = compile_regex(
    rf"^[ \t>\-]*+{_BOLD}(?:Action[ _]?|Tool[ _]?)Input(?:[ \t]*+\d++)?{_BOLD}:{_BOLD}[ \t]*+",
    re.MULTILINE | re.IGNORECASE,
)
_STOP = compile_regex(
    rf"^[ \t>\-]*+{_BOLD}(?:Observation|Thought|Action|Tool|Final[ ]Answer|Question|Result)"
    rf"(?:[ \t]*+\d++)?{_BOLD}:",
    re.MULTILINE,
)
_OBSERVATION = compile_regex(rf"^[ \t>\-]*+{_BOLD}Observation(?:[ \t]*+\d++)?{_BOLD}:", re.MULTILINE)
_FENCED = compile_regex(r"`{3,}[ \t]*+\w*+[ \t]*+\n?")
_KEYWORD = compile_regex(r"([A-Za-z_]\w*+)\s*+[=:]")
_NO_TOOL = frozenset({"none", "finish", "final", "n/a", "na", "no", "answer", "respond"})


def react(reply: ModelText) -> Iterator[FoundCall]:
    """Yield the calls written as `Action: name` and `Action Input: …`.

    The input is a JSON object with the arguments, or a plain string. A plain string is the value of the
    tool's only parameter, or of the only required parameter.
    """
    actions = list(reply.find_tokens(_ACTION))
    if not actions:
        return
    observation = next(reply.find_tokens(_OBSERVATION, actions[0].end()), None)
    limit = observation.start() if observation is not None else len(reply.text)
    inputs = list(_INPUT.finditer(reply.text))
    places = [match.start() for match in inputs]
    for index, action in enumerate(actions):
        if action.start() >= limit:
            return
        following = actions[index + 1].start() if index + 1 < len(actions) else limit
        near = bisect_left(places, action.end())
        action_input = inputs[near] if near < len(inputs) and places[near] < min(following, limit) else None
        call = (
            _read_with_input(reply, action, action_input, limit)
            if action_input is not None
            else _read_inline(reply, action)
        )
        if call is not None and (call.name.lower() not in _NO_TOOL or reply.offers(call.name)):
            yield call


def _read_inline(reply: ModelText, action: re.Match[str]) -> FoundCall | None:
    """Return the tool call of an action without an `Action Input:`, or None when the action is not a call.

    An action of the form `Action: search[query]` is a call if the tool was offered. An action is also a call
    if the reply ends within the action.
    """
    name, after = action["name"], action["after"].strip()
    if after and after[0] in "[(" and after[-1:] in "])" and reply.offers(name):
        raw, offset = _read_input(reply, name, after[1:-1].strip(), action.start("after") + 1)
        return FoundCall(name, raw, action.start(), action.end(), True, offset)
    if (
        not reply.text[action.end() :].strip()
        and (reply.is_dialect_known or reply.offers(name))
        and after[:1] != "["
    ):
        return FoundCall(name, "", action.start(), action.end(), complete=False)
    return None


def _read_with_input(
    reply: ModelText, action: re.Match[str], action_input: re.Match[str], limit: int
) -> FoundCall:
    text, start = reply.text, pass_blanks(reply.text, action_input.end())
    fence = _FENCED.match(text, start)
    start = fence.end() if fence is not None else start
    end = reply.find_strict_end(start)
    if end is None:
        stop = _STOP.search(text, start, limit)
        body = text[start : stop.start() if stop else limit].rstrip()
        body = body.removesuffix("```").rstrip() if fence is not None or body.startswith("{") else body
        ended = stop is not None or limit < len(text) or not body.startswith("{") or body.endswith("}")
        complete = bool(body) and ended
    else:
        body, complete = text[start:end], True
    raw, offset = _read_input(reply, action["name"], body, start)
    return FoundCall(action["name"], raw, action.start(), start + len(body), complete, offset)


def _read_input(reply: ModelText, name: str, body: str, start: int) -> tuple[str, int | None]:
    """Return the raw arguments of an input, and the offset of the arguments in the reply.

    When the input is a plain string, the arguments are built as JSON and the offset is None.
    """
    if not body or body.startswith("{"):
        return body, start if body else None
    tool = reply.find_tool(name)
    parameters = tool.parameters if tool is not None else ()
    required = [parameter for parameter in parameters if parameter.required]
    only = parameters[0] if len(parameters) == 1 else required[0] if len(required) == 1 else None
    if only is None:
        return (
            ("{}", None) if body.lower() in ("none", "n/a", "null", '""') and not required else (body, start)
        )
    keyword = _KEYWORD.match(body)
    if keyword is not None and any(parameter.name == keyword.group(1) for parameter in parameters):
        return body, start  # the body contains names and values, so it is not the text of a single parameter
    value = body if is_json(body) else to_json_text(body)
    return f"{{{to_json_text(only.name)}: {value}}}", None
