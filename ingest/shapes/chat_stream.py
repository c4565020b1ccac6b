"""The chunks of one streamed chat reply in, its whole body out: texts and arguments joined as they came."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ingest.fields import table, tables, text


class ChatStream:
    """One stream of `chat.completion.chunk` objects, told by their id."""

    def __init__(self) -> None:
        self.finished = False
        self._told: dict[str, Any] = {}
        self._choices: dict[Any, _Choice] = {}

    def take(self, chunk: Mapping[str, Any]) -> None:
        for name in ("id", "created", "model", "usage"):
            if chunk.get(name) is not None:
                self._told[name] = chunk[name]
        for choice in tables(chunk.get("choices")):
            index = choice.get("index") if isinstance(choice.get("index"), int) else 0
            known = self._choices.setdefault(index, _Choice())
            known.take(table(choice.get("delta")))
            if choice.get("finish_reason") is not None:
                known.finish_reason = choice["finish_reason"]
        self.finished = bool(self._choices) and all(c.finish_reason for c in self._choices.values())

    def body(self) -> dict[str, Any]:
        """The reply as it would have come whole."""
        choices = [choice.whole(index) for index, choice in self._choices.items()]
        told = {"object": "chat.completion", **self._told, "choices": choices}
        return told if self.finished else {**told, "unfinished": True}


class _Choice:
    def __init__(self) -> None:
        self.finish_reason: Any = None
        self._words: list[str] = []
        self._refusal: list[str] = []
        self._calls: list[_Call] = []

    def take(self, delta: Mapping[str, Any]) -> None:
        for name, into in (("content", self._words), ("refusal", self._refusal)):
            if isinstance(delta.get(name), str):
                into.append(delta[name])
        for piece in tables(delta.get("tool_calls")):
            self._call_of(piece).take(piece)
        if isinstance(delta.get("function_call"), dict):
            self._call_of({"index": 0}).take({"function": delta["function_call"]})

    def _call_of(self, piece: Mapping[str, Any]) -> _Call:
        """The call that a piece belongs to, begun when there is none."""
        index, id_ = piece.get("index"), text(piece.get("id")) or None
        named = text(table(piece.get("function")).get("name")) or None
        known = [call for call in self._calls if call.index == index] if isinstance(index, int) else []
        if not isinstance(index, int):
            known = [call for call in self._calls if id_ is None or call.id == id_]
        if known and not (id_ is not None and named is not None and known[-1].id not in (None, id_)):
            return known[-1]
        self._calls.append(_Call(index))
        return self._calls[-1]

    def whole(self, index: Any) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": "".join(self._words) or None}
        if self._calls:
            message["tool_calls"] = [call.whole() for call in self._calls]
        if any(self._refusal):
            message["refusal"] = "".join(self._refusal)
        return {"index": index, "message": message, "finish_reason": self.finish_reason}


class _Call:
    def __init__(self, index: Any) -> None:
        self.index = index
        self.id: str | None = None
        self._names: list[str] = []
        self._arguments: list[str] = []
        self._object: Any = None  # some servers send arguments decoded, in one piece

    def take(self, piece: Mapping[str, Any]) -> None:
        function = table(piece.get("function"))
        self.id = self.id or text(piece.get("id")) or None
        name, arguments = function.get("name"), function.get("arguments")
        if isinstance(name, str) and name and self._names[-1:] != [name]:
            self._names.append(name)
        if isinstance(arguments, str):
            self._arguments.append(arguments)
        elif arguments is not None:
            self._object = arguments

    def whole(self) -> dict[str, Any]:
        arguments = "".join(self._arguments) if self._object is None else self._object
        function = {"name": "".join(self._names) or None, "arguments": arguments}
        return {"id": self.id, "type": "function", "function": function}
