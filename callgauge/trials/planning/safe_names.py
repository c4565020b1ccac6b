"""Makes file and folder names that are safe on every operating system."""

from __future__ import annotations

import hashlib
import re

# Windows reserves these names.
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE)
_PLAIN = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,78}[a-z0-9_-])?")
_UNSAFE = re.compile(r"[^a-z0-9_-]+")
_READABLE = 48  # A shortened name keeps this many characters before its hash.
_HASH = 12  # The hash has this many hexadecimal digits.


def is_reserved_name(name: str) -> bool:
    """Return True for a name that Windows reserves for a device, with or without a file extension."""
    return _RESERVED.fullmatch(name) is not None


def make_file_stem(name: str) -> str:
    """Return a file name without extension for any string. Different strings get different names.

    A short string of lower-case letters, digits, `.`, `_` and `-` stays unchanged. For any other string, the
    name is the readable characters of the string, `~` and a hash. The hash separates strings that a file
    system may confuse, such as `A` and `a`.
    """
    if _PLAIN.fullmatch(name) and not is_reserved_name(name):
        return name
    readable = _UNSAFE.sub("-", name.lower())[:_READABLE].strip("-_") or "x"
    return f"{readable}~{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:_HASH]}"
