"""Tests the breakdown of a difference on the pages Prompts and Compare."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from callgauge.dashboard.pages.compare import URL_KEYS as COMPARE_KEYS
from callgauge.dashboard.pages.prompts import URL_KEYS as PROMPTS_KEYS
from ingest.pipeline.load import load
from sample_data import generate
from sample_data.generate import files
from sample_data.made_world import MODELS
from tests.analysis.store_fixture import HOSTILE, publish
from tests.dashboard.conftest import opened, page_text
from tests.dashboard.sheets import calls, over_days, sheet_of, sheets

PROMPTS = "callgauge/dashboard/pages/prompts/page.py"
COMPARE = "callgauge/dashboard/pages/compare/page.py"
BY_MODEL = "Parse errors by model, fixer@13 and fixer@12"


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store in which one model changed. This model has too few sessions to change the rate of all
    models together.
    """
    logs = tmp_path_factory.mktemp("made")
    # The change is one day earlier than in the sample, because each version needs five days.
    monkeypatch = pytest.MonkeyPatch()
    monkeypatch.setattr(generate, "NEW_FIXER_DAY", datetime(2026, 11, 11, tzinfo=UTC))
    models = [replace(model, sessions_a_day=min(model.sessions_a_day, 6)) for model in MODELS]
    for name, content in files(models=models):
        (logs / name).write_text(content, encoding="utf-8", newline="\n")
    monkeypatch.undo()
    store = tmp_path_factory.mktemp("sample") / "store"
    load([logs], store)
    return store


@pytest.fixture
def sample(loaded: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CALLGAUGE_STORE", str(loaded))
    return loaded


def plain(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


def headline(app: AppTest) -> str:
    return next(plain(str(each.value)) for each in app.header if not str(each.value).startswith("Slice "))


@pytest.mark.thorough
def test_over_all_days_of_the_sample_the_new_version_is_worse_most_of_all_for_one_model(
    sample: Path,
) -> None:
    assert re.fullmatch(
        r"Keep fixer@12\. fixer@13 is worse: 20\.0% against \d+\.\d%\. "
        r"Most of all for kestrel-coder-14b: 45\.0% against 1\.\d%\.",
        headline(opened(PROMPTS, days="all")),
    )


@pytest.mark.thorough
def test_the_table_has_the_words_of_the_headline(sample: Path) -> None:
    app = opened(PROMPTS, days="14d")
    assert headline(app).startswith("Keep fixer@12. fixer@13 is worse: ")
    whole, first, *others = sheet_of(app, BY_MODEL)
    assert (whole["Model"]["text"], whole["Verdict"]["text"]) == ("All models", "Worse")
    assert (first["Model"]["text"], first["Verdict"]["text"]) == ("kestrel-coder-14b", "Worse")
    counts = [first[title]["sub"].split(" · ")[0] for title in ("fixer@12", "fixer@13")]
    assert counts == ["3 / 149", "50 / 111"]
    assert {row["Verdict"]["text"] for row in others} == {"No clear difference"}
    depends = "The difference depends on the model: kestrel-coder-14b differs from the others"
    assert depends in page_text(app)


def test_the_sample_broken_down_by_tool_shows_no_interaction(sample: Path) -> None:
    app = opened(PROMPTS, broken_by="tool", days="14d")
    assert "No sign that the difference depends on the tool." in page_text(app)
    *_, few = sheet_of(app, "Parse errors by tool, fixer@13 and fixer@12")
    assert re.fullmatch(r"\d tools? with too few sessions", few["Tool"]["text"])
    assert (few["Difference"]["text"], few["Verdict"]["text"]) == ("–", "Not enough data")


def test_a_version_has_one_name_on_the_whole_page(sample: Path) -> None:
    app = opened(PROMPTS)
    for key in ("version", "before", "after"):
        names = ["@12", "@13"] if key == "version" else ["fixer@12", "fixer@13"]
        assert sorted(app.selectbox(key=key).options) == names
    assert app.selectbox(key="versus").options == ["@12"]
    assert [row["Version"]["text"] for row in sheet_of(app, "Parse errors by version")] == [
        "fixer@12",
        "fixer@13",
    ]
    marks = sheet_of(opened(PROMPTS, show="days"), "What changed, and when")
    assert "fixer@13" in {row["What changed"]["text"] for row in marks}


@pytest.mark.thorough
def test_version_and_baseline_are_chosen_and_the_link_keeps_them(sample: Path) -> None:
    app = opened(PROMPTS, of="fixer", version="fixer@12", versus="fixer@13", days="14d")
    assert headline(app).startswith("Take fixer@12. It is better: ")
    assert [app.selectbox(key=key).value for key in ("before", "after")] == ["2", "1"]
    again = opened(PROMPTS, version="nonsense", versus="fixer@13", days="14d")
    assert headline(again).startswith("Keep fixer@12. fixer@13 is worse: ")


@pytest.mark.thorough
def test_what_is_behind_a_tab_is_not_asked_for(sample: Path) -> None:
    captions = set(sheets(opened(PROMPTS)))
    assert not captions & {"What changed, and when", "Rates by prompt name"}
    captions = set(sheets(opened(COMPARE)))
    assert "Arguments: rates of the two slices" in captions
    assert not captions & {"What differs between the slices", "pass^k of both slices"}


def test_a_prompt_with_one_version_says_so(sample: Path) -> None:
    app = opened(PROMPTS, of="triage")
    assert headline(app).startswith("Nothing to compare: triage has one version. Parse errors: ")
    assert not [caption for caption in sheets(app) if " by model, " in caption]


def test_two_models_are_broken_down_by_prompt_and_the_title_says_which(sample: Path) -> None:
    app = opened(COMPARE, a_model="falcon-3-8b", b_model="kestrel-coder-14b", days="14d")
    assert plain(str(app.title[0].value)) == "kestrel-coder-14b against falcon-3-8b"
    assert "Worse for fixer@13: 45.0% against 13%" in headline(app)
    rows = sheet_of(app, "Parse errors by prompt, kestrel-coder-14b and falcon-3-8b")
    assert {row["Prompt"]["text"]: row["Verdict"]["text"] for row in rows}["fixer@13"] == "Worse"
    assert "By prompt" in str(app)


def test_the_link_of_a_rate_keeps_the_rest_of_the_view(sample: Path) -> None:
    app = opened(
        COMPARE, a_model="falcon-3-8b", b_model="aurora-mini", group="turn", show="rates", broken_by="prompt"
    )
    rate, *_ = sheet_of(app, "Turn: rates of the two slices")
    for kept in ("group=turn", "broken_by=prompt", "a_model=falcon-3-8b", "b_model=aurora-mini", "rate="):
        assert kept in rate["Rate"]["href"]


def test_every_group_of_rates_has_a_line(sample: Path) -> None:
    words = page_text(opened(COMPARE, a_model="falcon-3-8b", b_model="aurora-large"))
    lines = [line for line in words.splitlines() if re.match(r"\*\*(Arg|Tool|Turn|Cost)", line)]
    assert [line.split("**")[1] for line in lines] == ["Arguments", "Tool", "Turn", "Cost"]
    assert "worse" in lines[0] or "better" in lines[0] or "without clear difference" in lines[0]


def test_the_keys_of_both_pages_are_declared() -> None:
    assert {"of", "version", "versus", "broken_by", "before", "after"} <= set(PROMPTS_KEYS.place)
    assert {"broken_by", "group", "anew"} <= set(COMPARE_KEYS.place)
    assert PROMPTS_KEYS.parts == COMPARE_KEYS.parts == ("show",)


def two_versions(store: Path, *models: str, **more: Any) -> None:
    made = []
    for model in models:
        bad = {"1": 2, "2": 60 if model == models[0] else 2}
        for version in ("1", "2"):
            several = calls(100 - bad[version], bad[version], prompt_id=f"v{version}", model=model)
            made += over_days(several, f"2026-11-{version}0")
    names = [{"prompt_id": f"v{n}", "name": "triage", "version": f"{n}"} for n in (1, 2)]
    publish(store, {"tool_calls": made, "prompts": names} | more)


def test_names_of_a_log_are_text_in_the_headline_and_the_table(store: Path) -> None:
    two_versions(store, HOSTILE, "owl", "wren", "crow", "jay")
    app = opened(PROMPTS)
    assert "\\<" in str(app.header[0].value)
    rows = sheet_of(app, "Parse errors by model, triage@2 and triage@1")
    assert rows[1]["Verdict"]["text"] == "Worse"
    assert rows[1]["Model"]["text"].startswith(HOSTILE[:10])


@pytest.mark.thorough
def test_models_with_too_few_sessions_are_one_line(store: Path) -> None:
    two_versions(store, "heron", "owl")
    few = [
        call
        for number in range(6)
        for call in calls(3, 1, prompt_id="v2", model=f"small {number}", day="2026-11-12")
    ]
    large = [
        call
        for model in ("heron", "owl")
        for version in ("1", "2")
        for call in over_days(calls(98, 2, prompt_id=f"v{version}", model=model), f"2026-11-{version}0")
    ]
    names = [{"prompt_id": f"v{n}", "name": "triage", "version": f"{n}"} for n in (1, 2)]
    publish(store, {"tool_calls": [*large, *few], "prompts": names}, number=2)
    *judged, last = sheet_of(opened(PROMPTS), "Parse errors by model, triage@2 and triage@1")
    assert [row["Model"]["text"] for row in judged] == ["All models", "heron", "owl"]
    assert last["Model"]["text"] == "6 models with too few sessions"
    assert (last["triage@2"]["text"], last["triage@2"]["sub"]) == ("6 / 24", None)
    assert "small 0" in last["Model"]["sub"]
