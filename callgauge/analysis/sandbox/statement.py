"""Checks a user's SQL: returns the one allowed statement, or raises an error with the reason.

DuckDB's own parser gives the number and types of the statements, and the syntax tree of a query as JSON.
Everything that is not known to be harmless is rejected. A query may only use tables of the store, and
functions that neither read data outside of the store nor reveal details of the machine. In addition, the
connection is restricted (`sandbox.child`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import duckdb

from callgauge.analysis.metrics.masked_store import ALIAS

_QUERIES = frozenset({"SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"})
# FROM may call these table functions, but not query() and similar functions, which run unchecked text.
_TABLE_FUNCTIONS = frozenset(
    {
        "duckdb_columns",
        "duckdb_constraints",
        "duckdb_functions",
        "duckdb_keywords",
        "duckdb_schemas",
        "duckdb_tables",
        "duckdb_types",
        "duckdb_views",
        "generate_series",
        "generate_subscripts",
        "json_each",
        "json_tree",
        "pragma_storage_info",
        "pragma_table_info",
        "pragma_version",
        "range",
        "regexp_split_to_table",
        "repeat",
        "repeat_row",
        "test_all_types",
        "unnest",
    }
)
# These views of DuckDB only describe tables and columns. Other views reveal paths and settings of the
# machine.
_VIEWS = frozenset(
    {
        "duckdb_columns",
        "duckdb_constraints",
        "duckdb_indexes",
        "duckdb_schemas",
        "duckdb_tables",
        "duckdb_types",
        "duckdb_views",
        "sqlite_master",
        "sqlite_schema",
    }
)
_FUNCTIONS_REFUSED = frozenset(
    {"current_setting", "getenv", "getvariable", "write_log", "nextval", "setval", "json_serialize_plan"}
)
# DuckDB reads a table name with a character of _FILE_LIKE as a file name. No table of a store has such a
# character.
_SCHEMAS = ("main", "information_schema")
_FILE_LIKE = frozenset("./\\:")
_ONE_STATEMENT = "One statement at a time: "


class StatementRefusedError(Exception):
    """Raised when the SQL is not allowed. The message is a sentence for the user."""


def allow_statement(connection: duckdb.DuckDBPyConnection, sql: str) -> duckdb.Statement | str:
    """Return the statement to execute for `sql`. For an EXPLAIN, return the EXPLAIN statement.

    Raises StatementRefusedError if the SQL is not allowed, and duckdb.Error if `sql` is not valid SQL.
    """
    statements = connection.extract_statements(sql)
    if not statements:
        raise StatementRefusedError("The text contains no statement.")
    if len(statements) > 1:
        raise StatementRefusedError(f"{_ONE_STATEMENT}this text has {len(statements)}.")
    statement = statements[0]
    if statement.type == duckdb.StatementType.EXPLAIN:
        return _allow_explained(connection, sql)
    if statement.type == duckdb.StatementType.MULTI:
        raise StatementRefusedError(
            f"{_ONE_STATEMENT}PIVOT needs its columns named, as in PIVOT … ON model IN ('a', 'b')."
        )
    if statement.type != duckdb.StatementType.SELECT:
        raise StatementRefusedError(_check_reads_only(statement.type.name))
    if statement.named_parameters:
        names = ", ".join(f"${name}" for name in sorted(statement.named_parameters))
        raise StatementRefusedError(f"Parameters have no value here: write values instead of {names}.")
    _check(connection, sql)
    return statement


def _check_reads_only(kind: str) -> str:
    reads = "SELECT, FROM, WITH, VALUES, DESCRIBE, SHOW, SUMMARIZE, EXPLAIN"
    return f"{kind.replace('_', ' ')} is not allowed. This page only reads: {reads}."


def _allow_explained(connection: duckdb.DuckDBPyConnection, sql: str) -> str:
    """Return an EXPLAIN to execute, after the explained query has passed the usual check.

    The check is needed because EXPLAIN ANALYZE executes the query.
    """
    words = sql.split(None, 1)
    rest = words[1] if len(words) == 2 and words[0].upper() == "EXPLAIN" else ""
    keyword = "EXPLAIN"
    if rest.split(None, 1)[0:1] and rest.split(None, 1)[0].upper() == "ANALYZE":
        rest, keyword = rest[len("ANALYZE") :], "EXPLAIN ANALYZE"
    try:
        inner = connection.extract_statements(rest) if rest.strip() else []
    except duckdb.Error:
        inner = []
    if len(inner) != 1:
        raise StatementRefusedError(
            "Begin with EXPLAIN or EXPLAIN ANALYZE, without options, and then the query."
        )
    checked = allow_statement(connection, rest)
    if isinstance(checked, str):
        raise StatementRefusedError("EXPLAIN explains a query, not another EXPLAIN.")
    return f"{keyword} {rest}"


def _check(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    answer = connection.execute("SELECT json_serialize_sql(?::VARCHAR)", [sql]).fetchone()
    try:
        tree = json.loads(answer[0]) if answer else {"error": True}
    except RecursionError:
        raise StatementRefusedError("The query is nested too deeply.") from None
    if tree.get("error") is not False:
        raise StatementRefusedError("Only queries can run here.")
    internal = connection.execute(
        "SELECT lower(view_name) FROM duckdb_views() WHERE internal AND schema_name <> 'information_schema'"
    ).fetchall()
    hidden = frozenset(name for (name,) in internal) - _VIEWS
    # pragma_storage_info reveals the minimum and maximum of every column, including masked ones.
    refused = {"pragma_storage_info"} if _is_masked(connection) else set()
    for part in _walk_tree(tree):
        _check_part(part, hidden, refused)


def _walk_tree(tree: Any) -> Iterator[dict[str, Any]]:
    """Yield every object of the syntax tree, which may be deeper than Python's stack."""
    waiting = [tree]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            yield part
            waiting.extend(part.values())
        elif isinstance(part, list):
            waiting.extend(part)


def _is_masked(connection: duckdb.DuckDBPyConnection) -> bool:
    row = connection.execute("SELECT 1 FROM duckdb_databases() WHERE database_name = ?", [ALIAS]).fetchall()
    return bool(row)


def _check_part(part: dict[str, Any], hidden: frozenset[str], refused_functions: set[str]) -> None:
    kind = part.get("type")
    if isinstance(kind, str) and kind.endswith("_NODE") and kind not in _QUERIES:
        raise StatementRefusedError(_check_reads_only(kind.removesuffix("_NODE").removesuffix("_QUERY")))
    if kind == "TABLE_FUNCTION":
        name = str(part["function"].get("function_name", "")).lower()
        if name not in _TABLE_FUNCTIONS or name in refused_functions:
            raise StatementRefusedError(
                f"{name}() is not allowed: a query may read only the tables of the store."
            )
    if kind == "BASE_TABLE":
        name = str(part.get("table_name", ""))
        if name.lower() in hidden:
            raise StatementRefusedError(f"{name} is not allowed: it reads the machine, not the store.")
        if part.get("catalog_name") or str(part.get("schema_name") or "main").lower() not in _SCHEMAS:
            raise StatementRefusedError(f"Name the table {name} alone, without a database before it.")
        if not _FILE_LIKE.isdisjoint(name):
            raise StatementRefusedError(
                f"{name!r} is not allowed: a query may read tables of the store, not files."
            )
    if kind == "SHOW_REF" and part.get("show_type") == "SHOW":
        name = str(part.get("table_name"))
        raise StatementRefusedError(
            f"SHOW {name} is not allowed: it could read a setting. DESCRIBE {name} shows a table."
        )
    if str(part.get("function_name", "")).lower() in _FUNCTIONS_REFUSED:
        raise StatementRefusedError(
            f"{part['function_name']}() is not allowed: it reads the machine, not the store."
        )
