"""The errors for stored bytes that can be read but are damaged."""

from __future__ import annotations


class DamagedFileError(OSError):
    """The bytes of a file can be read but are damaged.

    `str()` of the error gives the words that follow "cannot be read: " in a message.
    """


class CutOffError(DamagedFileError):
    """The bytes end before their content does; what comes before the end is sound."""
