"""Manages sign-in sessions. A signed cookie contains the user. A file lists the sessions that ended early."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from itsdangerous import BadData, URLSafeTimedSerializer

from callgauge.serving.sign_in.admission import Identity
from ingest.safe_files import lock_file, replace_private

COOKIE = "callgauge_session"
KEY_FILE = "sign_in.key"
ENDED_FILE = "signed_out.json"
_LOCK = "signed_out.lock"
_SHORTEST_SECRET = 32
_MANY = 1_000  # Up to this many ended sessions, the list keeps expired sessions.
_PATIENCE = 1.0  # seconds to wait while another server writes the list


class SecretError(Exception):
    """Raised when the secret or the list of ended sessions cannot be used. The message says what to do."""


class SignOutNotSavedError(Exception):
    """Raised when the end of a session was not saved. After a restart, the session would be valid again."""


@dataclass(frozen=True, slots=True)
class SignInSession:
    """A sign-in session. `id` is random. `until` is the time when the session ends, in seconds since 1970."""

    id: str
    identity: Identity
    until: float


def read_secret(variable: str, folder: Path) -> str:
    """Return the secret that signs cookies, from the environment or a file. Create the file if it is missing.

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
    """Signs small values in cookies and forms. Each kind of value has its own salt."""

    def __init__(self, secret: str) -> None:
        self._secret = secret

    def sign(self, kind: str, content: Any) -> str:
        return str(self._serializer(kind).dumps(content))

    def read(self, kind: str, text: str, seconds: float) -> Any:
        """Return the signed data. Return None if the signature is invalid or older than `seconds`."""
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
    """Begins and ends sign-in sessions.

    A file in `folder` lists the sessions that ended before their expiry time. All servers of a store use this
    file. Raises SecretError if the file cannot be read.
    """

    def __init__(
        self, signer: Signer, hours: float, folder: Path, clock: Callable[[], float] = time.time
    ) -> None:
        self._signer = signer
        self._seconds = hours * 3600
        self._path = folder / ENDED_FILE
        self._clock = clock
        self._state = _read_state(self._path)
        self._ended = read_ended(folder)
        self._saving = threading.Lock()  # the route /healthz saves from another thread

    def begin(self, identity: Identity) -> str:
        """Return the cookie value of a new session."""
        self.find_problem()  # saves ended sessions again if that failed before
        content = {
            "id": secrets.token_hex(16),
            "name": identity.name,
            "groups": list(identity.groups),
            "stamp": identity.stamp,
            "until": self._clock() + self._seconds,
        }
        return self._signer.sign("session", content)

    def read(self, text: str) -> SignInSession | None:
        """Return the session in a cookie, or None if the signature is invalid or the session has ended."""
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
        """Return True unless the session has expired or a server of the store has ended it."""
        state = _read_state(self._path)
        if state != self._state:
            # `find_problem` reports this error; the ended sessions of this server are still known
            with suppress(SecretError):
                self._ended = read_ended(self._path.parent) | self._ended
            self._state = state
        return session.id not in self._ended and session.until > self._clock()

    def end(self, session: SignInSession) -> None:
        """End a session, so that copies of its cookie stop working, too. Raises SignOutNotSavedError."""
        self._ended = _drop_expired({**self._ended, session.id: session.until}, self._clock())
        try:
            self._save()
        except (OSError, SecretError) as problem:
            raise SignOutNotSavedError(str(problem)) from problem

    def find_problem(self) -> str | None:
        """Save ended sessions that are not saved yet. Return the reason if saving fails, else None."""
        try:
            saved, now = read_ended(self._path.parent), self._clock()
            if any(session_id not in saved for session_id, until in [*self._ended.items()] if until > now):
                self._save()
        except (OSError, SecretError) as problem:
            return str(problem)
        return None

    def _save(self) -> None:
        """Add this server's ended sessions to the file. Raises OSError, SecretError."""
        until = time.monotonic() + _PATIENCE

        def wait(owner: str) -> None:
            if time.monotonic() > until:
                raise TimeoutError(f"{owner} has locked {self._path}")
            time.sleep(0.01)

        with self._saving, lock_file(self._path.with_name(_LOCK), wait, lambda _folder: nullcontext()):
            ended = _drop_expired(read_ended(self._path.parent) | self._ended, self._clock())
            replace_private(self._path, json.dumps(ended).encode("ascii"))


def _drop_expired(ended: dict[str, float], now: float) -> dict[str, float]:
    """Return the ended sessions. Remove the expired sessions only if the list is long."""
    if len(ended) <= _MANY:
        return ended
    return {session_id: until for session_id, until in ended.items() if until > now}


def read_ended(folder: Path) -> dict[str, float]:
    """Return the expiry time of each session that ended early. Raises SecretError if the file is damaged."""
    path = folder / ENDED_FILE
    try:
        content = json.loads(path.read_text("ascii"))
        return {str(session_id): float(until) for session_id, until in content.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, AttributeError, TypeError) as problem:
        raise SecretError(
            f"{path} (the list of people who signed out) cannot be read: {problem}. Make it readable, or "
            f"remove it together with {folder / KEY_FILE}; everybody then signs in again"
        ) from None


def _read_state(path: Path) -> tuple[int, int, int] | None:
    try:
        state = path.stat()
    except OSError:
        return None
    return state.st_ino, state.st_mtime_ns, state.st_size
