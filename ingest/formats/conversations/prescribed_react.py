"""Reads calls and results that a prompt asks the model to write as text, in the ReAct format.

CrewAI without native calls and LangChain's ReAct agents ask for `Action: NAME` and `Action Input: {json}` in
the text. The next request repeats this text with `Observation: …` (the result) added to the model's message.
Because the prompt asks for this format, such a text is a call, not a missing call.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from ingest.decoding.fields import read_text
from ingest.events import ArgsSource, FaultLayer, FlagSource, ResultStatus
from ingest.formats.provider_messages.chat_messages import join_content
from ingest.formats.provider_messages.exchange import (
    Exchange,
    ModelCall,
    ModelReply,
    ModelRequest,
    RequestResult,
)
from ingest.formats.provider_messages.message_hashes import words_mark
from lenient.calls import extract_tool_calls
from lenient.regex import compile_regex

_ASKS = ("Action:", "Action Input:", "Observation:")
_OBSERVED = "\nObservation:"
# CrewAI's result texts for calls that it could not run (crewAIInc/crewAI, `translations/en.json`).
_FAULTS = (
    (
        FaultLayer.SYNTAX,
        compile_regex(r"(?:I encountered an error: )?Error: the Action Input is not a valid key"),
    ),
    (FaultLayer.SCHEMA, compile_regex(r"You tried to use the tool .{1,200}, but it doesn't exist")),
    (FaultLayer.EXECUTION, compile_regex(r"I encountered an error(?: while trying to use the tool)?[:.]")),
)
_FIRST = 3  # number of messages that are searched for the prompt


def follow_react(exchange: Exchange) -> None:
    """If the prompt asks for ReAct, find the tool calls in the replies and the results in the request.

    An exchange that offers native tools stays unchanged.
    """
    request = exchange.request
    if request is None or request.tools or not _asks_for_react(request):
        return
    request.result = _read_observation
    request.parts = [part for message in request.parts for part in _split_observation(message)]
    for reply in exchange.replies:
        _read_calls(reply)


def _asks_for_react(request: ModelRequest) -> bool:
    texts = (join_content(part.get("content")) for part in islice(request.parts, _FIRST))
    return any(all(word in text for word in _ASKS) for text in (request.prompt, *texts) if text)


def _split_observation(message: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Split a message that contains an observation into the model's text and a tool result."""
    words = join_content(message.get("content")) if message.get("role") == "assistant" else None
    if words is None or "Action Input:" not in words or _OBSERVED not in words:
        yield message
        return
    yield {**message, "content": words.partition(_OBSERVED)[0]}
    yield {"role": "tool", "content": words.partition(_OBSERVED)[2].strip()}


def _read_observation(message: Mapping[str, Any]) -> RequestResult:
    content = join_content(message.get("content"))
    layer = next((layer for layer, words in _FAULTS if words.match(content or "")), None)
    if layer is None:
        return RequestResult(content)
    return RequestResult(content, None, ResultStatus.ERROR, FlagSource.DERIVED_TEXT, layer)


def _read_calls(reply: ModelReply) -> None:
    reply.prescribed = True
    words = read_text(reply.text)
    if reply.calls or words is None:
        return
    for call in islice(extract_tool_calls(words, dialect="react"), 1):  # The agent runs only the first call.
        sent = {"raw_arguments": call.request.raw_arguments, "args_source": ArgsSource.RAW}
        reply.calls.append(ModelCall(call.name, None, sent))
        reply.marks = words_mark(words.partition(_OBSERVED)[0])
