"""Describes the tables of daily sums: whether each column is a key, is added up, or has extremes.

A script in `rollups` selects each table's rows for the days in `touched_days`, from the views that
`settling/rollup.py` makes. Rows with `is_before` are what the changed sessions added to the sums before the
load.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from ingest.store.scripts import read_script

_WHO = ("day", "source", "provider", "model", "prompt_id", "trial_run", "arm")
_TRIAL = ("trial_run", "arm")
_TOOL = ("tool", "mcp_server")
_DAYS = "WHERE EXISTS (FROM touched_days t WHERE t.day IS NOT DISTINCT FROM {name}.day)"
_SAME_DAY = {False: "d.day = c.day", True: "d.day IS NULL AND c.day IS NULL"}


class Extreme(msgspec.Struct, frozen=True):
    """Columns of which the smallest or the largest values are kept. Rows are compared by these columns in
    order.
    """

    columns: tuple[str, ...]
    is_largest: bool = True


class Counted(msgspec.Struct, frozen=True):
    """The rows that a script counts.

    If the aggregate `number` over the view `facts` is 0, the script returns no rows.
    """

    facts: str
    number: str


class DailyTable(msgspec.Struct, frozen=True):
    """A table of daily sums. Columns that are not named here are added up.

    A row is removed when its column `counts` is 0. `groups` are list columns parallel to `group_ids`. The
    lists contain only groups whose value in the last list is above 0. `order` sorts the rows of a day. If
    `counted` is None, every load adds rows.
    """

    name: str
    keys: tuple[str, ...]
    counts: str
    groups: tuple[str, ...] = ()
    extremes: tuple[Extreme, ...] = ()
    order: tuple[str, ...] = ()
    counted: Counted | None = None

    def script(self) -> str:
        """Return the query for the table's rows of the days in `touched_days`, before and after the load."""
        return read_script(f"rollups/{self.name.removeprefix('daily_')}.sql")

    def delete_days(self) -> str:
        """Return the statement that removes the rows of the days in `touched_days`."""
        return f"DELETE FROM {self.name} {_DAYS.format(name=self.name)}"  # noqa: S608 - our own names

    def insert_days(self) -> str:
        """Return the statement that inserts the script's rows for the state after the load."""
        order = f"ORDER BY {', '.join(self.order)}" if self.order else ""
        return (
            f"INSERT INTO {self.name} BY NAME "  # noqa: S608 - our own names
            f"SELECT * EXCLUDE (is_before) FROM ({self.script()}) WHERE NOT is_before {order}"
        )

    def note_change(self, *, has_before: bool) -> str:
        """Return the statement that stores the script's rows in the temporary table `change`.

        Rows that the load does not change are left out.
        """
        query = self.script()
        if has_before:
            query = (
                "SELECT * EXCLUDE (is_before), any_value(is_before) AS is_before "  # noqa: S608
                f"FROM ({query}) GROUP BY ALL HAVING count(*) = 1"
            )
        return f"CREATE OR REPLACE TEMP TABLE change AS {query}"

    def merge_change(self, columns: Sequence[str], rows: str, *, has_before: bool, dayless: bool) -> str:
        """Return the statement that adds the new rows of a change to the table and subtracts the old rows.

        `columns` are the columns of the table. `rows` is the table `change`, or the query for its rows. If
        `dayless` is True, only rows without a day are merged. If `dayless` is False, only rows with a day are
        merged.
        """
        sums = self._sums(columns)
        same = " AND ".join(
            [_SAME_DAY[dayless], *(f"d.{key} IS NOT DISTINCT FROM c.{key}" for key in self.keys[1:])]
        )
        values = {name: f"d.{name} + c.{name}" for name in sums}
        values |= self._merged_groups(has_before) | self._merged_extremes()
        left = f"d.{self.counts} + c.{self.counts}"
        removal = f"WHEN MATCHED AND {left} = 0 THEN DELETE" if has_before else ""
        # Select only rows with a day, or only rows without. Other rows would match no row here, so MERGE
        # would insert them by mistake.
        changed = f"FROM ({self._changed_rows(sums, rows, has_before)}) WHERE (day IS NULL) = {dayless}"
        return f"""
            MERGE INTO {self.name} d USING ({changed}) c ON {same}
            {removal}
            WHEN MATCHED THEN UPDATE SET {", ".join(f"{name} = {value}" for name, value in values.items())}
            WHEN NOT MATCHED AND c.{self.counts} > 0
                THEN INSERT ({", ".join(columns)}) VALUES ({_prefixed("c", columns)})"""  # noqa: S608

    def sum_month(self, columns: Sequence[str], rows: str) -> str:
        """Return the query that adds up the days of a month. It has one row for each combination of the keys
        except the day.

        `columns` are the columns of the table. `rows` is the query for the days. The day of each result row
        is the first of the month.
        """
        keys = self.keys[1:]
        parts = [
            "date_trunc('month', day)::DATE AS day",
            *keys,
            *(f"sum({name})::BIGINT AS {name}" for name in self._sums(columns)),
            *(part for extreme in self.extremes for part in _largest(extreme)),
        ]
        cells = f"SELECT {', '.join(parts)} FROM {rows} GROUP BY ALL"  # noqa: S608 - our own names
        return self._with_groups(cells, rows)

    def _with_groups(self, cells: str, rows: str) -> str:
        """Return the query for `cells` with the group lists.

        In a single query without row numbers, DuckDB would copy and compare all key columns fifty times.
        """
        if not self.groups:
            return cells
        same = " AND ".join(f"r.{key} IS NOT DISTINCT FROM c.{key}" for key in self.keys[1:])
        unnested = ", ".join(f"unnest(r.{name}) AS {name}" for name in self.groups)
        summed = ", ".join(f"sum({name})::UINTEGER AS {name}" for name in self.groups)
        packed = ", ".join(f"'{name}': {name}" for name in ("id", *self.groups))
        lists = ", ".join(f"coalesce([g.{name} for g in listed], []) AS {name}" for name in self.groups)
        return f"""
            WITH
                cells AS MATERIALIZED (
                    SELECT row_number() OVER ()::UINTEGER AS number, * FROM ({cells})
                ),
                of_groups AS (
                    SELECT number, id, {summed} FROM (
                        SELECT c.number, unnest(r.group_ids) AS id, {unnested}
                        FROM {rows} r JOIN cells c ON {same}
                    ) GROUP BY number, id
                ),
                lists AS (
                    SELECT number, list_sort(list({{{packed}}})) AS listed FROM of_groups GROUP BY number
                )
            SELECT * EXCLUDE (number, listed), coalesce([g.id for g in listed], []) AS group_ids, {lists}
            FROM cells LEFT JOIN lists USING (number)"""  # noqa: S608 - our own names

    def find_lost(self) -> str:
        """Return the query that tells whether any key in `change` may have lost its extreme value."""
        return f"SELECT EXISTS ({self._lost_keys()})"

    def note_lost(self) -> str:
        """Return the statements that add keys to the temporary table `lost_…` if their extreme value may be
        lost.
        """
        keys = self._lost_keys()
        return f"""
            CREATE TEMP TABLE IF NOT EXISTS lost_{self.name} AS FROM ({keys}) LIMIT 0;
            INSERT INTO lost_{self.name} {keys}"""

    def touch_lost_days(self) -> str:
        """Return the statement that restricts `touched_days` to the days of the keys in `lost_…`."""
        return (
            "CREATE OR REPLACE TEMP TABLE touched_days AS "  # noqa: S608
            f"SELECT DISTINCT day FROM lost_{self.name}"
        )

    def renew_extremes(self) -> str:
        """Return the statement that recomputes the extremes of the keys in `lost_…`."""
        named = [name for extreme in self.extremes for name in extreme.columns]
        same = " AND ".join(f"{self.name}.{key} IS NOT DISTINCT FROM a.{key}" for key in self.keys)
        lost = " AND ".join(f"l.{key} IS NOT DISTINCT FROM s.{key}" for key in self.keys)
        return f"""
            UPDATE {self.name} SET {", ".join(f"{name} = a.{name}" for name in named)}
            FROM (FROM ({self.script()}) s WHERE EXISTS (FROM lost_{self.name} l WHERE {lost})) a
            WHERE {same}"""  # noqa: S608

    def _lost_keys(self) -> str:
        worse = " OR ".join(map(_is_worse, self.extremes))
        return f"SELECT {', '.join(self.keys)} FROM change GROUP BY ALL HAVING {worse}"  # noqa: S608

    def _sums(self, columns: Iterable[str]) -> list[str]:
        others = {*self.keys, *self.groups, *(name for extreme in self.extremes for name in extreme.columns)}
        return [name for name in columns if name not in others and name != "group_ids"]

    def _changed_rows(self, sums: Sequence[str], rows: str, has_before: bool) -> str:
        """Return the query for the load's changes, with one row per key: sums, lists and extremes."""
        if not has_before:
            return f"FROM {rows}"
        extreme_names = [name for extreme in self.extremes for name in extreme.columns]
        lists = ("group_ids", *self.groups) if self.groups else ()
        parts = [
            *self.keys,
            *(f"sum(if(is_before, -{name}, {name})) AS {name}" for name in sums),
            *(f"any_value({name}) FILTER (NOT is_before) AS {name}" for name in extreme_names),
            *(f"coalesce(any_value({name}) FILTER (NOT is_before), []) AS {name}" for name in lists),
            *(f"coalesce(any_value({name}) FILTER (is_before), []) AS {name}_before" for name in lists),
        ]
        return f"SELECT {', '.join(parts)} FROM {rows} GROUP BY {', '.join(self.keys)}"  # noqa: S608

    def _merged_groups(self, has_before: bool) -> dict[str, str]:
        if not self.groups:
            return {}
        of_all = {name: _added_groups(name, has_before) for name in self.groups}
        ids = "joined_ids(d.group_ids, c.group_ids)"
        group_ids = f"[id for id in {ids} if {of_all[self.groups[-1]]} > 0]"
        return {
            "group_ids": group_ids,
            **{name: f"[{of_all[name]} for id in {group_ids}]" for name in self.groups},
        }

    def _merged_extremes(self) -> dict[str, str]:
        merged: dict[str, str] = {}
        for extreme in self.extremes:
            if len(extreme.columns) == 1:
                (name,) = extreme.columns
                merged[name] = f"{'greatest' if extreme.is_largest else 'least'}(d.{name}, c.{name})"
                continue
            sign = ">" if extreme.is_largest else "<"
            new, old = (f"row({_prefixed(side, extreme.columns)})" for side in "cd")
            better = f"c.{extreme.columns[-1]} IS NOT NULL AND {new} {sign} {old}"
            merged |= {name: f"if({better}, c.{name}, d.{name})" for name in extreme.columns}
        return merged


def _largest(extreme: Extreme) -> list[str]:
    pick = "max" if extreme.is_largest else "min"
    if len(extreme.columns) == 1:
        return [f"{pick}({name}) AS {name}" for name in extreme.columns]
    whole = f"row({', '.join(extreme.columns)})"
    return [f"arg_{pick}({name}, {whole}) AS {name}" for name in extreme.columns]


def _is_worse(extreme: Extreme) -> str:
    """Return the condition that is true if the load removed the extreme of a key or made it less extreme."""
    (name, *others) = extreme.columns
    value = f"row({', '.join(extreme.columns)})" if others else name
    before, after = (f"any_value({value}) FILTER ({side})" for side in ("is_before", "NOT is_before"))
    is_better = f"{after} {'>' if extreme.is_largest else '<'} {before}"
    return f"({before} IS NOT NULL AND {after} IS DISTINCT FROM {before} AND ({is_better}) IS NOT TRUE)"


def _added_groups(name: str, has_before: bool) -> str:
    """Return the expression for the value of the group `id` in a list after the load."""
    sides = [f"d.group_ids, d.{name}", f"c.group_ids, c.{name}"]
    added = " + ".join(f"value_of_group({side}, id)" for side in sides)
    return f"{added} - value_of_group(c.group_ids_before, c.{name}_before, id)" if has_before else added


def _prefixed(prefix: str, names: Iterable[str]) -> str:
    return ", ".join(f"{prefix}.{name}" for name in names)


_EXAMPLE = Extreme(("example_ts", "example"))
_SPAN = (Extreme(("first_ts",), is_largest=False), Extreme(("last_ts",)))
_GROUPS = ("group_k", "group_n")

DAILY_TABLES = (
    DailyTable("daily_calls", (*_WHO, *_TOOL, "strategy"), "calls"),
    DailyTable(
        "daily_chains",
        (*_WHO, *_TOOL, "fault_layer", "ended", "attempts", "session_group"),
        "chains",
        counted=Counted("calls_of_days", "count_if(attempt = 1)"),
    ),
    DailyTable(
        "daily_codes",
        (*_WHO, *_TOOL, "code"),
        "findings",
        counted=Counted("counted_findings", "count(*)"),
    ),
    DailyTable(
        "daily_definitions",
        ("day", "source", *_TOOL, "definition_id", *_TRIAL),
        "calls",
        extremes=_SPAN,
        counted=Counted("calls_of_days", "count(definition_id)"),
    ),
    DailyTable(
        "daily_errors",
        (*_WHO, *_TOOL, "signature_id"),
        "calls",
        extremes=(_EXAMPLE,),
        counted=Counted("calls_of_days", "count(signature_id)"),
    ),
    DailyTable(
        "daily_parallel",
        (*_WHO, "session_group"),
        "steps",
        counted=Counted("calls_of_days", "count(*) - count(DISTINCT (turn_id, step))"),
    ),
    DailyTable(
        "daily_parameters",
        (*_WHO, *_TOOL, "definition_id", "parameter", "code"),
        "calls",
        groups=("group_calls",),
        extremes=(Extreme(("severity",)), _EXAMPLE),
        counted=Counted("counted_findings", "count(*)"),
    ),
    DailyTable(
        "daily_prompts",
        ("day", "source", "prompt_id", "prompt_hash", *_TRIAL),
        "turns",
        extremes=_SPAN,
        counted=Counted("turns_of_days", "count(prompt_id)"),
    ),
    DailyTable(
        "daily_rates",
        (*_WHO, "harness_version", "strategy", *_TOOL, "definition_id", "cut", "rate"),
        "total",
        groups=_GROUPS,
        order=("cut", "rate", "day"),  # sorted so that a dashboard query over all tools reads few row groups
    ),
    DailyTable("daily_tokens", (*_WHO, "session_group", "whole", "recorded_ok", "derived_ok"), "turns"),
    DailyTable(
        "daily_traits", (*_WHO, *_TOOL, "trait", "class"), "n", groups=_GROUPS, order=("trait", "day")
    ),
    DailyTable("daily_turns", _WHO, "turns"),
)
"""All tables of daily sums except `task_trials`, which has a row for each session."""
