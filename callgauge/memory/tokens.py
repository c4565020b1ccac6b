"""API tokens of a team: created once, shown once, and stored as hashes."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from callgauge.memory.memory_file import MemoryFile, cut_text, write_now

PREFIX = "callgauge_"
"""Every token begins with this prefix, so that secret scanners find committed tokens."""
ROLES = ("viewer", "admin", "sender")
"""A viewer may read numbers, an admin may do everything, and a sender may only send traces."""
_BYTES = 32  # A long random token needs no salt: its hash cannot be reversed.
_NAME = re.compile(r"[\w.@+-][\w.@+ -]{0,79}")


class TokenProblemError(Exception):
    """Raised when a token cannot be created. The message says what to do."""


@dataclass(frozen=True, slots=True)
class AccessToken:
    """The stored data of a token. The token itself is not stored.

    `expires` is None if the token never expires. `hash` is the SHA-256 of the token.
    """

    name: str
    role: str
    expires: datetime | None
    by: str
    at: datetime
    hash: str

    def is_valid(self, now: datetime) -> bool:
        return self.role in ROLES and (self.expires is None or now < self.expires)


class TokenList:
    """The API tokens of the team that uses the store in `folder`. All methods raise MemoryProblemError."""

    def __init__(self, folder: Path) -> None:
        self._file = MemoryFile(folder)

    def read(self) -> list[AccessToken]:
        """Return all tokens sorted by name, including expired tokens."""
        (rows,) = self._file.read_rows("SELECT name, role, expires, by, at, hash FROM tokens ORDER BY name")
        return [
            AccessToken(name, role, _read_time(expires) if expires else None, by, _read_time(at), digest)
            for name, role, expires, by, at, digest in rows
        ]

    def create(self, name: str, role: str, expires: datetime | None, by: str = "") -> str:
        """Save a new token and return it. The token cannot be read again. Raises TokenProblemError."""
        if not _NAME.fullmatch(name):
            raise TokenProblemError(
                f"{name[:80]!r} is not a valid token name; use up to 80 letters, digits, blanks and . @ + - _"
            )
        if role not in ROLES:
            raise TokenProblemError(f"{role[:80]!r} is not a role; use {' or '.join(ROLES)}")
        if expires is not None and expires <= datetime.now(UTC):
            raise TokenProblemError("this expiry is in the past; name a later time")
        if any(token.name == name for token in self.read()):
            raise TokenProblemError(f"there is a token {name!r} already: revoke it, or take another name")
        text = PREFIX + secrets.token_urlsafe(_BYTES)
        ends = expires.isoformat(timespec="seconds") if expires else None
        row = (name, hash_token(text), role, ends, cut_text(by), write_now())
        self._file.write(
            ("INSERT INTO tokens (name, hash, role, expires, by, at) VALUES (?, ?, ?, ?, ?, ?)", [row])
        )
        return text

    def revoke(self, name: str) -> bool:
        """Remove a token. Return False if there is no token of this name."""
        is_known = any(token.name == name for token in self.read())
        if is_known:
            self._file.write(("DELETE FROM tokens WHERE name = ?", [(name,)]))
        return is_known


def hash_token(text: str) -> str:
    """Return the SHA-256 of a token, which is the stored form of the token."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def match_token(text: str, tokens: list[AccessToken], now: datetime) -> AccessToken | None:
    """Return the valid token that equals this string. Compares in constant time."""
    if not text.startswith(PREFIX):
        return None
    digest = hash_token(text)
    matching = [token for token in tokens if hmac.compare_digest(token.hash, digest)]
    return matching[0] if matching and matching[0].is_valid(now) else None


def _read_time(text: str) -> datetime:
    return datetime.fromisoformat(text)
