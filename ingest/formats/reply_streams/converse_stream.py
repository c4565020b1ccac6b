"""Joins the events of a streamed reply of Bedrock's Converse API.

The format (https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html): each
event is an object with one key: `messageStart`, `contentBlockStart`, `contentBlockDelta`, `contentBlockStop`,
`messageStop`, and after it `metadata` with the token counts. The text of a call's arguments comes in pieces.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ingest.decoding.fields import read_object, read_text

_EVENTS = (
    "messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata",
)  # fmt: skip


def converse_event(value: Mapping[str, Any]) -> str | None:
    """Return the name of an event of ConverseStream; None for any other object."""
    name = next(iter(value), None) if len(value) == 1 else None
    return name if name in _EVENTS and isinstance(value[name], dict) else None


class _Block:
    """A content block: its start, and the pieces of its text and of its call's arguments."""

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
    """The reply that is being streamed, if there is one."""

    def __init__(self) -> None:
        self._blocks: dict[Any, _Block] | None = None
        self._stop: str | None = None
        self._ended = False

    def take(self, event: str, told: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the body of a reply that is complete with this event."""
        if event == "messageStart":
            yield from self.close()
        blocks = self._blocks = {} if self._blocks is None else self._blocks
        number = told.get("contentBlockIndex")
        index = number if isinstance(number, int) else None
        if event == "contentBlockStart":
            blocks[index] = _Block(read_object(told.get("start")))
        elif event == "contentBlockDelta":
            block, delta = blocks.setdefault(index, _Block({})), read_object(told.get("delta"))
            block.text += filter(None, [read_text(delta.get("text"))])
            block.arguments += filter(None, [read_text(read_object(delta.get("toolUse")).get("input"))])
        elif event == "messageStop":
            self._stop, self._ended = read_text(told.get("stopReason")), True
        elif event == "metadata":
            yield from self.close(usage=told.get("usage"), metrics=told.get("metrics"))

    def close(self, **facts: Any) -> Iterator[dict[str, Any]]:
        """Yield the body of the open reply, complete or not; `facts` are further fields of it."""
        blocks, stop, ended = self._blocks, self._stop, self._ended
        self._blocks, self._stop, self._ended = None, None, False
        if blocks is not None:
            message = {"role": "assistant", "content": [block.build() for block in blocks.values()]}
            body = {"output": {"message": message}, "stopReason": stop, **facts}
            yield body if ended else {**body, "unfinished": True}
