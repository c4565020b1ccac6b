"""Reads and writes the users file of a small team: names, roles, password hashes and sign-in links.

Passwords (argon2id) and links are stored as hashes. The file is rejected if anybody but its owner can access
it. Several processes may use the file.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, get_args

from callgauge.serving.identity import Role
from ingest.safe_files import lock_file, replace_private

FILE = "users.json"
SHORTEST_PASSWORD = 12
LONGEST_NAME, LONGEST_PASSWORD = 100, 1_000
LINK_HOURS = 24.0
_VERSION = 1
_BETWEEN = 0.02  # seconds between two attempts to lock


class UsersFileError(Exception):
    """Raised when the users file cannot be read or written. The message says what to do."""


@dataclass(frozen=True, slots=True)
class ListedUser:
    """A user in the file. `password` is the argon2 hash, or '' for a user without a password. `stamp` changes
    when the entry changes.
    """

    name: str
    role: Role
    password: str = ""
    stamp: str = ""


@dataclass(frozen=True, slots=True)
class _Link:
    hash: str
    name: str
    until: float


@dataclass(frozen=True, slots=True)
class _Listing:
    users: tuple[ListedUser, ...] = ()
    links: tuple[_Link, ...] = field(default=(), repr=False)


def tidy_name(name: str) -> str:
    """Return a user's name as it is stored: trimmed and in lower case.

    Raises ValueError for a name that is empty, too long, or contains invisible characters.
    """
    tidy = name.strip().lower()
    if not tidy or len(tidy) > LONGEST_NAME or not tidy.isprintable():
        raise ValueError(f"a name has 1 to {LONGEST_NAME} visible characters")
    return tidy


class UsersFile:
    """Manages the users in the file `path`. A missing file counts as an empty file. All methods raise
    UsersFileError.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read: tuple[tuple[int, int, int], _Listing] | None = None

    def list_users(self) -> tuple[ListedUser, ...]:
        return self._load().users

    def find(self, name: str) -> ListedUser | None:
        """Return the user with this name, ignoring case and surrounding spaces."""
        wanted = name.strip().lower()
        return next((user for user in self._load().users if user.name == wanted), None)

    def put(self, name: str, role: Role, password: str | None) -> None:
        """Add or change a user, and end the user's sessions. If `password` is None, the password stays."""
        tidy = tidy_name(name)
        hashed = None if password is None else _hasher().hash(password)
        with self._change() as (content, save):
            listed = next((user for user in content.users if user.name == tidy), None)
            unchanged_password = listed.password if listed else ""
            user = ListedUser(
                tidy, role, unchanged_password if hashed is None else hashed, secrets.token_hex(8)
            )
            others = tuple(user for user in content.users if user.name != tidy)
            save(replace(content, users=(*others, user)))

    def remove(self, name: str) -> bool:
        """Remove a user and the user's sign-in links. Return False if there is no such user."""
        wanted = name.strip().lower()
        with self._change() as (content, save):
            others = tuple(user for user in content.users if user.name != wanted)
            links = tuple(link for link in content.links if link.name != wanted)
            save(_Listing(others, links))
            return len(others) < len(content.users)

    def check_password(self, name: str, password: str) -> ListedUser | None:
        """Return the user if name and password match. The check takes as long for an unknown name as for a
        known name.
        """
        from argon2.exceptions import InvalidHashError, VerificationError

        user = self.find(name)
        hashed = user.password if user is not None and user.password else _hash_of_nothing()
        try:
            _hasher().verify(hashed, password[:LONGEST_PASSWORD])
        except (VerificationError, InvalidHashError):
            return None
        return user if user is not None and user.password else None

    def make_link(self, name: str, hours: float = LINK_HOURS) -> str | None:
        """Return the secret of a link that signs a user in once. Return None if there is no such user."""
        text = secrets.token_urlsafe(32)
        with self._change() as (content, save):
            user = next((user for user in content.users if user.name == name.strip().lower()), None)
            if user is None:
                return None
            now = time.time()
            links = tuple(link for link in content.links if link.until > now)
            save(replace(content, links=(*links, _Link(_hash(text), user.name, now + hours * 3600))))
        return text

    def read_link(self, text: str) -> ListedUser | None:
        """Return the user whom a link would sign in. Return None if the link was used before, or is expired
        or invalid.
        """
        link = _find_link(self._load(), text)
        return self.find(link.name) if link else None

    def use_link(self, text: str) -> ListedUser | None:
        """Return the user whom a link signs in. Delete the link, so that it works only once."""
        with self._change() as (content, save):
            used_link = _find_link(content, text)
            if used_link is None:
                return None
            save(replace(content, links=tuple(link for link in content.links if link is not used_link)))
            return next((user for user in content.users if user.name == used_link.name), None)

    def _load(self) -> _Listing:
        try:
            state = self.path.stat()
        except FileNotFoundError:
            return _Listing()
        except OSError as refused:
            raise UsersFileError(f"{self.path} cannot be read: {refused.strerror}") from None
        if os.name == "posix" and state.st_mode & 0o077:
            raise UsersFileError(f"{self.path} may be read by others: chmod 600 {self.path}")
        state_key = (state.st_ino, state.st_mtime_ns, state.st_size)
        if self._read is None or self._read[0] != state_key:
            self._read = (state_key, self._parse())
        return self._read[1]

    def _parse(self) -> _Listing:
        try:
            content: Any = json.loads(self.path.read_text("utf-8"))
            users = tuple(ListedUser(**entry) for entry in content["users"])
            links = tuple(_Link(**entry) for entry in content["links"])
            is_known = content["version"] == _VERSION and all(user.role in get_args(Role) for user in users)
        except OSError as refused:
            raise UsersFileError(f"{self.path} cannot be read: {refused.strerror}") from None
        except (ValueError, TypeError, KeyError):
            users, links, is_known = (), (), False
        if not is_known:
            raise UsersFileError(
                f"{self.path} is damaged, or of another version: restore it, or move it away and add the "
                "users again"
            )
        return _Listing(users, links)

    @contextmanager
    def _change(self) -> Iterator[tuple[_Listing, Any]]:
        """Hold the lock during the `with` block. Yield the content of the file and a function that writes new
        content.
        """
        try:
            with lock_file(
                self.path.with_suffix(".lock"), lambda _owner: time.sleep(_BETWEEN), lambda _: nullcontext()
            ):
                yield self._load(), self._save
        except OSError as refused:
            raise UsersFileError(f"{self.path} cannot be written: {refused.strerror}") from None

    def _save(self, content: _Listing) -> None:
        document = {
            "version": _VERSION,
            "users": [asdict(user) for user in sorted(content.users, key=lambda user: user.name)],
            "links": [asdict(link) for link in content.links],
        }
        replace_private(self.path, json.dumps(document, indent=1).encode())


def _find_link(content: _Listing, text: str) -> _Link | None:
    wanted, now = _hash(text), time.time()
    return next((link for link in content.links if link.hash == wanted and link.until > now), None)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _hasher() -> Any:
    from argon2 import PasswordHasher

    return PasswordHasher()


_NOTHING: list[str] = []


def _hash_of_nothing() -> str:
    if not _NOTHING:
        _NOTHING.append(_hasher().hash(secrets.token_hex(16)))
    return _NOTHING[0]
