"""Notes in a store's folder since when its shared store has not answered, for pages to show."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from ingest.safe_files import replace_text

OUTAGE = "unreachable.json"


@dataclass(frozen=True, slots=True)
class Outage:
    """The time since when a shared store cannot be used, and why. `problem` names the store's address."""

    since: datetime
    problem: str


def note_outage(folder: Path, problem: str | None) -> None:
    """Note why the shared store cannot be used; None = it can. Never raises.

    The time of the first problem stays until the store can be used again.
    """
    with suppress(OSError):
        outage = read_outage(folder)
        if problem is None:
            (folder / OUTAGE).unlink(missing_ok=True)
        elif outage is None or outage.problem != problem:
            since = outage.since if outage else datetime.now(UTC)
            text = json.dumps({"since": since.isoformat(), "problem": problem})
            replace_text(folder / OUTAGE, text)


def read_outage(folder: Path) -> Outage | None:
    """Return what `note_outage` noted; None when the shared store can be used, or there is none."""
    try:
        fields = json.loads((folder / OUTAGE).read_text("utf-8"))
        since = datetime.fromisoformat(fields["since"])
        return Outage(since.astimezone(UTC), str(fields["problem"]))
    except (OSError, ValueError, TypeError, KeyError):
        return None
