"""Finds the user of a bearer token (`Authorization: Bearer …`), and decides who may send traces."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from starlette.datastructures import Headers
from starlette.types import Scope

from callgauge.memory.memory_file import MemoryProblemError
from callgauge.memory.tokens import PREFIX, AccessToken, TokenList, match_token
from callgauge.serving.clients import ClientAddresses, is_of_this_machine
from callgauge.serving.identity import User, read_bearer
from callgauge.serving.settings import sign_in_from_environment
from callgauge.traces.otlp_requests import TraceRequestError

_CACHE_SECONDS = 2.0  # seconds for which the list of tokens is cached; a revoked token works until then
_LOG = logging.getLogger(__name__)


class TokenFinder:
    """Finds the users of tokens. Caches the list of tokens for two seconds."""

    def __init__(self, folder: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._tokens = TokenList(folder)
        self._clock = clock
        self._known: list[AccessToken] = []
        self._read_at: float | None = None

    def find(self, text: str) -> User | None:
        """Return the user of a valid token. Return None if the token is invalid or the list cannot be read.

        Tokens that may only send traces have no user.
        """
        token = self._match(text)
        if token is None or token.role == "sender":
            return None
        return User(token.name, "admin" if token.role == "admin" else "viewer", may_write=False)

    def may_send(self, text: str) -> bool:
        """Return True if the token may send traces."""
        token = self._match(text)
        return token is not None and token.role in ("sender", "admin")

    def _match(self, text: str) -> AccessToken | None:
        if not text.startswith(PREFIX):
            return None
        now = self._clock()
        if self._read_at is None or now - self._read_at >= _CACHE_SECONDS:
            try:
                self._known = self._tokens.read()
            except MemoryProblemError as problem:
                _LOG.warning("No token can be checked: %s", problem)
                self._known = []
            self._read_at = now
        return match_token(text, self._known, datetime.now(UTC))


_finders: dict[str, TokenFinder] = {}


def find_token(text: str) -> User | None:
    """Return the user of a token of the served store. Return None if the token is invalid."""
    finder = _find_finder()
    return finder.find(text) if finder else None


def check_sender(scope: Scope) -> None:
    """Raise TraceRequestError if the client may not send traces.

    Every client needs a token, except a program on the machine of a server without sign-in.
    """
    token = read_bearer(Headers(scope=scope))
    if token is not None:
        finder = _find_finder()
        may_send = finder is not None and finder.may_send(token)
    else:
        settings = sign_in_from_environment()
        proxies = ClientAddresses(settings.trusted_proxies)
        may_send = settings.method == "none" and is_of_this_machine(scope, proxies)
    if not may_send:
        raise TraceRequestError(
            401,
            "Send a token for traces: Authorization: Bearer TOKEN; create one with "
            "`callgauge token create NAME --role sender --store DIR`.",
        )


def _find_finder() -> TokenFinder | None:
    """Return the token finder of the served store. Return None if no store is served."""
    folder = os.environ.get("CALLGAUGE_STORE")
    if not folder:
        return None
    if folder not in _finders:
        _finders[folder] = TokenFinder(Path(folder))
    return _finders[folder]
