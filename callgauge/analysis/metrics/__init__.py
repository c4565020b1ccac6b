"""Metrics: each `.sql` file in this folder is a query with named parameters that gives a data frame.

A file begins with a comment header: `title:`, `question:`, `unit:`, `days:` (how the query uses the days of
daily sums, see `DaysUsed`), `facts:` (which calls and turns the query selects, see `FactsUsed`), a `note:`
line for each sentence that a user needs, and a `column NAME:` line for each result column that needs an
explanation. Missing `$name` parameters are NULL, and NULL means all. Exception: if `$runs` and `$arms` are
NULL, trials are excluded. `{filters: days, models}` becomes the clauses of these filters in
`clauses/filters.sql`, joined by AND. `{filters a_: models}` becomes the same clauses with the parameters
`$a_models` and so on. `{value: by}` becomes the value of the dimension that `$by` names
(`clauses/dimension.sql`). `{value in: by}` becomes the value of the dimension that the column `by` names.
`{groups: rate, slice}` becomes the tables that sum up session groups by these columns (`clauses/groups.sql`).
"""

from __future__ import annotations

import json
import logging
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import duckdb

from callgauge.analysis.metrics.session_filters import (
    name_session_filters,
    narrow_to_sessions,
    read_session_filters,
)
from ingest.store.segments import has_segments, is_of_object_store, narrow_facts, narrow_sums

if TYPE_CHECKING:  # the report of a load also uses metrics, but does not need these slow imports
    import pandas as pd

_LOG = logging.getLogger(__name__)
_STATEMENTS: dict[str, duckdb.Statement] = {}
_SEGMENTED: WeakKeyDictionary[duckdb.DuckDBPyConnection, bool] = WeakKeyDictionary()
_FOLDER = Path(__file__).parent
_FIELD = re.compile(r"^-- (title|question|unit|days|facts|note|column (\w+)): (.+)$")
_CLAUSE = re.compile(r"^-- (\w+)\n(.+)$", re.MULTILINE)
_FILTERS = re.compile(r"^( *)(.*?)\{filters(?: (\w+))?: ([\w, ]+)\}", re.MULTILINE)
_VALUE = re.compile(r"\{value( in)?: (\w+)\}")
_TABLES = re.compile(r"\{(days|groups): ([\w, ]+)\}")
_SUMS_OF_DAYS, _SUMS_OF_GROUPS = "sums AS (\n", "numbered AS MATERIALIZED ("
GROUPS = "group_ids"
"""A column of the metrics whose rates get an interval."""
_DAYS, _DAY = "days", "day"
_WHOLE_MONTHS = """
    SELECT EXISTS (
        FROM segments
        WHERE month IS NOT NULL AND coalesce(month >= $first, true) AND coalesce(last_day <= $last, true)
    )"""
PARAMETER = re.compile(r"\$([a-z_]+)")
"""Matches a named parameter in the SQL of a metric."""


class MetricError(Exception):
    """Raised when the store cannot answer a metric. The message is one sentence for the user."""


class DaysUsed(StrEnum):
    """How a metric uses the days of the daily sums.

    A metric with the parameters $from_day and $to_day reads only the sums of these days, except if the metric
    is marked as ALL.
    """

    # sums of months are enough, except for results by 'day' and for days on which $prices change
    ADDED_UP = "added up"
    KEPT_APART = "kept apart"
    ALL = "all"


class FactsUsed(StrEnum):
    """Which rows of calls and turns a metric uses, before the filters of the metric apply."""

    NEWEST_TURNS = "newest turns"  # only turns of the newest day
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Metric:
    """One query of the store, stored in a `.sql` file.

    `question` says what the query answers. `notes` says how the query counts, in sentences for users.
    `columns` holds the meaning of each result column. `parameters` holds the `$names` in the SQL.
    """

    name: str
    title: str
    question: str
    unit: str
    notes: tuple[str, ...]
    columns: Mapping[str, str]
    parameters: frozenset[str]
    days: DaysUsed
    facts: FactsUsed
    sql: str

    @property
    def sql_of_days(self) -> tuple[str, tuple[str, ...]]:
        """The section of the SQL that counts each day (`clauses/days.sql`), and its key columns."""
        before, _, after = self.sql.partition(_SUMS_OF_DAYS)
        keys = after.partition(", sum(k)")[0].strip().removeprefix("SELECT ")
        tables = before + _SUMS_OF_DAYS + after.partition(_SUMS_OF_GROUPS)[0].rstrip().rstrip(",")
        return f"{tables}\nSELECT {keys}, days, day_k, day_n FROM sums", tuple(keys.split(", "))

    def choose_arguments(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments on which the answer depends. A page has filters that some metrics lack."""
        names = self.parameters | name_session_filters(self.parameters)
        return {name: value for name, value in arguments.items() if name in names and value is not None}

    def adds_up_days(self, parameters: Mapping[str, Any]) -> bool:
        """Return True when the sums of whole months give the same answer as the sums of days."""
        by_day = any(parameters.get(name) == "day" for name in self.parameters)
        return self.days is DaysUsed.ADDED_UP and not by_day


@cache
def metrics() -> dict[str, Metric]:
    """Return every metric of this folder, by the name of its file."""
    return {path.stem: _read_metric(path) for path in sorted(_FOLDER.glob("*.sql"))}


@cache
def filter_clauses() -> dict[str, str]:
    """Return the SQL of each filter by filter name."""
    return dict(_CLAUSE.findall((_FOLDER / "clauses" / "filters.sql").read_text(encoding="utf-8")))


def include_filters(sql: str) -> str:
    """Return the SQL after replacing each `{filters: …}` by clauses.

    Raises KeyError for an unknown filter.
    """

    def write_clauses(match: re.Match[str]) -> str:
        indent, before, prefix, names = match.groups(default="")
        clauses = [filter_clauses()[name.strip()] for name in names.split(",")]
        joined = f"\n{indent}{'' if before.startswith('AND') else '  '}AND ".join(clauses)
        return indent + before + PARAMETER.sub(rf"${prefix}\1", joined)

    # The loop is needed because a line may contain two placeholders.
    while (included := _FILTERS.sub(write_clauses, sql)) != sql:
        sql = included
    return sql


def include_values(sql: str) -> str:
    """Return the SQL with each `{value: name}` replaced by the value of the dimension that `$name` names.

    `{value in: name}` takes the dimension from the column `name`.
    """
    value = _read_clause("dimension")
    return _VALUE.sub(
        lambda match: value.replace("$dimension", f'"{match[2]}"' if match[1] else f"${match[2]}"), sql
    )


def include_tables(sql: str) -> str:
    """Return the SQL after replacing each `{groups: …}` by tables that sum up days or session groups."""
    return _TABLES.sub(lambda match: _read_clause(match[1]).replace("$keys", match[2]), sql)


def _read_clause(name: str) -> str:
    text = (_FOLDER / "clauses" / f"{name}.sql").read_text(encoding="utf-8")
    return "\n".join(line for line in text.splitlines() if not line.startswith("--"))


def _read_metric(path: Path) -> Metric:
    sql = include_tables(include_values(include_filters(path.read_text(encoding="utf-8"))))
    fields: dict[str, str] = {}
    columns: dict[str, str] = {}
    notes: list[str] = []
    for field, column, text in (
        field_match.groups() for line in sql.splitlines() if (field_match := _FIELD.match(line))
    ):
        if field == "note":
            notes.append(text)
        else:
            (columns if column else fields)[column or field] = text
    code = "\n".join(line for line in sql.splitlines() if not line.startswith("--"))
    return Metric(
        name=path.stem,
        title=fields["title"],
        question=fields["question"],
        unit=fields["unit"],
        notes=tuple(notes),
        columns=columns,
        parameters=frozenset(PARAMETER.findall(code)),
        days=DaysUsed(fields.get("days", DaysUsed.ALL)),
        facts=FactsUsed(fields.get("facts", FactsUsed.ALL)),
        sql=sql,
    )


def answer_metric(
    connection: duckdb.DuckDBPyConnection, name: str, parameters: Mapping[str, Any]
) -> pd.DataFrame:
    """Return the rows of metric `name`.

    Columns have the dtype `object`, so that values keep their Python types. The columns group_… and day… hold
    counts by session group and by day, as Arrow lists. Parameters that the metric does not have are ignored.
    Raises MetricError when the store cannot answer.
    """
    metric = metrics()[name]
    with _explain_errors(metric):
        cursor = _execute(connection, name, parameters)
        names = [column[0] for column in cursor.description or ()]
        if GROUPS in names:
            frame = _to_frame(names, cursor)
            has_months = (
                _DAYS in names
                and metric.adds_up_days(parameters)
                and not _read_sessions(metric, parameters)
                and adds_up_months(connection, parameters.get("from_day"), parameters.get("to_day"))
            )
            return _tell_days_apart(frame, connection, metric, parameters) if has_months else frame
        rows = cursor.fetchall()
    import pandas as pd

    return pd.DataFrame(rows, columns=pd.Index(names), dtype=object)


def _to_frame(names: Sequence[str], cursor: duckdb.DuckDBPyConnection) -> pd.DataFrame:
    import pandas as pd

    with _allow_copies():
        table: Any = cursor.to_arrow_table()
    return pd.DataFrame(
        {
            name: pd.array(column, dtype=pd.ArrowDtype(column.type))
            if name.startswith(("group_", _DAY))
            else pd.Series(column.to_pylist(), dtype=object)
            for name, column in zip(names, table.columns, strict=True)
        }
    )


def adds_up_months(connection: duckdb.DuckDBPyConnection, from_day: date | None, to_day: date | None) -> bool:
    """Return True when a query of these days may use the totals of a whole month. None is no bound."""
    if not _is_segmented(connection):
        return False
    cursor = connection.cursor().execute(_WHOLE_MONTHS, {"first": from_day, "last": to_day})
    return cursor.fetchone() == (True,)


def _tell_days_apart(
    frame: pd.DataFrame, connection: duckdb.DuckDBPyConnection, metric: Metric, parameters: Mapping[str, Any]
) -> pd.DataFrame:
    """Return an answer that was summed up from months, with the counts of each day added."""
    import pandas as pd

    sql, keys = metric.sql_of_days
    cursor = connection.cursor()
    listed = {key: parameters.get(key) for key in metric.parameters}
    narrow_sums(cursor, sql, listed.get("from_day"), listed.get("to_day"), added_up=False)
    cursor.execute(sql, {key: listed[key] for key in PARAMETER.findall(sql)})
    days = _to_frame([column[0] for column in cursor.description or ()], cursor)
    places = {row: place for place, row in enumerate(zip(*(days[key] for key in keys), strict=True))}
    order = [places[row] for row in zip(*(frame[key] for key in keys), strict=True)]
    sorted_days = days.take(pd.Index(order, dtype="int64").to_numpy()).set_index(frame.index)
    return frame.assign(**{name: sorted_days[name] for name in days.columns if name.startswith(_DAY)})


@contextmanager
def open_answer(
    connection: duckdb.DuckDBPyConnection, name: str, parameters: Mapping[str, Any], most: int | None = None
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a cursor that fetches at most `most` rows of metric `name` in batches. Raises MetricError."""
    with _explain_errors(metrics()[name]):
        yield _execute(connection, name, parameters, most)


def read_arrow(cursor: duckdb.DuckDBPyConnection, size: int) -> Any:
    """Return a reader that fetches the rows of a cursor as Arrow batches of up to `size` rows."""
    with _allow_copies():
        return cursor.to_arrow_reader(size)


@contextmanager
def _allow_copies() -> Iterator[None]:
    with warnings.catch_warnings():
        # This way copies the rows. A DuckDB relation does not copy, but plans the query twice, which takes
        # longer.
        warnings.filterwarnings("ignore", "Arrow output on a DB-API result", UserWarning)
        yield


def read_batches(
    connection: duckdb.DuckDBPyConnection, name: str, parameters: Mapping[str, Any], size: int
) -> Iterator[list[tuple[Any, ...]]]:
    """Yield the rows of metric `name` as lists of up to `size` tuples, to save memory. Raises MetricError."""
    with open_answer(connection, name, parameters) as cursor:
        while rows := cursor.fetchmany(size):
            yield rows


def read_rows(
    connection: duckdb.DuckDBPyConnection, name: str, parameters: Mapping[str, Any]
) -> list[dict[Any, Any]]:
    """Return the rows of metric `name` as dicts, without pandas. Raises MetricError."""
    with _explain_errors(metrics()[name]):
        cursor = _execute(connection, name, parameters)
        names = [column[0] for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def _execute(
    connection: duckdb.DuckDBPyConnection, name: str, parameters: Mapping[str, Any], most: int | None = None
) -> duckdb.DuckDBPyConnection:
    metric = metrics()[name]
    sql = metric.sql if most is None else f"FROM (\n{metric.sql}\n) LIMIT {most:d}"
    cursor = connection.cursor()
    if sessions := _read_sessions(metric, parameters):
        has_days = metric.days is not DaysUsed.ALL and {"from_day", "to_day"} <= metric.parameters
        days = (parameters.get("from_day"), parameters.get("to_day")) if has_days else (None, None)
        narrow_to_sessions(cursor, sql, sessions, *days)
    elif _is_segmented(connection):
        _narrow(cursor, metric, sql, parameters)
    query = sql if most is not None else _parse(cursor, name)
    return cursor.execute(query, {key: parameters.get(key) for key in metric.parameters})


def _is_segmented(connection: duckdb.DuckDBPyConnection) -> bool:
    """Return True when the store file has segment files, read once for each connection.

    A published store file never changes.
    """
    if connection not in _SEGMENTED:
        _SEGMENTED[connection] = has_segments(connection.cursor())
    return _SEGMENTED[connection]


def _parse(cursor: duckdb.DuckDBPyConnection, name: str) -> duckdb.Statement:
    """Return the statement of metric `name`, from a cache because parsing takes longer than many queries."""
    if name not in _STATEMENTS:
        (_STATEMENTS[name],) = cursor.extract_statements(metrics()[name].sql)
    return _STATEMENTS[name]


def _read_sessions(metric: Metric, parameters: Mapping[str, Any]) -> Mapping[str, Sequence[str]]:
    try:
        return read_session_filters(metric.parameters, parameters)
    except ValueError as problem:
        raise MetricError(f"The store cannot answer “{metric.title}”: {problem}") from None


def _narrow(
    cursor: duckdb.DuckDBPyConnection, metric: Metric, sql: str, parameters: Mapping[str, Any]
) -> None:
    """Restrict a cursor to those data files of the store that a metric needs."""
    first_day, last_day = parameters.get("first_day"), parameters.get("last_day")
    # A metric with both parameters reads no calls or turns of other days.
    if {"first_day", "last_day"} <= metric.parameters and first_day and last_day:
        narrow_facts(cursor, sql, first_day, last_day)
    if metric.facts is FactsUsed.NEWEST_TURNS and (newest := _find_newest_day(cursor, parameters)):
        narrow_facts(cursor, sql, newest, newest)
    if metric.days is not DaysUsed.ALL:
        parameters = {name: parameters.get(name) for name in metric.parameters}
        narrow_sums(
            cursor,
            sql,
            parameters.get("from_day"),
            parameters.get("to_day"),
            added_up=metric.adds_up_days(parameters),
            apart=_price_days(parameters.get("prices")),
        )


def _find_newest_day(cursor: duckdb.DuckDBPyConnection, parameters: Mapping[str, Any]) -> date | None:
    """Return the newest day with a turn, among the turns that the trial filters select."""
    sql = include_filters("SELECT max(day) FROM daily_turns WHERE {filters: trials}")
    row = cursor.execute(sql, {name: parameters.get(name) for name in PARAMETER.findall(sql)}).fetchone()
    return row[0] if row else None


def _price_days(prices: str | None) -> list[date]:
    """Return the days on which prices change. `prices` is the parameter `$prices` of the metric `costs`."""
    changes = {price.get(name) for price in json.loads(prices or "[]") for name in ("from_day", "to_day")}
    return sorted(date.fromisoformat(day) for day in changes if day)


@contextmanager
def _explain_errors(metric: Metric) -> Iterator[None]:
    try:
        yield
    except (duckdb.IOException, duckdb.InternalException, duckdb.FatalException) as broken:
        _LOG.error("The metric %s has no answer: %s", metric.name, broken)
        # The messages of these errors contain file names of this machine.
        raise MetricError(
            f"The store could not answer “{metric.title}”; the server's log has the reason"
        ) from broken
    except duckdb.Error as refused:
        if is_of_object_store(refused):
            _LOG.error("The metric %s has no answer: %s", metric.name, refused)
            raise MetricError(
                f"The store could not answer “{metric.title}” now: older calls are in an object store, which "
                "cannot be reached; try again in a moment"
            ) from refused
        raise MetricError(f"The store could not answer “{metric.title}”: {first_line(refused)}") from refused


def first_line(problem: BaseException) -> str:
    return str(problem).strip().split("\n", 1)[0]
