"""Reads calls in OpenAI's Harmony format, which gpt-oss writes. The format's special tokens may be missing.

Sources: the OpenAI Harmony response format (cookbook); openai/harmony; SGLang's parser `gpt-oss`. The
recipient `to=functions.<name>` names the tool. The recipient is in the channel header, or in the role before
the header.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from lenient.calls.reading.extracted_call import FoundCall, missing_opening
from lenient.calls.reading.json_in_text import pass_blanks
from lenient.calls.reading.model_text import ModelText
from lenient.calls.reading.token_blocks import choose_end, find_outside_strings
from lenient.regex import compile_regex

_HEADER = compile_regex(
    r"(?:<\|start\|>\s*+(?:assistant)?(?P<role>[^<>]{0,200}+))?"
    r"<\|channel\|>\s*+(?P<channel>analysis|commentary|final)(?P<header>[^<>]{0,200}+)"
    r"(?:<\|constrain\|>[^<>]{0,40}+)?<\|message\|>"
)
_RECIPIENT = compile_regex(r"\bto=(?:functions\.)?(?P<name>[\w.\-]{1,128}+)")
_END = compile_regex(r"<\|(?:call|end|start|return|channel)\|>")
_STRIPPED = compile_regex(
    r"(?:(?:commentary|analysis)\s*+to=functions\.(?P<name>[\w.\-]{1,128}?)"
    r"|to=functions\.(?P<name_before>[\w.\-]{1,128}?)(?:<\|channel\|>)?\s*+(?:commentary|analysis))"
    r"\s*+(?:<\|constrain\|>)?\s*+(?:json|code)?\s*+(?:<\|message\|>)?\s*+(?=\{)"
)
_NOBODY = frozenset({"user", "assistant", "system", "all"})


def harmony(reply: ModelText) -> Iterator[FoundCall]:
    """Yield the calls in OpenAI's Harmony format, which gpt-oss writes.

    The notation is `<|channel|>commentary to=functions.name <|constrain|>json<|message|>{…}<|call|>`. Calls
    without these special tokens are also found, and the missing tokens are reported.
    """
    done = 0
    for header in sorted((*reply.find_tokens(_HEADER), *reply.find_tokens(_STRIPPED)), key=re.Match.start):
        if header.start() < done:
            continue
        if "name_before" in header.groupdict():  # a header without the special tokens
            call = _read_message(reply, header["name"] or header["name_before"], header)
            call = replace(call, around=(missing_opening(call.start),))
        else:
            recipient = _RECIPIENT.search(header["header"]) or _RECIPIENT.search(header["role"] or "")
            done = header.end()
            if recipient is None or recipient["name"] in _NOBODY:
                continue
            call = _read_message(reply, recipient["name"], header)
        done = call.end
        yield call


def _read_message(reply: ModelText, name: str, header: re.Match[str]) -> FoundCall:
    text, start = reply.text, pass_blanks(reply.text, header.end())
    end = reply.find_strict_end(start)
    closing = _END.search(text, end if end is not None else start)
    if end is None and closing is not None:
        outside = find_outside_strings(reply, start, _END)
        ends = {closing.start(): closing, **({outside.start(): outside} if outside is not None else {})}
        closing = ends.get(choose_end(reply, start, ends, name) or -1, closing)
    limit = closing.start() if closing is not None else len(text)
    raw = text[start:end] if end is not None else text[start:limit].rstrip()
    complete = end is not None or closing is not None
    direct = (
        closing is not None and closing.group() != "<|start|>" and not text[start + len(raw) : limit].strip()
    )
    stop = closing.end() if closing is not None and direct else start + len(raw)
    return FoundCall(name, raw, header.start(), stop, complete, start if raw else None)
