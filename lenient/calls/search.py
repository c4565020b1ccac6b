"""Searches a model's reply for tool calls in all dialects, or in the dialect that the caller names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice

from lenient.arguments.request import Outcome
from lenient.calls.dialects.claude_legacy import anthropic_legacy
from lenient.calls.dialects.gemma import gemma
from lenient.calls.dialects.harmony import harmony
from lenient.calls.dialects.json_blocks import (
    apertus,
    command,
    gigachat,
    granite,
    hermes,
    internlm,
    llama3_json,
    longcat,
    nemotron,
    phi4_mini,
    tool_calls_tag,
)
from lenient.calls.dialects.named_calls import (
    deepseek_v3,
    deepseek_v31,
    functionary,
    kimi_k2,
    mistral,
    tool_call_name,
)
from lenient.calls.dialects.plain_json import bare_json, fenced_json
from lenient.calls.dialects.pythonic import gemma_tool_code, marked_python, olmo3, pythonic
from lenient.calls.dialects.react import react
from lenient.calls.dialects.tagged_parameters import anthropic_invoke, deepseek_v32, glm, kimi_k3, qwen3_coder
from lenient.calls.reading.extracted_call import FoundCall, TextCall, read_call
from lenient.calls.reading.model_text import MAX_TOKENS, ModelText
from lenient.definitions.tools import ToolCatalog
from lenient.diagnostics import Diagnostic
from lenient.regex import compile_regex

Dialect = Callable[[ModelText], Iterator[FoundCall]]

TOKEN_DIALECTS: Mapping[str, tuple[Dialect, tuple[str, ...]]] = {
    "anthropic_invoke": (anthropic_invoke, ("invoke",)),
    "anthropic_legacy": (anthropic_legacy, ("<tool_name>",)),
    "deepseek_v32": (deepseek_v32, ("｜DSML｜",)),
    "qwen3_coder": (qwen3_coder, ("<function",)),
    "glm": (glm, ("arg_key>", "tool_call>")),
    "kimi_k3": (kimi_k3, ("call tool=",)),
    "deepseek_v3": (deepseek_v3, ("function<｜tool", "function\n<｜tool", "function<|tool")),
    "deepseek_v31": (deepseek_v31, ("sep｜>", "sep|>")),
    "kimi_k2": (kimi_k2, ("<|tool_call_argument_begin|>",)),
    "tool_call_name": (tool_call_name, ("tool_call>",)),
    "mistral": (mistral, ("[TOOL_CALLS]",)),
    "functionary": (functionary, (">>>",)),
    "harmony": (harmony, ("to=",)),
    "gemma": (gemma, ("call:", "<|tool_call", "<start_function_call>")),
    "llama3_json": (llama3_json, ("<|python_tag|>",)),
    "hermes": (hermes, ("<tool_call>",)),
    "granite": (granite, ("<|tool_call|>", "<function_call>")),
    "tool_calls_tag": (tool_calls_tag, ("<tool_calls>",)),
    "nemotron": (nemotron, ("<TOOLCALL>",)),
    "command": (command, ("<|START_ACTION|>",)),
    "internlm": (internlm, ("<|action_start|>",)),
    "phi4_mini": (phi4_mini, ("functools",)),
    "apertus": (apertus, ("<|tools_prefix|>",)),
    "longcat": (longcat, ("<longcat_tool_call>",)),
    "gigachat": (gigachat, ("function call",)),
    "olmo3": (olmo3, ("<function_calls>", "<tool_call>")),
    "llama4_pythonic": (marked_python, ("<|python_", "<|tool_call_start|>")),
}
"""The dialects with delimiter tokens, each with the strings of which a reply must contain one.

Dialects with more specific tokens come first.
"""

TEXT_DIALECTS: Mapping[str, Dialect] = {
    "gemma_tool_code": gemma_tool_code,
    "pythonic": pythonic,
    "react": react,
    "fenced_json": fenced_json,
    "bare_json": bare_json,
}
"""The dialects without delimiter tokens, in the order of the search. The first dialect that finds a tool call
is used.
"""

_ALL_MARKS = {mark for _, marks in TOKEN_DIALECTS.values() for mark in marks}
# A mark that contains another mark need not be searched for.
_MARKS = tuple(mark for mark in _ALL_MARKS if not any(other in mark for other in _ALL_MARKS if other != mark))
DIALECTS: tuple[str, ...] = (*TOKEN_DIALECTS, *TEXT_DIALECTS)
"""The names of all dialects."""


def extract_tool_calls(
    text: str, catalog: ToolCatalog | None = None, *, dialect: str | None = None
) -> tuple[TextCall, ...]:
    """Return the tool calls in a model's reply, in order, or () when there are none.

    `text` is the reply. `catalog` contains the tools that were offered to the model. `dialect` is a name from
    `DIALECTS`: the notation in which the model writes tool calls. All dialects are tried if `dialect` is
    None, or if this dialect finds no tool call. Dialects that mark tool calls with delimiter tokens (such as
    `<tool_call>`) are tried first. A tool call in reasoning, in inline code, or in an announced example does
    not count.

    Between delimiter tokens, a call of any tool counts. A name that is not in the catalog gets the diagnostic
    `unknown_tool`. Without delimiter tokens, a JSON object or a Python call counts in two cases: its tool was
    offered (in any spelling), or the whole reply consists of the call.

    Raises ValueError for an unknown dialect, but never raises for any reply.
    """
    if dialect is not None:
        if dialect not in DIALECTS:
            raise ValueError(f"{dialect!r} is not a dialect; use one of {', '.join(DIALECTS)}.")
        named_reply = ModelText(text, catalog, is_dialect_known=True)
        find = TOKEN_DIALECTS[dialect][0] if dialect in TOKEN_DIALECTS else TEXT_DIALECTS[dialect]
        calls = [
            (dialect, call)
            for call in islice(find(named_reply), MAX_TOKENS)
            if named_reply.may_name(call.name, call.start)
        ]
        if calls:
            return _read_calls(named_reply, calls)
    reply = ModelText(text, catalog)
    return _read_calls(reply, _find_between_tokens(reply) or _find_without_tokens(reply))


def leaked_tool_calls(text: str, catalog: ToolCatalog | None = None) -> tuple[TextCall, ...]:
    """Return the tool calls that an assistant wrote into its reply instead of making native tool calls.

    Such tool calls belong to the failure stage `emission` (missing call). The conditions are stricter than in
    `extract_tool_calls`. Tool calls between a dialect's delimiter tokens count only outside of fences.
    Without such tokens, a tool call counts when the tool was offered, the arguments fit or nearly fit, and
    the lines or the fence of the call contain nothing else.
    """
    if not (_has_call_token(text) or (catalog is not None and any(tool.name in text for tool in catalog))):
        return ()  # most texts contain no call; this test is 30 times faster than a search
    reply = ModelText(text, catalog)
    marked = [each for each in _find_between_tokens(reply) if reply.fence_around(each[1].start) is None]
    if marked:
        return _read_calls(reply, marked)
    if catalog is None:
        return ()
    plain_calls = _read_calls(reply, _keep_lone_calls(reply, _find_without_tokens(reply)))
    return tuple(call for call in plain_calls if catalog.get(call.name) is not None and _nearly_fits(call))


def _read_calls(reply: ModelText, calls: Iterable[tuple[str, FoundCall]]) -> tuple[TextCall, ...]:
    return tuple(read_call(*each, reply.catalog) for each in _report_unopened(reply.text, calls))


def _has_call_token(text: str) -> bool:
    for mark in _MARKS:  # noqa: SIM110 - any() with a generator takes twice as long
        if mark in text:
            return True
    return False


def _find_between_tokens(reply: ModelText) -> list[tuple[str, FoundCall]]:
    """Return the tool calls of all dialects with delimiter tokens. Of overlapping calls, keep the first."""
    candidates = [
        (call.start, rank, dialect, call)
        for rank, (dialect, (find, marks)) in enumerate(TOKEN_DIALECTS.items())
        if any(mark in reply.text for mark in marks)
        for call in islice(find(reply), MAX_TOKENS)
        if reply.may_name(call.name, call.start)
    ]
    calls: list[tuple[str, FoundCall]] = []
    end = 0
    for start, _, dialect, call in sorted(candidates, key=lambda each: each[:2]):
        if start >= end:
            calls.append((dialect, call))
            end = call.end
    return calls


def _find_without_tokens(reply: ModelText) -> Iterable[tuple[str, FoundCall]]:
    for dialect, find in TEXT_DIALECTS.items():
        calls = islice(find(reply), MAX_TOKENS)
        offered_calls = [(dialect, call) for call in calls if reply.may_name(call.name, call.start)]
        if offered_calls:
            return offered_calls
    return []


def _keep_lone_calls(reply: ModelText, calls: Iterable[tuple[str, FoundCall]]) -> list[tuple[str, FoundCall]]:
    """Return the tool calls whose lines, or whose surrounding fence, contain nothing else."""
    together: list[list[tuple[str, FoundCall]]] = []
    for each in sorted(calls, key=lambda pair: pair[1].start):
        last = together[-1][-1][1] if together else None
        between = " \t,;" if reply.fence_around(each[1].start) is None else " \t\r\n,;()[]{}"
        if last is not None and not reply.text[last.end : each[1].start].strip(between):
            together[-1].append(each)
        else:
            together.append([each])
    return [each for group in together if _has_lines_alone(reply, group) for each in group]


def _has_lines_alone(reply: ModelText, group: list[tuple[str, FoundCall]]) -> bool:
    """Return True when the lines of these tool calls, or the fence around them, contain nothing else."""
    start, end = group[0][1].start, group[-1][1].end
    fence = reply.fence_around(start)
    if fence is not None:
        around = reply.text[fence.body : start] + reply.text[end : fence.close]
        return not around.strip(" \t\r\n[],;{}()")
    line = reply.text.rfind("\n", 0, start) + 1
    after = reply.text.find("\n", end)
    rest = reply.text[end : after if after >= 0 else len(reply.text)]
    return not reply.text[line:start].strip(" \t[,") and not rest.strip(" \t\r],;)")


def _nearly_fits(call: TextCall) -> bool:
    """Return True when the arguments may be meant for the called tool.

    The arguments may lack a parameter or have wrong types, but must not have an undeclared parameter.
    """
    request = call.request
    if request.arguments is None:
        return False
    codes = {diagnostic.code for diagnostic in request.diagnostics}
    return request.outcome is not Outcome.FAILED or "unknown_parameter" not in codes


# --- closing tokens without an opening token -----------------------------------------------------------

_TOKEN = compile_regex(
    r"(?:\]<\]minimax\[>\[)?</?(?:\w{1,40}+:)?(?:tool_calls?|function_calls?|longcat_tool_call|TOOLCALL)>"
    r"|</?｜DSML｜(?:function|tool)_calls>|<[｜|]tool[▁_]calls[▁_](?:begin|end)[｜|]>"
    r"|<\|tool_calls?_(?:section_)?(?:start|begin|end)\|>|<\|/?tool_call\|>|\[/?TOOL_CALLS\]"
    r"|<\|(?:START|END)_ACTION\|>|<\|action_(?:start|end)\|>|<\|tools_(?:prefix|suffix)\|>"
    r"|<\|python_(?:start|tag|end)\|>|<\|(?:open|close)\|>tools<\|sep\|>"
)
"""The delimiter tokens around tool calls, for all dialects with an opening and a closing token."""
_CLOSING = compile_regex(r"/|end|END|suffix|close")
_BETWEEN = " \t\r\n])},;`"


def _report_unopened(text: str, found_calls: Iterable[tuple[str, FoundCall]]) -> list[tuple[str, FoundCall]]:
    """Return the tool calls. Add a diagnostic to a tool call if its closing token has no opening token.

    `found_calls` contains the tool calls with their dialects. Tokens inside a tool call are not considered.
    """
    calls = sorted(found_calls, key=lambda each: each[1].start)
    opened, position = 0, 0
    for index, (dialect, call) in enumerate([*calls]):
        opened += _count_opening(text, position, call.start)
        position, limit = call.end, calls[index + 1][1].start if index + 1 < len(calls) else len(text)
        while (token := _TOKEN.search(text, position, limit)) is not None:
            if _CLOSING.search(token.group()) is None or text[position : token.start()].strip(_BETWEEN):
                break
            position = token.end()
            if opened == 0:
                alone = Diagnostic("missing_opening_tag", "$", token.start(), position, token.group())
                calls[index] = dialect, replace(call, around=(*call.around, alone))
                break
            opened -= 1
    return calls


def _count_opening(text: str, start: int, end: int) -> int:
    return sum(_CLOSING.search(token.group()) is None for token in _TOKEN.finditer(text, start, end))
