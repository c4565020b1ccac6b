"""The option `--days` of the commands that compare calls, and the calls that it chooses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from callgauge.cli import render
from callgauge.cli.render.exit_codes import ExitCode
from ingest.processes import let_pandas_in
from ingest.time_ranges import PRESETS, read_range

if TYPE_CHECKING:
    from callgauge.analysis.metrics.published_store import StoreReader
    from callgauge.api.questions.slice_filters import ChosenFilters


def _check_days(text: str | None) -> str | None:
    try:
        read_range(text or PRESETS[0], datetime.now(UTC).date())
    except ValueError as problem:
        render.fail(f"--days {problem}", ExitCode.WRONG_USE)
    return text


DaysText = Annotated[
    str | None,
    typer.Option(
        "--days",
        metavar="DAYS",
        callback=_check_days,
        help=f"The days of the calls, such as 7 days or all. [default: {PRESETS[0]}]",
    ),
]


@contextmanager
def read_calls(
    store: Path, days: str | None, *, texts: bool, **names: str | None
) -> Iterator[tuple[StoreReader, ChosenFilters]]:
    """Yield a reader of a store, and the filters that choose the calls of these days.

    `names` holds the only value of a dimension, such as `tool`. If `texts` is False, log content is hidden.
    Exits with a message if the store or its memory cannot be read, or if no log contains a name.
    """
    let_pandas_in()  # The metrics of the pages are pandas data frames.
    from callgauge.analysis.metrics import MetricError
    from callgauge.analysis.metrics.published_store import UnshownStoreError, read_store
    from callgauge.api.questions.problems import ProblemError
    from callgauge.api.questions.slice_filters import choose_filters
    from callgauge.memory.memory_file import MemoryProblemError

    chosen = {name: (value,) for name, value in names.items() if value is not None}
    try:
        with read_store(store, texts=texts) as reader:
            yield reader, choose_filters(reader.ask, {"days": days, **chosen})
    except ProblemError as problem:
        render.fail(str(problem), ExitCode.WRONG_USE)
    except (UnshownStoreError, MetricError, MemoryProblemError) as problem:
        render.fail(str(problem), ExitCode.FAILED)
