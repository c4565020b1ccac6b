"""Nothing in, a process that never imports pandas out; for those that load and draw nothing."""

from __future__ import annotations

import sys


def leave_pandas_out() -> None:
    """Arrow and DuckDB import pandas where they can, to know its tables: 40 MB and a quarter of a second.

    For the whole process, and once it is called for good.
    """
    if not any(isinstance(finder, _WithoutPandas) for finder in sys.meta_path):
        sys.meta_path.insert(0, _WithoutPandas())


class _WithoutPandas:
    def find_spec(self, name: str, path: object = None, target: object = None) -> None:  # noqa: ARG002
        if name == "pandas":
            raise ModuleNotFoundError(name)
