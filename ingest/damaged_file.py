"""The error for bytes that are there but are not what they should be."""

from __future__ import annotations


class DamagedFileError(OSError):
    """The bytes are there, but not what they should be; `str()` are words that follow "cannot be read: "."""
