"""Resolves the references of an Inspect sample: attachments and pooled messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ingest.decoding.fields import read_object, read_objects
from ingest.formats.provider_messages.chat_messages import join_content

_SCHEMES = ("attachment://", "tc://")
_DEPTH = 60  # levels of a value in which references are sought
_LONGEST = 20_000  # messages of one input


class SamplePools:
    """The attachments and pooled messages of one sample, which other parts of the sample refer to."""

    def __init__(self, sample: Mapping[str, Any]) -> None:
        self._attachments = read_object(sample.get("attachments"))
        pooled = sample.get("message_pool") or read_object(sample.get("events_data")).get("messages")
        self._messages = read_objects(pooled)

    def resolve(self, value: Any, depth: int = 0) -> Any:
        """Return the value with every reference to an attachment replaced by the attachment."""
        if isinstance(value, str):
            return self._resolve_text(value)
        if not self._attachments or depth > _DEPTH:
            return value
        if isinstance(value, dict):
            return {name: self.resolve(item, depth + 1) for name, item in value.items()}
        if isinstance(value, list):
            return [self.resolve(item, depth + 1) for item in value]
        return value

    def message_text(self, content: Any) -> str | None:
        """Return the text of a message's content, attachments included; None when it has no text."""
        return join_content(self.resolve(content))

    def input_messages(self, event: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the messages that were sent to the model in a model event."""
        refs = event.get("input_refs")
        if not isinstance(refs, list):
            return read_objects(event.get("input"))
        found: list[dict[str, Any]] = []
        for ref in refs:
            pair = [one for one in ref if type(one) is int and one >= 0] if isinstance(ref, list) else []
            if len(pair) == 2 and len(found) < _LONGEST:
                found += self._messages[pair[0] : pair[1]]
        return found

    def _resolve_text(self, value: str) -> str:
        if not value.startswith(_SCHEMES):
            return value
        kept = self._attachments.get(value.partition("://")[2])
        return kept if isinstance(kept, str) else value
