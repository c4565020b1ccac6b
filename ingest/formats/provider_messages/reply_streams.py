"""Joins the chunks of streamed replies into the bodies that the API sends when it does not stream.

The text of arguments stays as streamed. A body whose stream never ended has `unfinished`: true.
- OpenAI's chat chunks (https://platform.openai.com/docs/api-reference/chat-streaming): pieces are joined by
  choice and by call index. Some servers leave the index out or give all calls the same index, so a new id
  with a name begins a new call. Chunks of several streams may be interleaved; their ids distinguish them.
- Anthropic's events: `input_json_delta.partial_json` is joined by block index and stored as the block's
  `partial_json`.
- Responses' events: `response.function_call_arguments.delta` is joined by output index. The last event
  repeats the whole response, but some servers leave its output empty.
- Gemini's chunks: pieces of candidates, in sequence.
- Converse's events (Bedrock), which have one key each: `contentBlockDelta.delta.toolUse.input` is joined by
  block index (https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ingest.decoding.fields import read_object, read_objects, read_text

_OPEN = 1_000  # maximum number of open chat streams
_ENDED = ("response.completed", "response.incomplete", "response.failed")
_EVENTS = (
    "messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata",
)  # fmt: skip


def is_chunk(value: Mapping[str, Any]) -> bool:
    """Return True when an object is a chunk or an event of a known API's streamed reply."""
    if value.get("object") == "chat.completion.chunk":
        return True
    kind = value.get("type")
    if not isinstance(kind, str):
        if (event := converse_event(value)) is not None:
            return event != "metadata"
        return "candidates" in value and ("usageMetadata" in value or "usage_metadata" in value)
    if kind == "message_start":
        return isinstance(value.get("message"), dict)
    if kind in ("content_block_start", "content_block_delta"):
        return "index" in value
    return kind.startswith("response.") and bool({"response", "item", "delta", "part"} & value.keys())


class StreamJoiner:
    """Joins single chunks into reply bodies, and yields each body as soon as it is complete."""

    def __init__(self) -> None:
        self._chats: dict[str, ChatStream] = {}
        self._message: dict[str, Any] | None = None
        self._blocks: dict[Any, dict[str, Any]] = {}
        self._response: dict[str, Any] | None = None
        self._output: dict[Any, dict[str, Any]] = {}
        self._candidates: dict[str, Any] | None = None
        self._converse = ConverseStream()

    def take(self, chunk: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the bodies that are complete after this chunk. An object that is not a chunk is ignored."""
        kind = chunk.get("type")
        if isinstance(chunk.get("choices"), list):
            yield from self.take_chat(chunk)
        elif isinstance(kind, str) and kind.startswith("response."):
            yield from self.take_responses(kind, chunk)
        elif isinstance(kind, str):
            yield from self.take_anthropic(kind, chunk)
        elif "candidates" in chunk:
            yield from self.take_gemini(chunk)
        elif (event := converse_event(chunk)) is not None:
            yield from self._converse.take(event, chunk[event])

    def finish(self) -> Iterator[dict[str, Any]]:
        """Yield the bodies that are still open at the end of the log, even if they are incomplete."""
        for chat in self._chats.values():
            yield chat.build_body()
        self._chats = {}
        yield from self._close_message(whole=False)
        yield from self._close_response({}, whole=False)
        if self._candidates is not None:
            yield self._candidates
        self._candidates = None
        yield from self._converse.close()

    # --- chat --------------------------------------------------------------------------------

    def take_chat(self, chunk: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        key = read_text(chunk.get("id")) or ""
        if key not in self._chats:
            yield from self.close_ended_chats()
            self._chats[key] = ChatStream()
        self._chats[key].take(chunk)

    def close_ended_chats(self) -> Iterator[dict[str, Any]]:
        """Yield the bodies of chat streams that have a finish reason.

        Call this method when another stream begins: until then, token counts may follow. When too many
        streams are open, the body of the oldest stream is also yielded.
        """
        full = len(self._chats) >= _OPEN
        for key in [key for key, chat in self._chats.items() if chat.finished]:
            yield self._chats.pop(key).build_body()
        if full and len(self._chats) >= _OPEN:
            yield self._chats.pop(next(iter(self._chats))).build_body()

    # --- Anthropic ---------------------------------------------------------------------------

    def take_anthropic(self, kind: str, event: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        if kind == "message_start":
            yield from self._close_message(whole=False)
            self._message = dict(read_object(event.get("message")))
            for block in read_objects(self._message.get("content")):
                self._blocks[len(self._blocks)] = dict(block)
        elif kind == "content_block_start":
            self._blocks[index_key(event.get("index"))] = dict(read_object(event.get("content_block")))
        elif kind == "content_block_delta":
            self.add_delta(self._blocks.get(index_key(event.get("index"))), read_object(event.get("delta")))
        elif kind == "message_delta" and self._message is not None:
            self._message |= read_object(event.get("delta"))
            counts = {
                name: count for name, count in read_object(event.get("usage")).items() if count is not None
            }
            self._message["usage"] = read_object(self._message.get("usage")) | counts
        elif kind == "message_stop":
            yield from self._close_message(whole=True)
        elif kind == "error":
            yield {"type": "error", "error": event.get("error")}

    def add_delta(self, block: dict[str, Any] | None, delta: Mapping[str, Any]) -> None:
        for kind, name, into in (
            ("input_json_delta", "partial_json", "partial_json"),
            ("text_delta", "text", "text"),
        ):
            if block is not None and delta.get("type") == kind:
                append_piece(block, into, delta.get(name))

    def _close_message(self, *, whole: bool) -> Iterator[dict[str, Any]]:
        message, blocks = self._message, self._blocks
        self._message, self._blocks = None, {}
        if message is None and not blocks:
            return
        content = [seal_block(block, "text", "partial_json") for block in blocks.values()]
        yield {
            "type": "message",
            "role": "assistant",
            **(message or {}),
            "content": content,
            **({} if whole else {"unfinished": True}),
        }

    # --- Responses ---------------------------------------------------------------------------

    def take_responses(self, kind: str, event: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        index = index_key(event.get("output_index"))
        if kind == "response.created":
            yield from self._close_response({}, whole=False)
            self._response = dict(read_object(event.get("response")))
        elif kind in ("response.output_item.added", "response.output_item.done"):
            self.add_item(index, read_object(event.get("item")))
        elif kind in ("response.function_call_arguments.delta", "response.custom_tool_call_input.delta"):
            append_piece(self._output.setdefault(index, {}), "streamed", event.get("delta"))
        elif kind == "response.function_call_arguments.done":
            self._output.setdefault(index, {})["arguments"] = event.get("arguments")
        elif kind == "response.output_text.delta":
            append_piece(self._output.setdefault(index, {}), "words", event.get("delta"))
        elif kind in _ENDED:
            yield from self._close_response(read_object(event.get("response")), whole=True)

    def add_item(self, index: Any, item: Mapping[str, Any]) -> None:
        earlier = self._output.get(index, {})
        streamed_parts: dict[str, Any] = {
            name: earlier[name] for name in ("streamed", "words") if name in earlier
        }
        self._output[index] = {**earlier, **item, **streamed_parts}

    def _close_response(self, closing: Mapping[str, Any], *, whole: bool) -> Iterator[dict[str, Any]]:
        response, output = self._response, self._output
        self._response, self._output = None, {}
        if response is None and not output and not closing:
            return
        body = {"object": "response", **(response or {}), **closing}
        streamed = [merge_item(item) for item in output.values()]
        body["output"] = streamed or body.get("output")
        yield body if whole else {**body, "unfinished": True}

    # --- Gemini ------------------------------------------------------------------------------

    def take_gemini(self, chunk: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        if self._candidates is not None and self._candidates.get("responseId") != chunk.get("responseId"):
            yield self._candidates
            self._candidates = None
        whole = self._candidates or {}
        pieces: dict[int, dict[str, Any]] = dict(enumerate(read_objects(whole.get("candidates"))))
        for number, piece in enumerate(read_objects(chunk.get("candidates"))):
            earlier = pieces.get(number, {})
            parts = [*read_objects(read_object(earlier.get("content")).get("parts"))]
            for part in read_objects(read_object(piece.get("content")).get("parts")):
                _add_part(parts, part)
            pieces[number] = {**earlier, **piece, "content": {"role": "model", "parts": parts}}
        self._candidates = {**whole, **chunk, "candidates": list(pieces.values())}


def join_chunks(chunks: list[Any]) -> list[dict[str, Any]]:
    """Join a list of chunks into reply bodies."""
    joiner = StreamJoiner()
    bodies = [body for chunk in chunks if isinstance(chunk, dict) for body in joiner.take(chunk)]
    return [*bodies, *joiner.finish()]


def index_key(index: Any) -> Any:
    return index if isinstance(index, int | str) else None


def append_piece(into: dict[str, Any], name: str, piece: Any) -> None:
    """Append a piece of text to the list `into[name]`. A piece that is not a string is ignored."""
    if isinstance(piece, str):
        current = into.get(name)
        if isinstance(current, list):
            current.append(piece)
        else:
            into[name] = [current, piece] if isinstance(current, str) else [piece]


def seal_block(block: dict[str, Any], *names: str) -> dict[str, Any]:
    for name in names:
        if isinstance(block.get(name), list):
            block[name] = "".join(piece for piece in block[name] if isinstance(piece, str))
    return block


def merge_item(item: dict[str, Any]) -> dict[str, Any]:
    """Return an output item of the Responses API with its streamed arguments or text."""
    seal_block(item, "streamed", "words")
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


class ChatStream:
    """Collects the chunks of one streamed chat reply: `chat.completion.chunk` objects with the same id."""

    def __init__(self) -> None:
        self.finished = False
        self._metadata: dict[str, Any] = {}
        self._choices: dict[Any, StreamedChoice] = {}

    def take(self, chunk: Mapping[str, Any]) -> None:
        for name in ("id", "created", "model", "usage"):
            if chunk.get(name) is not None:
                self._metadata[name] = chunk[name]
        for choice in read_objects(chunk.get("choices")):
            index = choice.get("index") if isinstance(choice.get("index"), int) else 0
            streamed_choice = self._choices.setdefault(index, StreamedChoice())
            streamed_choice.take(read_object(choice.get("delta")))
            if choice.get("finish_reason") is not None:
                streamed_choice.finish_reason = choice["finish_reason"]
        self.finished = bool(self._choices) and all(c.finish_reason for c in self._choices.values())

    def build_body(self) -> dict[str, Any]:
        """Return the reply body. If the stream has not ended, the body contains `unfinished`: true."""
        choices = [choice.build_choice(index) for index, choice in self._choices.items()]
        body = {"object": "chat.completion", **self._metadata, "choices": choices}
        return body if self.finished else {**body, "unfinished": True}


class StreamedChoice:
    def __init__(self) -> None:
        self.finish_reason: Any = None
        self._words: list[str] = []
        self._refusal: list[str] = []
        self._calls: list[StreamedChatCall] = []

    def take(self, delta: Mapping[str, Any]) -> None:
        for name, into in (("content", self._words), ("refusal", self._refusal)):
            if isinstance(delta.get(name), str):
                into.append(delta[name])
        for piece in read_objects(delta.get("tool_calls")):
            self.find_call(piece).take(piece)
        if isinstance(delta.get("function_call"), dict):
            self.find_call({"index": 0}).take({"function": delta["function_call"]})

    def find_call(self, piece: Mapping[str, Any]) -> StreamedChatCall:
        """Return the tool call that contains a streamed piece. Begin a new call if necessary."""
        index, id_ = piece.get("index"), read_text(piece.get("id")) or None
        named = read_text(read_object(piece.get("function")).get("name")) or None
        candidates = [call for call in self._calls if call.index == index] if isinstance(index, int) else []
        if not isinstance(index, int):
            candidates = [call for call in self._calls if id_ is None or call.id == id_]
        if candidates and not (
            id_ is not None and named is not None and candidates[-1].id not in (None, id_)
        ):
            return candidates[-1]
        self._calls.append(StreamedChatCall(index))
        return self._calls[-1]

    def build_choice(self, index: Any) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": "".join(self._words) or None}
        if self._calls:
            message["tool_calls"] = [call.build_call() for call in self._calls]
        if any(self._refusal):
            message["refusal"] = "".join(self._refusal)
        return {"index": index, "message": message, "finish_reason": self.finish_reason}


class StreamedChatCall:
    def __init__(self, index: Any) -> None:
        self.index = index
        self.id: str | None = None
        self._names: list[str] = []
        self._arguments: list[str] = []
        self._object: Any = None  # decoded arguments, which some servers send in one piece

    def take(self, piece: Mapping[str, Any]) -> None:
        function = read_object(piece.get("function"))
        self.id = self.id or read_text(piece.get("id")) or None
        name, arguments = function.get("name"), function.get("arguments")
        if isinstance(name, str) and name and self._names[-1:] != [name]:
            self._names.append(name)
        if isinstance(arguments, str):
            self._arguments.append(arguments)
        elif arguments is not None:
            self._object = arguments

    def build_call(self) -> dict[str, Any]:
        arguments = "".join(self._arguments) if self._object is None else self._object
        function = {"name": "".join(self._names) or None, "arguments": arguments}
        return {"id": self.id, "type": "function", "function": function}


def converse_event(value: Mapping[str, Any]) -> str | None:
    """Return the name of an event of the ConverseStream API. Return None for any other object."""
    name = next(iter(value), None) if len(value) == 1 else None
    return name if name in _EVENTS and isinstance(value[name], dict) else None


class _Block:
    """A content block: its first event, and the pieces of its text and of its arguments."""

    def __init__(self, start: Mapping[str, Any]) -> None:
        self.start = start
        self.text: list[str] = []
        self.arguments: list[str] = []

    def build(self) -> dict[str, Any]:
        block: dict[str, Any] = dict(self.start)
        if self.text:
            block["text"] = "".join(self.text)
        if call := read_object(block.get("toolUse")):
            block["toolUse"] = {**call, "partial_json": "".join(self.arguments) or None}
        return block


class ConverseStream:
    """Joins the events of a ConverseStream into the bodies of its replies."""

    def __init__(self) -> None:
        self._blocks: dict[Any, _Block] | None = None
        self._stop: str | None = None
        self._ended = False

    def take(self, event: str, payload: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the body of the reply that this event completes."""
        if event == "messageStart":
            yield from self.close()
        blocks = self._blocks = {} if self._blocks is None else self._blocks
        number = payload.get("contentBlockIndex")
        index = number if isinstance(number, int) else None
        if event == "contentBlockStart":
            blocks[index] = _Block(read_object(payload.get("start")))
        elif event == "contentBlockDelta":
            block, delta = blocks.setdefault(index, _Block({})), read_object(payload.get("delta"))
            block.text += filter(None, [read_text(delta.get("text"))])
            block.arguments += filter(None, [read_text(read_object(delta.get("toolUse")).get("input"))])
        elif event == "messageStop":
            self._stop, self._ended = read_text(payload.get("stopReason")), True
        elif event == "metadata":
            yield from self.close(usage=payload.get("usage"), metrics=payload.get("metrics"))

    def close(self, **facts: Any) -> Iterator[dict[str, Any]]:
        """Yield the body of the open reply, even if it is incomplete.

        `facts` are further fields of the body.
        """
        blocks, stop, ended = self._blocks, self._stop, self._ended
        self._blocks, self._stop, self._ended = None, None, False
        if blocks is not None:
            message = {"role": "assistant", "content": [block.build() for block in blocks.values()]}
            body = {"output": {"message": message}, "stopReason": stop, **facts}
            yield body if ended else {**body, "unfinished": True}
