"""What every test shares: the two tiers, the flag `--accept`, and cases that are data."""

from __future__ import annotations

import gc
import json
import os
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# An ordinary run draws the same examples each time, so that a red run means a change; a thorough one looks
# for new ones.
settings.register_profile("ordinary", derandomize=True, database=None, deadline=None)
settings.load_profile("default" if os.environ.get("PROPERTIES") == "thorough" else "ordinary")

CASES = Path(__file__).parent / "cases"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--accept", action="store_true", help="rewrite the expectations under tests/cases/ with what came out"
    )
    parser.addoption(
        "--all", action="store_true", dest="all_tiers", help="run the tests marked as thorough, too"
    )


def pytest_configure(config: pytest.Config) -> None:
    if _runs_all(config):
        os.environ["ALL_TIERS"] = "1"  # tests.parser.strategies reads it at import


def _runs_all(config: pytest.Config) -> bool:
    return bool(config.getoption("all_tiers") or config.getoption("accept"))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without a search for garbage: no test is any, and the searches take a third of the time.

    What was collected is left out of every later search, too.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


def pytest_unconfigure() -> None:
    """Else compiled modules take what is left out for leaks, and say so."""
    gc.unfreeze()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the thorough tests unless `--all` is set, and start the tests that may take long first.

    A long test that starts last would run alone while the other processes wait.
    """
    if not _runs_all(config):
        thorough = thorough_tests(items)
        config.hook.pytest_deselected(items=[item for item in items if item in thorough])
        items[:] = [item for item in items if item not in thorough]
    items.sort(key=_time_allowed, reverse=True)


def thorough_tests(items: list[pytest.Item]) -> set[pytest.Item]:
    """Return the tests that only `--all` runs.

    A test marked `thorough` is one of them. Of a test marked `thorough(quick=3)`, all but three of its
    parameters are: the three are spread evenly over the list, and the first is among them.
    """
    marked = defaultdict(list)
    for item in items:
        if item.get_closest_marker("thorough"):
            marked[item.nodeid.partition("[")[0]].append(item)
    thorough: set[pytest.Item] = set()
    for tests in marked.values():
        marker = tests[0].get_closest_marker("thorough")
        count = min(marker.kwargs.get("quick", 0) if marker else 0, len(tests))
        quick = {number * len(tests) // count for number in range(count)}
        thorough |= {item for number, item in enumerate(tests) if number not in quick}
    return thorough


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if not _runs_all(config):
        terminalreporter.write_line("The quick tier; ./dev test --all runs the thorough tests, too.")


def _time_allowed(item: pytest.Item) -> float:
    allowed = item.get_closest_marker("timeout")
    return float(allowed.args[0]) if allowed else 0.0


@pytest.fixture(scope="session")
def runs_all(pytestconfig: pytest.Config) -> bool:
    """Return whether the thorough tier runs: a simulation then draws more, a walk sees every page."""
    return _runs_all(pytestconfig)


@pytest.fixture
def accept(request: pytest.FixtureRequest) -> bool:
    """True when expectations are to be rewritten; a person then reads the diff."""
    return bool(request.config.getoption("--accept"))


def write_cases(path: Path, cases: Any) -> None:
    """The one spelling of a case file: people read its diff."""
    path.write_text(json.dumps(cases, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
