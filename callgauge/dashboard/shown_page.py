"""Records what a page shows, for sharing: its answer, tables, charts and settings.

Tables and charts are recorded as functions, which are called only when somebody shares the page.
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
    """The value of a URL key as the page uses it.

    `text` is the value in the URL, or None to omit the key. `name` and `value` describe the setting in words,
    or are empty if a document does not need the setting.
    """

    text: str | None
    name: str = ""
    value: str = ""


@dataclass(slots=True)
class ShownPage:
    """What one script run of a page shows.

    The keys of `parts` are the keys of the drawn tables and charts. `no_link` says why no link can show the
    view. It is empty if a link can show the view.
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
    """Begin a new record of what the page shows.

    An earlier script run that is still drawing keeps its own record. `name` is the page's name in a relative
    URL.
    """
    st.session_state[_SHOWN] = ShownPage(name, title, is_filtered, shows_texts)


def shown_page() -> ShownPage:
    """Return what was recorded since the page was last drawn from the beginning."""
    page: ShownPage = st.session_state.setdefault(_SHOWN, ShownPage())
    return page


def record_answer(sentence: str) -> None:
    """Record the sentence that answers the page's question. Only the first sentence is kept."""
    page = shown_page()
    page.answer = page.answer or sentence


def refuse_link(reason: str) -> None:
    """Record why no link can show this view, for example because a text is too long."""
    shown_page().no_link = reason


def record_part(key: str, make: Callable[[], Sequence[Part]]) -> None:
    """Record a table or a chart.

    If the table or chart is drawn again, the new record replaces the old record.
    """
    shown_page().parts[key] = make


def record_method(metrics: Iterable[str], verdict: VerdictKind | None) -> None:
    """Record the metrics and the kind of verdict that the page explains."""
    page = shown_page()
    page.metrics += [name for name in metrics if name not in page.metrics]
    if verdict and verdict not in page.verdicts:
        page.verdicts.append(verdict)


def record_setting(key: str, text: str | None, name: str = "", value: str = "") -> None:
    """Record the value of a URL key, even the default value, which the URL omits."""
    shown_page().settings[key] = Setting(text, name, value)
