"""Tests error signatures: error messages without the parts that differ each time."""

# ruff: noqa: E501  a text of a log stands on the line of what becomes of it
from __future__ import annotations

from typing import Any

import pytest

from ingest.store.settling.settle import sign_calls_of_days
from tests.analysis.rows import empty_tables, insert

DAY = "2026-11-20"


def signed(*calls: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the id and the text of each call's error signature, in the order of the calls."""
    with empty_tables() as connection:
        rows = [
            {"call_id": f"{number:04d}", "day": DAY, "fault_layer": "execution", "duplicate": False} | call
            for number, call in enumerate(calls)
        ]
        insert(connection, "tool_calls", rows)
        connection.execute("CREATE TEMP TABLE touched_days AS SELECT DISTINCT day FROM tool_calls")
        sign_calls_of_days(connection)
        signatures: list[tuple[str, str]] = connection.execute(
            "SELECT signature_id, text FROM tool_calls JOIN signatures USING (signature_id) ORDER BY call_id"
        ).fetchall()
    assert len(signatures) == len(calls)
    return signatures


RESULTS = {
    # If a result has a reason and an exit code, the reason counts, in the logs of every agent.
    "Exit code 2\nmake: *** No rule to make target `gen-doc'.  Stop.": "make: *** No rule to make target <text>. Stop.",
    "Error: Command failed (exit code: 1)\nls: /nope: No such file or directory": "ls: <path>: No such file or directory",
    "Chunk ID: 9ac387\nWall time: 1.1419 seconds\nProcess exited with code 1\nOriginal token count: 36\nOutput:\n"
    '{\n  "error": "no issues found matching the provided IDs",\n  "schema_version": 1\n}': "no issues found matching the provided IDs",
    "Exit code 1\n[fmt] $ gofmt -w .\n[lint] ERROR task failed\n\ncmd/main.go:19:13: undefined: errors": "<path>:<n>: undefined: errors",
    "Exit code 1\n$ biome check\n at src/api/routes.ts:5:1\n\n  × The imports are not sorted.": "The imports are not sorted.",
    # If there is no other text, the exit code counts. The text of the exit code is the same for every agent.
    "Exit code 1": "exit code 1",
    "Process exited with code 1": "exit code 1",
    "<returncode>1</returncode>\n<output>\nplain words\n</output>": "exit code 1",
    "Command exited with code 137": "exit code 137",
    # The last line of a traceback counts. If there are several tracebacks, the last traceback counts.
    'Traceback (most recent call last):\n  File "a.py", line 5, in <module>\n    raise Error("x")\nKeyError: \'b\'': "KeyError: <text>",
    "Traceback (most recent call last):\n  a\nKeyError: 1\n\nDuring handling of it:\n\nTraceback (most recent call last):\n"
    "  b\nsqlite3.OperationalError: no such table: app_job": "sqlite3.OperationalError: no such table: <name>",
    "=========== FAILURES ===========\n    def test():\n>       assert False\nE       AssertionError: assert 1 == 2": "AssertionError: assert <n> == <n>",
    # These parts differ each time and are removed: paths, numbers, ids, quotes, lists, addresses.
    "Error: not enough seats on flight HAT136": "not enough seats on flight HAT<n>",
    "Failed to read /home/kim/a b/x.py": "Failed to read <path> <path>",
    "grep: session/state.go: No such file or directory": "grep: <path>: No such file or directory",
    "grep: state.go: No such file or directory": "grep: <path>: No such file or directory",
    "No task found with ID: bfbada3": "No task found with ID: <id>",
    'Unknown values ["a", ["b"], 3] for “x”': "Unknown values <list> for <text>",
    "cannot GET https://example.org/a?b=c (took 3.5 s)": "cannot GET <url> (took <n> s)",
    "404 Client Error: for url: https://example.org/x": "<n> Client Error: for url: <url> · 404",
    "request invalid, data error. status_code=500": "request invalid, data error. status_code=<n> · 500",
    "Found 12 errors.": "Found <n> error.",
    "Found 1 error.": "Found <n> error.",
    "bash: line 3: pytest: command not found": "shell: pytest: command not found",
    "(eval):1: parse error near `('": "shell: parse error near <text>",
    "zsh:7: parse error near `|'": "shell: parse error near <text>",
    # Words stay: "and/or" is not a path, an apostrophe is not a quote, and a label in brackets is not a list.
    "this and/or that is not found, don't retry, it can't work": "this and/or that is not found, don't retry, it can't work",
    "[Operation Cancelled] Reason: User denied execution.": "[Operation Cancelled] Reason: User denied execution.",
    "\x1b[31mError:\x1b[0m gone missing": "gone missing",
    # These results are JSON, or are empty.
    '{"error": {"message": "Rate limit reached", "type": "x"}}': "Rate limit reached",
    "<tool_use_error>File has not been read yet.</tool_use_error>": "File has not been read yet.",
    "   \n ": "no reason logged",
    "": "no reason logged",
}  # fmt: skip


def test_a_result_is_told_by_the_line_that_says_why_without_its_particulars() -> None:
    signatures = signed(*({"result_text": text} for text in RESULTS))
    assert {text: signature for text, (_, signature) in zip(RESULTS, signatures, strict=True)} == RESULTS


FINDINGS = {
    'enum_out_of_range:["feet","ft"]': "enum_out_of_range:<value>",
    'enum_out_of_range:["a; b"]; enum_out_of_range:["c"]': "enum_out_of_range:<value>",
    "unsupported_number_literal; unsupported_number_literal": "unsupported_number_literal",
    "unsupported_integer_literal:rows[*].id; unsupported_integer_literal:rows[*].id":
        "unsupported_integer_literal:rows[*].id",
    "number_out_of_bounds:limit maximum 10": "number_out_of_bounds:limit maximum <n>",
    "missing_required:b; missing_required:a": "missing_required:a; missing_required:b",
    "unknown_tool:get_apy_rates": "unknown_tool:<name>",
    "json_parse_error:expected , at 17": "json_parse_error:expected , at <n>",
    'refused_by_harness:SchemaError(Missing key at ["a"])': "refused_by_harness:SchemaError(Missing key at <list>)",
}  # fmt: skip


def test_findings_of_the_parser_are_told_once_each_and_without_values() -> None:
    signatures = signed(*({"fault_layer": "schema", "parse_error": text} for text in FINDINGS))
    assert {text: signature for text, (_, signature) in zip(FINDINGS, signatures, strict=True)} == FINDINGS


def test_texts_that_differ_only_by_case_are_one_signature() -> None:
    signatures = signed(
        {"result_text": "Error: not enough seats"}, {"result_text": "Error: Not enough seats"}
    )
    assert signatures[0] == signatures[1]


def test_the_same_words_at_another_layer_are_another_signature() -> None:
    call = {"result_text": "File not found"}
    signatures = signed(call, call | {"fault_layer": "tool_rejected"})
    assert signatures[0][0] != signatures[1][0]
    assert signatures[0][1] == signatures[1][1]


def test_a_message_that_was_cut_gives_way_to_the_result_behind_it() -> None:
    trace = "Traceback (most recent call last):\n" + "  a line\n" * 80 + "KeyError: 'b'\n"
    signatures = signed({"harness_message": trace[:500], "result_text": trace})
    assert signatures[0][1] == "KeyError: <text>"


@pytest.mark.parametrize(
    "text",
    ["[" * 5000, "{" * 5000 + '"error"', "'" * 9999, "Error: " * 3000, "\x00\x1b[\u202e", "/a" * 9000, "é" * 9000],
)  # fmt: skip
def test_hostile_texts_give_a_short_signature(text: str) -> None:
    [(identity, signature)] = signed({"result_text": text})
    assert len(identity) == 12
    assert 0 < len(signature) <= 210


def test_every_failed_call_has_a_signature_and_no_other_has() -> None:
    with empty_tables() as connection:
        rows = [
            {"call_id": "a", "day": DAY, "fault_layer": None, "signature_id": "stale", "duplicate": False},
            {"call_id": "b", "day": None, "fault_layer": "refused", "duplicate": False},
        ]
        insert(connection, "tool_calls", rows)
        connection.execute("CREATE TEMP TABLE touched_days AS SELECT DISTINCT day FROM tool_calls")
        sign_calls_of_days(connection)
        signed_calls = connection.execute(
            "SELECT call_id, signature_id FROM tool_calls ORDER BY 1"
        ).fetchall()
    assert signed_calls[0] == ("a", None)
    assert len(signed_calls[1][1]) == 12
