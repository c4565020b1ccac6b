"""The pages, in the order of the navigation. To add one: a file beside this one and a line in PAGES."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """One page. `filtered`: it has the filter bar. `needs_store`: without a store it has nothing to show."""

    section: str
    name: str  # of the file and of the URL
    title: str
    icon: str
    help: str
    filtered: bool = True
    needs_store: bool = True

    @property
    def file(self) -> str:
        return f"dashboard/pages/{self.name}.py"


PAGES = (
    Entry(
        "Measure",
        "overview",
        "Overview",
        ":material/monitoring:",
        "What works how well, what changed, and where it goes wrong.",
    ),
    Entry(
        "Decide",
        "models",
        "Models",
        ":material/leaderboard:",
        "Which model makes the best calls, at what cost, and since when.",
    ),
    Entry(
        "Decide",
        "prompts",
        "Prompts",
        ":material/edit_note:",
        "What each version of a prompt changed, in its text and in the rates.",
    ),
    Entry(
        "Decide",
        "matrix",
        "Matrix",
        ":material/grid_on:",
        "One rate for each model and prompt, model and tool, or tool and prompt.",
    ),
    Entry(
        "Decide",
        "tools",
        "Tools",
        ":material/build:",
        "Which tools lose most calls, and at which parameter.",
    ),
    Entry(
        "Decide",
        "errors",
        "Errors",
        ":material/error:",
        "What goes wrong, by layer, code and signature; what is new.",
    ),
    Entry(
        "Decide",
        "retries",
        "Retries",
        ":material/replay:",
        "What happens after a fault, and what it costs.",
    ),
    Entry(
        "Decide",
        "compare",
        "Compare",
        ":material/compare_arrows:",
        "Any two slices: which is better, by how much, and is the difference real?",
    ),
    Entry(
        "Measure",
        "calls",
        "Calls",
        ":material/list_alt:",
        "Every call; open one to see what was wrong with it.",
    ),
    Entry(
        "Measure",
        "sessions",
        "Sessions",
        ":material/forum:",
        "Every session; open one to read it turn by turn, from fault to fault.",
    ),
    Entry(
        "Measure",
        "data",
        "Data",
        ":material/database:",
        "What was loaded, what was rejected, and what each source cannot tell.",
    ),
    Entry(
        "Try",
        "playground",
        "Playground",
        ":material/science:",
        "Paste raw arguments and a tool definition; see what the parser does with them.",
        filtered=False,
        needs_store=False,
    ),
    Entry(
        "Try",
        "replay",
        "Replay",
        ":material/history:",
        "Read stored calls again under another definition, other codes or another policy; see what moves.",
    ),
    Entry(
        "Try",
        "sql",
        "SQL",
        ":material/terminal:",
        "Ask the store anything, read-only; every metric's SQL to begin with.",
        filtered=False,
    ),
)
