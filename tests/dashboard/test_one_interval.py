"""Tests that a slice has the same interval on all pages and in the API."""

from __future__ import annotations

import random
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from callgauge.analysis import wording
from callgauge.stats.intervals import Interval
from tests.analysis.store_fixture import a_call, a_turn, publish
from tests.api.conftest import open_api
from tests.dashboard.conftest import opened
from tests.dashboard.sheets import BAD, over_days, sheet_of

PAGES = "callgauge/dashboard/pages"


@pytest.fixture
def uneven(store: Path) -> Path:
    """Return a store of three models and three tools, whose correlations within sessions differ."""
    chance = random.Random(3)
    made: list[dict[str, Any]] = []
    for place, model in enumerate(("owl", "heron", "wren")):
        for session in range(180):
            rate = chance.random() ** (2 + place) * (0.2 + 0.2 * place)
            for number in range(6):
                tool = ("Read", "Edit", "Bash")[(number + session) % 3]
                own = {"session_id": f"{model}:{session}", "call_id": f"{model}:{session}:{number}"}
                bad = BAD | own | {"chain_id": own["call_id"], "attempt": 1}
                bad |= {"chain_outcome": "recovered" if chance.random() < rate else "abandoned"}
                call = a_call(number, model=model, tool=tool) | (bad if chance.random() < rate else own)
                made.append(call | {"turn_id": f"{model}:{session}"})
    publish(store, {"tool_calls": over_days(made, "2026-11-10"), "turns": [a_turn(1)]})
    return store


def intervals(page: str, caption: str, name: str, column: str, **query: str) -> dict[str, str]:
    """Return the count (k / n) and the interval that the page prints in each row, by the row's label."""
    rows = sheet_of(opened(f"{PAGES}/{page}/page.py", **query), caption)
    return {row[name]["text"]: row[column]["sub"].partition("\n")[0] for row in rows}


def mirrored(text: str) -> str:
    """Return the count and the interval of the opposite rate: 1 / 4 · 10.0–80.0% becomes 3 / 4 ·
    20.0–90.0%.
    """
    counts, _, bounds = text.partition(" · ")
    k, n = (int(part.replace(",", "")) for part in counts.split(" / "))
    low, high = (float(part) for part in bounds.rstrip("%").split("–"))
    return f"{n - k:,} / {n:,} · {100 - high:.1f}–{100 - low:.1f}%"


def asked(store: Path, by: str, rate: str) -> dict[str, str]:
    """Return the count (k / n) and the interval of each row from the API."""
    with contextmanager(open_api)(store) as api:
        rows = api.get("/rates", by=by, rate=rate)["rows"]
    return {
        row["slice"]: f"{row['k']:,} / {row['n']:,} · "
        f"{wording.fixed_interval(Interval(row['low'], row['high']), 1)}"
        for row in rows
    }


def test_models_compare_and_the_api_print_one_interval(uneven: Path) -> None:
    models = intervals("models", "Parse errors by model", "Model", "Parse errors")
    assert models == asked(uneven, "model", "parse_error")
    whole = sheet_of(
        opened(f"{PAGES}/compare/page.py", a_model="owl", b_model="heron"),
        "Parse errors by tool, heron and owl",
    )[0]
    assert [whole[name]["sub"] for name in ("owl", "heron")] == [models["owl"], models["heron"]]


def test_tools_retries_compare_and_the_api_print_one_interval(uneven: Path) -> None:
    tools = intervals("tools", "Tools by failures", "Tool", "Given up")
    assert {name: mirrored(text) for name, text in tools.items()} == asked(uneven, "tool", "recovered")
    assert intervals("errors", "Retry sequences by tool", "Tool", "Given up", tab="retries") == tools
    failed = intervals("tools", "Tools by failures", "Tool", "Parse errors")
    whole = sheet_of(
        opened(f"{PAGES}/compare/page.py", a_tool="Read", b_tool="Edit"),
        "Parse errors by model, Edit and Read",
    )[0]
    assert [whole[name]["sub"] for name in ("Read", "Edit")] == [failed["Read"], failed["Edit"]]
