"""Reads the scripts and styles of components, with a cache, since every table needs them."""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache
def read_source(beside: str, *names: str) -> str:
    """Return the text of the files that lie beside the module `beside` (its `__file__`), joined in order."""
    return "".join(Path(beside).with_name(name).read_text(encoding="utf-8") for name in names)


def beside_folder(module: str) -> str:
    """Return the path of a module's folder, for `read_source` of the files that lie beside the folder."""
    return str(Path(module).parent)
