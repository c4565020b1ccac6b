"""Describe what a model and its server can do, and how each capability is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, NamedTuple

MISTRAL_IDS = r"[A-Za-z0-9]{9}"
"""The pattern of call ids that Mistral's servers accept."""


class JsonStability(NamedTuple):
    """How many of `asked` text answers (`right`) consisted of one readable JSON block and nothing else."""

    right: int
    asked: int


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What is known about a model and its server. None means unknown.

    `takes_tool_results` is True when the server accepts a native call that is sent back with its result.
    `keeps_argument_text` is True when the server passes on the arguments as the model wrote them, False when
    it parses and rewrites them. `streams_calls` is False when a streamed reply contains no calls. `known_by`
    maps each known field to `declared`, `wire` (known of the API) or `probed`.
    """

    supports_tool_use: bool | None = None
    supports_parallel_tools: bool | None = None
    takes_tool_results: bool | None = None
    tool_id_pattern: str | None = None
    allows_midturn_system: bool | None = None
    json_stability: JsonStability | None = None
    keeps_argument_text: bool | None = None
    streams_calls: bool | None = None
    known_by: Mapping[str, str] = field(default_factory=dict)

    @property
    def can_use_tools(self) -> bool:
        """True when the model calls tools natively, and its server is not known to reject tool results."""
        return self.supports_tool_use is True and self.takes_tool_results is not False

    @property
    def whose_text(self) -> Literal["model", "server", "unknown"]:
        """Return who wrote the JSON text of a native call's arguments."""
        if self.keeps_argument_text is None:
            return "unknown"
        return "model" if self.keeps_argument_text else "server"

    def as_declared(self) -> Capabilities:
        """Return these capabilities. Each known field without an origin gets the origin `declared`."""
        names = [name for name in VALUES if getattr(self, name) is not None]
        return replace(self, known_by={**dict.fromkeys(names, "declared"), **self.known_by})

    def complete(self, other: Capabilities, known_by: str) -> Capabilities:
        """Return these capabilities, with unknown fields filled from `other`."""
        new = {
            name: getattr(other, name)
            for name in VALUES
            if getattr(self, name) is None and getattr(other, name) is not None
        }
        return replace(self, **new, known_by={**self.known_by, **dict.fromkeys(new, known_by)})

    def to_log(self) -> dict[str, Any]:
        """Return the known fields for a session log, each with its value and how it is known."""
        return {
            name: {"value": _to_json(getattr(self, name)), "known_by": self.known_by.get(name, "declared")}
            for name in VALUES
            if getattr(self, name) is not None
        }


def read_capabilities(logged: Mapping[str, Any]) -> Capabilities:
    """Return the capabilities that `Capabilities.to_log` wrote. Unknown fields are ignored."""
    entries = {name: entry for name, entry in logged.items() if name in VALUES and isinstance(entry, Mapping)}
    values = {name: entry.get("value") for name, entry in entries.items()}
    if isinstance(stability := values.get("json_stability"), Mapping):
        values["json_stability"] = JsonStability(**stability)
    return Capabilities(
        **values, known_by={name: str(entry.get("known_by")) for name, entry in entries.items()}
    )


VALUES = tuple(member.name for member in fields(Capabilities) if member.name != "known_by")
_OF_WIRE = {
    # Both APIs lack system messages within a conversation. Gemini also sends arguments as an object.
    "anthropic": Capabilities(allows_midturn_system=False),
    "gemini": Capabilities(allows_midturn_system=False, keeps_argument_text=False),
}
_HOSTS_THAT_KEEP_TEXT = {
    "openai-chat": "api.openai.com",
    "openai-responses": "api.openai.com",
    "anthropic": "api.anthropic.com",  # keeps the text in streams only; other answers contain an object
}
_REWRITING_SERVERS = frozenset(("ollama", "llama.cpp", "llama-server"))


def known_of_server(wire: str, host: str | None, server: str | None) -> Capabilities:
    """Return what is true for every model behind this API, host and server software."""
    capabilities = _OF_WIRE.get(wire, Capabilities())
    if server in _REWRITING_SERVERS:
        return replace(capabilities, keeps_argument_text=False)
    if _HOSTS_THAT_KEEP_TEXT.get(wire) == host:
        return replace(capabilities, keeps_argument_text=True)
    return capabilities


def _to_json(value: Any) -> Any:
    return value._asdict() if isinstance(value, JsonStability) else value
