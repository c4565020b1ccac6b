"""Tests calls whose arguments are only a placeholder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ingest.events import ArgsSource, CallMade, LogLine
from ingest.maintenance.reparse import reparse
from ingest.pipeline.load import load
from ingest.sessions import session_builder
from ingest.sessions.redacted_arguments import mark_redacted
from tests.store.night import ask, session

REDACTED = [
    "[REDACTED_ARGUMENTS len=114 sha=00000000]",
    "[REDACTED]",
    "[redacted by policy]",
    "[ARGUMENTS REDACTED]",
    '"[REDACTED]"',
    "<redacted>",
    "__REDACTED__",
    "***REDACTED***",
    "redacted-by-litellm",
    "[Scrubbed due to 'auth']",
    "***",
    '"******"',
    "████",
    '{"command": "[REDACTED]", "timeout": 5}',
    '{"_redacted": true, "sha": "00"}',
]
SENT = [
    "",
    "{}",
    "redact",
    '{"pattern": "***"}',
    '{"query": "redacted"}',
    '{"command": "echo [REDACTED]"}',
    '{"path": "a.py", "token": "[REDACTED]"}',
    '[hidden", "x"]',
    "[mask_image(x=1)]",
    "*** Begin Patch\n*** End Patch",
    "<hidden_tool>{}</hidden_tool>",
    "[REDACTED" * 10_000,
]


def call(**facts: Any) -> CallMade:
    return CallMade(session_id="s", where=LogLine(1, 0), tool="read", **facts)


@pytest.mark.parametrize("text", REDACTED)
def test_a_placeholder_is_no_text_of_the_model(text: str) -> None:
    marked = mark_redacted(call(raw_arguments=text, args_source=ArgsSource.RAW))
    assert (marked.args_source, marked.raw_arguments) == (ArgsSource.REDACTED, text)


@pytest.mark.parametrize("value", ["[REDACTED]", {"command": "<redacted>"}, {"a": {"b": ["[REDACTED]"]}}])
def test_a_placeholder_can_stand_in_a_decoded_object(value: Any) -> None:
    marked = mark_redacted(call(arguments=value, args_source=ArgsSource.RESERIALISED))
    assert (marked.args_source, marked.arguments) == (ArgsSource.REDACTED, None)
    assert json.loads(marked.raw_arguments or "") == value


@pytest.mark.parametrize("text", SENT)
def test_any_other_text_is_what_the_model_sent(text: str) -> None:
    made = call(raw_arguments=text, args_source=ArgsSource.RAW)
    assert mark_redacted(made) is made


def test_a_load_judges_no_placeholder_and_warns_once_for_each_source(logs: Path, store: Path) -> None:
    for name in ("a", "b"):
        (logs / f"{name}.jsonl").write_text(session(name, turns=(3,), raw='"[REDACTED]"'))
    report = load([logs], store)
    measured = ask(
        store,
        "SELECT DISTINCT args_source, outcome, syntax_seen, schema_seen, parse_error, retry_kind, "
        "raw_arguments FROM tool_calls",
    )
    assert measured == [("redacted", "unmeasured", "none", "none", None, None, '"[REDACTED]"')]
    (note,) = report.notes
    assert note.endswith("the arguments of 6 of 6 calls are redacted; they are not measured")


def test_reparse_recognises_placeholders_of_an_older_store(
    logs: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (logs / "a.jsonl").write_text(session("a", turns=(2,), raw='"[REDACTED]"'))
    with monkeypatch.context() as older:
        older.setattr(session_builder, "mark_redacted", lambda call: call)
        load([logs], store)
    columns = "SELECT DISTINCT args_source, outcome FROM tool_calls"
    assert ask(store, columns) == [("raw", "failed")]
    reparse(store, everything=True)
    assert ask(store, columns) == [("redacted", "unmeasured")]
