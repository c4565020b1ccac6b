"""The dashboard pages in the order of the navigation.

To add a page, add a folder next to this file and an entry in PAGES.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass

from callgauge.dashboard.page_files import page_file
from callgauge.dashboard.url_keys import PageUrlKeys


@dataclass(frozen=True, slots=True)
class PageEntry:
    """One page of the navigation.

    `section` is the heading above the page. The ten main pages have no heading. Typing g and then `key` opens
    the page. With `filtered` the page has the filter bar. With `filtered_tab` only this tab has the bar. With
    `shows_texts` the page shows log content, so only an admin may download from the page. With `for_admins`
    only admins can open the page. With `listed` the navigation contains the page.
    """

    section: str
    name: str  # also the name of the folder and the page's name in the URL
    title: str
    key: str
    help: str
    filtered: bool = True
    filtered_tab: str | None = None
    needs_store: bool = True
    shows_texts: bool = False
    for_admins: bool = False
    listed: bool = True

    @property
    def file(self) -> str:
        """The absolute path of the script that Streamlit runs for the page."""
        return page_file(self.name)

    @property
    def url_keys(self) -> PageUrlKeys:
        """The URL keys of the page: `URL_KEYS` in the `__init__.py` of its folder."""
        keys: PageUrlKeys = importlib.import_module(f"{__name__}.{self.name}").URL_KEYS
        return keys


PAGES = (
    PageEntry(
        "",
        "overview",
        "Overview",
        "o",
        "Which model and prompt to use, and what got worse.",
    ),
    PageEntry(
        "",
        "models",
        "Models",
        "m",
        "Which model makes the best calls, at what cost.",
    ),
    PageEntry(
        "",
        "prompts",
        "Prompts",
        "p",
        "What each version of a prompt changed, in its text and in the rates.",
        shows_texts=True,
    ),
    PageEntry(
        "",
        "compare",
        "Compare",
        "c",
        "Compare any two slices: which is better, by how much, and is the difference real?",
    ),
    PageEntry(
        "",
        "tools",
        "Tools",
        "t",
        "Which tools lose most calls, at which parameter, and how to fix it.",
    ),
    PageEntry(
        "",
        "errors",
        "Errors",
        "e",
        "What goes wrong, what is new, and what failures cost in retries.",
        shows_texts=True,
    ),
    PageEntry(
        "",
        "calls",
        "Calls",
        "l",
        "Every call; open one to see what was wrong with it.",
        shows_texts=True,
    ),
    PageEntry(
        "",
        "sessions",
        "Sessions",
        "s",
        "Every session; open one to read it turn by turn.",
        shows_texts=True,
    ),
    PageEntry(
        "",
        "playground",
        "Playground",
        "y",
        "See what the parser does with a text, or parse stored calls again under another definition.",
        filtered=False,
        filtered_tab="stored",
        needs_store=False,
    ),
    PageEntry(
        "",
        "data",
        "Data",
        "d",
        "What was loaded, what could not be read, and what each source does not log.",
        shows_texts=True,
    ),
    PageEntry(
        "More",
        "trials",
        "Trials",
        "i",
        "Another model, prompt or definition, tried on the same tasks, with a verdict.",
        filtered=False,
        shows_texts=True,
    ),
    PageEntry(
        "More",
        "decisions",
        "Decisions",
        "n",
        "Past decisions, and whether the numbers still support them; notes, alert rules and saved views.",
        filtered=False,
    ),
    PageEntry(
        "More",
        "sql",
        "SQL",
        "q",
        "Query the store, read-only, starting from the SQL of any metric.",
        filtered=False,
        shows_texts=True,
        for_admins=True,
    ),
    PageEntry(
        "More",
        "glossary",
        "Glossary",
        "w",
        "What the terms on all pages mean.",
        filtered=False,
        needs_store=False,
        listed=False,
    ),
)
