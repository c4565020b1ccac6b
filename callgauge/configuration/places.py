"""Resolves the locations in callgauge.toml: folders, files, patterns and remote addresses."""

from __future__ import annotations

import glob
import os
import re
from pathlib import Path

REPORTS = "reports"
"""The folder in the store where reports are written, unless the configuration names another folder."""
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


def is_address(place: str) -> bool:
    """Return True for a remote location, such as `s3://bucket/logs`."""
    return _ADDRESS.match(place) is not None


def resolve_place(folder: Path, place: str) -> str:
    """Return a location as an absolute path without `..`.

    `~` is the home folder. Other relative paths start at `folder`. Remote addresses are returned unchanged.
    In a file name pattern, special characters in the name of `folder` are escaped.
    """
    if is_address(place):
        return place
    home = os.path.expanduser(place)  # noqa: PTH111 - a pattern is no path
    above = glob.escape(str(folder)) if glob.has_magic(place) else str(folder)
    return os.path.normpath(os.path.join(above, home))  # noqa: PTH118 - a pattern is no path
