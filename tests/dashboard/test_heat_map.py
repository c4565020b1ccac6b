"""Tests the heat map of models by prompt and by tool."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm, t
from statsmodels.stats.proportion import proportion_confint

from callgauge.dashboard.pages.models.heat_map import DEEPEST
from tests.analysis.store_fixture import HOSTILE, publish
from tests.dashboard.conftest import FEW, open_fold, opened, page_text
from tests.dashboard.sheets import calls, sheet_of, sheets

PAGE = "callgauge/dashboard/pages/models/page.py"


@pytest.fixture
def filled(store: Path) -> Path:
    publish(
        store,
        {
            "tool_calls": [
                *calls(75, 25, model="falcon", prompt_id="p1"),
                *calls(150, 0, model="heron", prompt_id="p1"),
                *calls(2, 2, model="heron", prompt_id="p2"),
                *calls(40, 0, model=HOSTILE, prompt_id=None, tool=HOSTILE),
            ]
        },
    )
    return store


def test_a_cell_has_its_rate_its_shade_and_leads_to_its_calls(filled: Path) -> None:
    rows = {
        row["Model"]["text"]: row
        for row in sheet_of(opened(PAGE, view="prompt"), "Parse errors by model and prompt")
    }
    cell = rows["falcon"]["p1"]
    assert (cell["text"], cell["sub"], cell["heat"]) == ("25.0%", "25 / 100", DEEPEST)
    assert cell["href"] == "calls?model=falcon&prompt=p1&fault=arguments"
    assert cell["title"].startswith(
        "17.7–34.0% · 100 sessions · Wilson over sessions, 95 % (design effect 0.8); measured on all calls"
    )
    assert rows["heron"]["p1"]["heat"] == 0
    assert rows["heron"]["p2"]["pale"]
    assert rows["heron"]["p2"]["text"] == "2 / 4", "of four sessions no percentage is told"
    assert rows["heron"]["p2"]["title"] == "Too little to tell: 4 sessions; measured on all calls"
    assert rows["heron"]["p2"]["heat"] is None
    assert rows["falcon"]["p2"]["text"] == ""
    assert rows["heron"]["All"]["sub"] == "2 / 154"


def test_the_interval_of_a_cell_is_that_of_the_groups_its_sessions_fall_into(store: Path) -> None:
    """The expected interval is calculated here step by step, without the correlation in other cells."""
    made = calls(75, 25, model="falcon", prompt_id="p1")
    k, n = np.zeros(50), np.zeros(50)
    for call in made:
        digest = hashlib.md5(f"{call['source']}\0{call['session_id']}".encode(), usedforsecurity=False)
        group = int(digest.hexdigest()[:8], 16) % 50
        n[group] += 1
        k[group] += call["outcome"] == "failed"
    is_used = n > 0
    without = (25 - k[is_used]) / (100 - n[is_used])
    variance = (is_used.sum() - 1) / is_used.sum() * ((without - 0.25) ** 2).sum()
    assert variance / (0.25 * 0.75 / 100) < 0.8, "less than 0.8 is not believed"
    number = 100 / 0.8
    hits = 25**2 / (k**2).sum()
    assert hits < is_used.sum() - 1
    quantile = t.ppf(0.975, 0.8 * hits)
    low, high = proportion_confint(0.25 * number, number, alpha=2 * norm.sf(quantile), method="wilson")
    publish(store, {"tool_calls": made})
    (row,) = sheet_of(opened(PAGE, view="prompt"), "Parse errors by model and prompt")
    assert row["p1"]["title"].startswith(f"{100 * low:.1f}–{100 * high:.1f}% · 100 sessions · Wilson")


def test_the_page_begins_with_the_best_row_and_each_row_has_its_verdict(filled: Path) -> None:
    app = opened(PAGE, view="prompt")
    rows = {
        row["Model"]["text"][:6]: row["Verdict"] for row in sheet_of(app, "Parse errors by model and prompt")
    }
    assert rows["heron"]["text"] == "Compared with"
    assert (rows["falcon"]["text"], rows["falcon"]["tone"]) == ("Worse", "bad")
    assert rows["<img s"]["text"] == "Different work"
    assert "heron is the best by parse errors" in str(app.header[0].value)
    app = opened(PAGE, view="prompt", smallest="10")
    (falcon,) = (
        row["Verdict"]
        for row in sheet_of(app, "Parse errors by model and prompt")
        if row["Model"]["text"] == "falcon"
    )
    assert falcon["text"] == "Worse", "24 points are more than ten"


def test_rows_that_got_different_work_are_judged_at_the_same_mix(store: Path) -> None:
    """The counts are three times those of Charig et al. (1986). Model A is better for both kinds of work."""
    counts = {("A", "small"): (81, 6), ("A", "large"): (192, 71), ("B", "small"): (234, 36)}
    counts |= {("B", "large"): (55, 25)}
    made = [
        call
        for (model, tool), (good, bad) in counts.items()
        for call in calls(3 * good, 3 * bad, model=model, tool=tool)
    ]
    publish(store, {"tool_calls": made})
    app = opened(PAGE, view="tool")
    rows = {row["Model"]["text"]: row for row in sheet_of(app, "Parse errors by model and tool")}
    assert (rows["A"]["All"]["text"], rows["B"]["All"]["text"]) == ("22.0%", "17.4%")
    assert {name: row["Verdict"]["text"] for name, row in rows.items()} == {
        "A": "Better",
        "B": "Compared with",
    }
    assert "A is the best by parse errors" in str(app.header[0].value)


def test_the_rate_and_the_columns_are_chosen_in_the_url(filled: Path) -> None:
    app = opened(PAGE, view="tool", rate="mended")
    rows = sheet_of(app, "Needed repair by model and tool")
    assert {"read_file", "All"} <= set(rows[0])
    assert not app.error


@pytest.mark.thorough
def test_many_rows_and_columns_are_bounded_with_a_sentence(store: Path) -> None:
    publish(
        store,
        {
            "tool_calls": [
                call for n in range(45) for call in calls(30, 0, model=f"m{n:02}", prompt_id=f"p{n:02}")
            ]
        },
    )
    app = opened(PAGE, view="prompt", days="all")
    assert len(sheet_of(app, "Parse errors by model and prompt")) == 40
    assert "40 of 45 models and 14 of 40 prompts" in page_text(app)
    assert "No shades" in page_text(app)


def test_rows_with_too_few_sessions_are_one_folded_line_that_lists_counts(few_of_many: Path) -> None:
    app = opened(PAGE, view="prompt")
    assert [row["Model"]["text"] for row in sheet_of(app, "Parse errors by model and prompt")] == FEW
    fold = "37 models with too few sessions"
    assert [expander.label for expander in app.expander if "models" in expander.label] == [fold]
    assert f"{fold}: counts" not in sheets(app), "closed, it asks and draws nothing"
    rows = sheet_of(open_fold(app, "heat_map"), f"{fold}: counts")
    assert len(rows) == 37
    assert set(rows[0]) == {"Model", "Sessions", "Parse errors"}


@pytest.mark.thorough
def test_where_no_row_has_enough_there_is_no_table_of_percentages(store: Path) -> None:
    publish(store, {"tool_calls": [*calls(5, 4, model="falcon"), *calls(3, 0, model="heron")]})
    app = opened(PAGE, view="prompt")
    assert "0 of 2 models have" in str(app.header[0].value)
    assert not [name for name in sheets(app) if "Parse errors by" in name]


def test_another_baseline_is_chosen_in_the_url_and_stays_in_links(few_of_many: Path) -> None:
    app = opened(PAGE, view="prompt", base_model="heron")
    rows = {row["Model"]["text"]: row for row in sheet_of(app, "Parse errors by model and prompt")}
    assert rows["heron"]["Verdict"]["text"] == "Compared with"
    assert "base_model=heron" in rows["falcon"]["All"]["href"]


def test_without_anything_it_says_what_to_widen(filled: Path) -> None:
    assert "No retry sequences for this rate here" in page_text(
        opened(PAGE, view="prompt", rate="recovered", model="falcon")
    )
