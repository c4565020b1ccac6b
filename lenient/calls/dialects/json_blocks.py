"""Dialects that write calls as a JSON object, or as a list of objects, between two delimiter tokens.

Valid JSON ends where the JSON value ends, so a closing token inside a string does not end the call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from lenient.calls.reading.extracted_call import FoundCall
from lenient.calls.reading.json_calls import CallEvidence, call_envelope, find_calls
from lenient.calls.reading.json_in_text import JsonInText, pass_blanks, read_json_value
from lenient.calls.reading.model_text import ModelText
from lenient.calls.reading.token_blocks import TokenBlock, find_blocks, is_less_broken
from lenient.diagnostics import UnreadableError
from lenient.regex import compile_regex
from lenient.scan.source_text import SourceText
from lenient.scan.strings.string_end import Lookahead

_LEAD = compile_regex(r"(?:\s++|`{3,}\w*+|;|,(?=\s*+\{))*+")
_NAME = compile_regex(r"[\"'](?:name|tool_name|tool|function)[\"']\s*+:\s*+[\"']([^\"'\n]{1,128})[\"']")
_FIRST_KEY = compile_regex(r"\"[^\"\\\n]{1,64}\"\s*+:")
_VALUE = compile_regex(r"[{\[\"｛]")


def read_json_blocks(
    reply: ModelText, opening: re.Pattern[str], closing: re.Pattern[str]
) -> Iterator[FoundCall]:
    """Yield the calls of a dialect that writes JSON between the delimiter tokens `opening` and `closing`."""
    done = 0
    for block in find_blocks(reply, opening, closing):
        if block.start < done:
            continue  # the token is part of a string of the previous call
        for call in _read_block(reply, block):
            yield call
            done = call.end


def _read_block(reply: ModelText, block: TokenBlock) -> Iterator[FoundCall]:
    position = block.body
    while True:
        lead = _LEAD.match(reply.text, position)
        position = lead.end() if lead else position
        if position >= block.end or _VALUE.match(reply.text, position) is None:
            return
        read = _read_block_value(reply, block, position)
        if read is None:
            return
        yield from find_calls(reply, read, CallEvidence.TOKENS)
        position = max(position + 1, read.base + read.end)
        if position > block.end:
            block = block.move_beyond(reply, position)


def _read_block_value(reply: ModelText, block: TokenBlock, start: int) -> JsonInText | None:
    """Return the JSON value at the offset `start` of a block, or None when no value can be read.

    Valid JSON may extend beyond the block. Broken JSON is repaired and ends at the closing token with which
    it is least broken.
    """
    end = reply.find_strict_end(start)
    if end is not None:
        return _read_slice(reply, start, end)
    best = None
    for end in block.find_ends(reply, start):
        if not reply.spend_budget(end - start):
            break
        read = _read_slice(reply, start, end)
        if read is not None and (best is None or is_less_broken(read.damage, best.damage, reply, end)):
            best = read
        if best is not None and best.damage == 0:
            return best
    if best is not None and block.end < len(reply.text):
        return replace(best, complete=True)  # text follows, so the value may be broken but is not cut off
    return best


def _read_slice(reply: ModelText, start: int, end: int) -> JsonInText | None:
    text = reply.text[start:end].rstrip()
    text = text.removesuffix("```").rstrip()
    name = _NAME.search(text, 0, 400)
    node = call_envelope(reply, name.group(1) if name else None)
    opened = _FIRST_KEY.match(text) is not None
    read = read_json_value(SourceText(text), 0, Lookahead(text), start, node, opened=opened)
    return None if isinstance(read, UnreadableError) else read


def hermes(reply: ModelText) -> Iterator[FoundCall]:
    """Yield the calls written as `<tool_call>{"name": …, "arguments": {…}}</tool_call>`.

    Models: Hermes 2 Pro, Qwen 2.5 and 3, ERNIE 4.5 and Granite 3.1. Source: the chat templates of
    NousResearch/Hermes-2-Pro and Qwen/Qwen2.5-Instruct; vLLM's parser `hermes`.
    """
    yield from read_json_blocks(reply, _HERMES, _HERMES_END)


_HERMES = compile_regex(r"<tool_call>(?=\s*+(?:`{3}\w*+\s*+)?[{\[\"｛])")
_HERMES_END = compile_regex(r"</tool_call>|<\|im_end\|>")


def granite(reply: ModelText) -> Iterator[FoundCall]:
    """Yield the calls written as `<|tool_call|>[{…}]` or `<function_call>{…}`.

    Models: Granite 3.0, Granite 20B and Phi-4 mini. Phi-4 mini closes with `<|/tool_call|>`. Sources: vLLM's
    parsers `granite` and `granite-20b-fc`; the model card of microsoft/Phi-4-mini-instruct.
    """
    yield from read_json_blocks(reply, _GRANITE, _GRANITE_END)


_GRANITE = compile_regex(r"<\|tool_call\|>|<function_call>(?=\s*+[\[{])")
_GRANITE_END = compile_regex(r"<\|/tool_call\|>|</function_call>|<\|end_of_text\|>|<\|end\|>")


def tool_calls_tag(reply: ModelText) -> Iterator[FoundCall]:
    """Yield the calls written as `<tool_calls>[{…}]</tool_calls>`.

    Models: Jamba, Hunyuan A13B and MiniMax M1. MiniMax M1 writes one object per line instead of a list.
    Sources: vLLM's parsers `jamba`, `hunyuan_a13b` and `minimax`.
    """
    yield from read_json_blocks(reply, _TOOL_CALLS, _TOOL_CALLS_END)


_TOOL_CALLS = compile_regex(r"<tool_calls>(?=\s*+(?:`{3}\w*+\s*+)?[{\[])")
_TOOL_CALLS_END = compile_regex(r"</tool_calls>")


def nemotron(reply: ModelText) -> Iterator[FoundCall]:
    """Yield the calls of Nemotron Nano v2: `<TOOLCALL>[{"name": …, "arguments": {…}}]</TOOLCALL>`.

    Source: vLLM's parser `nemotron_json`.
    """
    yield from read_json_blocks(reply, _NEMOTRON, _NEMOTRON_END)


_NEMOTRON = compile_regex(r"<TOOLCALL>")
_NEMOTRON_END = compile_regex(r"</TOOLCALL>")


def command(reply: ModelText) -> Iterator[FoundCall]:
    """Yield the calls of Cohere's models Command R7B and Command A.

    The notation is `<|START_ACTION|>[{"tool_call_id": …, "tool_name": …, "parameters": {…}}]<|END_ACTION|>`.
    Sources: the chat template of CohereForAI/c4ai-command-r7b; vLLM's parser `cohere_command`.
    """
    yield from read_json_blocks(reply, _COMMAND, _COMMAND_END)


_COMMAND = compile_regex(r"<\|START_ACTION\|>")
_COMMAND_END = compile_regex(r"<\|END_ACTION\|>")


def internlm(reply: ModelText) -> Iterator[FoundCall]:
    """Yield the calls of InternLM 2.5.

    The notation is `<|action_start|><|plugin|>{"name": …, "parameters": {…}}<|action_end|>`. Source: vLLM's
    parser `internlm`.
    """
    yield from read_json_blocks(reply, _INTERNLM, _INTERNLM_END)


_INTERNLM = compile_regex(r"<\|action_start\|>\s*+<\|plugin\|>")
_INTERNLM_END = compile_regex(r"<\|action_end\|>")


def phi4_mini(reply: ModelText) -> Iterator[FoundCall]:
    """Yield the calls of Phi-4 mini: `functools[{"name": …, "arguments": {…}}]`.

    Source: vLLM's parser `phi4_mini_json`.
    """
    yield from read_json_blocks(reply, _FUNCTOOLS, _FUNCTOOLS_END)


_FUNCTOOLS = compile_regex(r"(?<![\w.])functools(?=\[\s*+\{)")
_FUNCTOOLS_END = compile_regex(r"<\|(?:end|im_end)\|>")


def apertus(reply: ModelText) -> Iterator[FoundCall]:
    """Yield the calls of Apertus: `<|tools_prefix|>[{"<name>": {…}}]<|tools_suffix|>`.

    Source: vLLM's parser `apertus`.
    """
    for block in find_blocks(reply, _APERTUS, _APERTUS_END):
        read = _read_block_value(reply, block, pass_blanks(reply.text, block.body))
        entries = read.value if read is not None and isinstance(read.value, list) else []
        places = read.mark.children if read is not None else None
        for entry, place in zip(entries, places if isinstance(places, list) else [], strict=False):
            if read is None or not isinstance(entry, dict) or not isinstance(place.children, dict):
                continue
            for name, inner in place.children.items():
                raw = read.piece[inner.start : inner.end]
                start, end = read.base + place.start, read.base + place.end
                yield FoundCall(name, raw, start, end, read.complete, read.base + inner.start)


_APERTUS = compile_regex(r"<\|tools_prefix\|>")
_APERTUS_END = compile_regex(r"<\|tools_suffix\|>")


def longcat(reply: ModelText) -> Iterator[FoundCall]:
    """Yield the calls of LongCat Flash.

    The notation is `<longcat_tool_call>{"name": …, "arguments": {…}}</longcat_tool_call>`. Source: vLLM's
    parser `longcat`.
    """
    yield from read_json_blocks(reply, _LONGCAT, _LONGCAT_END)


_LONGCAT = compile_regex(r"<longcat_tool_call>(?=\s*+[{\[])")
_LONGCAT_END = compile_regex(r"</longcat_tool_call>")


def gigachat(reply: ModelText) -> Iterator[FoundCall]:
    """Yield the calls of GigaChat 3: `function call{"name": …, "arguments": {…}}`.

    Source: vLLM's parser `gigachat3`.
    """
    yield from read_json_blocks(reply, _GIGACHAT, _GIGACHAT_END)


_GIGACHAT = compile_regex(r"(?:<\|message_sep\|>\s*+)?function call(?:<\|role_sep\|>)?\s*+(?=\{\s*+\"name\")")
_GIGACHAT_END = compile_regex(r"<\|message_sep\|>|</s>")


def llama3_json(reply: ModelText) -> Iterator[FoundCall]:
    """Yield the calls of Llama 3.1 and 3.2: `<|python_tag|>{"name": …, "parameters": {…}}; {…}`.

    `lenient.calls.dialects.plain_json.bare_json` reads the calls that Llama writes without the tag. Sources:
    Meta's prompt format for Llama 3.1; vLLM's parser `llama3_json`.
    """
    yield from read_json_blocks(reply, _PYTHON_TAG, _PYTHON_TAG_END)


_PYTHON_TAG = compile_regex(r"<\|python_tag\|>(?=\s*+[{\[])")
_PYTHON_TAG_END = compile_regex(r"<\|(?:eom_id|eot_id|python_end)\|>")
