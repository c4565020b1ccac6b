"""Errors of the API in the problem+json format (RFC 9457)."""

from __future__ import annotations

import difflib
import logging
from collections.abc import Iterable
from typing import Any

_LOG = logging.getLogger(__name__)
TITLES = {
    400: "The question cannot be read",
    401: "A token is needed",
    403: "An admin's token is needed",
    404: "Not found",
    405: "This API is read-only",
    406: "The answer has no such form",
    409: "The store was loaded again",
    413: "The answer is too large",
    500: "Something broke",
    503: "No answer now",
    504: "The question took too long",
}


class ProblemError(Exception):
    """Raised when a question cannot be answered. `detail` is a sentence with the reason and the next step."""

    def __init__(self, status: int, detail: str, **more: Any) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.more = more

    def to_json(self) -> dict[str, Any]:
        """Return the problem as RFC 9457 defines it. `more` adds members such as `did_you_mean`."""
        return {
            "type": "about:blank",
            "title": TITLES.get(self.status, "No answer"),
            "status": self.status,
            "detail": self.detail,
            **self.more,
        }


def refuse_memory(problem: Exception) -> ProblemError:
    """Log why the team's memory cannot be read. Return the error for the client, which names no file."""
    _LOG.warning("Programs cannot read the team's memory: %s", problem)
    return ProblemError(503, "The decisions and notes cannot be read; the server's log has the reason.")


def suggest(wrong: str, candidates: Iterable[str]) -> list[str]:
    """Return up to three candidates for a misspelled name, the most similar first."""
    names = list(candidates)
    by_folded = {name.lower(): name for name in names}
    near = difflib.get_close_matches(wrong.lower(), by_folded, n=3, cutoff=0.6)
    return [by_folded[name] for name in near]


def refuse_name(what: str, wrong: str, candidates: Iterable[str], status: int = 400) -> ProblemError:
    """Return the error for an unknown name, with suggestions."""
    names = sorted(candidates)
    near = suggest(wrong, names)
    shown = wrong if len(wrong) <= 80 else f"{wrong[:79]}…"
    if near:
        hint = f"Did you mean {' or '.join(near)}?"
    elif len(names) <= 30:
        hint = f"Known are: {', '.join(names) or 'none'}."
    else:
        hint = f"{len(names)} are known, such as {', '.join(names[:5])}."
    return ProblemError(status, f"There is no {what} {shown!r}. {hint}", did_you_mean=near)
