"""The report as one HTML file: it needs no script and no network, prints, and is light or dark."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from pathlib import Path

from callgauge.analysis import wording
from callgauge.report.content.morning_report import MorningReport, ReportItem, ReportRate, TrendPoint
from callgauge.stats import Interval

_STYLE = Path(__file__).with_name("html_page.css")
_LONGEST = 400  # characters of a sentence
_WIDTH, _HEIGHT, _EDGE = 160, 36, 3  # pixels of a trend


def write_html(report: MorningReport) -> str:
    """Return the page. Every text is escaped: log text is never HTML."""
    title = _escape(report.title)
    head = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{title}</title>\n<style>\n{_STYLE.read_text('utf-8')}</style>\n</head>\n"
    )
    return f"{head}<body>\n<main>\n{chr(10).join(_list_parts(report))}\n</main>\n</body>\n</html>\n"


def _list_parts(report: MorningReport) -> Iterator[str]:
    yield f'<p class="kicker">{_escape(report.title.split(":")[0])} · {_escape(report.store)}</p>'
    yield f'<h1 class="{"quiet" if report.is_quiet else "news"}">{_escape(report.answer)}</h1>'
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
        yield f"<h2>Which model</h2>\n<p>{_escape(report.ranking)} {place}</p>"
    if report.retries:
        place = _write_place(report, "Retries", report.retries_link)
        yield f"<h2>Retries</h2>\n<p>{_escape(report.retries)} {place}</p>"
    made = f"{report.made_at:%Y-%m-%d %H:%M} UTC"
    place = _write_place(report, "Data", "/data")
    yield f"<footer>{_escape(report.small_print)} {place} · made {made}</footer>"


def _write_items(report: MorningReport, items: Sequence[ReportItem], further: str) -> str:
    lines = [_write_item(report, one) for one in items] + ([f"<li>{further}</li>"] if further else [])
    return "<ul>\n" + "\n".join(lines) + "\n</ul>"


def _write_item(report: MorningReport, one: ReportItem) -> str:
    words = f"{one.text}, day by day"
    trend = _draw_trend(one.trend, words, one.expected) if len(one.trend) > 1 else ""
    link = _write_place(report, one.page, one.link)
    return (
        f'<li class="{one.tone}"><span class="sign">{one.sign}</span>'
        f'<div class="said"><p>{_escape(one.text)}</p>'
        f'<p class="counts">{_escape(one.counts)} · {link}</p></div>{trend}</li>'
    )


def _write_rates(report: MorningReport) -> str:
    rows = "\n".join(_write_rate(report, one) for one in report.rates)
    return (
        '<table>\n<thead><tr><th scope="col">Rate</th>'
        f'<th scope="col" class="number">{report.newest:%d %b}</th>'
        '<th scope="col" class="number wide">k / n</th><th scope="col" class="number wide">95%</th>'
        f'<th scope="col" class="number">{report.days_before} days before</th>'
        f'<th scope="col" class="wide"></th></tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>'
    )


def _write_rate(report: MorningReport, one: ReportRate) -> str:
    name = _write_place(report, one.title, one.link) if report.address else _escape(one.title)
    interval = wording.interval(Interval(one.low, one.high))
    counts = wording.fraction(one.k, one.n)
    trend = _draw_trend(one.trend, f"{one.title}, day by day", None) if len(one.trend) > 1 else ""
    small = f'<span class="narrow">{counts} · {interval}</span>'
    return (
        f'<tr><th scope="row">{name}{small}</th><td class="number">{wording.rate(one.k, one.n)}</td>'
        f'<td class="number wide">{counts}</td><td class="number wide">{interval}</td>'
        f'<td class="number">{wording.rate(one.before_k, one.before_n)}</td>'
        f'<td class="wide">{trend}</td></tr>'
    )


def _draw_trend(points: Sequence[TrendPoint], words: str, expected: float | None) -> str:
    """Return a small line of a rate by day, with the expected rate as a dashed line."""
    rates = [one.k / one.n for one in points]
    top = max([*rates, expected or 0.0]) or 1.0
    low = min([*rates, expected if expected is not None else rates[0]])
    span = (top - low) or 1.0
    first = points[0].day
    days = max(1, (points[-1].day - first).days)

    def place(day: int, rate: float) -> str:
        x = _EDGE + (_WIDTH - 2 * _EDGE) * day / days
        return f"{x:.1f},{_EDGE + (_HEIGHT - 2 * _EDGE) * (top - rate) / span:.1f}"

    line = " ".join(place((one.day - first).days, rate) for one, rate in zip(points, rates, strict=True))
    x, y = place(days, rates[-1]).split(",")
    usual = ""
    if expected is not None:
        (_, height) = place(0, expected).split(",")
        usual = f'<line class="usual" x1="{_EDGE}" x2="{_WIDTH - _EDGE}" y1="{height}" y2="{height}"/>'
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}" role="img">'
        f"<title>{_escape(words)}</title>{usual}"
        f'<polyline points="{line}"/><circle cx="{x}" cy="{y}" r="2.5"/></svg>'
    )


def _write_place(report: MorningReport, title: str, link: str) -> str:
    """Return a link where the dashboard's address is known, else the path: a file has no pages beside it."""
    if not report.address:
        return f"{_escape(title)} <code>{_escape(link)}</code>"
    return f'<a href="{html.escape(report.find_address(link))}">{_escape(title)}</a>'


def _escape(text: str) -> str:
    return html.escape(wording.one_line(text, _LONGEST))
