"""What is wrong with the bytes of a file, as an exception that the reader of any file already expects."""

from __future__ import annotations


class Damaged(OSError):  # noqa: N818 - a verdict on a file, not a failure of ours
    """The bytes are there, but not what they should be; `str()` are words that follow "cannot be read: "."""
