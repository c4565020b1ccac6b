"""Flushes files to disk, so that they are there after a power cut."""

from __future__ import annotations

import os
from pathlib import Path


def flush_to_disk(path: Path) -> None:
    """Flush a file, or the entries of a folder, to disk and wait until that is done."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def replace_text(path: Path, text: str) -> None:
    """Write a small file so that it holds the whole text or what it held before, also after a power cut."""
    new = path.with_name(f"{path.name}.new")
    new.write_text(text, "utf-8")
    flush_to_disk(new)
    new.replace(path)
    flush_to_disk(path.parent)
