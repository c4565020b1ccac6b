"""What every test shares: the `--accept` flag, and cases that are data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

CASES = Path(__file__).parent / "cases"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--accept", action="store_true", help="rewrite the expectations under tests/cases/ with what came out"
    )


@pytest.fixture
def accept(request: pytest.FixtureRequest) -> bool:
    """True when expectations are to be rewritten; a person then reads the diff."""
    return bool(request.config.getoption("--accept"))


def write_cases(path: Path, cases: Any) -> None:
    """The one spelling of a case file: people read its diff."""
    path.write_text(json.dumps(cases, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
