"""Asks metrics of a store where there is no page: commands, the report, programs that read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from callgauge.analysis.metrics import answer_metric
from callgauge.analysis.metrics.published_store import Connection, open_generation, published_generation

if TYPE_CHECKING:
    import pandas as pd


class StoreReader:
    """Asks metrics of one generation, and keeps each answer. `path`: the generation's file."""

    def __init__(self, connection: Connection, path: Path) -> None:
        self.path = path
        self._connection = connection
        self._answers: dict[tuple[str, tuple[tuple[str, Any], ...]], pd.DataFrame] = {}

    def ask(self, metric: str, **given: Any) -> pd.DataFrame:
        """Return a metric's rows; pass lists as tuples. Raises MetricError."""
        known = tuple(sorted((name, value) for name, value in given.items() if value is not None))
        if (metric, known) not in self._answers:
            listed = {name: list(value) if isinstance(value, tuple) else value for name, value in known}
            self._answers[metric, known] = answer_metric(self._connection, metric, listed)
        return self._answers[metric, known]


@contextmanager
def read_store(folder: Path, *, texts: bool) -> Iterator[StoreReader]:
    """Open the generation that a store publishes, and close it afterwards. Raises UnshownStoreError.

    `texts`: whether texts are seen.
    """
    path = published_generation(str(folder))
    connection = open_generation(path, texts=texts)
    try:
        yield StoreReader(connection, path)
    finally:
        connection.close()
