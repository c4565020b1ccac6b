"""Keeps pandas out of processes that load logs and draw nothing."""

from __future__ import annotations

import sys


def leave_pandas_out() -> None:
    """Arrow and DuckDB import pandas where they can, to know its tables: 40 MB and a quarter of a second.

    For the whole process, and once it is called for good.
    """
    if not any(isinstance(finder, PandasBlocker) for finder in sys.meta_path):
        sys.meta_path.insert(0, PandasBlocker())


class PandasBlocker:
    def find_spec(self, name: str, path: object = None, target: object = None) -> None:  # noqa: ARG002
        if name == "pandas":
            raise ModuleNotFoundError(name)
