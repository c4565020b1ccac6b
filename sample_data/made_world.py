"""What the made weeks are about: tools, prompts, models and tasks (made_tasks.json), all invented.

A task is a user's message, the calls that do it right with what the tools answer, and the final answer.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Step:
    tool: str
    arguments: dict[str, Any]
    result: str


@dataclass(frozen=True, slots=True)
class Task:
    asked: str
    steps: tuple[Step, ...]
    answer: str


@dataclass(frozen=True, slots=True)
class Model:
    """`slips` = weights of the ways in which it gets a call wrong; `rate` = how often it gets one wrong."""

    name: str
    provider: str
    sessions_a_day: int
    rate: float
    slips: dict[str, int]
    repeats: float = 0.2  # how often a retry sends the same text again
    gives_up: float = 0.15  # how often it stops trying after a failure
    tokens_a_second: float = 60.0
    native: bool = True  # supports native tool use


def _tool(
    name: str, description: str, required: list[str], /, **properties: dict[str, Any]
) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return {"name": name, "description": description, "input_schema": schema}


_TEXT = {"type": "string"}
_COUNT = {"type": "integer", "minimum": 1}
_YES_NO = {"type": "boolean"}
_TEXTS = {"type": "array", "items": {"type": "string"}}

TOOLS = {
    tool["name"]: tool
    for tool in (
        _tool("read_file", "Read lines of a file.", ["path"], path=_TEXT, start_line=_COUNT, end_line=_COUNT),
        _tool(
            "edit_file",
            "Replace a text in a file.",
            ["path", "old_text", "new_text"],
            path=_TEXT,
            old_text=_TEXT,
            new_text=_TEXT,
            replace_all=_YES_NO,
        ),
        _tool("write_file", "Write a whole file.", ["path", "content"], path=_TEXT, content=_TEXT),
        _tool(
            "run_command",
            "Run a shell command in the workspace.",
            ["command"],
            command=_TEXT,
            timeout_seconds=_COUNT,
            background=_YES_NO,
        ),
        _tool(
            "search_code",
            "Search the workspace.",
            ["query"],
            query=_TEXT,
            path=_TEXT,
            regex=_YES_NO,
            max_results=_COUNT,
        ),
        _tool(
            "search_tickets",
            "Find support tickets.",
            ["query"],
            query=_TEXT,
            status={"type": "string", "enum": ["open", "waiting", "closed"]},
            labels=_TEXTS,
            limit={**_COUNT, "maximum": 50},
        ),
        _tool(
            "update_ticket",
            "Change a ticket.",
            ["ticket_id", "status"],
            ticket_id={"type": "integer"},
            status={"type": "string", "enum": ["open", "waiting", "closed"]},
            note=_TEXT,
            notify=_YES_NO,
        ),
        _tool(
            "send_message",
            "Post to a channel.",
            ["channel", "text"],
            channel=_TEXT,
            text=_TEXT,
            mentions=_TEXTS,
            priority={"type": "string", "enum": ["low", "normal", "high"]},
        ),
        _tool(
            "query_database",
            "Run a read-only SQL query.",
            ["sql"],
            sql=_TEXT,
            limit=_COUNT,
            timeout_seconds={"type": "number"},
        ),
        _tool(
            "schedule_report",
            "Send a report at a given time.",
            ["name", "at", "recipients"],
            name=_TEXT,
            at={"type": "string", "format": "date-time"},
            recipients=_TEXTS,
            filters={"type": "object"},
        ),
    )
}

# name → (tools it offers, its text by version)
PROMPTS: dict[str, tuple[tuple[str, ...], dict[str, str]]] = {
    "fixer": (
        ("read_file", "edit_file", "write_file", "run_command", "search_code"),
        {
            "12": "You are a coding agent. Read before you edit. Keep edits small. Run the tests at the end.",
            "13": "You are a coding agent. Read before you edit. Prefer few, large edits: put the whole "
            "function into old_text and new_text. Explain each call in a comment. Run the tests at the end.",
        },
    ),
    "triage": (
        ("search_tickets", "update_ticket", "send_message"),
        {"4": "You sort support tickets. Answer in the language of the user. Close duplicates only."},
    ),
    "reporter": (
        ("query_database", "schedule_report", "send_message"),
        {"2": "You answer questions about sales from the database. Never write to it. Reports run in UTC."},
    ),
}

_MENDED = {
    "number_as_text": 6, "boolean_as_text": 4, "whole_float": 3, "one_for_list": 4, "other_case": 4,
    "trailing_comma": 3, "fenced": 3,
}  # fmt: skip
MODELS = (
    Model(
        "aurora-large",
        "aurora-cloud",
        6,
        0.08,
        {"number_as_text": 2, "other_case": 1, "rejected": 5, "crash": 5, "refused": 4, "wrong_enum": 1},
        repeats=0.02,
        gives_up=0.05,
        tokens_a_second=75,
    ),
    Model(
        "aurora-mini",
        "aurora-cloud",
        6,
        0.2,
        {
            **_MENDED,
            "unknown_field": 3,
            "rejected": 7,
            "crash": 7,
            "refused": 4,
            "missing": 3,
            "wrong_enum": 2,
        },
        repeats=0.1,
        gives_up=0.1,
        tokens_a_second=140,
    ),
    Model(
        "kestrel-coder-14b",
        "local-vllm",
        10,
        0.16,
        {
            "inner_quotes": 3,
            "raw_newline": 3,
            "double_encoded": 4,
            "camel_case": 3,
            "trailing_comma": 2,
            "rejected": 5,
            "crash": 6,
            "truncated": 2,
        },
        tokens_a_second=48,
    ),
    Model(
        "falcon-3-8b",
        "local-vllm",
        6,
        0.36,
        {
            **_MENDED,
            "single_quotes": 8,
            "python_words": 5,
            "narrated": 5,
            "bare_keys": 4,
            "comment": 1,
            "double_encoded": 3,
            "truncated": 3,
            "prose": 2,
            "missing": 5,
            "not_a_number": 2,
            "unknown_tool": 3,
            "rejected": 5,
            "crash": 5,
            "as_text": 4,
        },
        repeats=0.35,
        gives_up=0.2,
        tokens_a_second=95,
    ),
    Model(
        "pico-2b",
        "edge",
        4,
        0.5,
        {
            "single_quotes": 6,
            "truncated": 6,
            "prose": 5,
            "missing": 5,
            "as_text": 4,
            "array_root": 2,
            "unknown_tool": 3,
            "wrong_enum": 3,
            "not_a_number": 2,
            "fenced": 3,
            "number_as_text": 5,
            "crash": 2,
        },
        repeats=0.55,
        gives_up=0.4,
        tokens_a_second=160,
        native=False,
    ),
)
# From this day on the coding agent runs with fixer@13. One model takes its advice badly.
NEW_FIXER_DAY = datetime(2026, 11, 12, tzinfo=UTC)
REGRESSED = "kestrel-coder-14b"
REGRESSED_RATE = 0.5
REGRESSED_SLIPS = {"inner_quotes": 12, "raw_newline": 6, "comment": 2, "truncated": 4}


def _tasks() -> dict[str, tuple[Task, ...]]:
    """The tasks of made_tasks.json by prompt."""
    given = json.loads((Path(__file__).parent / "made_tasks.json").read_text(encoding="utf-8"))
    return {
        prompt: tuple(
            Task(task["asked"], tuple(Step(**step) for step in task["steps"]), task["answer"])
            for task in tasks
        )
        for prompt, tasks in given.items()
    }


TASKS = _tasks()
