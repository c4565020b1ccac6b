"""Tests the filters under More."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from callgauge.dashboard.page_files import page_file
from tests.analysis.store_fixture import publish
from tests.dashboard.conftest import opened
from tests.dashboard.sheets import calls, sheet_of

TOOLS = page_file("tools")
TABLE = "Tools by failures"


@pytest.fixture
def two_projects(store: Path) -> Path:
    made = {"acme/shop": calls(60, 40, tool="read"), "acme/web": calls(30, 2, tool="write")}
    sessions = [
        {
            "session_id": call["session_id"],
            "file_id": 1,
            "source": call["source"],
            "day": call["day"],
            "duplicate": False,
            "project": project,
        }
        for project, several in made.items()
        for call in several
    ]
    publish(
        store, {"tool_calls": [call for several in made.values() for call in several], "sessions": sessions}
    )
    return store


def test_a_project_narrows_a_page_and_stays_in_its_links(two_projects: Path) -> None:
    app = opened(TOOLS, days="All days", project="acme/shop")
    (row,) = sheet_of(app, TABLE)
    assert (row["Tool"]["text"], row["Calls"]["text"]) == ("read", "100")
    assert parse_qs(urlsplit(row["Calls"]["href"]).query)["project"] == ["acme/shop"]


def test_only_what_a_log_names_is_offered(two_projects: Path) -> None:
    offered = [widget.key for widget in opened(TOOLS, days="All days").multiselect]
    assert "project" in offered
    assert not {"branch", "sub_agent", "environment"} & set(offered)
