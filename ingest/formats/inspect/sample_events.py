"""Lists the agent's events in an Inspect sample, and resolves references to attachments and messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ingest.decoding.fields import read_object, read_objects
from ingest.formats.provider_messages.chat_messages import join_content

_SCHEMES = ("attachment://", "tc://")
_DEPTH = 60  # maximum number of nested levels that are searched for references
_LONGEST = 20_000  # maximum number of messages in the input of one model event
_SCORERS = ("scorer", "scorers")


class SamplePools:
    """The attachments and shared messages of one sample.

    Other fields of the sample refer to them by id.
    """

    def __init__(self, sample: Mapping[str, Any]) -> None:
        self._attachments = read_object(sample.get("attachments"))
        pooled = sample.get("message_pool") or read_object(sample.get("events_data")).get("messages")
        self._messages = read_objects(pooled)

    def resolve(self, value: Any, depth: int = 0) -> Any:
        """Return the value with each reference replaced by its attachment."""
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
        """Return the text of a message's content, including attachments.

        Return None when there is no text.
        """
        return join_content(self.resolve(content))

    def input_messages(self, event: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the messages that the model received, according to a model event."""
        refs = event.get("input_refs")
        if not isinstance(refs, list):
            return read_objects(event.get("input"))
        messages: list[dict[str, Any]] = []
        for ref in refs:
            pair = (
                [number for number in ref if type(number) is int and number >= 0]
                if isinstance(ref, list)
                else []
            )
            if len(pair) == 2 and len(messages) < _LONGEST:
                messages += self._messages[pair[0] : pair[1]]
        return messages

    def _resolve_text(self, value: str) -> str:
        if not value.startswith(_SCHEMES):
            return value
        attachment = self._attachments.get(value.partition("://")[2])
        return attachment if isinstance(attachment, str) else value


def agent_events(stated: Any) -> list[dict[str, Any]]:
    """Return all model and tool events except those of scorers.

    Pending events are left out.
    """
    selected: list[dict[str, Any]] = []
    spans: dict[str, tuple[Any, Any]] = {}
    scoring = 0  # number of open scorer steps, in logs without spans
    for event in _flatten_events(stated):
        kind = event.get("event")
        if kind == "span_begin" and isinstance(event.get("id"), str):
            spans[event["id"]] = (event.get("parent_id"), event.get("type"))
        elif kind == "step" and event.get("type") in _SCORERS:
            scoring += 1 if event.get("action") == "begin" else -1
        elif kind in ("model", "tool") and event.get("pending") is not True:
            scores = (
                scoring > 0 or event.get("role") == "grader" or _within_scorer(event.get("span_id"), spans)
            )
            if not scores:
                selected.append(event)
    return selected


def _flatten_events(stated: Any) -> Iterator[dict[str, Any]]:
    """Yield every event, including nested ones.

    Events inside a tool event come before the tool event.
    """
    waiting: list[tuple[dict[str, Any], bool]] = [(event, False) for event in read_objects(stated)[::-1]]
    while waiting:
        event, opened = waiting.pop()
        inner = [] if opened else read_objects(event.get("events"))
        if inner:
            waiting.append((event, True))
            waiting.extend((event, False) for event in inner[::-1])
        else:
            yield event


def _within_scorer(span: Any, spans: Mapping[str, tuple[Any, Any]]) -> bool:
    """Return True when the span belongs to a scorer or is inside the span of a scorer."""
    seen = set()
    while isinstance(span, str) and span in spans and span not in seen:
        seen.add(span)
        parent, kind = spans[span]
        if kind in _SCORERS:
            return True
        span = parent
    return False
