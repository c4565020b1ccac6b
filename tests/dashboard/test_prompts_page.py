"""Tests the page Prompts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.analysis.store_fixture import HOSTILE, a_turn, publish
from tests.dashboard.conftest import opened, page_text
from tests.dashboard.sheets import calls, over_days, sheet_of

PAGE = "callgauge/dashboard/pages/prompts/page.py"


@pytest.fixture
def changed(store: Path) -> Path:
    turns = [
        a_turn(number, prompt_id=prompt, prompt_hash=text, day=day, ts=f"{day}T10:00:00")
        for number, (prompt, text, day) in enumerate(
            [("v9", "aaa", "2026-11-18"), ("v10", "bbb", "2026-11-20"), ("v10", "ccc", "2026-11-21")]
        )
    ]
    publish(
        store,
        {
            "tool_calls": [
                *over_days(calls(190, 10, prompt_id="v9"), "2026-11-14"),
                *over_days(calls(140, 60, prompt_id="v10"), "2026-11-20"),
                *calls(30, 0, prompt_id="other"),
            ],
            "turns": turns,
            "prompts": [
                {"prompt_id": "v9", "name": "triage", "version": "9"},
                {"prompt_id": "v10", "name": "triage", "version": "10"},
            ],
            "prompt_texts": [
                {"prompt_id": "v9", "text_hash": "aaa", "text": "Be kind."},
                {"prompt_id": "v10", "text_hash": "bbb", "text": "Be brief."},
                {"prompt_id": "v10", "text_hash": "ccc", "text": f"Be brief.\n{HOSTILE}"},
            ],
        },
    )
    return store


def test_versions_stand_in_the_order_of_first_use_each_beside_the_one_before(changed: Path) -> None:
    first, second = sheet_of(opened(PAGE), "Parse errors by version")
    assert [row["Version"]["text"] for row in (first, second)] == ["triage@9", "triage@10"]
    assert first["Against the one before"]["text"] == "first"
    assert second["First used"]["text"] == "2026-11-20"
    assert (second["Against the one before"]["text"], second["Verdict"]["text"]) == ("+25.0", "Worse")


def test_without_two_versions_it_opens_on_the_prompt_with_the_most_observed_of_the_rate(store: Path) -> None:
    blind = {"syntax_seen": "none", "schema_seen": "none", "harness_verdict": None, "outcome": "unmeasured"}
    unseen = [call | blind for call in calls(60, 0, prompt_id="busy")]
    publish(store, {"tool_calls": [*unseen, *calls(12, 1, prompt_id="seen")], "turns": [a_turn(1)]})
    assert "seen has one version" in answer(opened(PAGE))


def answer(app: AppTest) -> str:
    """Return the page's main sentence without Markdown escapes."""
    return re.sub(r"\\(.)", r"\1", str(app.header[0].value))


def test_the_newest_version_is_judged_in_a_sentence(changed: Path) -> None:
    app = opened(PAGE)
    assert answer(app) == "Keep triage@9. triage@10 is worse: 30.0% against 5.0%."
    small_print = re.sub(r"\\(.)", r"\1", page_text(app))
    assert "Parse errors: v10 60 / 200, v9 10 / 200. Difference +25.0 points (" not in small_print
    assert "Parse errors: triage@10 60 / 200, triage@9 10 / 200. Difference +25.0 points (" in small_print
    assert "95%, 400 sessions." in small_print


@pytest.mark.thorough
def test_versions_that_got_different_work_are_judged_at_the_same_mix(store: Path) -> None:
    """The counts are three times those of Charig et al. (1986). The new version is better for both tools."""
    counts = {("v1", "small"): (234, 36), ("v1", "large"): (55, 25)}
    counts |= {("v2", "small"): (81, 6), ("v2", "large"): (192, 71)}
    made = [
        call
        for (version, tool), (good, bad) in counts.items()
        for call in over_days(
            calls(3 * good, 3 * bad, prompt_id=version, tool=tool), f"2026-11-{version[1]}0"
        )
    ]
    publish(
        store,
        {
            "tool_calls": made,
            "prompts": [{"prompt_id": f"v{n}", "name": "triage", "version": f"{n}"} for n in (1, 2)],
        },
    )
    app = opened(PAGE)
    rows = {row["Version"]["text"]: row for row in sheet_of(app, "Parse errors by version")}
    new = rows["triage@2"]
    assert new["Against the one before"]["at"] < 0.5
    assert new["Against the one before"]["sub"].endswith("\nmix-adjusted")
    assert (new["Verdict"]["text"], new["Verdict"]["tone"]) == ("Better", "good")
    assert new["Verdict"]["sub"].endswith(", mix-adjusted")
    assert answer(app) == (
        "Take triage@2. It is better: 16.6% against 22.0%, mix-adjusted "
        "(unadjusted, the other way round: 22.0% against 17.4%)."
    )
    assert r"Mix\-adjusted\, the order reverses\." in page_text(app)
    app = opened(PAGE, smallest="10")
    rows = {row["Version"]["text"]: row for row in sheet_of(app, "Parse errors by version")}
    assert rows["triage@2"]["Verdict"]["text"] == "Equivalent"


def test_two_texts_are_compared(changed: Path) -> None:
    assert f"+{HOSTILE}" in page_text(opened(PAGE))
    app = opened(PAGE, before="1", after="2")
    assert "-Be kind.\n+Be brief." in page_text(app)


def test_each_change_of_the_text_is_marked_on_the_time_line(changed: Path) -> None:
    rows = sheet_of(opened(PAGE, show="days"), "What changed, and when")
    assert [(row["Mark"]["text"], row["From"]["text"], row["What changed"]["text"]) for row in rows] == [
        ("B", "2026-11-21", "triage@10: another text"),
        ("A", "2026-11-20", "triage@10"),
    ]
    assert rows[1]["What changed"]["sub"] == "text bbb; before: triage@9"


def test_another_prompt_is_chosen_in_the_url(changed: Path) -> None:
    app = opened(PAGE, of="other", before="2", after="3")
    assert [row["Version"]["text"] for row in sheet_of(app, "Parse errors by version")] == ["other"]
    assert "These logs do not keep the text of this prompt." in page_text(app)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("nonsense", ["0", "-1", "99", "x", "²"])
def test_a_version_that_does_not_exist_is_the_newest(changed: Path, nonsense: str) -> None:
    app = opened(PAGE, before=nonsense, after=nonsense)
    assert not app.exception
    assert f"+{HOSTILE}" in page_text(app)


def test_all_prompts_lead_to_their_versions(changed: Path) -> None:
    app = opened(PAGE, show="all")
    rows = sheet_of(app, "Rates by prompt name")
    assert {row["Prompt name"]["href"].partition("&")[0] for row in rows} == {
        "prompts?of=triage",
        "prompts?of=other",
    }
