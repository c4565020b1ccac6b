"""The session log of one trial: kept until the trial has ended, then written whole.

Half a conversation measures nothing and cannot be gone on with, so none is ever in the folder.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

import orjson

from callgauge.gateway.session_log import SessionLog, encode_event
from callgauge.trials.results.ledger import make_outcome
from callgauge.trials.results.run_folder import TrialOutcome
from callgauge.trials.running.run_files import RunFiles

TRIAL_END = "trial_end"
"""The event after `session_end`: its meta holds the ledger's line, of which a lost one is made again."""


class LogPrivacy(Protocol):
    """What is left out of the files of a run, besides its keys."""

    def clean_server_text(self, text: str) -> str:
        """Return the words of a server without what looks like a secret."""
        ...

    def clean_text(self, text: str) -> str:
        """Return any other text as the run may keep it."""
        ...

    def clean_event(self, event: dict[str, Any]) -> dict[str, Any]:
        """Return an event of a session log as the run may keep it."""
        ...


class NoPrivacy:
    """Leaves everything as it is."""

    def clean_server_text(self, text: str) -> str:
        return text

    def clean_text(self, text: str) -> str:
        return text

    def clean_event(self, event: dict[str, Any]) -> dict[str, Any]:
        return event


class TrialLog(SessionLog):
    """A session log in memory; `save` writes it under its name at once."""

    def __init__(self, path: Path, session_id: str, privacy: LogPrivacy) -> None:
        super().__init__(path, session_id)
        self._privacy = privacy
        self._lines: list[bytes] = []

    def append(self, event: dict[str, Any]) -> None:
        """Keep an event."""
        self._lines.append(encode_event(self._privacy.clean_event(event)))

    @property
    def content(self) -> bytes:
        """The lines so far."""
        return b"".join(self._lines)

    def save(self, files: RunFiles, outcome: TrialOutcome | None = None) -> None:
        """Write the log. Raises FolderError."""
        if outcome is not None:
            self.write(TRIAL_END, outcome=asdict(outcome))
        files.replace(self.path, self.content)


def read_saved_outcome(path: Path) -> TrialOutcome | None:
    """Return the outcome that stands at the end of a trial's log, None where none does."""
    try:
        last = path.read_bytes().splitlines()[-1]
        told = orjson.loads(last)["meta"]["outcome"]
    except (OSError, IndexError, KeyError, TypeError, orjson.JSONDecodeError):
        return None
    return make_outcome(told) if isinstance(told, dict) else None
