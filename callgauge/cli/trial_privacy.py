"""What a run of trials leaves out of its files: secrets in the words of servers, and with --redact all else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ingest.privacy.placeholder_key import read_or_make_key
from ingest.privacy.redactor import Redactor
from ingest.privacy.rules import read_rules

_NOT_SERVERS = ("sessionId", "ts", "type")


class RunPrivacy:
    """The privacy of a run, by the patterns of `ingest --redact`.

    The key of the placeholders is that of `key_folder`: the store's, so that the placeholders are the same as
    in the store, else the folder of runs. It is never in a run's own folder.
    """

    def __init__(self, key_folder: Path, *, redacts: bool) -> None:
        key_folder.mkdir(parents=True, exist_ok=True)
        self._redactor = Redactor(read_rules(None), read_or_make_key(key_folder))
        self._redacts = redacts

    def clean_server_text(self, text: str) -> str:
        """Return the words of a server without what looks like a secret."""
        return self._redactor.redact_text(text)

    def clean_event(self, event: dict[str, Any]) -> dict[str, Any]:
        """Return an event as the log may hold it: with --redact as a load with --redact would store it."""
        if not self._redacts:
            return event
        kept = {name: event[name] for name in _NOT_SERVERS}
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
