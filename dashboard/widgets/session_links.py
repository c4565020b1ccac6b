"""A session, and a place in it, in; the relative URL that opens it there out."""

from __future__ import annotations

from dashboard import filters


def session_link(session: str, *, file: int | None = None, **place: str | int | None) -> str:
    """`file` where several sources share the id. `place`: turn, step or call, and what else the URL keeps."""
    named = {"session": session, "file": file, **place}
    return filters.link(
        "sessions", {}, {name: str(value) for name, value in named.items() if value not in (None, "")}
    )


def call_link(call: str) -> str:
    return filters.link("calls", {}, {"call": call})
