"""Events in, the same events as they may be stored out: between a format and `ingest.work`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from ingest.events import CallMade, Event, FaultLayer, Rejected, ResultSeen, StepMade, ToolsOffered
from lenient import ToolCatalog

if TYPE_CHECKING:  # it imports the detectors, which not every load needs
    from ingest.privacy.redactor import Redactor

_PARSED = {
    (CallMade, "raw_arguments"),
    (StepMade, "text"),
}  # lenient reads these; a call may leak into a text
_TEXTS = frozenset(
    {"text", "content", "answer", "message", "harness_message", "error", "reason", "snippet", "task"}
)
# What the harness says of these is about the arguments or the user, not the tool's output.
_NOT_OUTPUT = frozenset({FaultLayer.SYNTAX, FaultLayer.SCHEMA, FaultLayer.REFUSED})


@dataclass(frozen=True, slots=True)
class Privacy:
    """What one load leaves out. Can be pickled."""

    redactor: Redactor | None = None
    results: bool = True  # False: what tools said is dropped

    def __bool__(self) -> bool:
        return self.redactor is not None or not self.results

    def path(self, name: str) -> str:
        """A file's name as the store may hold it."""
        return name if self.redactor is None else self.redactor.path(name)

    def text(self, text: str) -> str:
        return text if self.redactor is None else self.redactor.text(text)

    def definitions(self, catalog: ToolCatalog) -> ToolCatalog:
        return catalog if self.redactor is None else self.redactor.definitions(catalog)

    def events(self, events: Iterable[Event | Rejected]) -> Iterable[Event | Rejected]:
        """The events of a record as they may be stored."""
        return map(self.event, events) if self else events

    def event(self, event: Event | Rejected) -> Event | Rejected:
        if not self.results and isinstance(event, ResultSeen):
            event = replace(event, content=None, message=_about_arguments(event))
        return event if self.redactor is None else _redacted(event, self.redactor)


PUBLIC = Privacy()
"""The privacy of a load that leaves nothing out."""


def _about_arguments(result: ResultSeen) -> str | None:
    return result.message if result.fault_layer in _NOT_OUTPUT else None


def _redacted(event: Event | Rejected, redactor: Redactor) -> Event | Rejected:
    changed: dict[str, Any] = {}
    for name in event.__struct_fields__:
        value = getattr(event, name)
        if type(value) is str:  # an enumeration's member is a str, too, but not exactly
            parsed = (type(event), name) in _PARSED
            new = redactor.text(value, parsed=parsed) if parsed or name in _TEXTS else redactor.name(value)
            if new is not value and new != value:
                changed[name] = new
    if isinstance(event, CallMade) and event.arguments is not None:
        changed["arguments"] = redactor.value(event.arguments)
    if isinstance(event, ToolsOffered):
        changed["definitions"] = tuple(redactor.value(event.definitions))
    return replace(event, **changed) if changed else event
