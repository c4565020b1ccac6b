"""The content of the current run of a page, for sharing: sentence, tables, charts and settings.

Each part is recorded when it is drawn, so pages need no list of them. Tables and charts are kept as
functions, which are evaluated only when somebody shares the page.
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
    """The value of a URL key as the page uses it: `text` in the URL, None to omit the key.

    `name`, `value`: both in words; empty if readers of a document do not need it.
    """

    text: str | None
    name: str = ""
    value: str = ""


@dataclass(slots=True)
class ShownPage:
    """The content of one run of a page. The keys of `parts` are those of the drawn tables and charts.

    `no_link`: why no link can show the view; empty if one can.
    """

    name: str = ""
    title: str = ""
    is_filtered: bool = False
    shows_texts: bool = False
    answer: str = ""
    no_link: str = ""
    parts: dict[str, Callable[[], Sequence[Part]]] = field(default_factory=dict)
    metrics: list[str] = field(default_factory=list)
    verdicts: list[VerdictKind] = field(default_factory=list)
    settings: dict[str, Setting] = field(default_factory=dict)


def begin_page(name: str, title: str, *, is_filtered: bool, shows_texts: bool) -> None:
    """Discard the content of the previous run.

    This is a single assignment, because an earlier run may still be drawing. `name`: the page in a relative
    URL.
    """
    st.session_state[_SHOWN] = ShownPage(name, title, is_filtered, shows_texts)


def shown_page() -> ShownPage:
    """Return the content of this run so far; in a fragment, that of the last run of the page."""
    page: ShownPage = st.session_state.setdefault(_SHOWN, ShownPage())
    return page


def record_answer(sentence: str) -> None:
    """Record the sentence that answers the page's question; ignores all but the first."""
    page = shown_page()
    page.answer = page.answer or sentence


def refuse_link(reason: str) -> None:
    """Record why no link can show this view, such as a text that is too long."""
    shown_page().no_link = reason


def record_part(key: str, make: Callable[[], Sequence[Part]]) -> None:
    """Record a table or a chart; replaces an earlier one that a fragment draws again."""
    shown_page().parts[key] = make


def record_method(metrics: Iterable[str], verdict: VerdictKind | None) -> None:
    """Record the metrics and the kind of verdict that the page explains."""
    page = shown_page()
    page.metrics += [name for name in metrics if name not in page.metrics]
    if verdict and verdict not in page.verdicts:
        page.verdicts.append(verdict)


def record_setting(key: str, text: str | None, name: str = "", value: str = "") -> None:
    """Record the text of a URL key, including defaults that the URL omits."""
    shown_page().settings[key] = Setting(text, name, value)
