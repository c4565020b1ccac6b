"""Records in a store's folder since when its shared store has not answered."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from ingest.safe_files import replace_text

OUTAGE = "unreachable.json"


class Outage(msgspec.Struct, frozen=True):
    """A failure of a shared store: since when the store cannot be used, and why.

    `problem` contains the store's address.
    """

    since: datetime
    problem: str


def note_outage(folder: Path, problem: str | None) -> None:
    """Record why the shared store cannot be used. If `problem` is None, record that it can be used. Never
    raises.

    The time of the first failure is kept until the store can be used again.
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
    """Return the outage that `note_outage` recorded.

    Return None when there is no outage or no shared store.
    """
    try:
        fields = json.loads((folder / OUTAGE).read_text("utf-8"))
        since = datetime.fromisoformat(fields["since"])
        return Outage(since.astimezone(UTC), str(fields["problem"]))
    except (OSError, ValueError, TypeError, KeyError):
        return None
