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

    `filtered`: True when the page shows the filter bar. `needs_store`: True when the page cannot be shown
    without a store.
    """

    section: str
    name: str  # of the folder and of the URL
    title: str
    icon: str
    help: str
    filtered: bool = True
    needs_store: bool = True

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
        "Measure",
        "overview",
        "Overview",
        ":material/monitoring:",
        "What works how well, what changed, and where it goes wrong.",
    ),
    PageEntry(
        "Decide",
        "models",
        "Models",
        ":material/leaderboard:",
        "Which model makes the best calls, at what cost, and since when.",
    ),
    PageEntry(
        "Decide",
        "prompts",
        "Prompts",
        ":material/edit_note:",
        "What each version of a prompt changed, in its text and in the rates.",
    ),
    PageEntry(
        "Decide",
        "matrix",
        "Matrix",
        ":material/grid_on:",
        "One rate for each model and prompt, model and tool, or tool and prompt.",
    ),
    PageEntry(
        "Decide",
        "tools",
        "Tools",
        ":material/build:",
        "Which tools lose most calls, and at which parameter.",
    ),
    PageEntry(
        "Decide",
        "errors",
        "Errors",
        ":material/error:",
        "What goes wrong, by layer, code and signature; what is new.",
    ),
    PageEntry(
        "Decide",
        "retries",
        "Retries",
        ":material/replay:",
        "What happens after a fault, and what it costs.",
    ),
    PageEntry(
        "Decide",
        "compare",
        "Compare",
        ":material/compare_arrows:",
        "Any two slices: which is better, by how much, and is the difference real?",
    ),
    PageEntry(
        "Measure",
        "calls",
        "Calls",
        ":material/list_alt:",
        "Every call; open one to see what was wrong with it.",
    ),
    PageEntry(
        "Measure",
        "sessions",
        "Sessions",
        ":material/forum:",
        "Every session; open one to read it turn by turn, from fault to fault.",
    ),
    PageEntry(
        "Measure",
        "data",
        "Data",
        ":material/database:",
        "What was loaded, what was rejected, and what each source cannot tell.",
    ),
    PageEntry(
        "Try",
        "playground",
        "Playground",
        ":material/science:",
        "Paste raw arguments and a tool definition; see what the parser does with them.",
        filtered=False,
        needs_store=False,
    ),
    PageEntry(
        "Try",
        "replay",
        "Replay",
        ":material/history:",
        "Read stored calls again under another definition, other codes or another policy; see what moves.",
    ),
    PageEntry(
        "Try",
        "sql",
        "SQL",
        ":material/terminal:",
        "Ask the store anything, read-only; every metric's SQL to begin with.",
        filtered=False,
    ),
)
