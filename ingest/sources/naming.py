"""Paths, addresses and members of archives in, their spelling in the store out: text for any table."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

_SECRET = re.compile(r"(?i)sig|token|secret|credential|password|(^|[-_])key")
_MEMBER = "!"
_STREAM = "stdin:"


def shown(path: Path | str) -> str:
    """A path as text, other bytes than UTF-8 escaped; `path_of` is its inverse."""
    if isinstance(path, str) and path.isascii() and "\\" not in path:
        return path
    return os.fsencode(path).replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")


def path_of(name: str) -> Path:
    """The path that `shown` made `name` of."""
    raw = re.sub(rb"\\(\\|x([0-9a-f]{2}))", _unescaped, name.encode())
    return Path(os.fsdecode(raw))


def _unescaped(match: re.Match[bytes]) -> bytes:
    return bytes.fromhex(match[2].decode()) if match[2] else b"\\"


def member_name(archive: str, member: str) -> str:
    """The name of an archive's member; it is never taken for a path again."""
    return f"{archive}{_MEMBER}{shown(member.replace(chr(0), chr(0xFFFD)))}"


def stream_name(fingerprint: str) -> str:
    """What was piped in is known by what it was."""
    return f"{_STREAM}{fingerprint[:16]}"


def is_stream(name: str) -> bool:
    """True for what `stream_name` made; a path in the store is absolute."""
    return name.startswith(_STREAM)


def address(url: str) -> str:
    """An address without what only lets one in: a user's name, a password, a signed query."""
    if not url.lower().startswith(("http:", "https:")):
        return shown(url)
    parts = urlsplit(url)
    query = "" if _SECRET.search(parts.query) else parts.query
    return shown(urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, query, "")))


def is_address(path: Path | str) -> bool:
    return isinstance(path, str) and re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", path) is not None
