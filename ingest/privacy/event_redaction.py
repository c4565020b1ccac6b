"""Redacts the events of a format before the session builder gets them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from ingest.events import (
    CallMade,
    Event,
    FaultLayer,
    Rejected,
    ResultSeen,
    SessionSeen,
    StepMade,
    ToolsOffered,
    TrialLookTaken,
    TrialRunPlanned,
)
from lenient import ToolCatalog

if TYPE_CHECKING:
    from ingest.privacy.redactor import Redactor

_PARSED = {
    (CallMade, "raw_arguments"),
    (StepMade, "text"),
}  # `lenient` parses these texts, because a model may write a tool call as text
_TEXTS = frozenset(
    {"text", "content", "answer", "message", "harness_message", "error", "reason", "snippet", "task"}
)
# At these failure stages, the agent's messages are about the arguments or the user, not about the tool's
# output.
_NOT_OUTPUT = frozenset({FaultLayer.SYNTAX, FaultLayer.SCHEMA, FaultLayer.REFUSED})


class Privacy(msgspec.Struct, frozen=True):
    """The redaction that one load applies to events, names and definitions. This object can be pickled."""

    redactor: Redactor | None = None
    results: bool = True  # False when the output of tools is dropped

    def __bool__(self) -> bool:
        return self.redactor is not None or not self.results

    def redact_path(self, name: str) -> str:
        """Return the path of a file in the form that the store may record."""
        return name if self.redactor is None else self.redactor.redact_path(name)

    def redact_text(self, text: str) -> str:
        return text if self.redactor is None else self.redactor.redact_text(text)

    def redact_definitions(self, catalog: ToolCatalog) -> ToolCatalog:
        return catalog if self.redactor is None else self.redactor.redact_definitions(catalog)

    def redact_events(self, events: Iterable[Event | Rejected]) -> Iterable[Event | Rejected]:
        """Return the redacted events of a record."""
        return map(self.redact_event, events) if self else events

    def redact_event(self, event: Event | Rejected) -> Event | Rejected:
        if not self.results and isinstance(event, ResultSeen):
            event = replace(event, content=None, message=_argument_message(event))
        return event if self.redactor is None else _redact_fields(event, self.redactor)


PUBLIC = Privacy()
"""The privacy of a load that removes nothing."""


def _argument_message(result: ResultSeen) -> str | None:
    return result.message if result.fault_layer in _NOT_OUTPUT else None


def _redact_fields(event: Event | Rejected, redactor: Redactor) -> Event | Rejected:
    changed: dict[str, Any] = {}
    for name in event.__struct_fields__:
        value = getattr(event, name)
        if type(value) is str:  # this test excludes members of an enumeration that is based on str
            parsed = (type(event), name) in _PARSED
            new = (
                redactor.redact_text(value, parsed=parsed)
                if parsed or name in _TEXTS
                else redactor.redact_name(value)
            )
            if new is not value and new != value:
                changed[name] = new
    if isinstance(event, ResultSeen) and ("message" in changed or "content" in changed) and event.message:
        changed["message"] = _redact_quoted(event, changed)
    if isinstance(event, SessionSeen) and event.user:
        changed["user"] = redactor.redact_user(event.user)
    if isinstance(event, CallMade) and event.arguments is not None:
        changed["arguments"] = redactor.redact_value(event.arguments)
    if isinstance(event, TrialRunPlanned | TrialLookTaken):
        changed["facts"] = redactor.redact_value(event.facts)
    if isinstance(event, ToolsOffered):
        changed["definitions"] = tuple(redactor.redact_value(event.definitions))
    return replace(event, **changed) if changed else event


def _redact_quoted(result: ResultSeen, changed: Mapping[str, Any]) -> Any:
    """Return the redacted message of a result.

    Most formats copy the message from the content and cut it. A value that is cut off in the message is
    complete in the content, so it is found there.
    """
    message, content = result.message or "", result.content or ""
    at = content.find(message)
    return (
        changed.get("content", content)[at : at + len(message)]
        if at >= 0
        else changed.get("message", message)
    )
