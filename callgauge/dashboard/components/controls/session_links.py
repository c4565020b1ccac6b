"""The relative URL that opens a session, a place in it, or a call."""

from __future__ import annotations

from callgauge.dashboard import filters


def session_link(session: str, *, file: int | None = None, **place: str | int | None) -> str:
    """Return a relative URL that opens a session.

    `file`: the id of the file, for a session id that several sources share. `place`: the turn, step or call
    to show.
    """
    named = {"session": session, "file": file, **place}
    return filters.page_link(
        "sessions", {}, {name: str(value) for name, value in named.items() if value not in (None, "")}
    )


def call_link(call: str) -> str:
    return filters.page_link("calls", {}, {"call": call})
