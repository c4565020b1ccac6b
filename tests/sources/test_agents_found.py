"""Tests how a load finds the logs of known agents."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from callgauge.cli.render.loads import survey_lines
from ingest.formats import formats
from ingest.pipeline.load import load
from ingest.pipeline.survey import survey_machine
from ingest.sources.agent_places import find_agent_files, match_files
from ingest.sources.known_agents import AGENTS, AgentLogs
from tests.store.night import session

CLAUDE = next(agent for agent in AGENTS if agent.agent == "Claude Code")
ANTIGRAVITY = Path(__file__).parents[2] / "sample_data/logs/antigravity/results_in_order.jsonl"
MEMO = next(agent for agent in AGENTS if agent.agent == "memo")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def put(path: Path, text: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def paths_of(agent: AgentLogs, home: Path, **environment: str) -> list[str]:
    agent_files = find_agent_files(agent, str(home), environment)
    return [str(Path(entry.path).relative_to(home.parent)) for entry in agent_files.files]


def test_the_formats_that_the_table_names_exist_and_no_agent_stands_twice() -> None:
    assert {name for agent in AGENTS for name in agent.read_as} <= formats().keys()
    assert len({agent.agent for agent in AGENTS}) == len(AGENTS)


def test_logs_are_found_at_every_depth_of_their_place_and_nowhere_else(home: Path) -> None:
    put(home / ".claude/projects/-a/s1.jsonl")
    put(home / ".claude/projects/-a/s1/subagents/agent-1.jsonl")
    put(home / ".claude/projects/-a/notes.md")
    put(home / ".claude/todos/x.jsonl")
    assert paths_of(CLAUDE, home) == [
        "home/.claude/projects/-a/s1.jsonl",
        "home/.claude/projects/-a/s1/subagents/agent-1.jsonl",
    ]


def test_a_variable_moves_a_place_and_an_empty_one_does_not(home: Path) -> None:
    put(home / ".claude/projects/-a/old.jsonl")
    put(home.parent / "elsewhere/projects/-a/new.jsonl")
    moved = str(home.parent / "elsewhere")
    assert paths_of(CLAUDE, home, CLAUDE_CONFIG_DIR=moved) == ["elsewhere/projects/-a/new.jsonl"]
    assert paths_of(CLAUDE, home, CLAUDE_CONFIG_DIR="") == ["home/.claude/projects/-a/old.jsonl"]


@pytest.mark.parametrize(
    "user",
    [
        ".config/Code - Insiders/User",
        "Library/Application Support/Cursor/User",
        "AppData/Roaming/Windsurf/User",
        ".local/share/code-server/User",
        ".vscode-server/data/User",
    ],
)
def test_extensions_are_found_in_every_editor_on_every_system(home: Path, user: str) -> None:
    task = "globalStorage/saoudrizwan.claude-dev/tasks/1700000000000/api_conversation_history.json"
    put(home / user / task, "[]")
    cline = next(agent for agent in AGENTS if agent.agent == "Cline")
    assert paths_of(cline, home) == [f"home/{user}/{task}"]


def test_a_pattern_never_follows_a_link_to_a_folder(home: Path) -> None:
    put(home / ".codex/sessions/2026/11/01/rollout-1.jsonl")
    (home / ".codex/sessions/2026/all").symlink_to(home)
    (home / ".codex/sessions/root").symlink_to("/")
    codex = next(agent for agent in AGENTS if agent.agent == "Codex")
    assert paths_of(codex, home) == ["home/.codex/sessions/2026/11/01/rollout-1.jsonl"]


def test_a_place_that_is_itself_a_link_is_followed(home: Path) -> None:
    put(home / "dotfiles/claude/projects/-a/s.jsonl")
    (home / ".claude").symlink_to(home / "dotfiles/claude")
    assert paths_of(CLAUDE, home) == ["home/.claude/projects/-a/s.jsonl"]


def test_a_folder_that_cannot_be_read_is_said(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(home / ".claude/projects/-a/s.jsonl")

    def refuse(folder: str) -> None:
        raise PermissionError(13, "Permission denied", folder)

    monkeypatch.setattr("ingest.sources.agent_places.os.scandir", refuse)
    unreadable: list[str] = []
    assert list(match_files(str(home), (".claude", "projects", "*"), unreadable)) == []
    assert unreadable == [f"{home}/.claude/projects cannot be read: Permission denied"]


def test_a_survey_counts_files_and_says_which_cannot_be_read_yet(home: Path) -> None:
    put(home / ".memo/sessions/a/1.jsonl", session("a"))
    put(home / ".memo/sessions/a/2.jsonl", session("b"))
    put(home / ".local/share/gptme/logs/x/conversation.jsonl", '{"colour": "blue"}\n')
    surveys = {survey.agent: survey for survey in survey_machine(str(home), {})}
    assert {name: (survey.files, survey.is_read) for name, survey in surveys.items()} == {
        "memo": (2, True),
        "gptme": (1, False),
    }
    assert surveys["memo"].bytes == len(session("a")) + len(session("b"))
    assert surveys["memo"].newest is not None


def test_the_transcripts_of_antigravity_are_found_and_aider_says_why_it_is_not_read(home: Path) -> None:
    for conversation, day in (("0a", "2026-06-26"), ("0b", "2026-06-27")):
        folder = home / ".gemini/antigravity-cli/brain" / conversation / ".system_generated/logs"
        put(folder / "transcript.jsonl", ANTIGRAVITY.read_text().replace("2026-06-26", day))
    put(home / ".gemini/antigravity/conversations/0a.pb", "x")
    put(home / "work/site/.aider.chat.history.md", "# aider chat started")
    surveys = {survey.agent: survey for survey in survey_machine(str(home), {})}
    assert {name: (survey.files, survey.is_read) for name, survey in surveys.items()} == {
        "Antigravity": (2, True),
        "Antigravity, encrypted": (1, False),
        "Aider": (1, False),
    }
    lines = "\n".join(survey_lines(list(surveys.values()), datetime.now(UTC)))
    assert "not read: Aider calls no tools" in lines
    assert load(list(surveys["Antigravity"].paths), home.parent / "store").sessions == 2


@pytest.mark.thorough
def test_a_named_home_gives_the_logs_in_its_hidden_folders_and_says_what_was_left_out(
    home: Path, tmp_path: Path
) -> None:
    put(home / ".memo/sessions/a/1.jsonl", session("a"))
    put(home / ".memo/config.json", "{}")
    put(home / "work/.git/config", "x")
    put(home / "other/.git/config", "x")
    put(home / ".cache/x.jsonl", session("c"))
    put(home / ".profile", "x")
    report = load([home], tmp_path / "store")
    assert (report.loaded, report.sessions, report.rejected) == (1, 1, ())
    searched, left_out = report.notes
    assert searched.endswith(f"except the log folders of known agents: {home}/.memo (1)")
    assert left_out.startswith("left out 3 hidden folders: .git (2), .cache and 1 hidden file; ")
    assert "`callgauge ingest " in left_out
    assert load([home / ".cache"], tmp_path / "store").loaded == 1


@pytest.mark.thorough
def test_foreign_files_are_known_one_by_one_and_not_looked_at_again(tmp_path: Path) -> None:
    logs, store = tmp_path / "logs", tmp_path / "store"
    for number in range(5):
        put(logs / f"{number}.json", json.dumps({"name": f"package {number}"}))
    put(logs / "a.jsonl", session("a"))
    report = load([logs], store)
    assert (report.loaded, [file.foreign for file in report.rejected]) == (1, ["json"] * 5)
    again = load([logs], store)
    assert (len(again.rejected), again.generation) == (5, None)
    put(logs / "3.json", session("b"))
    assert (load([logs], store).loaded, len(load([logs], store).rejected)) == (1, 4)
