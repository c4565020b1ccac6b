"""Reads the scripts and styles of components, with a cache."""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache
def read_source(beside: str, *names: str) -> str:
    """Return the joined text of files in the folder of a module. `beside` is the `__file__` of the module."""
    return "".join(Path(beside).with_name(name).read_text(encoding="utf-8") for name in names)


def beside_folder(module: str) -> str:
    """Return the path with which `read_source` reads files from the parent folder of a module."""
    return str(Path(module).parent)
