"""Tests that a metadata file next to a session log is read together with the log."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from ingest.decoding.fields import name_project
from ingest.pipeline.load import load
from tests.conftest import CASES
from tests.store.night import ask, session

VIBE = {"session_id": "7a7a", "start_time": "2026-06-13T10:00:00Z", "model": "mistral-medium-3.5"}
GROK = {"info": {"id": "019f"}, "created_at": "2026-07-18T10:00:00Z", "current_model_id": "grok-4.5"}


@pytest.mark.parametrize(
    ("case", "name", "beside", "facts", "session"),
    [
        ("mistral_vibe/tags_in_results.jsonl", "messages.jsonl", "meta.json", VIBE, "7a7a"),
        ("grok_build/the_older_shape.jsonl", "chat_history.jsonl", "summary.json", GROK, "019f"),
    ],
)
def test_the_facts_beside_a_session_are_read_with_it(
    case: str, name: str, beside: str, facts: dict[str, Any], session: str, tmp_path: Path
) -> None:
    logs, store = tmp_path / "logs", tmp_path / "store"
    logs.mkdir()
    shutil.copy(CASES / "formats" / case, logs / name)
    (logs / beside).write_text(json.dumps(facts))
    report = load([logs], store)
    assert (report.loaded, report.rejected) == (1, ())
    assert [Path(companion.path).name for companion in report.companions] == [beside]
    assert ask(store, "SELECT DISTINCT session_id, ts::DATE::VARCHAR FROM tool_calls") == [
        (session, (facts.get("start_time") or facts["created_at"])[:10])
    ]


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("beside", ["meta.json", "summary.json"])
def test_such_a_file_alone_is_rejected(beside: str, tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / beside).write_text(json.dumps({**VIBE, **GROK}))
    assert len(load([tmp_path / "logs"], tmp_path / "store").rejected) == 1


def test_project_branch_sub_agent_and_environment_are_columns_of_sessions(logs: Path, store: Path) -> None:
    lines = [json.loads(line) for line in session("a").splitlines()]
    facts = {"project": "acme/shop", "branch": "main", "sub_agent": "reviewer", "environment": "staging"}
    lines[0]["meta"] |= facts
    (logs / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines) + session("b"))
    load([logs], store)
    query = f"SELECT session_id, {', '.join(facts)} FROM sessions ORDER BY session_id"  # noqa: S608 - our own names
    assert ask(store, query) == [("a", *facts.values()), ("b", None, None, None, None)]


@pytest.mark.parametrize(
    ("folder", "repository", "project"),
    [
        ("/home/dev/shop/web", "https://github.com/acme/shop.git", "acme/shop"),
        ("/home/dev/shop", "git@github.com:acme/shop.git", "acme/shop"),
        ("/home/dev/shop", "acme/shop", "acme/shop"),
        ("C:\\work\\shop\\", None, "shop"),
        ("/", "", None),
        (None, 7, None),
    ],
)
def test_a_project_is_its_repository_or_the_name_of_its_folder(
    folder: object, repository: object, project: str | None
) -> None:
    assert name_project(folder, repository) == project
