"""What every test shares: the `--accept` flag, and cases that are data."""

from __future__ import annotations

import gc
import json
import os
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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Those that may take long start first: none of them is left for one process alone at the end."""
    items.sort(key=_time_allowed, reverse=True)


def _time_allowed(item: pytest.Item) -> float:
    allowed = item.get_closest_marker("timeout")
    return float(allowed.args[0]) if allowed else 0.0


@pytest.fixture
def accept(request: pytest.FixtureRequest) -> bool:
    """True when expectations are to be rewritten; a person then reads the diff."""
    return bool(request.config.getoption("--accept"))


def write_cases(path: Path, cases: Any) -> None:
    """The one spelling of a case file: people read its diff."""
    path.write_text(json.dumps(cases, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
