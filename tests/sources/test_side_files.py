"""Tests that known files next to agents' logs are not reported as unreadable logs."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingest.pipeline.load import load
from tests.store.night import claude_code_session
from tests.test_cli import run

SESSION = "11111111-1111-4111-8111-111111111111"
SIDE_FILES = {
    f"p/{SESSION}/subagents/agent-abc.meta.json": '{"agentType": "Explore", "description": "d"}',
    f"p/{SESSION}/subagents/workflows/wf1/agent-def.meta.json": '{"agentType": "Explore"}',
    f"p/{SESSION}/tool-results/toolu_1.txt": "the whole result",
    f"p/{SESSION}/tool-results/b.json": '[{"role": "user", "content": "x"}]',
    "p/sessions-index.json": '{"version": 1, "entries": []}',
    "p/memory/MEMORY.md": "# Notes",
    ".claude/history.jsonl": '{"display": "hello", "project": "/w"}',
    ".claude/todos/a.json": "[]",
    ".codex/history.jsonl": '{"session_id": "s", "ts": 1, "text": "hello"}',
    f"droid/{SESSION}.settings.json": '{"model": "m"}',
    "agents/main/sessions/sessions.json": '{"agent:main:main": {"sessionId": "s"}}',
    f"session-state/{SESSION}/workspace.yaml": "id: s",
    f"session-state/{SESSION}/checkpoints/index.md": "# Checkpoints",
    f"tmp/{'0a' * 32}/logs.json": '[{"sessionId": "s", "messageId": 0, "type": "user", "message": "hi"}]',
}
NO_SIDE_FILES = {
    "agent-abc.meta.json": '{"agentType": "Explore"}',
    "tool-results/toolu_1.txt": "a result",
    "memory/notes.txt": "notes",
    "sessions/sessions.json": '{"a": 1}',
}


def put(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.mark.parametrize("name", SIDE_FILES)
def test_a_side_file_is_quietly_no_log(logs: Path, store: Path, name: str) -> None:
    put(logs, {name: SIDE_FILES[name]})
    report = load([logs / name], store)
    assert (report.rejected, report.new_rejected, report.rejects) == ((), 0, 0)
    (side_file,) = report.companions
    assert side_file.reason.endswith(", not a log")


@pytest.mark.parametrize("name", NO_SIDE_FILES)
def test_another_file_of_a_like_name_is_reported(logs: Path, store: Path, name: str) -> None:
    put(logs, {name: NO_SIDE_FILES[name]})
    assert len(load([logs / name], store).rejected) == 1


def test_the_folder_of_an_agent_is_loaded_with_exit_code_0(logs: Path, store: Path) -> None:
    project = {name: text for name, text in SIDE_FILES.items() if name.startswith("p/")}
    put(logs, {**project, f"p/{SESSION}.jsonl": claude_code_session("s")})
    for _ in range(2):
        loaded = run("ingest", logs, "--store", store)
        assert loaded.exit_code == 0, loaded.output
        assert "; 6 side files" in loaded.output
        assert "unreadable" not in loaded.output
