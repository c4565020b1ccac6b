"""Sentences on the last load, on silent sources, and on the status of a file."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from callgauge.analysis import wording
from callgauge.analysis.load_state import describe_lag, describe_rejected, describe_silence
from callgauge.dashboard.components.controls.paging import Row


def describe_feed(
    loads: Sequence[Row], silent: Sequence[Row], newest: datetime | None = None, night: str = ""
) -> str:
    """Return a sentence on the newest load and on silent sources.

    `loads` are the rows of the metric `loads`. `describe_silence` gets `silent`. `newest` is the time of the
    newest turn. `night` is the problem of the last nightly run, or empty.
    """
    if not loads:
        return "Nothing has been loaded yet."
    load = loads[0]
    read = wording.plural(load["files_loaded"] or 0, "file")
    problems = describe_silence(silent, "has been", "have been"), describe_lag(newest, load["finished_at"])
    silence = "; ".join(filter(None, problems)) or "no source is silent"
    replaced = describe_replaced(load)
    parts = filter(None, (night, replaced, _describe_losses(load), silence))
    return f"The last load ({wording.utc(load['finished_at'])}) read {read}: {'; '.join(parts)}."


def describe_replaced(load: Row) -> str:
    """Return how many sessions a load replaced or removed, and how many calls fewer there are.

    The result is empty when the load replaced and removed nothing.
    """
    counts = ((load["sessions_replaced"], "replaced"), (load["sessions_removed"], "removed"))
    changes = [f"{wording.plural(count, 'session')} {how}" for count, how in counts if count]
    return (
        ", ".join([*changes, f"{wording.plural(load['calls_fewer'] or 0, 'call')} fewer"]) if changes else ""
    )


def describe_status(row: Row) -> str:
    """Return the status of a file: loaded, rejected, or merged with another file."""
    if row["status"] == "earlier":
        return "loaded; the file has changed since"
    if row["status"] != "companion" or not row["reason"]:
        return str(row["status"])
    return wording.one_line(str(row["reason"]).removeprefix("is "), 80)


def _describe_losses(load: Row) -> str:
    files, lines = load["files_rejected"] or 0, load["rejects"] or 0
    verb = "was" if files + lines == 1 else "were"
    return f"{describe_rejected(files, lines) or 'nothing'} {'was' if not files + lines else verb} unreadable"
