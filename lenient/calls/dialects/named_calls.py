"""Dialects that write the tool's name, followed by the arguments as one JSON object.

This module only finds the end of the arguments; `lenient.arguments.parse` reads the arguments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from lenient.calls.dialects.json_blocks import read_json_blocks
from lenient.calls.reading.extracted_call import FoundCall, missing_opening
from lenient.calls.reading.json_in_text import pass_blanks
from lenient.calls.reading.model_text import ModelText
from lenient.calls.reading.token_blocks import TokenBlock, choose_end, find_blocks
from lenient.regex import compile_regex

_FENCE_OPEN = compile_regex(r"\s*+`{3,}[ \t]*+\w*+[ \t]*+\n?")
_FENCE_CLOSE = compile_regex(r"\s*+`{3,}")


def read_named_json(reply: ModelText, head: re.Pattern[str], closing: re.Pattern[str]) -> Iterator[FoundCall]:
    """Yield the tool calls that begin with a match of `head`, followed by the arguments.

    In `head`, the group `name` matches the tool's name and the optional group `id` matches the call id. If an
    optional group `begin` matches nothing, the opening token is missing. `closing` matches the tokens that
    end a tool call.
    """
    done = 0
    for block in find_blocks(reply, head, closing):
        if block.start < done:
            continue
        groups = block.opening.groupdict()
        call = read_arguments(reply, block, groups["name"].strip(), groups.get("id"))
        if "begin" in groups and groups["begin"] is None:
            call = replace(call, around=(missing_opening(call.start),))
        done = call.end
        yield call


def read_arguments(reply: ModelText, block: TokenBlock, name: str, call_id: str | None = None) -> FoundCall:
    """Return the tool call whose raw arguments begin at the block's body.

    A Markdown fence may surround the arguments.
    """
    text, start = reply.text, block.body
    fence = _FENCE_OPEN.match(text, start)
    start = pass_blanks(text, fence.end() if fence else start)
    end = reply.find_strict_end(start)
    if end is not None:
        raw, stop, complete = text[start:end], end, True
        if fence is not None and (last := _FENCE_CLOSE.match(text, end)) is not None:
            stop = last.end()
    else:
        stop = choose_end(reply, start, block.find_ends(reply, start), name) or block.end
        raw, complete = text[start:stop].rstrip(), stop < len(text)
        if fence is not None:
            raw = raw.removesuffix("```").rstrip()
    closing = block.closing.match(text, pass_blanks(text, stop))
    stop = closing.end() if closing is not None else start + len(raw) if not block.ends else stop
    return FoundCall(name, raw, block.start, stop, complete, start if raw else None, call_id)


def mistral(reply: ModelText) -> Iterator[FoundCall]:
    """Yield the calls of Mistral.

    Since Mistral Small 3.2 (mistral-common, tokenizers v11 and v13), the notation is
    `[TOOL_CALLS]name[ARGS]{…}`, `[TOOL_CALLS]name[CALL_ID]id[ARGS]{…}` or `[TOOL_CALLS]name{…}`. Tokenizers
    v2 to v7, and xLAM, write a list: `[TOOL_CALLS][{"name": …, "arguments": {…}, "id": …}]`. Source: vLLM's
    parser `mistral`.
    """
    yield from read_named_json(reply, _MISTRAL, _MISTRAL_END)
    yield from read_json_blocks(reply, _MISTRAL_LIST, _MISTRAL_END)


_MISTRAL = compile_regex(
    r"\[TOOL_CALLS\]\s*+(?P<name>[\w.:/\-]{1,128}+)\s*+(?:\[CALL_ID\]\s*+(?P<id>[\w\-]{1,64}+)\s*+)?"
    r"(?:\[ARGS\]|(?=\s*+\{))"
)
_MISTRAL_LIST = compile_regex(r"\[TOOL_CALLS\](?=\s*+[{\[](?!TOOL_CALLS|ARGS))")
_MISTRAL_END = compile_regex(r"</s>|\[/TOOL_CALLS\]")


def deepseek_v3(reply: ModelText) -> Iterator[FoundCall]:
    """Yield the calls of DeepSeek V3 and R1.

    The notation is `<｜tool▁call▁begin｜>function<｜tool▁sep｜>name`, followed by the arguments in a Markdown
    fence. Sources: the chat template of deepseek-ai/DeepSeek-V3-0324; vLLM's parser `deepseek_v3`.
    """
    yield from read_named_json(reply, _DEEPSEEK_V3, _DEEPSEEK_END)


def deepseek_v31(reply: ModelText) -> Iterator[FoundCall]:
    """Yield the calls of DeepSeek V3.1.

    The notation is `<｜tool▁call▁begin｜>name<｜tool▁sep｜>{…}<｜tool▁call▁end｜>`. Sources: the chat
    template of deepseek-ai/DeepSeek-V3.1; vLLM's parser `deepseek_v31`.
    """
    yield from read_named_json(reply, _DEEPSEEK_V31, _DEEPSEEK_END)


_BEGIN, _SEP = r"<[｜|]tool[▁_]call[▁_]begin[｜|]>", r"<[｜|]tool[▁_]sep[｜|]>"
_DEEPSEEK_V3 = compile_regex(
    rf"(?P<begin>{_BEGIN}\s*+)?+function\s*+{_SEP}\s*+(?P<name>[^\s`{{}}<｜|]{{1,128}}+)(?=\s*+(?:`{{3}}|\{{|<｜)|\s++\Z)"
)
_DEEPSEEK_V31 = compile_regex(
    rf"(?:(?P<begin>{_BEGIN}\s*+)|^|(?<=[｜|]>))(?!function\s*+{_SEP}\s*+[^\s{{`<])"
    rf"(?P<name>[^\s`{{}}<｜|]{{1,128}}+)\s*+{_SEP}(?!\s*+<)",
    re.MULTILINE,
)
_DEEPSEEK_END = compile_regex(r"<[｜|]tool[▁_]calls?[▁_]end[｜|]>|<[｜|]end[▁_]of[▁_]sentence[｜|]>")


def kimi_k2(reply: ModelText) -> Iterator[FoundCall]:
    """Yield the calls of Kimi K2.

    The notation is `<|tool_call_begin|>functions.name:0<|tool_call_argument_begin|>{…}<|tool_call_end|>`.
    Source: docs/tool_call_guidance.md of moonshotai/Kimi-K2-Instruct; vLLM's parser `kimi_k2`.
    """
    yield from read_named_json(reply, _KIMI, _KIMI_END)


_KIMI = compile_regex(
    r"(?:(?P<begin><\|tool_call_begin\|>\s*+)|(?<![^\s>]))"
    r"(?P<id>(?:functions\.)?(?P<name>[^\s:<>{]{1,128}+)(?::\d++)?+)\s*+<\|tool_call_argument_begin\|>"
)
_KIMI_END = compile_regex(r"<\|tool_calls?(?:_section)?_end\|>|<\|im_end\|>")


def tool_call_name(reply: ModelText) -> Iterator[FoundCall]:
    """Yield the calls written as `<tool_call>name`, followed by the arguments as a JSON object.

    Models that mix two notations write this. The opening token may be missing if the tool was offered.
    """
    begun = list(read_named_json(reply, _TOOL_CALL_NAME, _TOOL_CALL_END))
    yield from begun
    if not begun and "</tool_call>" in reply.text:
        for call in read_named_json(reply, _NAME_ALONE, _TOOL_CALL_END):
            if reply.offers(call.name) and reply.text.endswith("</tool_call>", call.start, call.end):
                yield call


_TOOL_CALL_NAME = compile_regex(r"<tool_call>\s*+(?!call:)(?P<name>[\w.:/\-]{1,128}+)\s*+(?=\{)")
_NAME_ALONE = compile_regex(r"^(?P<begin><tool_call>)?(?P<name>[\w.:/\-]{1,128}+)\s*+(?=\{)", re.MULTILINE)
_TOOL_CALL_END = compile_regex(r"</tool_call>|<\|im_end\|>")


def functionary(reply: ModelText) -> Iterator[FoundCall]:
    """Yield the calls of Functionary v3.2: a line `>>>name`, followed by the arguments.

    `>>>all` begins a message for the user, not a tool call. Source: the prompt template v3 of
    MeetKai/functionary.
    """
    return (call for call in read_named_json(reply, _FUNCTIONARY, _FUNCTIONARY_END) if call.name != "all")


_FUNCTIONARY = compile_regex(r"(?:^|(?<=\}))>>>(?P<name>[\w.\-]{1,128}+)[ \t]*+\n(?=\s*+\{)", re.MULTILINE)
_FUNCTIONARY_END = compile_regex(r"<\|eot_id\|>|^>>>all$", re.MULTILINE)
