"""Writes the report as a Slack message with Block Kit, within the limits of Block Kit.

Limits: https://docs.slack.dev/reference/block-kit/blocks
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from callgauge.analysis import wording
from callgauge.report.content.morning_report import MorningReport, ReportItem

MOST_BLOCKS, LONGEST_TEXT, LONGEST_HEADER = 50, 3000, 150
# Maximum lengths before escaping. Escaping may turn one character into five, and the texts then still fit.
_LONGEST, _LONGEST_COUNTS, _LONGEST_LINK = 250, 150, 800
_Block = dict[str, Any]


def make_slack_message(report: MorningReport) -> dict[str, Any]:
    """Return the message: a text for notifications, and the blocks."""
    blocks = [*_list_blocks(report)][:MOST_BLOCKS]
    return {"text": escape_slack(f"{report.title}. {report.answer}"), "blocks": blocks}


def _list_blocks(report: MorningReport) -> Iterator[_Block]:
    title = wording.shorten(report.title, LONGEST_HEADER)
    yield {"type": "header", "text": {"type": "plain_text", "text": title, "emoji": False}}
    yield _make_section(escape_slack(report.answer))
    yield from (_make_item(report, item) for item in report.sentences)
    if report.further:
        yield _make_section(f"{report.further} more: {_write_place(report, 'Overview', '/')}")
    if report.still_open:
        yield {"type": "divider"}
        yield _make_section("*Still open*")
        yield from (_make_item(report, item) for item in report.still_open)
        if report.open_further:
            yield _make_section(f"{report.open_further} more: {_write_place(report, 'Overview', '/')}")
    if report.ranking:
        place = _write_place(report, "Models", report.ranking_link)
        yield _make_context(f"{escape_slack(report.ranking)} {place}")
    if report.retries:
        place = _write_place(report, "Retries", report.retries_link)
        yield _make_context(f"{escape_slack(report.retries)} {place}")
    yield _make_context(f"{escape_slack(report.small_print)} {_write_place(report, 'Data', '/data')}")


def _make_item(report: MorningReport, item: ReportItem) -> _Block:
    place = _write_place(report, item.page, item.link)
    return _make_section(
        f"{item.sign} {escape_slack(item.text)}\n_{escape_slack(item.counts, _LONGEST_COUNTS)}_ {place}"
    )


def _make_section(text: str) -> _Block:
    return {"type": "section", "text": _make_text(text)}


def _make_context(text: str) -> _Block:
    return {"type": "context", "elements": [_make_text(text)]}


def _make_text(text: str) -> _Block:
    # With verbatim, Slack creates no links, channels or mentions from log text.
    return {"type": "mrkdwn", "text": text, "verbatim": True}


def _write_place(report: MorningReport, title: str, link: str) -> str:
    whole = report.find_address(link)
    whole = whole if len(whole) <= _LONGEST_LINK else report.find_address("/")
    address = escape_slack(whole.replace("|", "%7C"), _LONGEST_LINK)
    return f"<{address}|{title}>" if report.address else f"{title}: {address}"


def escape_slack(text: str, limit: int = _LONGEST) -> str:
    """Return a text for Slack, cut to `limit` characters.

    Slack's control characters &, < and > are escaped.
    """
    return wording.one_line(text, limit).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
