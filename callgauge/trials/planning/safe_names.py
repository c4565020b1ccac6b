"""Names that are safe as files and folders on every system."""

from __future__ import annotations

import hashlib
import re

_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE)  # on Windows
_PLAIN = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,78}[a-z0-9_-])?")
_UNSAFE = re.compile(r"[^a-z0-9_-]+")
_READABLE = 48  # characters of a name that are kept before its hash
_HASH = 12  # hexadecimal digits


def is_reserved_name(name: str) -> bool:
    """Return True for a name that Windows keeps for a device, with or without an ending."""
    return _RESERVED.fullmatch(name) is not None


def make_file_stem(name: str) -> str:
    """Return the beginning of a file's name for any text: another one for every other text.

    A short text of lower-case letters, digits, `.`, `_` and `-` stays as it is. Any other keeps what is
    readable of it, then `~` and a hash of it, so that texts differ that a file system takes for one: `A` and
    `a`, or two that are long.
    """
    if _PLAIN.fullmatch(name) and not is_reserved_name(name):
        return name
    readable = _UNSAFE.sub("-", name.lower())[:_READABLE].strip("-_") or "x"
    return f"{readable}~{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:_HASH]}"
