"""What a run of trials leaves out of its files: secrets in what servers say; with --redact, in all texts."""

from __future__ import annotations

from typing import Any

from ingest.privacy.redactor import Redactor
from ingest.privacy.rules import read_rules

_AS_THEY_ARE = ("sessionId", "ts", "type")


class RunPrivacy:
    """The privacy of a run, by the patterns of `ingest --redact` and with the key of its placeholders."""

    def __init__(self, key: bytes, *, redacts: bool) -> None:
        self._redactor = Redactor(read_rules(None), key)
        self._redacts = redacts

    def clean_server_text(self, text: str) -> str:
        """Return the words of a server without what looks like a secret."""
        return self._redactor.redact_text(text)

    def clean_text(self, text: str) -> str:
        """Return any other text as the run may keep it."""
        return self._redactor.redact_text(text) if self._redacts else text

    def clean_event(self, event: dict[str, Any]) -> dict[str, Any]:
        """Return an event as the log may hold it: with --redact as a load with --redact would store it."""
        if not self._redacts:
            return event
        kept = {name: event[name] for name in _AS_THEY_ARE}
        content, meta = event.get("content"), event.get("meta")
        if content is not None:
            kept["content"] = self._redactor.redact_text(content, parsed=True)
        if meta is not None:
            kept["meta"] = self._redact_meta(meta)
        return {**event, **kept}

    def _redact_meta(self, meta: dict[str, Any]) -> dict[str, Any]:
        """Redact the fields of an event; raw arguments so that they fail with the same codes."""
        new: dict[str, Any] = self._redactor.redact_value(
            {name: value for name, value in meta.items() if name not in ("trial", "task", "outcome")}
        )
        for block, told in zip(new.get("toolBlocks") or (), meta.get("toolBlocks") or (), strict=True):
            if isinstance(told.get("raw"), str):
                block["raw"] = self._redactor.redact_text(told["raw"], parsed=True)
        return {**new, **{name: meta[name] for name in ("trial", "task", "outcome") if name in meta}}
