"""Converts paths, addresses and names of archive members to the names that the store records."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

_SECRET = re.compile(r"(?i)sig|token|secret|credential|password|(^|[-_])key")
_MEMBER = "!"
_STREAM = "stdin:"


def stored_path(path: Path | str) -> str:
    """Return a path as a string. Backslashes and bytes that are not UTF-8 are escaped.

    `parse_stored_path` is the inverse.
    """
    if isinstance(path, str) and path.isascii() and "\\" not in path:
        return path
    return os.fsencode(path).replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")


def parse_stored_path(name: str) -> Path:
    """Return the path for which `stored_path` returned `name`."""
    raw = re.sub(rb"\\(\\|x([0-9a-f]{2}))", unescape, name.encode())
    return Path(os.fsdecode(raw))


def unescape(match: re.Match[bytes]) -> bytes:
    return bytes.fromhex(match[2].decode()) if match[2] else b"\\"


def member_name(archive: str, member: str) -> str:
    """Return the stored name of an archive's member: `<archive>!<member>`.

    This name is never used as a path.
    """
    return f"{archive}{_MEMBER}{stored_path(member.replace(chr(0), chr(0xFFFD)))}"


def stream_name(fingerprint: str) -> str:
    """Return the stored name of a log from standard input, which contains the fingerprint of the content."""
    return f"{_STREAM}{fingerprint[:16]}"


def is_stream(name: str) -> bool:
    """Return True when `stream_name` made the name.

    Stored paths are absolute, so a path never looks like a stream's name.
    """
    return name.startswith(_STREAM)


def strip_credentials(url: str) -> str:
    """Return an address without user name and password.

    A query string that contains secrets is also removed.
    """
    if not url.lower().startswith(("http:", "https:")):
        return stored_path(url)
    parts = urlsplit(url)
    query = "" if _SECRET.search(parts.query) else parts.query
    return stored_path(urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, query, "")))


def is_address(path: Path | str) -> bool:
    return isinstance(path, str) and re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", path) is not None
