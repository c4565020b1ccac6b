"""Tests which tool results report a failure, and which contain words of failure only as data."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ingest.events import FaultLayer, FlagSource, LogLine, ResultSeen, ResultStatus
from ingest.sessions.results.failure_envelopes import FailureRules, find_error, told_flag

OK, UNKNOWN, EXIT = FlagSource.EXPLICIT, FlagSource.ABSENT, FlagSource.DERIVED_EXIT_CODE
ENVELOPE = '{"success": false, "error": "no such city"}'


def result(content: str | None, source: FlagSource = UNKNOWN, **facts: Any) -> ResultSeen:
    status = ResultStatus.UNKNOWN if source is UNKNOWN else ResultStatus.OK
    shared = {"session_id": "s", "where": LogLine(1, 0), "status": status, "flag_source": source}
    return ResultSeen(**{**shared, "content": content, **facts})


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (ENVELOPE, "no such city"),
        ('{"ok":false}', '{"ok":false}'),
        ('{"ok": false, "error": "channel_not_found", "needed": "chat:write"}', "channel_not_found"),
        ('{"success": false, "data": null, "message": "not found"}', "not found"),
        ('{"success": false, "error": {"code": 404, "message": "gone"}, "output": "half of it"}', "gone"),
        ('{"success": false, "errors": ["a", "b"]}', '["a","b"]'),
        ('{"status": "error"}', '{"status": "error"}'),
        ('{"status": "ERROR", "code": 500, "message": "try later", "data": {}}', "try later"),
        ("{'success': False, 'error': 'no such city', 'data': None}", "no such city"),
        (json.dumps([{"type": "text", "text": ENVELOPE}]), "no such city"),
        ("Wall time: 0.0300 seconds\nOutput:\n" + ENVELOPE, "no such city"),
        (' {"success": false, "error": "' + "x" * 3000, ' {"success": false, "error": "' + "x" * 3000),
    ],
)
def test_an_envelope_reports_an_error(content: str, error: str) -> None:
    assert find_error(content) == error.strip()


@pytest.mark.parametrize(
    "content",
    [
        '{"status": "error", "count": 3, "entries": [{"message": "boom"}]}',
        '{"status": "error", "message": "boom", "service": "api", "timestamp": "2026-10-01T10:00:00Z"}',
        '{"status": "error", "error": "boom", "query": "level=error"}',
        '{"status": "failed", "message": "the job ended with 1"}',
        '{"ok": false, "checks": [{"name": "disk", "ok": false}]}',
        '{"success": false, "rows": [1, 2]}',
        '{"success": true, "status": "error"}',
        '{"ok": true, "error": "none"}',
        '{"success": "false", "error": "a text is no boolean"}',
        '{"success": 0, "error": "a number is no boolean"}',
        '{"result": {"success": false, "error": "deeper"}}',
        '[{"success": false, "error": "one of a list"}]',
        '[{"type": "text", "text": "one"}, {"type": "text", "text": "{\\"success\\": false}"}]',
        'Response: {"success": false, "error": "x"}',
        '{"success": false, "error": "x"}\n{"success": true}',
        "def f():\n    return {'success': False, 'error': 'x'}",
        '{"success": false, "error"',
        "",
    ],
)
def test_what_only_looks_like_an_envelope_is_none(content: str) -> None:
    assert find_error(content) is None


@pytest.mark.parametrize(
    ("tool", "source", "made"),
    [
        ("weather", UNKNOWN, FlagSource.ENVELOPE),
        ("weather", OK, FlagSource.ENVELOPE_AGAINST_OK),
        ("mcp__deploy__run", OK, FlagSource.ENVELOPE_AGAINST_OK),
        (None, UNKNOWN, FlagSource.ENVELOPE),
        ("weather", EXIT, EXIT),
        ("Bash", UNKNOWN, FlagSource.ENVELOPE),
        ("Bash", OK, OK),
        ("exec_command", OK, OK),
        ("run_terminal_cmd", OK, OK),
        ("execute_bash", OK, OK),
        ("execute_trade", OK, FlagSource.ENVELOPE_AGAINST_OK),
    ],
)
def test_a_success_that_a_log_states_is_overruled_but_not_that_of_a_command(
    tool: str | None, source: FlagSource, made: FlagSource
) -> None:
    logged = result(ENVELOPE, source)
    judged = FailureRules().judge(tool, logged)
    assert judged.flag_source is made
    assert (judged.status, judged.flag_source) == (
        logged.status,
        source,
    ) or judged.status is ResultStatus.ERROR
    assert told_flag(judged.status, judged.flag_source) == (logged.status, source)


def test_the_error_says_at_which_stage_the_call_failed() -> None:
    judge = FailureRules().judge
    failed = judge("weather", result(ENVELOPE))
    assert (failed.fault_layer, failed.message) == (FaultLayer.EXECUTION, "no such city")
    refused = judge("read", result('{"success": false, "error": "File a.py does not exist"}'))
    assert (refused.fault_layer, refused.status) == (FaultLayer.TOOL_REJECTED, ResultStatus.ERROR)
    denied = judge("deploy", result('{"ok": false, "error": "User rejected the deployment"}'))
    assert (denied.fault_layer, denied.status) == (FaultLayer.REFUSED, ResultStatus.DENIED)


def test_a_result_that_failed_already_stays_as_it_is() -> None:
    failed = result(
        ENVELOPE, OK, status=ResultStatus.ERROR, message="Tool failed", fault_layer=FaultLayer.SCHEMA
    )
    assert FailureRules().judge("weather", failed) is failed
    assert FailureRules().judge("weather", result(None)) == result(None)


def test_rules_of_a_tool_count_before_those_of_all() -> None:
    rules = FailureRules(
        frozenset({"ok"}),
        (("search_*", frozenset()), ("Bash", frozenset({"success"})), ("*", frozenset({"status"}))),
    )
    assert rules.judge("search_logs", result('{"ok": false}')).status is ResultStatus.UNKNOWN
    assert rules.judge("Bash", result(ENVELOPE, OK)).status is ResultStatus.ERROR
    assert rules.judge("weather", result('{"ok": false}')).status is ResultStatus.UNKNOWN
    assert rules.judge("weather", result('{"status": "error"}')).status is ResultStatus.ERROR
    assert FailureRules(frozenset()).judge("weather", result(ENVELOPE)).status is ResultStatus.UNKNOWN


@pytest.mark.parametrize(
    "content", ['{"ok": false,' + "[" * 5000, "{'ok': False, 'a': " + "(" * 1900 + "}", '{"ok": false}' * 99]
)
def test_hostile_results_are_no_envelopes(content: str) -> None:
    assert find_error(content) is None
