"""Read the scripts and styles of components, with a cache, because every table needs them."""

from __future__ import annotations

from functools import cache
from pathlib import Path


@cache
def read_source(beside: str, *names: str) -> str:
    """Return the joined text of files in the folder of the module `beside` (its `__file__`)."""
    return "".join(Path(beside).with_name(name).read_text(encoding="utf-8") for name in names)


def beside_folder(module: str) -> str:
    """Return the path of a module's folder, so that `read_source` reads files next to the folder."""
    return str(Path(module).parent)
