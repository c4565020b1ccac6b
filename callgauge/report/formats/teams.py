"""Writes the report as a Microsoft Teams message: an adaptive card for an incoming webhook or a workflow.

Blocks: https://adaptivecards.io/explorer/

A message may have 28 KB. Log content needs no escaping, because TextRun elements ignore Markdown.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from callgauge.analysis import wording
from callgauge.report.content.morning_report import MorningReport, ReportItem

MOST_BYTES = 27_000
_LONGEST = 500  # maximum length of a sentence, in characters
_COLOURS = {"bad": "attention", "good": "good", "calm": "default"}
_Block = dict[str, Any]


def make_teams_message(report: MorningReport) -> dict[str, Any]:
    """Return the message with its card. If the card is too large, its last blocks are left out."""
    body = list(_list_blocks(report))
    while len(json.dumps(_make_message(report, body))) > MOST_BYTES:
        body.pop()
    return _make_message(report, body)


def _make_message(report: MorningReport, body: list[_Block]) -> dict[str, Any]:
    card: dict[str, Any] = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "fallbackText": report.title,
        "body": body,
    }
    if report.address:
        card["actions"] = [
            {"type": "Action.OpenUrl", "title": "Open the dashboard", "url": report.find_address("/")}
        ]
    attachment = {"contentType": "application/vnd.microsoft.card.adaptive", "content": card}
    return {"type": "message", "attachments": [attachment]}


def _list_blocks(report: MorningReport) -> Iterator[_Block]:
    yield _make_line(_make_run(report.title, size="large", weight="bolder"))
    yield _make_line(_make_run(report.answer))
    yield from (_make_item(report, item) for item in report.sentences)
    if report.further:
        yield _make_line(_make_run(f"{report.further} more on the Overview"))
    if report.still_open:
        yield _make_line(_make_run("Still open", weight="bolder"))
        yield from (_make_item(report, item) for item in report.still_open)
        if report.open_further:
            yield _make_line(_make_run(f"{report.open_further} more on the Overview"))
    for text in filter(None, (report.ranking, report.retries, report.small_print)):
        yield _make_line(_make_run(text, isSubtle=True))


def _make_item(report: MorningReport, item: ReportItem) -> _Block:
    sentence = _make_run(item.text)
    if report.address:
        sentence["selectAction"] = {"type": "Action.OpenUrl", "url": report.find_address(item.link)}
    return _make_line(
        _make_run(f"{item.sign} ", color=_COLOURS[item.tone]),
        sentence,
        _make_run(f" ({item.counts})", isSubtle=True),
    )


def _make_line(*runs: _Block) -> _Block:
    return {"type": "RichTextBlock", "inlines": list(runs), "spacing": "small"}


def _make_run(text: str, **style: Any) -> _Block:
    shown = wording.visible(wording.shorten(text, _LONGEST))
    return {"type": "TextRun", "text": shown, **style}
