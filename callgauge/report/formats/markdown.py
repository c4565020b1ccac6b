"""The report as Markdown, every log text escaped."""

from __future__ import annotations

from collections.abc import Iterator

from callgauge.analysis import wording
from callgauge.documents.markdown import escape_text, write_link
from callgauge.report.content.morning_report import MorningReport, ReportItem, ReportRate
from callgauge.stats import Interval


def write_markdown(report: MorningReport) -> str:
    """Return the report as Markdown (CommonMark, with a table as GitHub reads it)."""
    return "\n".join(_list_lines(report)).rstrip() + "\n"


def _list_lines(report: MorningReport) -> Iterator[str]:
    yield f"# {escape_text(report.title)}"
    yield ""
    yield escape_text(report.answer)
    yield ""
    yield from (_write_item(report, one) for one in report.sentences)
    if report.further:
        yield f"- {report.further} more: {write_place(report, 'Overview', '/')}"
    if report.still_open:
        yield from ("", "## Still open", "")
        yield from (_write_item(report, one) for one in report.still_open)
        if report.open_further:
            yield f"- {report.open_further} more: {write_place(report, 'Overview', '/')}"
    if report.rates:
        yield from ("", "## Rates", "")
        yield f"| rate | {report.newest} | k / n | 95% | {report.days_before} days before |"
        yield "|---|--:|--:|--:|--:|"
        yield from (_write_rate(report, one) for one in report.rates)
    if report.ranking:
        place = write_place(report, "Models", report.ranking_link)
        yield from ("", f"{escape_text(report.ranking)} {place}")
    if report.retries:
        yield from (
            "",
            f"{escape_text(report.retries)} {write_place(report, 'Retries', report.retries_link)}",
        )
    yield from ("", f"{escape_text(report.small_print)} {write_place(report, 'Data', '/data')}")


def _write_item(report: MorningReport, one: ReportItem) -> str:
    text = f"- {one.sign} {escape_text(one.text)} ({escape_text(one.counts)})"
    return f"{text} {write_place(report, one.page, one.link)}"


def _write_rate(report: MorningReport, one: ReportRate) -> str:
    interval = wording.interval(Interval(one.low, one.high))
    before = wording.rate(one.before_k, one.before_n)
    name = write_place(report, one.title, one.link)
    return f"| {name} | {wording.rate(one.k, one.n)} | {one.k:,} / {one.n:,} | {interval} | {before} |"


def write_place(report: MorningReport, title: str, link: str) -> str:
    """Return a link where the dashboard's address is known, else the path of the page as code."""
    if report.address:
        return write_link(title, report.find_address(link))
    return f"{escape_text(title)} `{link.replace('(', '%28').replace(')', '%29')}`"
