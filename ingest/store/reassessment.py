"""Judges stored calls and turns again, from the content in the store.

Only rows that change are written. Turns are read in batches with a limited total length of their content.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

import pyarrow as pa

from ingest.sessions.classification import restore_definition
from ingest.sessions.results.failure_envelopes import FailureRules
from ingest.sessions.row_batches import Row, to_arrow
from ingest.sessions.split_turns import row_place
from ingest.sessions.table_rows import call_row, definition_row, diagnostic_rows, turn_row
from ingest.store.connection import Connection
from ingest.store.generation_file import GenerationBuilder
from ingest.store.scripts import run_script
from ingest.store.stored_turns import (
    CALL_COLUMNS,
    TURN_COLUMNS,
    StoredDefinitions,
    StoredTurn,
    restore_turns,
)
from lenient import PARSER_VERSION, ToolCatalog, ToolDefinition

BATCH_BYTES = 8 * 1024 * 1024  # total length of raw arguments and results in a batch
_A_CALL = 1_000  # bytes added for each call of a batch

# The columns that a new judgement can change. The other columns come from the log.
JUDGED = (
    "tool", "tool_sent", "args_source", "own_arguments", "as_sent", "rejected", "outcome",
    "syntax_seen", "schema_seen",
    "parse_error", "parse_warning", "worst_severity", "lossy", "harness_verdict", "harness_message",
    "fault_layer", "result_status", "error_flag_source", "result_fault_layer",
    "definition_id", "definition_origin", "chain_id", "attempt", "retry_kind", "chain_outcome",
)  # fmt: skip
CONCLUDED = ("faults", "retries", "derived_ok", "derived_reason")
_CALL = ("call_id", "file_id")

_KEEP_JUDGEMENT = "DELETE FROM wanted WHERE turn_id IN (SELECT turn_id FROM turns WHERE text_removed)"
_REWORKED = "CREATE TEMP TABLE reworked (session_id VARCHAR, file_id INTEGER)"
_OF_BATCH = "(SELECT turn_id FROM queue WHERE batch = ?)"
_NEW_VERSION = f"""
    UPDATE tool_calls SET parser_version = ?
    WHERE turn_id IN {_OF_BATCH} AND parser_version IS DISTINCT FROM ?"""  # noqa: S608 - our own text
_FINDINGS = f"""
    SELECT * FROM diagnostics SEMI JOIN (FROM tool_calls WHERE turn_id IN {_OF_BATCH})
    USING (call_id, file_id)"""  # noqa: S608 - our own text
_DEFINITIONS = """
    SELECT definition_id, tool, coalesce(description, '') AS description, definition FROM tool_definitions
    WHERE definition_id IN (SELECT unnest(?::VARCHAR[]))"""
_DELETE_FINDINGS = """
    DELETE FROM diagnostics USING incoming i
    WHERE (diagnostics.call_id, diagnostics.file_id) = (i.call_id, i.file_id)"""
_INSERT_FINDINGS = "INSERT INTO diagnostics BY NAME FROM incoming"
_INSERT_DEFINITIONS = """
    INSERT INTO tool_definitions BY NAME FROM incoming
    WHERE definition_id NOT IN (SELECT definition_id FROM tool_definitions)"""
_NOTE = "INSERT INTO reworked SELECT DISTINCT session_id, file_id FROM incoming"


def reassess_turns(
    building: GenerationBuilder, failures: FailureRules, catalog: ToolCatalog | None = None
) -> int:
    """Judge the turns in the temporary table `wanted` (turn_id) again. Return the number of changed calls.

    Turns whose content is no longer stored keep their judgement. `failures` are the rules for results whose
    content reports a failure. `catalog` replaces the definitions of --tools. If `catalog` is None, the
    earlier definitions are kept.
    """
    with building.open_transaction("queue") as con:
        con.execute(_KEEP_JUDGEMENT)
        con.execute(_REWORKED)
        sizes = {"call_bytes": _A_CALL, "batch_bytes": BATCH_BYTES}
        run_script(con, "rework_queue.sql", sizes)
    changed = 0
    for row in building.fetch_rows("SELECT DISTINCT batch FROM queue ORDER BY batch"):
        with building.open_transaction("rework") as con:  # one transaction, so that rowids stay the same
            changed += ReassessedBatch(building, con, row["batch"], failures, catalog).reassess()
    with building.open_transaction("reworked") as con:
        run_script(con, "rework_done.sql")
    return changed


class ReassessedBatch:
    """A batch of stored turns to judge again, with their calls in memory."""

    def __init__(
        self,
        building: GenerationBuilder,
        con: Connection,
        number: int,
        failures: FailureRules,
        catalog: ToolCatalog | None,
    ) -> None:
        self._building = building
        self._failures = failures
        self._con = con
        self._number = number
        self._calls = self._read_rows("tool_calls", CALL_COLUMNS)
        self._turns = self._read_rows("turns", TURN_COLUMNS)
        self._definitions = StoredDefinitions(self._read_definitions(), catalog)

    def reassess(self) -> int:
        """Judge the calls and turns, write the changes, and return the number of changed calls."""
        calls: list[Row] = []
        turns: list[Row] = []
        findings: list[Row] = []
        for stored in self._build_stored_turns():
            expected = bool(stored.row["results_expected"]) or any(call.result for call in stored.turn.calls)
            concluded = stored.turn.judge(self._definitions.sets, self._failures, results_expected=expected)
            turns.append(turn_row(stored.turn, concluded) | {"rowid": stored.row["rowid"]})
            for call, row in zip(stored.turn.calls, stored.rows, strict=True):
                judged = call_row(stored.turn, call) | {"rowid": row["rowid"]}
                judged["chain_id"] = stored.rows[call.link.first]["call_id"] if call.link else None
                judged["definition_id"] = self._definitions.find_id(call.classified.definition)
                calls.append(judged)
                owner = {name: row[name] for name in _CALL}
                if (request := call.classified.request) is not None:
                    findings += [owner | finding for finding in diagnostic_rows(request)]
        self._con.execute(_NEW_VERSION, [PARSER_VERSION, self._number, PARSER_VERSION])
        self._replace_findings(findings)
        self._run_with_rows(
            _INSERT_DEFINITIONS,
            [definition_row(new) | {"origin": "tools"} for new in self._definitions.new],
            self._building.schemas["tool_definitions"],
        )
        self._update_rows("turns", self._turns, turns, CONCLUDED)
        return self._update_rows("tool_calls", self._calls, calls, JUDGED)

    # --- stored rows ------------------------------------------------------------------------------

    def _read_rows(self, table: str, columns: Sequence[str]) -> list[Row]:
        return self._building.fetch_rows(
            f"SELECT {', '.join(columns)}, rowid FROM {table} WHERE turn_id IN {_OF_BATCH} "  # noqa: S608 - our names
            "ORDER BY turn_id, file_id, line, byte_offset, rowid",
            [self._number],
        )

    def _read_definitions(self) -> dict[str, ToolDefinition]:
        ids = sorted({row["definition_id"] for row in self._calls if row["definition_id"] is not None})
        return {
            row["definition_id"]: restore_definition(row["tool"], row["description"], row["definition"])
            for row in self._building.fetch_rows(_DEFINITIONS, [ids])
        }

    def _build_stored_turns(self) -> Iterator[StoredTurn]:
        by_turn = itemgetter("turn_id")
        calls = {turn_id: list(rows) for turn_id, rows in groupby(self._calls, by_turn)}
        parts = self._building.fetch_rows(f"FROM turn_parts WHERE turn_id IN {_OF_BATCH}", [self._number])
        places = {row_place(row): row for row in parts}
        for turn_id, rows in groupby(self._turns, by_turn):
            yield from restore_turns(list(rows), calls.get(turn_id, []), places, self._definitions)

    # --- changes ----------------------------------------------------------------------------------

    def _update_rows(self, table: str, before: list[Row], after: list[Row], columns: Sequence[str]) -> int:
        fitting = self._fit_to_columns(table, after, columns)
        old = {row["rowid"]: row for row in before}
        changed = [row for row in fitting if any(old[row["rowid"]][name] != row[name] for name in columns)]
        values = ", ".join(f"{name} = incoming.{name}" for name in columns)
        statement = f"UPDATE {table} SET {values} FROM incoming WHERE {table}.rowid = incoming.rowid"  # noqa: S608
        self._run_with_rows(statement, changed, self._table_schema(table, columns))
        self._note_changed([old[row["rowid"]] for row in changed])
        return len(changed)

    def _replace_findings(self, findings: list[Row]) -> None:
        new = self._fit_to_columns("diagnostics", findings)
        stored = self._building.fetch_rows(_FINDINGS, [self._number])
        before, after = _findings_by_call(stored), _findings_by_call(new)
        others = {call for call in before.keys() | after.keys() if before.get(call) != after.get(call)}
        if not others:
            return
        gone = [{"call_id": call_id, "file_id": file_id} for call_id, file_id in others]
        schema = self._building.schemas["diagnostics"]
        self._run_with_rows(_DELETE_FINDINGS, gone, pa.schema([schema.field(name) for name in _CALL]))
        self._run_with_rows(_INSERT_FINDINGS, [row for row in new if _call_key(row) in others], schema)
        self._note_changed([row for row in self._calls if _call_key(row) in others])

    def _note_changed(self, changed: list[Row]) -> None:
        """Add the sessions and files of changed rows to `reworked`. Their counts are recomputed later."""
        schema = self._building.schemas["tool_calls"]
        self._run_with_rows(
            _NOTE, changed, pa.schema([schema.field(name) for name in ("session_id", "file_id")])
        )

    def _fit_to_columns(self, table: str, rows: list[Row], columns: Sequence[str] = ()) -> list[Row]:
        """Return the rows as they would be read back from the store.

        A value that does not fit its column becomes NULL.
        """
        fitting, _ = to_arrow(table, rows, self._table_schema(table, columns))
        return list(fitting.to_pylist())

    def _table_schema(self, table: str, columns: Sequence[str]) -> pa.Schema:
        schema = self._building.schemas[table]
        if not columns:
            return schema
        return pa.schema([*(schema.field(name) for name in columns), pa.field("rowid", pa.int64())])

    def _run_with_rows(self, statement: str, rows: list[Row], schema: pa.Schema) -> None:
        if rows:
            self._con.register("incoming", pa.Table.from_pylist(rows, schema))
            self._con.execute(statement)
            self._con.unregister("incoming")


def _call_key(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in _CALL)


def _findings_by_call(findings: Iterable[Row]) -> dict[tuple[Any, ...], list[str]]:
    """Return the diagnostics of each call as sorted strings, for comparison.

    If a file contains a call twice, the list contains the call's diagnostics twice.
    """
    rows_by_call: dict[tuple[Any, ...], list[str]] = {}
    for row in findings:
        rows_by_call.setdefault(_call_key(row), []).append(repr(sorted(row.items())))
    return {call: sorted(rows) for call, rows in rows_by_call.items()}
