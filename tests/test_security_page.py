"""Tests that SECURITY.md names existing tests, and has the same numbers as the code."""

from __future__ import annotations

import re
from pathlib import Path

from callgauge.analysis.sandbox import query_runs
from callgauge.api import tables
from callgauge.api.questions import store_access
from callgauge.serving import connections, tokens
from callgauge.serving.sign_in import gate, oidc, routes, users_file
from ingest.sources import archive_members
from ingest.sources.archives import decompression

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "SECURITY.md").read_text("utf-8")
ROWS = [line.split(" | ") for line in PAGE.splitlines() if line.startswith("| ")][1:]


def test_each_protection_names_tests_that_exist() -> None:
    assert len(ROWS) > 30
    for against, *_, tests in ROWS:
        paths = re.findall(r"`(tests/[\w/.]+)`", tests)
        assert paths, against
        assert [path for path in paths if not (ROOT / path).exists()] == [], against


def test_the_numbers_are_those_of_the_code() -> None:
    limits = query_runs.LIMITS
    million = 1_000_000
    for promise in (
        f"killed after {limits.seconds:.0f} s",
        f"at most {limits.rows:,} rows and {limits.bytes // million} MB",
        f"{query_runs.AT_ONCE} queries run at the same time",
        f"{limits.memory[:3]} MB of memory for DuckDB, {limits.address_space // 10**9} GB for the process",
        f"after {decompression.SUSPECT >> 30} GB of content, at most {decompression._RATIO} times",
        f"at most {archive_members.MEMBERS:,} members",
        f"{store_access.AT_ONCE} run and {store_access.WAITING} wait at the same time",
        f"interrupted after {store_access.SECONDS:.0f} s",
        f"at most {tables.MOST_ROWS[tables.JSON]:,} rows as JSON, a million",
        f"and {tables.MOST_BYTES // million} MB",
        f"ends within {tokens._CACHE_SECONDS:.0f} s",
        f"within {oidc.MINUTES} minutes",
        f"may differ by {oidc._LEEWAY} s",
        f"{routes._AT_ONCE} checks at the same time; at least {users_file.SHORTEST_PASSWORD} characters",
        f"waits {routes._PAUSE:.0f} s for its turn",
        f"may take {connections.WAITING_SECONDS:.0f} s",
        f"at most {gate.MOST_BODY // million} MB, a message of a page {gate.MOST_MESSAGE // million} MB",
        f"at most {gate.MOST_MESSAGES:,} messages in a minute",
    ):
        assert promise in PAGE
