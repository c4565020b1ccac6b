"""Sign-in sessions: a signed cookie that names the user, and the list of sessions that ended early."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from itsdangerous import BadData, URLSafeTimedSerializer

from callgauge.serving.sign_in.admission import Identity

COOKIE = "callgauge_session"
KEY_FILE = "sign_in.key"
ENDED_FILE = "signed_out.json"
_SHORTEST_SECRET = 32


class SecretError(Exception):
    """Raised when there is no signing secret; the message says what to do."""


@dataclass(frozen=True, slots=True)
class SignInSession:
    """A session. `id`: random. `until`: when it ends, in seconds since 1970."""

    id: str
    identity: Identity
    until: float


def read_secret(variable: str, folder: Path) -> str:
    """Return the secret that signs cookies: from the environment, else from a file, created if needed.

    Raises SecretError.
    """
    configured = os.environ.get(variable)
    if configured:
        if len(configured) < _SHORTEST_SECRET:
            raise SecretError(f"{variable} has less than {_SHORTEST_SECRET} characters: take a random text")
        return configured
    path = folder / KEY_FILE
    try:
        with suppress(FileExistsError):
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="ascii") as out:
                out.write(secrets.token_hex(32))
        if os.name == "posix" and path.stat().st_mode & 0o077:
            raise SecretError(f"{path} may be read by others: chmod 600 {path}")
        secret = path.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError) as refused:
        raise SecretError(f"{path} cannot be read or made: {refused}") from None
    if len(secret) < _SHORTEST_SECRET:
        raise SecretError(f"{path} is damaged: remove it; everybody then signs in again")
    return secret


class Signer:
    """Signs small data for cookies and forms; each kind has its own salt."""

    def __init__(self, secret: str) -> None:
        self._secret = secret

    def sign(self, kind: str, content: Any) -> str:
        return str(self._serializer(kind).dumps(content))

    def read(self, kind: str, text: str, seconds: float) -> Any:
        """Return the data if it was signed at most `seconds` ago; None for anything else."""
        try:
            return self._serializer(kind).loads(text, max_age=int(seconds))
        except BadData:
            return None

    def _serializer(self, kind: str) -> URLSafeTimedSerializer:
        return URLSafeTimedSerializer(
            self._secret,
            salt=f"callgauge {kind}",
            signer_kwargs={"digest_method": hashlib.sha256, "key_derivation": "hmac"},
        )


class Sessions:
    """Begins and ends sessions.

    A file in `folder` lists the sessions that ended early, until they would have expired.
    """

    def __init__(
        self, signer: Signer, hours: float, folder: Path, clock: Callable[[], float] = time.time
    ) -> None:
        self._signer = signer
        self._seconds = hours * 3600
        self._path = folder / ENDED_FILE
        self._clock = clock
        self._ended = self._read_ended()

    def begin(self, identity: Identity) -> str:
        """Return the cookie text of a new session."""
        content = {
            "id": secrets.token_hex(16),
            "name": identity.name,
            "groups": list(identity.groups),
            "stamp": identity.stamp,
            "until": self._clock() + self._seconds,
        }
        return self._signer.sign("session", content)

    def read(self, text: str) -> SignInSession | None:
        """Return the session of a cookie; None if the signature is invalid or the session is over."""
        content = self._signer.read("session", text, self._seconds)
        if not isinstance(content, Mapping):
            return None
        try:
            identity = Identity(content["name"], tuple(content["groups"]), content["stamp"])
            session = SignInSession(content["id"], identity, float(content["until"]))
        except (KeyError, TypeError, ValueError):
            return None
        return session if self.is_open(session) else None

    def is_open(self, session: SignInSession) -> bool:
        return session.id not in self._ended and session.until > self._clock()

    def end(self, session: SignInSession) -> None:
        """End a session; copies of its cookie stop working, too."""
        now = self._clock()
        self._ended = {session_id: until for session_id, until in self._ended.items() if until > now}
        self._ended[session.id] = session.until
        aside = self._path.with_suffix(".new")
        with suppress(OSError):  # it has already ended in this process
            descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "w", encoding="ascii") as out:
                json.dump(self._ended, out)
            aside.replace(self._path)

    def _read_ended(self) -> dict[str, float]:
        try:
            content = json.loads(self._path.read_text("ascii"))
            return {str(session_id): float(until) for session_id, until in content.items()}
        except (OSError, ValueError, AttributeError, TypeError):
            return {}
