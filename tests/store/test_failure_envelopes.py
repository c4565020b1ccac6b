"""Tests that tool results whose content reports a failure count as failures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ingest.errors import OptionError
from ingest.maintenance.reparse import reparse
from ingest.pipeline.load import load
from tests.store.night import FACTS, ROLLUPS, ask, contents, session
from tests.store.test_copies import from_scratch

STATES = (
    "SELECT tool, result_status, error_flag_source, fault_layer, harness_message FROM tool_calls ORDER BY ALL"
)
FAILED = ("weather", "error", "envelope", "execution", "no such city")
UNKNOWN = ("weather", "unknown", "absent", None, None)
LOGGED = ("search_logs", "error", "envelope", "execution", "boom")


def conversation(*results: tuple[str, str]) -> str:
    """Return a chat transcript with one call of each tool, the results, and an answer."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Do it."}]
    for number, (tool, content) in enumerate(results):
        made = {"id": f"call_{number}", "type": "function", "function": {"name": tool, "arguments": "{}"}}
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [made]},
            {"role": "tool", "tool_call_id": f"call_{number}", "content": content},
        ]
    messages.append({"role": "assistant", "content": "Done."})
    return json.dumps(
        {"session_id": "s", "timestamp": "2026-10-01T10:00:00Z", "model": "m", "messages": messages}
    )


@pytest.fixture
def log(logs: Path) -> Path:
    weather = ("weather", '{"success": false, "error": "no such city"}')
    searched = ("search_logs", '{"status": "error", "message": "boom"}')
    (logs / "a.jsonl").write_text(conversation(weather, searched) + "\n")
    return logs


def write_rules(store: Path, text: str) -> None:
    store.mkdir(exist_ok=True)
    (store / "naming.toml").write_text(text)


def test_by_default_all_envelopes_count(log: Path, store: Path, tmp_path: Path) -> None:
    load([log], store)
    assert ask(store, STATES) == [LOGGED, FAILED]
    assert ask(store, "SELECT sum(result_error)::INT, sum(fault_execution)::INT FROM daily_calls") == [(2, 2)]
    assert contents(store, ROLLUPS) == from_scratch(store, tmp_path)


def test_the_rules_of_the_store_name_tools(log: Path, store: Path) -> None:
    write_rules(store, '[failures.tools]\n"search_*" = []\n')
    load([log], store)
    assert ask(store, STATES) == [("search_logs", "unknown", "absent", None, None), FAILED]


def test_reparse_applies_changed_rules_and_takes_them_back(log: Path, store: Path, tmp_path: Path) -> None:
    load([log], store)
    counted = contents(store, [*FACTS, *ROLLUPS])
    write_rules(store, "[failures]\nfields = []\n")
    assert reparse(store, everything=True).changed == 2
    assert ask(store, STATES) == [("search_logs", "unknown", "absent", None, None), UNKNOWN]
    assert ask(store, "SELECT sum(faults)::INT FROM sessions") == [(0,)]
    assert contents(store, ROLLUPS) == from_scratch(store, tmp_path)
    (store / "naming.toml").unlink()
    assert reparse(store, everything=True).changed == 2
    assert contents(store, [*FACTS, *ROLLUPS]) == counted


@pytest.mark.thorough
def test_a_load_with_the_rules_off_equals_a_reparse_with_them_off(log: Path, store: Path) -> None:
    load([log], store)
    other = store.with_name("other")
    for place in (store, other):
        write_rules(place, '[failures]\nfields = ["success"]\n')
    reparse(store, everything=True)
    load([log], other)
    assert contents(store, [*FACTS, *ROLLUPS]) == contents(other, [*FACTS, *ROLLUPS])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('[failures]\nfields = ["failed"]', "fields of [failures] is ['failed']"),
        ("[failures]\nfields = true", "write a list of"),
        ("[failures]\ntool = {}", "'tool', which is unknown"),
        ('[failures.tools]\nBash = "ok"', "Bash of [failures] is 'ok'"),
        ("failures = 1", "[failures] must be a table"),
        ("[failures]\ntools = 1", "[failures.tools] needs lines such as"),
    ],
)
def test_a_rule_that_cannot_be_read_is_refused(log: Path, store: Path, text: str, problem: str) -> None:
    write_rules(store, text)
    with pytest.raises(OptionError) as refused:
        load([log], store)
    assert problem in str(refused.value)


@pytest.mark.thorough
@pytest.mark.parametrize("order", ["ab", "ba"])
def test_a_late_result_that_reports_a_failure_counts_like_another(
    logs: Path, store: Path, tmp_path: Path, order: str
) -> None:
    """The call is in one file. The result is in another log, which reports success."""
    text = session("s", turns=(1,)).replace("text of the file", r"{\"success\": false, \"error\": \"x\"}")
    lines = text.splitlines(keepends=True)
    parts = {"a": lines[:4], "b": lines[4:]}
    for name in order:
        (logs / f"{name}.jsonl").write_text("".join(parts[name]))
        load([logs / f"{name}.jsonl"], store)
    failed = ("read", "error", "envelope_against_ok", "execution", "x")
    assert ask(store, STATES) == [failed]
    (logs / "c.jsonl").write_text(session("t"))
    load([logs], store)
    assert failed in ask(store, STATES)
    write_rules(store, "[failures]\nfields = []\n")
    reparse(store, everything=True)
    assert ("read", "ok", "explicit", None, None) in ask(store, STATES)
    assert "envelope_against_ok" not in {row[2] for row in ask(store, STATES)}
    # this load assigns the late result to its call again
    (logs / "b.jsonl").write_text("".join([*parts["b"], "\n"]))
    load([logs], store)
    assert ("read", "ok", "explicit", None, None) in ask(store, STATES)
    assert contents(store, ROLLUPS) == from_scratch(store, tmp_path)
