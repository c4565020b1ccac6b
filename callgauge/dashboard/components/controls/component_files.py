"""Reads the scripts and styles of components, with a cache."""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache
def read_source(beside: str, *names: str) -> str:
    """Return the joined content of files next to a module. `beside` is the `__file__` of the module."""
    return "".join(Path(beside).with_name(name).read_text(encoding="utf-8") for name in names)


def beside_folder(module: str) -> str:
    """Return the path of the parent folder of a module, for `read_source`."""
    return str(Path(module).parent)
