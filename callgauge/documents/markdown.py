"""Writes a document as Markdown for a pull request or a chat, with all log content escaped."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from callgauge.analysis import wording
from callgauge.documents.document import Document, DocumentCell, DocumentTable

MOST_ROWS = 20
_MOST_TABLES = 2
_LONGEST = 400  # maximum length of a sentence, in characters
_LONGEST_CELL = 120
_SIGNS = re.compile(r"([\\`*_{}\[\]<>|$&#]|(?<=\S)~)")
# GitHub and Discord turn these texts into a link or a mention. The @ in triage@4 does not match. GH-7 is a
# link to issue 7.
_ADDRESS = re.compile(
    r"(?:https?|ftp):(?=//)|www(?=\.)|(?<!\w)@|@(?=[-\w]+\.[-\w])|(?<!\w)GH-(?=\d)", re.IGNORECASE
)
_WORD_JOINER = "\u2060"  # invisible; a link ends before this character


def escape_text(text: str, limit: int = _LONGEST) -> str:
    """Return a text for Markdown.

    Markup is escaped, invisible characters are shown, and nothing becomes a link.
    """
    return _ADDRESS.sub(rf"\g<0>{_WORD_JOINER}", _SIGNS.sub(r"\\\1", wording.one_line(text, limit)))


def write_link(title: str, address: str) -> str:
    """Return a link to a percent-encoded URL. Parentheses in the URL are also encoded."""
    return f"[{escape_text(title)}]({address.replace('(', '%28').replace(')', '%29')})"


def write_markdown(document: Document) -> str:
    """Return a document as Markdown: the answer, the first tables, the settings, and the link."""
    return "\n\n".join(_list_parts(document)) + "\n"


def _list_parts(document: Document) -> Iterator[str]:
    yield f"**{escape_text(document.answer, 900)}**"
    tables = document.tables[:_MOST_TABLES]
    for table in tables:
        if len(tables) > 1:
            yield f"{escape_text(table.title)}:"
        yield write_table(table)
    if document.settings:
        yield _write_settings(document.settings)
    if document.link:
        yield write_link(f"{document.title} in Callgauge", document.link)


def _write_settings(settings: Mapping[str, str]) -> str:
    return " · ".join(f"{escape_text(name)}: {escape_text(value)}" for name, value in settings.items())


def write_table(table: DocumentTable) -> str:
    """Return a table for GitHub, followed by the number of rows that are left out."""
    titles = [escape_text(column.title, _LONGEST_CELL) or " " for column in table.columns]
    rules = ["--:" if column.is_number else "---" for column in table.columns]
    rows = [[_write_cell(cell) for cell in row] for row in table.rows[:MOST_ROWS]]
    lines = "\n".join(f"| {' | '.join(cells)} |" for cells in (titles, rules, *rows))
    more = len(table.rows) - MOST_ROWS
    return f"{lines}\n\n{more:,} more rows are behind the link." if more > 0 else lines


def _write_cell(cell: DocumentCell) -> str:
    """Return the value of a cell, followed by the smaller lines in parentheses."""
    text, sub = (escape_text(part, _LONGEST_CELL) for part in (cell.text, " · ".join(cell.sub.split("\n"))))
    return f"{text} ({sub})" if text and sub else text or sub
