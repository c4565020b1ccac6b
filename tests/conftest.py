"""Configures all tests: ordinary and thorough tests, the option `--accept`, and fixtures for case files."""

from __future__ import annotations

import gc
import json
import os
import signal
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# Ordinary runs use the same random examples each time, so only a code change can make them fail. Thorough
# runs draw new examples.
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
    # A background job ignores these signals, and so do its children. Some tests send them to child processes.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        # A child process inherits SIG_IGN, but not this handler. So the child process has the default action.
        signal.signal(signal.SIGHUP, lambda *_: None)
    if _runs_all(config):
        os.environ["ALL_TIERS"] = "1"  # the import of tests.parser.strategies reads this variable


def _runs_all(config: pytest.Config) -> bool:
    return bool(config.getoption("all_tiers") or config.getoption("accept"))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect tests with the garbage collector off, because garbage collection takes a third of the
    collection time.

    Later garbage collections skip the collected tests.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


def pytest_unconfigure() -> None:
    """Let the garbage collector see all objects again. Otherwise, compiled modules report memory leaks."""
    gc.unfreeze()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the thorough tests unless `--all` is set. Start with the slowest tests, so that the test
    processes end at the same time.
    """
    if not _runs_all(config):
        thorough = thorough_tests(items)
        config.hook.pytest_deselected(items=[item for item in items if item in thorough])
        items[:] = [item for item in items if item not in thorough]
    items.sort(key=_time_allowed, reverse=True)


def thorough_tests(items: list[pytest.Item]) -> set[pytest.Item]:
    """Return the tests that only `--all` executes.

    These tests have the mark `thorough`. With `thorough(quick=3)`, three sets of parameters are always
    tested: the first, and two that are spread evenly over the list.
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
    """Return True if thorough tests are selected. Then simulations draw more samples, and browser tests visit
    all pages.
    """
    return _runs_all(pytestconfig)


@pytest.fixture
def accept(request: pytest.FixtureRequest) -> bool:
    """Return True if expected results are to be rewritten."""
    return bool(request.config.getoption("--accept"))


def write_cases(path: Path, cases: Any) -> None:
    path.write_text(json.dumps(cases, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
