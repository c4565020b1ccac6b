"""Who a token belongs to: what the gate of the server asks for `Authorization: Bearer …`."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from callgauge.memory.memory_file import MemoryProblemError
from callgauge.memory.tokens import PREFIX, AccessToken, TokenList, match_token
from callgauge.serving.identity import User

_KEPT = 2.0  # seconds that the list of tokens is kept: so long a revoked one may go on
_LOG = logging.getLogger(__name__)


class TokenFinder:
    """Finds the users of tokens. The list of tokens is read again after two seconds."""

    def __init__(self, folder: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._tokens = TokenList(folder)
        self._clock = clock
        self._known: list[AccessToken] = []
        self._read_at: float | None = None

    def find(self, text: str) -> User | None:
        """Return the user of a token that holds; None for any other text, and where none can be read."""
        if not text.startswith(PREFIX):
            return None
        now = self._clock()
        if self._read_at is None or now - self._read_at >= _KEPT:
            try:
                self._known = self._tokens.read()
            except MemoryProblemError as problem:
                _LOG.warning("No token can be checked: %s", problem)
                self._known = []
            self._read_at = now
        found = match_token(text, self._known, datetime.now(UTC))
        if found is None:
            return None
        return User(found.name, "admin" if found.role == "admin" else "viewer", may_write=False)


_finders: dict[str, TokenFinder] = {}


def find_token(text: str) -> User | None:
    """Return who a token of the served store belongs to; None for any other text."""
    folder = os.environ.get("CALLGAUGE_STORE")
    if not folder:
        return None
    if folder not in _finders:
        _finders[folder] = TokenFinder(Path(folder))
    return _finders[folder].find(text)
