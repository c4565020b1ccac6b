"""What the current run of a page shows: its sentence, tables, charts and settings, for sharing.

Each part is recorded where it is drawn, so no page lists what it shares. Tables and charts are kept as
functions: they become plain data when somebody shares the page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import streamlit as st

from callgauge.analysis.verdicts.explanations import VerdictKind
from callgauge.documents.document import Chart, DocumentTable

_SHOWN = "_shown_page"
Part = DocumentTable | Chart


@dataclass(frozen=True, slots=True)
class Setting:
    """The value of a URL key as the page uses it: `text` in the URL, None to leave the key out.

    `name`, `value`: both in words; empty for what a reader of a document need not know.
    """

    text: str | None
    name: str = ""
    value: str = ""


@dataclass(slots=True)
class ShownPage:
    """What one run of a page shows. The keys of `parts` are those of the drawn tables and charts."""

    name: str = ""
    title: str = ""
    is_filtered: bool = False
    shows_texts: bool = False
    answer: str = ""
    parts: dict[str, Callable[[], Sequence[Part]]] = field(default_factory=dict)
    metrics: list[str] = field(default_factory=list)
    verdicts: list[VerdictKind] = field(default_factory=list)
    settings: dict[str, Setting] = field(default_factory=dict)


def begin_page(name: str, title: str, *, is_filtered: bool, shows_texts: bool) -> None:
    """Forget what the run before showed.

    A single assignment, as an earlier run may still be drawing. `name`: the page in a relative address.
    """
    st.session_state[_SHOWN] = ShownPage(name, title, is_filtered, shows_texts)


def shown_page() -> ShownPage:
    """Return what this run has shown so far; in a fragment, what the last run of the page showed."""
    page: ShownPage = st.session_state.setdefault(_SHOWN, ShownPage())
    return page


def record_answer(sentence: str) -> None:
    """Record the sentence that answers the page's question; the first one counts."""
    page = shown_page()
    page.answer = page.answer or sentence


def record_part(key: str, make: Callable[[], Sequence[Part]]) -> None:
    """Record a table or a chart; one that a fragment draws again takes the place of the earlier one."""
    shown_page().parts[key] = make


def record_method(metrics: Iterable[str], verdict: VerdictKind | None) -> None:
    """Record which metrics and which kind of verdict the page explains."""
    page = shown_page()
    page.metrics += [name for name in metrics if name not in page.metrics]
    if verdict and verdict not in page.verdicts:
        page.verdicts.append(verdict)


def record_setting(key: str, text: str | None, name: str = "", value: str = "") -> None:
    """Record the text that a URL key has, or would have if the page wrote defaults into the URL."""
    shown_page().settings[key] = Setting(text, name, value)
