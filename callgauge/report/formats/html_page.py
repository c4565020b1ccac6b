"""Writes the report as one HTML file, which e-mails also contain."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence

from callgauge.analysis import wording
from callgauge.documents.html_page import write_page
from callgauge.documents.svg import draw_small_trend, escape
from callgauge.report.content.morning_report import MorningReport, ReportItem, ReportRate, TrendPoint
from callgauge.stats import Interval


def write_html(report: MorningReport) -> str:
    """Return the report as a page in which all log content is escaped."""
    return write_page(report.title, list(_list_parts(report)))


def _list_parts(report: MorningReport) -> Iterator[str]:
    yield f'<p class="kicker">{escape(report.title.split(":")[0])} · {escape(report.store)}</p>'
    yield f'<h1 class="{"quiet" if report.is_quiet else "news"}">{escape(report.answer)}</h1>'
    if report.sentences:
        further = f"{report.further} more: {_write_place(report, 'Overview', '/')}" if report.further else ""
        yield _write_items(report, report.sentences, further)
    if report.still_open:
        yield "<h2>Still open</h2>"
        more = report.open_further
        further = f"{more} more: {_write_place(report, 'Overview', '/')}" if more else ""
        yield _write_items(report, report.still_open, further)
    if report.rates:
        yield "<h2>Rates</h2>"
        yield _write_rates(report)
    if report.ranking:
        place = _write_place(report, "Models", report.ranking_link)
        yield f"<h2>Which model</h2>\n<p>{escape(report.ranking)} {place}</p>"
    if report.retries:
        place = _write_place(report, "Retries", report.retries_link)
        yield f"<h2>Retries</h2>\n<p>{escape(report.retries)} {place}</p>"
    made = f"{report.made_at:%Y-%m-%d %H:%M} UTC"
    place = _write_place(report, "Data", "/data")
    yield f"<footer>{escape(report.small_print)} {place} · made {made}</footer>"


def _write_items(report: MorningReport, items: Sequence[ReportItem], further: str) -> str:
    lines = [_write_item(report, item) for item in items] + ([f"<li>{further}</li>"] if further else [])
    return "<ul>\n" + "\n".join(lines) + "\n</ul>"


def _write_item(report: MorningReport, item: ReportItem) -> str:
    words = f"{item.text}, day by day"
    trend = _draw_trend(item.trend, words, item.expected) if len(item.trend) > 1 else ""
    link = _write_place(report, item.page, item.link)
    return (
        f'<li class="{item.tone}"><span class="sign">{item.sign}</span>'
        f'<div class="said"><p>{escape(item.text)}</p>'
        f'<p class="counts">{escape(item.counts)} · {link}</p></div>{trend}</li>'
    )


def _write_rates(report: MorningReport) -> str:
    rows = "\n".join(_write_rate(report, rate) for rate in report.rates)
    return (
        '<table>\n<thead><tr><th scope="col">Rate</th>'
        f'<th scope="col" class="number">{report.newest:%d %b}</th>'
        '<th scope="col" class="number wide">k / n</th><th scope="col" class="number wide">95%</th>'
        f'<th scope="col" class="number">{report.days_before} days before</th>'
        f'<th scope="col" class="wide"></th></tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>'
    )


def _write_rate(report: MorningReport, rate: ReportRate) -> str:
    name = _write_place(report, rate.title, rate.link) if report.address else escape(rate.title)
    interval = wording.interval(Interval(rate.low, rate.high))
    counts = wording.fraction(rate.k, rate.n)
    trend = _draw_trend(rate.trend, f"{rate.title}, day by day", None) if len(rate.trend) > 1 else ""
    small = f'<span class="narrow">{counts} · {interval}</span>'
    return (
        f'<tr><th scope="row">{name}{small}</th><td class="number">{wording.rate(rate.k, rate.n)}</td>'
        f'<td class="number wide">{counts}</td><td class="number wide">{interval}</td>'
        f'<td class="number">{wording.rate(rate.before_k, rate.before_n)}</td>'
        f'<td class="wide">{trend}</td></tr>'
    )


def _draw_trend(points: Sequence[TrendPoint], words: str, expected: float | None) -> str:
    """Return a small line chart of a rate by day. A dashed line shows the expected rate."""
    rates = [(float(point.day.toordinal()), point.k / point.n) for point in points]
    return draw_small_trend(rates, words, expected)


def _write_place(report: MorningReport, title: str, link: str) -> str:
    """Return a link, or only the path when the dashboard's address is not configured."""
    if not report.address:
        return f"{escape(title)} <code>{escape(link)}</code>"
    return f'<a href="{html.escape(report.find_address(link))}">{escape(title)}</a>'
