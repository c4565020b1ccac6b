"""Passes the user of a request from the server's guard to pages and routes, in request headers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote, unquote

Role = Literal["viewer", "admin"]
USER_HEADER = "x-callgauge-user"
"""The header in which the guard names the user to the application. The guard removes it from requests."""
ROLE_HEADER = "x-callgauge-role"
WRITES_HEADER = "x-callgauge-writes"


@dataclass(frozen=True, slots=True)
class User:
    """A person or a program that uses the server.

    `name` is an e-mail address, a user name or a token's name. The name is empty if the server has no
    sign-in. `may_write` allows changes of the team's decisions and notes. Admins may also run SQL, export raw
    content, and delete sessions.
    """

    name: str
    role: Role
    may_write: bool

    @property
    def is_admin(self) -> bool:
        return self.role == "admin"


LOCAL_USER = User("", "admin", may_write=True)
"""The user of a request from this machine to a server without sign-in."""
NETWORK_USER = User("", "viewer", may_write=False)
"""The user of a request from the network to a server without sign-in."""


def write_headers(user: User) -> list[tuple[bytes, bytes]]:
    """Return the headers that carry a user's data from the guard to the application."""
    writes = b"yes" if user.may_write else b"no"
    name = quote(user.name, safe="@ ").encode("ascii")
    return [
        (USER_HEADER.encode(), name),
        (ROLE_HEADER.encode(), user.role.encode()),
        (WRITES_HEADER.encode(), writes),
    ]


def read_headers(headers: Mapping[str, str]) -> User | None:
    """Return the user that the guard wrote into the headers. Return None if the headers contain no user."""
    role = headers.get(ROLE_HEADER)
    if role not in ("viewer", "admin"):
        return None
    return User(
        unquote(headers.get(USER_HEADER, "")),
        "admin" if role == "admin" else "viewer",
        headers.get(WRITES_HEADER) == "yes",
    )


def read_bearer(headers: Mapping[str, str]) -> str | None:
    """Return the token of `Authorization: Bearer TOKEN`. Return None for any other header."""
    scheme, blank, token = headers.get("authorization", "").partition(" ")
    return token.strip() if blank and scheme.lower() == "bearer" else None
