"""The morning report as HTML, Markdown, JSON, e-mail, and as Slack, Teams and Discord messages."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from callgauge.report.content.morning_report import MorningReport
from callgauge.report.formats.email_message import write_email
from callgauge.report.formats.html_page import write_html
from callgauge.report.formats.markdown import write_markdown
from callgauge.report.formats.slack import make_slack_message


def write_json(report: MorningReport) -> str:
    return json.dumps(report.to_data(), ensure_ascii=False, indent=2) + "\n"


def write_slack(report: MorningReport) -> str:
    return json.dumps(make_slack_message(report), ensure_ascii=False, indent=2) + "\n"


FORMATS: Mapping[str, Callable[[MorningReport], str]] = {
    "html": write_html,
    "md": write_markdown,
    "json": write_json,
    "slack": write_slack,
    "email": write_email,
}
"""The formats of `callgauge report`."""
