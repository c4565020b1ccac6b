"""The option `--days` of the commands that compare calls."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from callgauge.cli import render
from callgauge.cli.render.exit_codes import ExitCode
from ingest.time_ranges import TimeRange, read_range

if TYPE_CHECKING:
    from callgauge.analysis.comparisons.strata_queries import Ask
    from ingest.time_ranges import Days

DaysText = Annotated[
    str, typer.Option("--days", metavar="DAYS", help="The days to compare, such as 7 days or all.")
]


def read_days(text: str) -> TimeRange:
    """Return the range that the option names. Exits with a message if the text is not a range of days."""
    try:
        return read_range(text, datetime.now(UTC).date())
    except ValueError as problem:
        render.fail(f"--days {problem}", ExitCode.WRONG_USE)


def find_days(ask: Ask, span: TimeRange) -> Days | None:
    """Return the first and the last day of a range in a store. Return None for all days.

    If no call of the store has a day, a range of days would select no call. So the result is None.
    """
    newest = ask("extent").iloc[0].last_day
    return span.resolve(newest, datetime.now(UTC).date()) if newest else None


def choose_days(days: Days | None) -> dict[str, object]:
    """Return the parameters of a metric that select days."""
    first, last = days or (None, None)
    return {"from_day": first, "to_day": last}
