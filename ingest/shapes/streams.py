"""Chunks of streamed replies in, the bodies that the API would have sent whole out; arguments exactly as
streamed.

- OpenAI's chat chunks: deltas joined by choice and by call index
  (https://platform.openai.com/docs/api-reference/ chat-streaming). Some servers leave the index out, or
  give every call the same: a new id with a name is a new call. Several streams may come mixed, told apart
  by their id.
- Anthropic's events: `input_json_delta.partial_json` joined by block index; kept as `partial_json` of its
  block.
- Responses' events: `response.function_call_arguments.delta` joined by output index; the closing event
  repeats the whole response, but some servers leave its output empty.
- Gemini's chunks: pieces of candidates, one after another.

A body whose stream never ended has `unfinished`: true.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ingest.fields import table, tables, text
from ingest.shapes.chat_stream import ChatStream

_OPEN = 1_000  # chat streams that may be open at once
_ENDED = ("response.completed", "response.incomplete", "response.failed")


def is_chunk(value: Mapping[str, Any]) -> bool:
    """True for a chunk or an event of one of these streams."""
    if value.get("object") == "chat.completion.chunk":
        return True
    kind = value.get("type")
    if not isinstance(kind, str):
        return "candidates" in value and ("usageMetadata" in value or "usage_metadata" in value)
    if kind == "message_start":
        return isinstance(value.get("message"), dict)
    if kind in ("content_block_start", "content_block_delta"):
        return "index" in value
    return kind.startswith("response.") and bool({"response", "item", "delta", "part"} & value.keys())


class StreamJoiner:
    """Chunks one by one in, whole bodies out as soon as they are known to be whole."""

    def __init__(self) -> None:
        self._chats: dict[str, ChatStream] = {}
        self._message: dict[str, Any] | None = None
        self._blocks: dict[Any, dict[str, Any]] = {}
        self._response: dict[str, Any] | None = None
        self._output: dict[Any, dict[str, Any]] = {}
        self._candidates: dict[str, Any] | None = None

    def take(self, chunk: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """The bodies that are whole with this chunk. What is no chunk is passed over."""
        kind = chunk.get("type")
        if isinstance(chunk.get("choices"), list):
            yield from self._chat(chunk)
        elif isinstance(kind, str) and kind.startswith("response."):
            yield from self._responses(kind, chunk)
        elif isinstance(kind, str):
            yield from self._anthropic(kind, chunk)
        elif "candidates" in chunk:
            yield from self._gemini(chunk)

    def finish(self) -> Iterator[dict[str, Any]]:
        """What the log ends in the middle of."""
        for chat in self._chats.values():
            yield chat.body()
        self._chats = {}
        yield from self._close_message(whole=False)
        yield from self._close_response({}, whole=False)
        if self._candidates is not None:
            yield self._candidates
        self._candidates = None

    # --- chat --------------------------------------------------------------------------------

    def _chat(self, chunk: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        key = text(chunk.get("id")) or ""
        if key not in self._chats:
            yield from self._ended_chats()
            self._chats[key] = ChatStream()
        self._chats[key].take(chunk)

    def _ended_chats(self) -> Iterator[dict[str, Any]]:
        """Those with a finish reason, once another stream begins; counts of tokens may follow until then."""
        full = len(self._chats) >= _OPEN
        for key in [key for key, chat in self._chats.items() if chat.finished]:
            yield self._chats.pop(key).body()
        if full and len(self._chats) >= _OPEN:
            yield self._chats.pop(next(iter(self._chats))).body()

    # --- Anthropic ---------------------------------------------------------------------------

    def _anthropic(self, kind: str, event: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        if kind == "message_start":
            yield from self._close_message(whole=False)
            self._message = dict(table(event.get("message")))
            for block in tables(self._message.get("content")):
                self._blocks[len(self._blocks)] = dict(block)
        elif kind == "content_block_start":
            self._blocks[_key(event.get("index"))] = dict(table(event.get("content_block")))
        elif kind == "content_block_delta":
            self._delta(self._blocks.get(_key(event.get("index"))), table(event.get("delta")))
        elif kind == "message_delta" and self._message is not None:
            self._message |= table(event.get("delta"))
            told = {name: count for name, count in table(event.get("usage")).items() if count is not None}
            self._message["usage"] = table(self._message.get("usage")) | told
        elif kind == "message_stop":
            yield from self._close_message(whole=True)
        elif kind == "error":
            yield {"type": "error", "error": event.get("error")}

    def _delta(self, block: dict[str, Any] | None, delta: Mapping[str, Any]) -> None:
        for kind, name, into in (
            ("input_json_delta", "partial_json", "partial_json"),
            ("text_delta", "text", "text"),
        ):
            if block is not None and delta.get("type") == kind:
                _append(block, into, delta.get(name))

    def _close_message(self, *, whole: bool) -> Iterator[dict[str, Any]]:
        message, blocks = self._message, self._blocks
        self._message, self._blocks = None, {}
        if message is None and not blocks:
            return
        content = [_sealed(block, "text", "partial_json") for block in blocks.values()]
        yield {
            "type": "message",
            "role": "assistant",
            **(message or {}),
            "content": content,
            **({} if whole else {"unfinished": True}),
        }

    # --- Responses ---------------------------------------------------------------------------

    def _responses(self, kind: str, event: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        index = _key(event.get("output_index"))
        if kind == "response.created":
            yield from self._close_response({}, whole=False)
            self._response = dict(table(event.get("response")))
        elif kind in ("response.output_item.added", "response.output_item.done"):
            self._item(index, table(event.get("item")))
        elif kind in ("response.function_call_arguments.delta", "response.custom_tool_call_input.delta"):
            _append(self._output.setdefault(index, {}), "streamed", event.get("delta"))
        elif kind == "response.function_call_arguments.done":
            self._output.setdefault(index, {})["arguments"] = event.get("arguments")
        elif kind == "response.output_text.delta":
            _append(self._output.setdefault(index, {}), "words", event.get("delta"))
        elif kind in _ENDED:
            yield from self._close_response(table(event.get("response")), whole=True)

    def _item(self, index: Any, item: Mapping[str, Any]) -> None:
        known = self._output.get(index, {})
        kept: dict[str, Any] = {name: known[name] for name in ("streamed", "words") if name in known}
        self._output[index] = {**known, **item, **kept}

    def _close_response(self, closing: Mapping[str, Any], *, whole: bool) -> Iterator[dict[str, Any]]:
        response, output = self._response, self._output
        self._response, self._output = None, {}
        if response is None and not output and not closing:
            return
        body = {"object": "response", **(response or {}), **closing}
        streamed = [_item_of(item) for item in output.values()]
        body["output"] = streamed or body.get("output")
        yield body if whole else {**body, "unfinished": True}

    # --- Gemini ------------------------------------------------------------------------------

    def _gemini(self, chunk: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        if self._candidates is not None and self._candidates.get("responseId") != chunk.get("responseId"):
            yield self._candidates
            self._candidates = None
        whole = self._candidates or {}
        pieces: dict[int, dict[str, Any]] = dict(enumerate(tables(whole.get("candidates"))))
        for number, piece in enumerate(tables(chunk.get("candidates"))):
            known = pieces.get(number, {})
            parts = [*tables(table(known.get("content")).get("parts"))]
            for part in tables(table(piece.get("content")).get("parts")):
                _add_part(parts, part)
            pieces[number] = {**known, **piece, "content": {"role": "model", "parts": parts}}
        self._candidates = {**whole, **chunk, "candidates": list(pieces.values())}


def join(chunks: list[Any]) -> list[dict[str, Any]]:
    """All bodies in a list of chunks."""
    joiner = StreamJoiner()
    found = [body for chunk in chunks if isinstance(chunk, dict) for body in joiner.take(chunk)]
    return [*found, *joiner.finish()]


def _key(index: Any) -> Any:
    return index if isinstance(index, int | str) else None


def _append(into: dict[str, Any], name: str, piece: Any) -> None:
    """Collect a piece; a list, for adding to a text again and again would copy it as often."""
    if isinstance(piece, str):
        held = into.get(name)
        if isinstance(held, list):
            held.append(piece)
        else:
            into[name] = [held, piece] if isinstance(held, str) else [piece]


def _sealed(block: dict[str, Any], *names: str) -> dict[str, Any]:
    for name in names:
        if isinstance(block.get(name), list):
            block[name] = "".join(piece for piece in block[name] if isinstance(piece, str))
    return block


def _item_of(item: dict[str, Any]) -> dict[str, Any]:
    """An output item with what was streamed of it."""
    _sealed(item, "streamed", "words")
    streamed, words = item.pop("streamed", None), item.pop("words", None)
    if streamed:
        item["input" if item.get("type") == "custom_tool_call" else "arguments"] = streamed
    if words and not item.get("content"):
        item |= {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": words}]}
    return item


def _add_part(parts: list[dict[str, Any]], part: dict[str, Any]) -> None:
    last = parts[-1] if parts else {}
    if (
        isinstance(part.get("text"), str)
        and isinstance(last.get("text"), str)
        and (part.get("thought") == last.get("thought"))
    ):
        parts[-1] = {**last, "text": last["text"] + part["text"]}
    else:
        parts.append(part)
