"""Tests pages after retention."""

from __future__ import annotations

import re
import shutil
from datetime import date
from pathlib import Path

import pytest

from callgauge.analysis.metrics import metrics
from callgauge.dashboard.pages import PAGES
from ingest.maintenance.retention import apply_retention
from ingest.pipeline.load import load
from tests.analysis.test_trials_kept_apart import PARTS, night, rows
from tests.dashboard.conftest import opened, page_text
from tests.store.night import ask

FIRST = date(2026, 11, 8)  # the first day whose rows stay
TODAY = date(2026, 11, 18)
_FACTS = re.compile(
    r"\b(?:FROM|JOIN)\s+(tool_calls|turns|sessions|probes|step_texts|prompts|prompt_texts)\b", re.IGNORECASE
)
SUMS = [name for name in PARTS if not _FACTS.search(metrics()[name].sql)]
OF_DAYS = [name for name in PARTS if {"from_day", "a_from_day"} & metrics()[name].parameters]
CALLS, SESSIONS = (next(page.file for page in PAGES if page.name == name) for name in ("calls", "sessions"))


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return three stores: the complete store, a copy without old rows, and a copy without content."""
    base = tmp_path_factory.mktemp("retained")
    logs = base / "logs"
    logs.mkdir()
    night(logs)
    made = {name: base / name for name in ("whole", "facts", "texts")}
    load([logs], made["whole"])
    for name in ("facts", "texts"):
        shutil.copytree(made["whole"], made[name])
    apply_retention(made["facts"], fact_days=10, today=TODAY)
    apply_retention(made["texts"], text_days=1, today=TODAY)
    return made


def test_the_facts_and_the_texts_are_gone(stores: dict[str, Path]) -> None:
    assert ask(stores["facts"], "SELECT min(day) FROM tool_calls") == [(FIRST,)]
    assert ask(stores["facts"], "SELECT min(day) FROM daily_calls") == [(date(2026, 11, 1),)]
    assert ask(stores["texts"], "SELECT count(raw_arguments), count(result_text) FROM tool_calls") == [(0, 0)]


@pytest.mark.thorough(quick=5)
@pytest.mark.parametrize("metric", SUMS)
def test_what_is_read_from_sums_is_the_same_for_all_days(stores: dict[str, Path], metric: str) -> None:
    whole, facts = rows(stores["whole"], metric), rows(stores["facts"], metric)
    if metric == "kept_since":
        assert (facts != whole, "7" in facts[0]) == (True, True)
    else:
        assert facts == whole
        texts = rows(stores["texts"], metric)
        assert metric in ("signatures", "new_errors") or texts == whole


@pytest.mark.thorough(quick=6)
@pytest.mark.parametrize("metric", OF_DAYS)
def test_what_is_read_from_facts_is_the_same_for_the_days_that_have_them(
    stores: dict[str, Path], metric: str
) -> None:
    if metric != "kept_since":
        since = {f"{prefix}from_day": FIRST for prefix in ("", "a_", "b_")}
        assert rows(stores["facts"], metric, **since) == rows(stores["whole"], metric, **since)


def test_pages_say_which_days_have_sums_only(
    stores: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALLGAUGE_STORE", str(stores["facts"]))
    words = "last heard before 2026-11-08 are no longer kept"
    assert words in page_text(opened(CALLS, days="all"))
    assert words not in page_text(opened(CALLS, days="2026-11-08 to 2026-11-14"))
    assert "keeps no calls before 2026-11-08" in page_text(opened(CALLS, call="0" * 24))
    monkeypatch.setenv("CALLGAUGE_STORE", str(stores["whole"]))
    assert words not in page_text(opened(CALLS, days="all"))


def test_a_call_without_its_texts_shows_what_was_judged(
    stores: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALLGAUGE_STORE", str(stores["texts"]))
    (call,) = ask(stores["texts"], "SELECT min(call_id) FROM tool_calls WHERE outcome = 'failed'")[0]
    text = page_text(opened(CALLS, call=call))
    assert text.count("The text was removed") >= 3
    (session,) = ask(stores["texts"], "SELECT min(session_id) FROM sessions")[0]
    opened(SESSIONS, session=session)
