"""Joins the chunks of one streamed chat reply into the complete reply body."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ingest.decoding.fields import read_object, read_objects, read_text


class ChatStream:
    """Collects the chunks of one streamed chat reply: `chat.completion.chunk` objects with the same id."""

    def __init__(self) -> None:
        self.finished = False
        self._told: dict[str, Any] = {}
        self._choices: dict[Any, StreamedChoice] = {}

    def take(self, chunk: Mapping[str, Any]) -> None:
        for name in ("id", "created", "model", "usage"):
            if chunk.get(name) is not None:
                self._told[name] = chunk[name]
        for choice in read_objects(chunk.get("choices")):
            index = choice.get("index") if isinstance(choice.get("index"), int) else 0
            known = self._choices.setdefault(index, StreamedChoice())
            known.take(read_object(choice.get("delta")))
            if choice.get("finish_reason") is not None:
                known.finish_reason = choice["finish_reason"]
        self.finished = bool(self._choices) and all(c.finish_reason for c in self._choices.values())

    def build_body(self) -> dict[str, Any]:
        """Return the complete reply body; it has `unfinished`: true when the stream has not ended."""
        choices = [choice.build_choice(index) for index, choice in self._choices.items()]
        told = {"object": "chat.completion", **self._told, "choices": choices}
        return told if self.finished else {**told, "unfinished": True}


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
        """Return the call that a streamed piece belongs to; begin a new call when there is none."""
        index, id_ = piece.get("index"), read_text(piece.get("id")) or None
        named = read_text(read_object(piece.get("function")).get("name")) or None
        known = [call for call in self._calls if call.index == index] if isinstance(index, int) else []
        if not isinstance(index, int):
            known = [call for call in self._calls if id_ is None or call.id == id_]
        if known and not (id_ is not None and named is not None and known[-1].id not in (None, id_)):
            return known[-1]
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
        self._object: Any = None  # some servers send arguments decoded, in one piece

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
