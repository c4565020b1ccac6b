"""Writes the report as Markdown, with all log content escaped."""

from __future__ import annotations

from collections.abc import Iterator

from callgauge.analysis import wording
from callgauge.documents.markdown import escape_text, write_link
from callgauge.report.content.morning_report import MorningReport, ReportItem, ReportRate
from callgauge.stats import Interval


def write_markdown(report: MorningReport) -> str:
    """Return the report as Markdown (CommonMark with GitHub tables)."""
    return "\n".join(_list_lines(report)).rstrip() + "\n"


def _list_lines(report: MorningReport) -> Iterator[str]:
    yield f"# {escape_text(report.title)}"
    yield ""
    yield escape_text(report.answer)
    yield ""
    yield from (_write_item(report, item) for item in report.sentences)
    if report.further:
        yield f"- {report.further} more: {write_place(report, 'Overview', '/')}"
    if report.still_open:
        yield from ("", "## Still open", "")
        yield from (_write_item(report, item) for item in report.still_open)
        if report.open_further:
            yield f"- {report.open_further} more: {write_place(report, 'Overview', '/')}"
    if report.rates:
        yield from ("", "## Rates", "")
        yield f"| rate | {report.newest} | k / n | 95% | {report.days_before} days before |"
        yield "|---|--:|--:|--:|--:|"
        yield from (_write_rate(report, rate) for rate in report.rates)
    if report.ranking:
        place = write_place(report, "Models", report.ranking_link)
        yield from ("", f"{escape_text(report.ranking)} {place}")
    if report.retries:
        yield from (
            "",
            f"{escape_text(report.retries)} {write_place(report, 'Retries', report.retries_link)}",
        )
    yield from ("", f"{escape_text(report.small_print)} {write_place(report, 'Data', '/data')}")


def _write_item(report: MorningReport, item: ReportItem) -> str:
    text = f"- {item.sign} {escape_text(item.text)} ({escape_text(item.counts)})"
    return f"{text} {write_place(report, item.page, item.link)}"


def _write_rate(report: MorningReport, rate: ReportRate) -> str:
    interval = wording.interval(Interval(rate.low, rate.high))
    before = wording.rate(rate.before_k, rate.before_n)
    name = write_place(report, rate.title, rate.link)
    return f"| {name} | {wording.rate(rate.k, rate.n)} | {rate.k:,} / {rate.n:,} | {interval} | {before} |"


def write_place(report: MorningReport, title: str, link: str) -> str:
    """Return a link. When the dashboard's address is not configured, return the page's path as code."""
    if report.address:
        return write_link(title, report.find_address(link))
    return f"{escape_text(title)} `{link.replace('(', '%28').replace(')', '%29')}`"
