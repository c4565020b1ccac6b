"""Writes the report as a Discord message: one embed that mentions nobody.

Limits: https://docs.discord.com/developers/resources/message#embed-object-embed-limits
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from callgauge.analysis import wording
from callgauge.documents.markdown import escape_text
from callgauge.report.content.morning_report import MorningReport, ReportItem
from callgauge.report.formats.markdown import write_place

LONGEST_TITLE, LONGEST_TEXT = 256, 4096
_COLOURS = {True: 0x57606A, False: 0xB3261E}


def make_discord_message(report: MorningReport) -> dict[str, Any]:
    """Return the message. If it is too long, the last lines are left out."""
    lines = list(_list_lines(report))
    while len("\n".join(lines)) > LONGEST_TEXT:
        lines.pop()
    embed: dict[str, Any] = {
        "title": wording.shorten(report.title, LONGEST_TITLE),
        "description": "\n".join(lines),
        "color": _COLOURS[report.is_quiet],
    }
    if report.address:
        embed["url"] = report.find_address("/")
    return {"embeds": [embed], "allowed_mentions": {"parse": []}}


def _list_lines(report: MorningReport) -> Iterator[str]:
    yield escape_text(report.answer)
    yield from (_write_item(report, item) for item in report.sentences)
    if report.further:
        yield f"{report.further} more: {write_place(report, 'Overview', '/')}"
    if report.still_open:
        yield "**Still open**"
        yield from (_write_item(report, item) for item in report.still_open)
    if report.open_further:
        yield f"{report.open_further} more: {write_place(report, 'Overview', '/')}"
    yield from map(escape_text, filter(None, (report.ranking, report.retries, report.small_print)))


def _write_item(report: MorningReport, item: ReportItem) -> str:
    place = write_place(report, item.page, item.link)
    return f"{item.sign} {escape_text(item.text)} ({escape_text(item.counts)}) {place}"
