"""Callgauge measures which models and which prompts make tool calls that work.

In an installed wheel, the packages `ingest` and `lenient` are in the folder `_bundled` of this package. So
Callgauge and the distribution `callgauge-lenient` share no file, and each can be uninstalled without damage
to the other.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from callgauge.notebooks import Comparison, Store, StoreQuestionError, open_store

__all__ = ["Comparison", "Store", "StoreQuestionError", "open_store"]

# The folder exists only in an installed wheel.
_BUNDLED = Path(__file__).resolve().parent / "_bundled"
if _BUNDLED.is_dir() and str(_BUNDLED) not in sys.path:
    sys.path.insert(0, str(_BUNDLED))


def __getattr__(name: str) -> Any:
    """Return a name of `callgauge.notebooks`, so that pandas and DuckDB are imported only when needed."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from callgauge import notebooks

    return getattr(notebooks, name)
