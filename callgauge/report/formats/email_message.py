"""Writes the report as an e-mail with plain text and HTML."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, parseaddr
from hashlib import sha256

from callgauge.analysis import wording
from callgauge.report.content.morning_report import MorningReport, ReportItem
from callgauge.report.formats.html_page import write_html

_LONGEST = 400  # maximum length of a sentence, in characters
# Chat programs turn these texts into a link, a mention or a tag, even without markup.
_CHAT_SIGN = re.compile(r"https?:(?=//)|www(?=\.)|[@<]", re.IGNORECASE)
_WORD_JOINER = "\u2060"  # invisible; a link or a mention ends before this character


class EmailAddressError(ValueError):
    """Raised when a configured e-mail address is invalid. The message names the address."""


def make_email(report: MorningReport, sender: str = "", to: Sequence[str] = ()) -> EmailMessage:
    """Return the e-mail. Raises EmailAddressError.

    Headers contain no log content. If the same report is sent again to the same recipients, the Message-ID is
    the same.
    """
    message = EmailMessage(policy=SMTP)
    message["Subject"] = report.title
    message["Date"] = format_datetime(report.made_at)
    if sender:
        own = _read_address(sender)
        message["From"] = own
        message["To"] = [_read_address(address) for address in to]
        identity = "\n".join((report.store, report.night.isoformat(), sender, *to))
        digest = sha256(identity.encode(errors="replace")).hexdigest()[:16]
        message["Message-ID"] = f"<callgauge-{report.night:%Y%m%d}-{digest}@{own.domain}>"
    message["Auto-Submitted"] = "auto-generated"  # prevents automatic replies (RFC 3834)
    message.set_content(write_plain_text(report), cte="quoted-printable")
    message.add_alternative(write_html(report), subtype="html", cte="quoted-printable")
    return message


def write_plain_text(report: MorningReport, *, for_chats: bool = False) -> str:
    """Return the report as plain text.

    With `for_chats`, log content creates no links and mentions nobody.
    """

    def show(text: str) -> str:
        shown = wording.one_line(text, _LONGEST)
        return _CHAT_SIGN.sub(rf"\g<0>{_WORD_JOINER}", shown) if for_chats else shown

    return "\n".join(_list_lines(report, show)) + "\n"


def write_email(report: MorningReport) -> str:
    """Return the e-mail as text, without the addresses of sender and recipients."""
    return make_email(report).as_bytes().decode("ascii", "replace").replace("\r\n", "\n")


def _read_address(text: str) -> Address:
    """Return an e-mail address with its name.

    A line break raises an error, because it would begin another header.
    """
    name, spec = parseaddr(text)
    try:
        address = Address(name, addr_spec=spec)
    except (ValueError, IndexError, MessageError):
        address = None
    if address is None or not address.domain or not address.username or not text.isprintable():
        raise EmailAddressError(f"{wording.one_line(text, 80)!r} is not an e-mail address")
    return address


def _list_lines(report: MorningReport, show: Callable[[str], str]) -> Iterator[str]:
    yield from (show(report.answer), "")
    for item in report.sentences:
        yield from _write_item(report, item, show)
    if report.further:
        yield from (f"{report.further} more: {report.find_address('/')}", "")
    if report.still_open:
        yield from ("Still open", "")
        for item in report.still_open:
            yield from _write_item(report, item, show)
        if report.open_further:
            yield from (f"{report.open_further} more: {report.find_address('/')}", "")
    for each in report.rates:
        rates = f"{wording.rate(each.k, each.n)} ({wording.fraction(each.k, each.n)})"
        before = wording.rate(each.before_k, each.before_n)
        yield f"{each.title}: {rates}, {report.days_before} days before {before}"
    if report.ranking:
        yield from ("", show(report.ranking), f"  {report.find_address(report.ranking_link)}")
    if report.retries:
        yield from ("", show(report.retries), f"  {report.find_address(report.retries_link)}")
    yield from ("", f"{show(report.small_print)} {report.find_address('/data')}")


def _write_item(report: MorningReport, item: ReportItem, show: Callable[[str], str]) -> Iterator[str]:
    yield f"{item.sign} {show(item.text)}"
    yield f"  {show(item.counts)}"
    yield from (f"  {report.find_address(item.link)}", "")
