"""Decides the alerts of a store: which rates changed on the newest days, since when, and for which calls.

The alerts depend only on the daily sums. Every change of a store decides the alerts again. Pages only read
the alerts.

The newest tested day is the day before the last load, or the newest day with calls if this is earlier. If
this day has less than a tenth of the usual calls, the previous day is tested.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from ingest.store.connection import Connection
from ingest.store.generation_file import GenerationBuilder
from ingest.store.scripts import run_often

if TYPE_CHECKING:
    from callgauge.stats.over_time.window_changes import MeasuredChange, WindowChange

RATES_OF_CALLS = ("parse_error", "emission", "tool_rejected", "execution")
RATES_OF_TURNS = ("turn_success",)
"""Rates of turns that are tested each night. They are not tested by tool, because a turn may call several
tools.
"""
DIMENSIONS = (
    ("model", None), ("prompt", None), ("provider", None), ("tool", None),
    ("model", "provider"), ("model", "prompt"), ("model", "tool"),
)  # fmt: skip
"""The dimensions, and pairs of dimensions, for whose values each rate is tested."""
_COLUMNS = {"model": "model", "prompt": "prompt_id", "provider": "provider", "tool": "tool"}
# If there are more pairs, those with the fewest observations are left out; 1,000 series take 140 MB.
_MOST_SERIES = 1_000
_LEAST_DAYS = 6  # at least five days before a change, and one after it
_LEAST_CALLS = 60  # at least 30 calls before a change and 30 after it
_LEAST_SESSIONS = 20
# The remaining calls count as unchanged if p, multiplied by the number of alerts of the rate, is at least
# this.
_PART = 0.05
_MOST_VALUES = 200  # largest number of values per dimension in which a change is located
_RULES = 1  # increase this number when the same daily sums must give other alerts

_EXTENT = """
    SELECT
        min(day), max(day), count(DISTINCT day), sum(calls)::BIGINT,
        (SELECT max(finished_at)::DATE FROM ingest_runs)
    FROM stored_daily_calls WHERE day IS NOT NULL AND trial_run IS NULL"""
# Returns the previous day if the tested day has less than a tenth of the usual calls.
_USUAL_CALLS = """
    WITH calls AS (
        SELECT day, sum(calls) AS calls FROM stored_daily_calls
        WHERE day BETWEEN $night::DATE - 14 AND $night AND trial_run IS NULL GROUP BY day
    )
    SELECT if(
        count(*) FILTER (day < $night) >= 5
            AND coalesce(sum(calls) FILTER (day = $night), 0) < 0.1 * median(calls) FILTER (day < $night),
        max(day) FILTER (day < $night), NULL
    ) FROM calls"""
_IS_KNOWN = "SELECT EXISTS (FROM alert_night)"
_OF_NIGHTS = """
    day BETWEEN $first AND $night AND trial_run IS NULL
    AND (list_contains($calls, rate) OR (cut = 'all' AND list_contains($turns, rate)))"""
_FINGERPRINT = f"""
    SELECT sum(hash(
        rate, cut, day, model, provider, prompt_id, tool, k, n, sessions, group_ids, group_k, group_n
    )::HUGEINT)::VARCHAR
    FROM stored_daily_rates WHERE {_OF_NIGHTS}"""  # noqa: S608 - our own text
# Each combination of the dimensions is a cell with a number, because grouping by the names takes long.
_CELLS = f"""
    CREATE OR REPLACE TEMP TABLE alert_cells AS
    SELECT row_number() OVER ()::INTEGER AS cell, * FROM (
        SELECT
            rate, cut = 'tool' AS by_tool, model, provider, prompt_id, tool,
            sum(n) AS n, sum(sessions) AS sessions
        FROM stored_daily_rates WHERE {_OF_NIGHTS} GROUP BY ALL
    )"""  # noqa: S608 - our own text
_ROWS = f"""
    SELECT c.*, date_diff('day', $first, day)::INTEGER AS place, r.sessions, group_ids, group_k, group_n
    FROM (FROM stored_daily_rates WHERE {_OF_NIGHTS}) r
    JOIN (SELECT * EXCLUDE (n, sessions) FROM alert_cells) c
        ON r.rate = c.rate AND (r.cut = 'tool') = c.by_tool
        AND r.model IS NOT DISTINCT FROM c.model AND r.provider IS NOT DISTINCT FROM c.provider
        AND r.prompt_id IS NOT DISTINCT FROM c.prompt_id AND r.tool IS NOT DISTINCT FROM c.tool"""  # noqa: S608
_ENTRIES = f"""
    SELECT
        * EXCLUDE (sessions, group_ids, group_k, group_n),
        unnest(group_ids) AS session_group, unnest(group_k) AS k, unnest(group_n) AS n
    FROM ({_ROWS})"""  # noqa: S608 - our own text
_KEEP_ENTRIES = f"CREATE OR REPLACE TEMP TABLE alert_entries AS {_ENTRIES}"
_NAMED = """{{
    'dimension': '{dimension}', 'name': {column},
    'second_dimension': '{second_dimension}', 'second_name': {second_column}
}}"""
# Leaves out a pair with as many observations as one of its values, because both series are equal.
_SERIES = """
    CREATE OR REPLACE TEMP TABLE alert_series AS
    WITH
        named AS (
            SELECT
                rate, n, sessions, cell,
                unnest(if(by_tool, {names_by_tool}, {names}), recursive := true)
            FROM alert_cells
        ),
        known AS (
            SELECT
                dimension, name, second_dimension, second_name, rate, sum(n) AS n, sum(sessions) AS sessions,
                list(cell) AS cells
            FROM named WHERE name IS NOT NULL AND second_name IS NOT NULL GROUP BY ALL
        ),
        whole AS (SELECT dimension, name, rate, n FROM known WHERE second_dimension = ''),
        chosen AS (
            FROM known k
            WHERE n >= $least_calls AND sessions >= $least_sessions AND (second_dimension = '' OR NOT EXISTS (
                FROM whole w
                WHERE w.rate = k.rate AND w.n = k.n
                    AND (w.dimension, w.name) IN ((k.dimension, k.name), (k.second_dimension, k.second_name))
            ))
        )
    SELECT
        (row_number() OVER (
            ORDER BY second_dimension <> '', n DESC, rate, dimension, name, second_dimension, second_name
        ) - 1)::INTEGER AS number,
        dimension, name, second_dimension, second_name, rate, cells
    FROM chosen ORDER BY number LIMIT $most"""
_MEMBERS = "(SELECT number, unnest(cells) AS cell FROM alert_series)"
_COUNTS = f"""
    SELECT number, place, session_group, sum(k)::BIGINT AS k, sum(n)::BIGINT AS n
    FROM ({_ENTRIES}) JOIN {_MEMBERS} USING (cell) GROUP BY ALL"""  # noqa: S608 - our own text
_SESSIONS = f"""
    SELECT number, place, sum(sessions)::BIGINT AS sessions
    FROM ({_ROWS}) JOIN {_MEMBERS} USING (cell) GROUP BY ALL"""  # noqa: S608 - our own text
_OF_ONE = """
    SELECT place, session_group, sum(k)::BIGINT AS k, sum(n)::BIGINT AS n
    FROM alert_entries WHERE rate = $rate AND by_tool = $by_tool AND {chosen} GROUP BY ALL"""
_VALUES = f"""
    SELECT {{column}} AS value FROM alert_entries
    WHERE rate = $rate AND by_tool = $by_tool AND {{chosen}} AND {{column}} IS NOT NULL
    GROUP BY value ORDER BY sum(n) DESC, value LIMIT {_MOST_VALUES}"""  # noqa: S608 - our own text
_LIST = "SELECT * EXCLUDE (number, cells) FROM alert_series ORDER BY number"
_CLEAR = "DELETE FROM alerts; DELETE FROM alert_night"
_DROP = "DROP TABLE IF EXISTS alert_entries; DROP TABLE alert_cells; DROP TABLE alert_series"
_INSERT_NIGHT = "INSERT INTO alert_night VALUES (?, ?, ?, ?, ?, ?)"
_INSERT = f"INSERT INTO alerts VALUES ({', '.join('?' * 27)})"  # noqa: S608 - our own text


def decide_alerts(building: GenerationBuilder) -> None:
    """Update the tables `alerts` and `alert_night`. Call this after the daily sums are updated."""
    with building.open_transaction("alerts") as con:
        write_alerts(con)


def write_alerts(con: Connection) -> None:
    """Write the alerts that follow from the daily sums, in the caller's transaction."""
    nights = _Nights.read(con)
    if nights is None:
        if run_often(con, _IS_KNOWN).fetchone() == (True,):
            con.execute(_CLEAR)
        return
    (made_of,) = con.execute(_FINGERPRINT, nights.values()).fetchone() or (None,)
    made_of = f"{_RULES}:{made_of}"
    if con.execute("SELECT made_of, night FROM alert_night").fetchone() == (made_of, nights.night):
        return
    con.execute(_CELLS, nights.values())
    con.execute(_CLEAR)
    series = _read_series(con)
    if series:
        _follow_series(con, nights, series, made_of)
    con.execute(_DROP)


class _Nights(msgspec.Struct, frozen=True):
    """The days to read and the days to test.

    The days from `first` on are read. The days from `begin` to `night` are tested.
    """

    first: date
    begin: date
    night: date

    @classmethod
    def read(cls, con: Connection) -> _Nights | None:
        """Return the days of a store. Return None when there are too few days or calls for any alert."""
        row = run_often(con, _EXTENT).fetchone()
        first, last, days, calls, loaded = row or (None, None, 0, 0, None)
        if first is None or days < _LEAST_DAYS or calls < _LEAST_CALLS:
            return None
        night = last
        if loaded is not None and first < loaded <= last:
            night = loaded - timedelta(1)
        before = run_often(con, _USUAL_CALLS, {"night": night}).fetchone()
        if before and before[0]:
            night = before[0]
        from callgauge.stats.over_time.window_changes import EARLIER, choose_first_night

        begin = date.fromordinal(choose_first_night(night.toordinal()))
        return cls(max(first, begin - timedelta(EARLIER)), max(first, begin), night)

    @property
    def days(self) -> int:
        return (self.night - self.first).days + 1

    def values(self) -> dict[str, Any]:
        return {
            "first": self.first,
            "night": self.night,
            "calls": list(RATES_OF_CALLS),
            "turns": list(RATES_OF_TURNS),
        }

    def day(self, place: int | None) -> date | None:
        return None if place is None else self.first + timedelta(place)


class _WatchedSeries(msgspec.Struct, frozen=True):
    """A series of daily counts that is tested each day.

    `second` is the other dimension if the series belongs to a pair of dimensions.
    """

    dimension: str
    name: str
    second_dimension: str
    second_name: str
    rate: str

    @property
    def values(self) -> Mapping[str, str]:
        """The values that all calls of the series have in common, by column of the daily sums."""
        pairs = ((self.dimension, self.name), (self.second_dimension, self.second_name))
        return {_COLUMNS[dimension]: value for dimension, value in pairs if dimension}

    def make_key(self, since: date) -> str:
        """Return the alert's id for notes and triage. The id is the same on all days."""
        pair = [self.dimension, self.name, self.second_dimension, self.second_name]
        name = pair if self.second_dimension else pair[:2]
        dimension = "+".join(name[::2])
        value = name[1::2] if self.second_dimension else self.name
        return json.dumps(["rate", dimension, value, self.rate, since.isoformat()])


def _write_names(*, by_tool: bool) -> str:
    """Return the SQL list of the names of a cell: one for each dimension, and for each pair of dimensions."""
    names = (
        _NAMED.format(
            dimension=dimension,
            column=_COLUMNS[dimension],
            second_dimension=second or "",
            second_column=_COLUMNS[second] if second else "''",
        )
        for dimension, second in DIMENSIONS
        if by_tool == ("tool" in (dimension, second))
    )
    return f"[{', '.join(names)}]"


def _read_series(con: Connection) -> list[_WatchedSeries]:
    parameters = {"least_calls": _LEAST_CALLS, "least_sessions": _LEAST_SESSIONS, "most": _MOST_SERIES}
    names, names_by_tool = _write_names(by_tool=False), _write_names(by_tool=True)
    con.execute(_SERIES.format(names=names, names_by_tool=names_by_tool), parameters)
    return [_WatchedSeries(*row) for row in con.execute(_LIST).fetchall()]


def _follow_series(con: Connection, nights: _Nights, series: Sequence[_WatchedSeries], made_of: str) -> None:
    from callgauge.stats.over_time.visible_changes import find_visible_changes
    from callgauge.stats.over_time.window_changes import DailySeries, follow_changes

    counts: Any = con.execute(_COUNTS, nights.values()).fetchnumpy()
    sessions: Any = con.execute(_SESSIONS, nights.values()).fetchnumpy()
    tables = {table: number for number, table in enumerate(dict.fromkeys(map(_table_of, series)))}
    daily = DailySeries.from_entries(
        (len(series), nights.days),
        (counts["number"], counts["place"], counts["session_group"], counts["k"], counts["n"]),
        (sessions["number"], sessions["place"], sessions["sessions"]),
        [tables[_table_of(member)] for member in series],
    )
    walk = follow_changes(daily, (nights.begin - nights.first).days)
    models = [
        number for number, member in enumerate(series)
        if (member.dimension, member.second_dimension, member.rate) == ("model", "", RATES_OF_CALLS[0])
    ]  # fmt: skip
    visible = find_visible_changes(daily, models, walk.tests)
    con.execute(_INSERT_NIGHT, [nights.night, walk.series, walk.tests, *visible, made_of])
    if walk.changes:
        con.execute(_KEEP_ENTRIES, nights.values())
    alerts = [_Alert.measure(con, nights, series[change.series], change) for change in walk.changes]
    for alert in _name_leaders(con, nights, alerts):
        con.execute(_INSERT, alert.make_row(nights))


def _table_of(series: _WatchedSeries) -> tuple[str, str, str]:
    return series.dimension, series.second_dimension, series.rate


# --- each alert, and the alert of which it is part --------------------------------------------------


class _Alert(msgspec.Struct):
    """A change of a series. It is measured on the days from the change to the newest tested day."""

    series: _WatchedSeries
    change: WindowChange
    measured: MeasuredChange
    where: tuple[str, str, bool] | None
    part_of: str | None = None

    @classmethod
    def measure(
        cls, con: Connection, nights: _Nights, series: _WatchedSeries, change: WindowChange
    ) -> _Alert:
        from callgauge.stats.over_time.window_changes import measure_change

        counts = _read_counts(con, nights, series.rate, series.values)
        measured = measure_change(counts, change.baseline, change.list_days(nights.days - 1))
        return cls(series, change, measured, _find_place(con, nights, series, change))

    def make_row(self, nights: _Nights) -> list[Any]:
        series, change, measured = self.series, self.change, self.measured
        difference = measured.difference
        size = [difference.estimate, difference.low, difference.high] if difference else [None] * 3
        bounds = measured.now.interval
        interval = [bounds.low, bounds.high] if bounds else [None, None]
        since, *days = (nights.day(day) for day in (change.since, change.found, change.back, change.over))
        baseline = [nights.day(day) for day in (change.baseline[0], change.baseline[-1])]
        where = [*self.where[:2], "only" if self.where[2] else "most"] if self.where else [None] * 3
        return [
            self.key(nights), series.dimension, series.name, series.second_dimension or None,
            series.second_name or None, series.rate, since, *days, change.rose,
            measured.now.k, measured.now.n, *interval, measured.before.k, measured.before.n, *size,
            change.q, *baseline, self.part_of, *where,
        ]  # fmt: skip

    def key(self, nights: _Nights) -> str:
        return self.series.make_key(nights.first + timedelta(self.change.since))


def _name_leaders(con: Connection, nights: _Nights, alerts: Sequence[_Alert]) -> Sequence[_Alert]:
    """Set `part_of` for each alert that a more certain alert explains.

    Alert A explains alert B when B's rate did not change in the calls outside A.
    """
    from callgauge.stats.over_time.window_changes import measure_change

    families: dict[tuple[str, bool], list[_Alert]] = {}
    for alert in alerts:
        families.setdefault((alert.series.rate, alert.change.rose), []).append(alert)
    for family in families.values():
        leaders: list[_Alert] = []
        for alert in _order_family(family):
            met = [leader for leader in leaders if _overlap(leader, alert)]
            if met:
                without = [leader.series.values for leader in met]
                rest = _read_counts(con, nights, alert.series.rate, alert.series.values, without)
                days = alert.change.list_days(nights.days - 1)
                if measure_change(rest, alert.change.baseline, days).p >= _PART / len(family):
                    alert.part_of = met[0].key(nights)
            if alert.part_of is None:
                leaders.append(alert)
    return alerts


def _order_family(family: Sequence[_Alert]) -> list[_Alert]:
    """Return the alerts in order of certainty.

    An alert comes after the alerts for the calls that cause it.
    """
    by_p = sorted(
        family, key=lambda candidate: (candidate.measured.p, candidate.change.series, candidate.change.since)
    )
    ordered: list[_Alert] = []
    for alert in by_p:
        if alert.where and alert.where[2]:
            dimension, value, _ = alert.where
            inner = [
                candidate
                for candidate in by_p
                if candidate.where is None
                and candidate.series.values.get(_COLUMNS[dimension]) == value
                and _overlap(candidate, alert)
            ]
            ordered += inner[:1]
        ordered.append(alert)
    return list({id(candidate): candidate for candidate in ordered}.values())


def _overlap(first: _Alert, other: _Alert) -> bool:
    """Return whether two alerts may have calls in common."""
    values, others = first.series.values, other.series.values
    if any(values[column] != others[column] for column in values.keys() & others.keys()):
        return False
    ends = [first.change.back, other.change.back]
    return all(
        end is None or since < end
        for end, since in zip(ends, (other.change.since, first.change.since), strict=True)
    )


def _find_place(
    con: Connection, nights: _Nights, series: _WatchedSeries, change: WindowChange
) -> tuple[str, str, bool] | None:
    """Return the dimension and the value for which the rate changed. Return None if there is no such value.

    The third item says whether the rate changed only for this value.
    """
    from callgauge.stats.over_time.window_changes import locate_change

    whole = _read_counts(con, nights, series.rate, series.values)
    names, parts = [], []
    for dimension, column in _COLUMNS.items():
        if column in series.values or (dimension == "tool" and series.rate in RATES_OF_TURNS):
            continue
        for value in _list_values(con, series, column):
            names.append((dimension, value))
            parts.append(_read_counts(con, nights, series.rate, {**series.values, column: value}))
    place = locate_change(whole, parts, change.baseline, change.list_days(nights.days - 1))
    return (*names[place[0]], place[1]) if place else None


def _list_values(con: Connection, series: _WatchedSeries, column: str) -> list[str]:
    chosen, values = _write_condition(series.values)
    query = _VALUES.format(column=column, chosen=chosen)
    parameters = {"rate": series.rate, "by_tool": "tool" in (column, *series.values), **values}
    return [value for (value,) in con.execute(query, parameters).fetchall()]


def _read_counts(
    con: Connection,
    nights: _Nights,
    rate: str,
    values: Mapping[str, str],
    without: Sequence[Mapping[str, str]] = (),
) -> Any:
    """Return the counts k and n by day and group.

    A call counts if it has `values` and does not have the values in `without`.
    """
    from callgauge.stats.over_time.window_changes import sum_entries

    chosen, conditions = _write_condition(values)
    parameters: dict[str, Any] = {**conditions}
    for number, left_out in enumerate(without):
        condition, more = _write_condition(left_out, f"without_{number}_")
        chosen += f" AND NOT coalesce({condition}, false)"
        parameters |= more
    by_tool = any("tool" in columns for columns in (values, *without))
    counts: Any = con.execute(
        _OF_ONE.format(chosen=chosen), {"rate": rate, "by_tool": by_tool, **parameters}
    ).fetchnumpy()
    return sum_entries(nights.days, (counts["place"], counts["session_group"], counts["k"], counts["n"]))


def _write_condition(values: Mapping[str, str], prefix: str = "of_") -> tuple[str, dict[str, str]]:
    condition = " AND ".join(f"{column} = ${prefix}{column}" for column in values)
    return f"({condition})", {f"{prefix}{column}": value for column, value in values.items()}
