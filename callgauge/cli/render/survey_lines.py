"""Formats what was found of the logs of known agents on this machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from callgauge.cli.render.load_progress import format_size
from callgauge.cli.render.printable import escape_for_terminal

if TYPE_CHECKING:
    from ingest.pipeline.survey import AgentSurvey

_WEEK = 7  # days that are counted before a date is clearer


def survey_lines(surveys: Sequence[AgentSurvey], now: datetime) -> Iterator[str]:
    """Yield a line for each agent, those that can be read first, and one for each unreadable folder.

    `now` is an aware time in the time zone of the user.
    """
    found = [survey for survey in surveys if survey.files]
    width = max((len(survey.agent) for survey in found), default=0) + 1
    for survey in sorted(found, key=lambda survey: not survey.is_read):
        line = f"{survey.agent + ':':{width}} {describe_survey(survey, now)}"
        yield line if survey.is_read else f"{line}; not read yet"
    for survey in surveys:
        yield from map(escape_for_terminal, survey.unreadable)


def describe_survey(survey: AgentSurvey, now: datetime) -> str:
    """Return the size of an agent's logs as text: 214 sessions, 480 MB, newest today."""
    files = f"{survey.files:,} {survey.unit}{'' if survey.files == 1 else 's'}"
    newest = f", newest {_describe_day(survey.newest, now)}" if survey.newest else ""
    return f"{files}, {format_size(survey.bytes)}{newest}"


def _describe_day(moment: datetime, now: datetime) -> str:
    day = moment.astimezone(now.tzinfo).date()
    days = (now.date() - day).days
    if days <= 0:
        return "today"
    if days == 1:
        return "yesterday"
    return f"{days} days ago" if days <= _WEEK else f"{day}"
