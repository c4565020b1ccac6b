"""Finds the logs of known agents on this machine. Says which logs can be read. Changes nothing."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from ingest.decoding.lines import MAX_LINE
from ingest.pipeline.reading.format_recognition import UnusableFileError, recognise_log
from ingest.sources.agent_places import FoundFiles, find_agent_files
from ingest.sources.discovery import look_at_file
from ingest.sources.known_agents import AGENTS
from ingest.sources.log_file import LogFile
from ingest.sources.session_trees import gather_trees

_TRIED = 3  # number of an agent's newest files for which the format is checked


class AgentSurvey(msgspec.Struct, frozen=True):
    """The logs of an agent on this machine.

    `unit` is what one log contains (session, event, database). `bytes` is the total size of the logs,
    `newest` the time of the last change. If no format reads the logs, `is_read` is False and `why` may give
    the reason. `unreadable` are folders that could not be read, each with the reason.
    """

    agent: str
    unit: str
    files: int
    bytes: int
    newest: datetime | None
    is_read: bool
    why: str
    paths: tuple[str, ...]
    unreadable: tuple[str, ...]


def survey_machine(
    home: str | None = None, environment: Mapping[str, str] | None = None
) -> list[AgentSurvey]:
    """Return the agents that have logs or unreadable folders on this machine.

    `home` is the home folder. `environment` has variables that may say where logs are, by default those of
    this process.
    """
    home = home or str(Path.home())
    variables = os.environ if environment is None else environment
    surveys = (_survey_files(find_agent_files(agent, home, variables)) for agent in AGENTS)
    return [survey for survey in surveys if survey.files or survey.unreadable]


def list_readable_logs() -> list[str]:
    """Return the paths of all readable logs of known agents on this machine."""
    return [path for survey in survey_machine() if survey.is_read for path in survey.paths]


def _survey_files(found_files: FoundFiles) -> AgentSurvey:
    files = [look_at_file(entry.path) for entry in found_files.files]
    logs = [log for log in gather_trees(files, look_at_file).logs if log.problem is None]
    logs.sort(key=lambda log: (log.seen.mtime_ns, log.name), reverse=True)
    return AgentSurvey(
        agent=found_files.agent.agent,
        unit=found_files.agent.unit,
        files=len(logs),
        bytes=sum(log.seen.size for log in logs),
        newest=datetime.fromtimestamp(logs[0].seen.mtime_ns / 1e9, UTC) if logs else None,
        is_read=not found_files.agent.why and any(map(_is_read, _spread(logs))),
        why=found_files.agent.why,
        paths=tuple(sorted(entry.path for entry in found_files.files)),
        unreadable=tuple(found_files.unreadable),
    )


def _spread(by_time: list[LogFile]) -> Iterable[LogFile]:
    """Return the newest logs and the oldest log."""
    return (*by_time[:_TRIED], *by_time[_TRIED:][-1:])


def _is_read(log: LogFile) -> bool:
    try:
        recognise_log(log, MAX_LINE)
    except (OSError, UnusableFileError):
        return False
    return True
