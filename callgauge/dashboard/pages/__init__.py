"""The dashboard pages in the order of the navigation.

To add a page, add a folder beside this file and an entry in PAGES.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass

from callgauge.dashboard.page_files import page_file
from callgauge.dashboard.url_keys import PageUrlKeys


@dataclass(frozen=True, slots=True)
class PageEntry:
    """One page of the navigation.

    `key`: the letter that opens the page after g. `filtered`: True when the page shows the filter bar.
    `needs_store`: True when the page cannot be shown without a store. `shows_texts`: True when texts of logs
    stand on it, so that its files are an admin's. `needs_texts`, `for_admins`: it is for nobody else.
    """

    section: str
    name: str  # of the folder and of the URL
    title: str
    key: str
    help: str
    filtered: bool = True
    needs_store: bool = True
    shows_texts: bool = False
    needs_texts: bool = False
    for_admins: bool = False

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
        "Decide",
        "overview",
        "Overview",
        "o",
        "What works how well, what changed, and where it goes wrong.",
    ),
    PageEntry(
        "Decide",
        "models",
        "Models",
        "m",
        "Which model makes the best calls, at what cost, and since when.",
    ),
    PageEntry(
        "Decide",
        "prompts",
        "Prompts",
        "p",
        "What each version of a prompt changed, in its text and in the rates.",
        shows_texts=True,
    ),
    PageEntry(
        "Decide",
        "compare",
        "Compare",
        "c",
        "Any two slices: which is better, by how much, and is the difference real?",
    ),
    PageEntry(
        "Decide",
        "trials",
        "Trials",
        "i",
        "What another model, prompt or definition would do, tried on the same tasks, with a verdict.",
        filtered=False,
        shows_texts=True,
    ),
    PageEntry(
        "Decide",
        "memory",
        "Memory",
        "n",
        "What the team decided, beside the numbers since then; its notes, rules, views and baselines.",
        filtered=False,
    ),
    PageEntry(
        "Understand",
        "tools",
        "Tools",
        "t",
        "Which tools lose most calls, and at which parameter.",
    ),
    PageEntry(
        "Understand",
        "errors",
        "Errors",
        "e",
        "What goes wrong, by layer, code and signature; what is new.",
        shows_texts=True,
    ),
    PageEntry(
        "Understand",
        "retries",
        "Retries",
        "r",
        "What happens after a fault, and what it costs.",
    ),
    PageEntry(
        "Understand",
        "matrix",
        "Matrix",
        "x",
        "One rate for each model and prompt, model and tool, or tool and prompt.",
    ),
    PageEntry(
        "Records",
        "calls",
        "Calls",
        "l",
        "Every call; open one to see what was wrong with it.",
        shows_texts=True,
    ),
    PageEntry(
        "Records",
        "sessions",
        "Sessions",
        "s",
        "Every session; open one to read it turn by turn, from fault to fault.",
        shows_texts=True,
    ),
    PageEntry(
        "Records",
        "data",
        "Data",
        "d",
        "What was loaded, what was rejected, and what each source cannot tell.",
        shows_texts=True,
    ),
    PageEntry(
        "Try",
        "playground",
        "Playground",
        "y",
        "Paste raw arguments and a tool definition; see what the parser does with them.",
        filtered=False,
        needs_store=False,
    ),
    PageEntry(
        "Try",
        "replay",
        "Replay",
        "a",
        "Read stored calls again under another definition, other codes or another policy; see what moves.",
        shows_texts=True,
        needs_texts=True,
    ),
    PageEntry(
        "Try",
        "sql",
        "SQL",
        "q",
        "Ask the store anything, read-only; every metric's SQL to begin with.",
        filtered=False,
        shows_texts=True,
        for_admins=True,
    ),
    PageEntry(
        "Try",
        "glossary",
        "Glossary",
        "w",
        "What the words of all pages mean, and what an interval counts.",
        filtered=False,
        needs_store=False,
    ),
)
