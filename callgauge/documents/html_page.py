"""Writes a document as one HTML file without scripts or network access.

The page can be printed, and has a light and a dark theme.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from callgauge.analysis import wording
from callgauge.documents.document import Chart, Document, DocumentCell, DocumentColumn, DocumentTable, Method
from callgauge.documents.svg import draw_chart, draw_interval, draw_legend, draw_share, escape

_STYLE = Path(__file__).with_name("page.css")
_CODE = re.compile(r"`([^`]+)`")
_STRONG = re.compile(r"\*\*([^*]+)\*\*")


def write_page(title: str, parts: Sequence[str]) -> str:
    """Return the HTML file. `parts` holds escaped HTML, and `title` is plain text."""
    head = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{escape(title)}</title>\n<style>\n{_STYLE.read_text('utf-8')}</style>\n</head>\n"
    )
    body = "\n".join(parts)
    return f"{head}<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"


def write_html(document: Document) -> str:
    """Return the document as an HTML file."""
    return write_page(f"{document.title}: {document.answer}", list(_list_parts(document)))


def _list_parts(document: Document) -> Iterator[str]:
    yield f'<p class="kicker">Callgauge · {escape(document.title)}</p>'
    yield f"<h1>{escape(document.answer, 900)}</h1>"
    if document.settings:
        pairs = "".join(
            f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>"
            for name, value in document.settings.items()
        )
        yield f'<dl class="settings">{pairs}</dl>'
    for part in document.parts:
        yield _write_chart(part) if isinstance(part, Chart) else _write_table(part)
    if document.method:
        yield "<h2>How this is counted</h2>"
        yield from map(_write_method, document.method)
    made = f"Made {document.made_at:%Y-%m-%d %H:%M} UTC. " if document.made_at else ""
    link = (
        f' · <a href="{html.escape(document.link)}" rel="noreferrer">Open in Callgauge</a>'
        if document.link
        else ""
    )
    yield f"<footer>{made}{escape(document.small_print)}{link}</footer>"


def _write_table(table: DocumentTable) -> str:
    heads = "".join(
        f'<th scope="col"{_align(column)}>{escape(column.title)}</th>' for column in table.columns
    )
    rows = "\n".join(_write_row(table, row) for row in table.rows)
    title = escape(table.title)
    kind = "wide-table stacks" if table.stacks else "wide-table"
    # A region that scrolls must be in the tab order, so that a keyboard can scroll it.
    return (
        f'<h2>{title}</h2>\n<div class="{kind}" role="region" aria-label="{title}" tabindex="0"><table>\n'
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table></div>"
    )


def _write_row(table: DocumentTable, row: Sequence[DocumentCell]) -> str:
    cells = [
        _write_cell(column, cell, column.title if table.stacks else None)
        for column, cell in zip(table.columns, row, strict=True)
    ]
    return f"<tr>{''.join(cells)}</tr>"


def _align(column: DocumentColumn) -> str:
    return ' class="number"' if column.is_number else ""


def _write_cell(column: DocumentColumn, cell: DocumentCell, title: str | None) -> str:
    """Return a table cell. A narrow screen shows `title` above the value."""
    tone = f"tone-{cell.tone}" if cell.tone else "pale" if cell.pale else ""
    text = f"<code>{escape(cell.text)}</code>" if cell.is_code and cell.text else escape(cell.text)
    sub = "".join(f'<span class="sub">{escape(line)}</span>' for line in cell.sub.splitlines())
    drawn = (
        draw_interval(cell.low, cell.estimate, cell.high, column.zero) if cell.estimate is not None else ""
    )
    drawn += draw_share(cell.share) if cell.share is not None else ""
    shade = f' style="--heat: {100 * min(1.0, max(0.0, cell.heat)):.0f}%"' if cell.heat is not None else ""
    names = " ".join(filter(None, ("number" if column.is_number else "", "heat" if shade else "")))
    kind = f' class="{names}"' if names else ""
    named = f' data-title="{escape(title)}"' if title else ""
    return f'<td{kind}{shade}{named}><span class="{tone}">{text}</span>{sub}{drawn}</td>'


def _write_chart(chart: Chart) -> str:
    return (
        f"<figure><h2>{escape(chart.title or chart.words)}</h2>\n"
        f"{draw_chart(chart)}{draw_legend(chart)}</figure>"
    )


def _write_method(method: Method) -> str:
    notes = "".join(f"<p>{_write_note(note)}</p>" for note in method.notes)
    return f'<section class="method"><h3>{_write_note(method.question)}</h3>{notes}</section>'


def _write_note(text: str) -> str:
    """Return a note on a metric as HTML. The note may contain Markdown code and bold text."""
    escaped = html.escape(wording.visible(" ".join(text.split())))
    return _STRONG.sub(r"<strong>\1</strong>", _CODE.sub(r"<code>\1</code>", escaped))
