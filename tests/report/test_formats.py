"""Tests the formats of a report."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import date
from email import message_from_string, policy
from html.parser import HTMLParser

import pytest

from callgauge.report.content.compose import write_link
from callgauge.report.content.morning_report import MorningReport, ReportItem
from callgauge.report.formats import FORMATS
from callgauge.report.formats.discord import LONGEST_TEXT as DISCORD_TEXT
from callgauge.report.formats.discord import make_discord_message
from callgauge.report.formats.email_message import EmailAddressError, make_email, write_plain_text
from callgauge.report.formats.slack import LONGEST_TEXT, MOST_BLOCKS, make_slack_message
from callgauge.report.formats.teams import MOST_BYTES, make_teams_message

EVIL = "<script>alert(1)</script> <!channel> @everyone [x](http://evil.test) **b** `c` \u202egnp\x1b[31m\n# h"


@pytest.fixture(scope="module")
def hostile(report: MorningReport) -> MorningReport:
    evil = EVIL + "&" * 3000
    items = [
        replace(item, text=evil, counts=evil, link=write_link("compare", {"a_model": EVIL + "x" * 5000}))
        for item in report.sentences
    ]
    return replace(report, sentences=(*items, *items), still_open=(*items * 5,), open_further=3, store=EVIL)


class _Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]
        assert not any(name.startswith("on") for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_a_page_needs_nothing_but_itself(report: MorningReport) -> None:
    text = FORMATS["html"](report)
    page = _Page(text)
    assert not {"script", "img", "link", "iframe"} & set(page.tags)
    assert "url(" not in text
    assert "@import" not in text
    assert all(link.startswith("https://gauge.example.com/") for link in page.links)
    assert "prefers-color-scheme: dark" in text
    assert page.tags.count("svg") == 1 + len(report.rates)
    for item in report.sentences:
        assert item.text in page.text
        assert item.counts in page.text


def test_without_an_address_a_page_names_paths_and_has_no_links(report: MorningReport) -> None:
    page = _Page(FORMATS["html"](replace(report, address=None)))
    assert not page.links
    assert "/compare?a_model=kestrel-14b" in page.text
    markdown = FORMATS["md"](replace(report, address=None))
    assert "`/compare?a_model=kestrel-14b" in markdown
    assert "](" not in markdown


@pytest.mark.parametrize("form", sorted(FORMATS))
def test_hostile_text_stays_text(hostile: MorningReport, form: str) -> None:
    text = FORMATS[form](hostile)
    if form == "json":
        assert json.loads(text)["sentences"][0]["text"] == hostile.sentences[0].text
        return
    assert "\x1b" not in text
    assert "\u202e" not in text
    if form == "email":
        text = str(message_from_string(text, policy=policy.default).get_body(("html",)))
    assert "<script>" not in text
    assert "<!channel>" not in text
    if form == "html":
        assert "script" not in _Page(text).tags
    if form == "md":
        assert not re.search(r"(?<!\\)[<`*]", re.sub(r"\[\w+\]\(", "", text))
        assert "](http://evil" not in text


def test_a_message_of_slack_keeps_its_limits(hostile: MorningReport) -> None:
    message = make_slack_message(hostile)
    assert 10 < len(message["blocks"]) <= MOST_BLOCKS
    for block in message["blocks"]:
        texts = [block["text"]] if "text" in block else block.get("elements", [])
        for text in texts:
            assert 0 < len(text["text"]) <= LONGEST_TEXT
            # No < and > may remain after our own links are removed.
            without_links = re.sub(r"<https://gauge\.example\.com/[^<>|]*\|[\w ]+>", "", text["text"])
            assert "<" not in without_links
            assert ">" not in without_links
            assert text["type"] != "mrkdwn" or text["verbatim"] is True


def test_a_message_of_teams_keeps_its_limits_and_reads_no_markdown(hostile: MorningReport) -> None:
    message = make_teams_message(hostile)
    assert len(json.dumps(message)) <= MOST_BYTES
    body = message["attachments"][0]["content"]["body"]
    assert {block["type"] for block in body} == {"RichTextBlock"}
    assert {run["type"] for block in body for run in block["inlines"]} == {"TextRun"}


def test_a_message_of_discord_keeps_its_limits_and_mentions_nobody(hostile: MorningReport) -> None:
    message = make_discord_message(hostile)
    (embed,) = message["embeds"]
    assert 0 < len(embed["description"]) <= DISCORD_TEXT
    assert message["allowed_mentions"] == {"parse": []}
    assert "@everyone" not in embed["description"]


def test_a_message_for_chats_makes_no_link_and_mentions_nobody(hostile: MorningReport) -> None:
    text = write_plain_text(hostile, for_chats=True)
    for sign in ("http://evil", "@everyone", "<script", "<!channel", "\x1b", "\u202e"):
        assert sign not in text
    assert "https://gauge.example.com/" in text, "our own links stay links"


def test_an_email_has_both_forms_and_no_header_that_a_log_wrote(hostile: MorningReport) -> None:
    made = make_email(hostile, "Callgauge <gauge@example.com>", ["Team <team@example.com>", "x@example.com"])
    message = message_from_string(made.as_string(), policy=policy.default)
    assert message["To"] == "Team <team@example.com>, x@example.com"
    assert message["Message-ID"].endswith("@example.com>")
    kinds = [part.get_content_type() for part in message.walk()]
    assert kinds == ["multipart/alternative", "text/plain", "text/html"]
    assert message["Subject"] == hostile.title
    assert make_email(hostile, "gauge@example.com", ["team@example.com"])["Message-ID"] != made["Message-ID"]


@pytest.mark.parametrize(
    "address",
    ["team@example.com\nBcc: all@example.com", "team@example.com\r\n\r\nhello", "team", "", "@x", "a@b@c d"],
)
def test_an_address_that_would_write_a_header_is_refused(report: MorningReport, address: str) -> None:
    with pytest.raises(EmailAddressError):
        make_email(report, "gauge@example.com", [address])


def test_a_quiet_report_is_one_sentence_in_every_format(report: MorningReport) -> None:
    quiet = replace(
        report, sentences=(), is_quiet=True, answer="Nothing changed beyond chance on 20 Nov: 61,204 calls."
    )
    assert "nothing changed" in quiet.title
    for form in ("html", "md", "slack", "json"):
        assert quiet.answer in FORMATS[form](quiet)


def test_a_trend_of_one_rate_only_is_drawn(report: MorningReport) -> None:
    flat = tuple(replace(point, k=0) for point in report.sentences[0].trend)
    item = replace(report.sentences[0], trend=flat, expected=0.0)
    text = FORMATS["html"](replace(report, sentences=(item,)))
    assert "nan" not in text.lower().split("</style>")[1]
    assert isinstance(item, ReportItem)
    assert report.night == date(2026, 11, 20)
