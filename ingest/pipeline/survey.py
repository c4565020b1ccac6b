"""Finds the logs of known agents on this machine, and says which of them can be read; changes nothing."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from ingest.decoding.lines import MAX_LINE
from ingest.pipeline.reading.format_recognition import UnusableFileError, recognise_log
from ingest.sources.agent_places import FoundFiles, find_agent_files
from ingest.sources.discovery import look_at_file
from ingest.sources.known_agents import AGENTS

_TRIED = 3  # files of an agent, the newest, whose beginnings say whether a format reads them


@dataclass(frozen=True, slots=True)
class AgentSurvey:
    """The logs of an agent on this machine.

    `unit` is what one file holds (session, event, database). `bytes` is their size, `newest` the time of the
    last change. `is_read` is False when no format reads them. `unreadable` are folders that could not be
    read, each with the reason.
    """

    agent: str
    unit: str
    files: int
    bytes: int
    newest: datetime | None
    is_read: bool
    paths: tuple[str, ...]
    unreadable: tuple[str, ...]


def survey_machine(
    home: str | None = None, environment: Mapping[str, str] | None = None
) -> list[AgentSurvey]:
    """Return the agents that have logs here, or folders that cannot be read, in the order of the table.

    `home` is the home folder, `environment` the variables that may move logs; None = those of this process.
    """
    home = home or str(Path.home())
    variables = os.environ if environment is None else environment
    surveys = (_survey_files(find_agent_files(agent, home, variables)) for agent in AGENTS)
    return [survey for survey in surveys if survey.files or survey.unreadable]


def list_readable_logs() -> list[str]:
    """Return the paths of all logs of known agents on this machine that a format reads."""
    return [path for survey in survey_machine() if survey.is_read for path in survey.paths]


def _survey_files(found: FoundFiles) -> AgentSurvey:
    size, by_time = 0, []
    for entry in found.files:
        try:
            state = entry.stat()
        except OSError:  # gone by now
            continue
        size += state.st_size
        by_time.append((state.st_mtime, entry.path))
    by_time.sort(reverse=True)
    return AgentSurvey(
        agent=found.agent.agent,
        unit=found.agent.unit,
        files=len(by_time),
        bytes=size,
        newest=datetime.fromtimestamp(by_time[0][0], UTC) if by_time else None,
        is_read=any(_is_read(path) for path in _spread(by_time)),
        paths=tuple(sorted(path for _, path in by_time)),
        unreadable=tuple(found.unreadable),
    )


def _spread(by_time: list[tuple[float, str]]) -> Iterable[str]:
    """Return the newest files and the oldest: an older version may have written logs that can be read."""
    return [path for _, path in (*by_time[:_TRIED], *by_time[-1:])]


def _is_read(path: str) -> bool:
    try:
        recognise_log(look_at_file(path), MAX_LINE)
    except (OSError, UnusableFileError):
        return False
    return True
