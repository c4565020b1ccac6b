"""Prevents the import of pandas in processes that load logs."""

from __future__ import annotations

import sys


def leave_pandas_out() -> None:
    """Make every later import of pandas in this process fail; a second call has no effect.

    Arrow and DuckDB import pandas when it is installed, to recognise its tables. That costs 40 MB and a
    quarter of a second.
    """
    if not any(isinstance(finder, PandasBlocker) for finder in sys.meta_path):
        sys.meta_path.insert(0, PandasBlocker())


def let_pandas_in() -> None:
    """Undo `leave_pandas_out`, for a command that asks the metrics of the pages."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, PandasBlocker)]


class PandasBlocker:
    def find_spec(self, name: str, path: object = None, target: object = None) -> None:  # noqa: ARG002
        if name == "pandas":
            raise ModuleNotFoundError(name)
