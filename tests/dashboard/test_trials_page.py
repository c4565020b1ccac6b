"""Tests the page Trials."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.analysis.made_trials import MadeArm, join_tables, make_run
from tests.analysis.store_fixture import HOSTILE, publish, small_tables
from tests.dashboard.conftest import opened, page_text
from tests.dashboard.sheets import here_links, sheet_of, sheets, texts

PAGE = "callgauge/dashboard/pages/trials/page.py"
RUN = "orders.7f3a"
OLD, NEW = MadeArm("old", 0.35), MadeArm("new", 0.03)


def plain(text: object) -> str:
    """Return Markdown without escapes."""
    return re.sub(r"\\(.)", r"\1", str(text)).replace("\u2060", "")


def run_page(store: Path, *arms: MadeArm, query: dict[str, str] | None = None, **made: Any) -> AppTest:
    publish(store, join_tables(small_tables(), make_run(arms or (OLD, NEW), **made).tables))
    return opened(PAGE, trial=RUN, **(query or {}))


def answer(app: AppTest) -> str:
    return plain(app.header[0].value)


@pytest.mark.thorough
def test_without_a_run_the_page_says_what_a_trial_is_and_names_three_commands(small: Path) -> None:
    app = opened(PAGE)
    assert "No trial runs yet" in page_text(app)
    commands = [block.value for block in app.code][:3]
    assert commands == [
        "callgauge trial demo",
        "callgauge trial check plan.toml",
        f"callgauge trial run plan.toml --store {small}",
    ]


def test_the_list_has_the_newest_run_first_with_its_answer_and_state(store: Path) -> None:
    runs = [
        make_run((OLD, NEW), tasks=100),
        make_run((OLD, NEW), run="going.1", question="", tasks=50, done=15, created_at="2026-11-21T10:00:00"),
        make_run((OLD,), run="single.1", question="How good?", tasks=20, created_at="2026-11-19T10:00:00"),
    ]
    publish(store, join_tables(small_tables(), *(made.tables for made in runs)))
    app = opened(PAGE)
    rows = sheet_of(app, "Trial runs")
    assert [row["Question"]["text"] for row in rows] == ["going", "Do enums lower its refusals?", "How good?"]
    assert [row["Answer"]["text"] for row in rows] == ["new: still open", "new: better", "one variant"]
    assert rows[0]["State"]["text"] == "not ended"
    assert rows[1]["State"]["text"] in ("done", "stopped early")
    assert rows[0]["Tasks"]["text"] == "15 / 50"
    assert "trial=going.1" in rows[0]["Question"]["href"]


def test_a_run_is_answered_in_a_sentence_with_its_figures_and_its_end(store: Path) -> None:
    app = run_page(store, tasks=100)
    assert plain(app.title[0].value) == "Do enums lower its refusals?"
    assert re.fullmatch(
        r"new is better than old: invalid calls \d+\.\d% against \d+\.\d%, −\d+\.\d points "
        r"\(−\d+\.\d to −\d+\.\d\)\. "
        r"It stopped at interim analysis \d of 5, after \d+ of 100 tasks, \d+% of the budget\.",
        answer(app),
    )
    rows = {row["Variant"]["text"]: row for row in sheet_of(app, "Invalid calls by variant")}
    assert list(rows) == ["old", "new"]
    assert rows["old"]["Verdict"]["text"] == "Reference"
    assert (rows["new"]["Verdict"]["text"], rows["new"]["Verdict"]["tone"]) == ("Better", "good")
    assert rows["new"]["Difference"]["text"] in answer(app)
    assert "a_run=orders.7f3a&a_arm=old&b_run=orders.7f3a&b_arm=new" in rows["new"]["Variant"]["href"]


def test_measures_beside_the_primary_one_have_counts_and_differences_without_a_verdict(store: Path) -> None:
    app = run_page(store, tasks=100)
    old, new = sheet_of(app, "The other measures by variant")
    assert list(old) == ["Variant", "Repaired calls", "Right", "Turn success", "Tokens", "Cost"]
    assert re.fullmatch(r"\d+ / \d+", old["Right"]["sub"])
    assert re.fullmatch(r"\d+ / \d+\n\+\d+\.\d \(.* to .*\)", new["Right"]["sub"])
    assert all(cell["tone"] is None for cell in new.values())
    assert "not planned for the measures below" in page_text(app)


@pytest.mark.thorough
def test_several_arms_are_answered_by_their_verdicts(store: Path) -> None:
    app = run_page(store, OLD, NEW, MadeArm("小模型", 0.9), tasks=100)
    assert answer(app).startswith(
        "new is better than old by invalid calls. 小模型 is worse than old by invalid calls."
    )


@pytest.mark.thorough
def test_a_run_that_goes_on_says_how_far_it_is_and_when_it_looks_next(store: Path) -> None:
    app = run_page(store, tasks=100, done=33)
    assert answer(app).startswith("Not decided yet: new, after 33 of 100 tasks. So far: invalid calls ")
    assert answer(app).endswith("The next interim analysis is at 40.")
    rows = sheet_of(app, "Invalid calls by variant")
    assert (rows[1]["Verdict"]["text"], rows[1]["Difference"]["pale"]) == ("Still open", True)


@pytest.mark.thorough
def test_before_a_trial_has_ended_the_page_waits(store: Path) -> None:
    app = run_page(store, tasks=100, done=0)
    assert "No trial has ended yet. This page updates by itself." in page_text(app)
    assert answer(app).startswith("Not decided yet: new, after 0 of 100 tasks.")


@pytest.mark.thorough
def test_above_five_percent_without_a_reply_there_is_no_verdict_but_bounds(store: Path) -> None:
    app = run_page(store, OLD, replace(NEW, no_reply=0.3), tasks=60)
    assert re.match(
        r"No verdict on new: \d+ of 60 trials of new and 0 of 60 of old have no reply, more than 5%; "
        r"whatever they had been, the difference is between −\d+\.\d and \+\d+\.\d points\.",
        answer(app),
    )
    (_, new) = sheet_of(app, "Invalid calls by variant")
    assert (new["Verdict"]["text"], new["Verdict"]["tone"]) == ("No verdict", "warn")
    assert re.fullmatch(r"\d+ of 60 trials: no reply", new["Tasks"]["sub"])
    shares = sheet_of(opened(PAGE, trial=RUN, show="conditions"), "Not due to the model")
    assert (shares[0]["No reply"]["text"], shares[1]["No reply"]["tone"]) == ("0%", "warn")


@pytest.mark.thorough
def test_not_decided_names_how_many_more_tasks_would_decide(store: Path) -> None:
    app = run_page(store, OLD, replace(OLD, name="new", refused=0.33), tasks=40)
    assert re.search(
        r"About \d[\d,]* more tasks would decide if the difference stays as it is\.", answer(app)
    )


@pytest.mark.thorough
def test_a_single_arm_is_told_without_a_comparison(store: Path) -> None:
    app = run_page(store, OLD, tasks=20)
    assert re.match(
        r"old has \d+\.\d% of its calls invalid \(\d+ / \d+\) and \d+\.\d% of its trials right", answer(app)
    )
    assert list(sheet_of(app, "Invalid calls by variant")[0]) == ["Variant", "Invalid calls", "Tasks"]
    assert "Course of the difference" not in page_text(app)


def charts_of(app: AppTest) -> list[Any]:
    return [json.loads(block.proto.spec) for block in app.get("plotly_chart")]


def test_the_course_has_the_difference_the_boundary_and_every_look(store: Path) -> None:
    app = run_page(store, OLD, replace(OLD, name="new", refused=0.3), tasks=60)
    (drawn,) = charts_of(app)
    traces = {trace["name"]: trace for trace in drawn["data"]}
    looks = len(traces["Interim analysis"]["x"])
    assert traces["Interim analysis"]["x"] == [12, 24, 36, 48, 60][:looks]
    assert len(traces["Decided beyond"]["x"]) == looks
    assert drawn["layout"]["xaxis"]["title"]["text"] == "Tasks with trials of both variants"
    assert drawn["layout"]["yaxis"]["title"]["text"] == "Difference, points"
    low, high = drawn["layout"]["yaxis"]["range"]
    assert all(low <= value <= high for trace in drawn["data"] for value in trace["y"])


@pytest.mark.thorough
def test_another_arm_is_chosen_in_the_url(store: Path) -> None:
    app = run_page(store, OLD, NEW, MadeArm("third", 0.3), tasks=40, query={"arm_shown": "third"})
    assert "third minus old: invalid calls" in plain(page_text(app))


@pytest.mark.thorough
def test_without_a_task_of_both_arms_there_is_no_course(store: Path) -> None:
    app = run_page(store, tasks=40, done=1)
    assert "No difference yet: fewer than two tasks have trials of both variants" in page_text(app)
    assert not charts_of(app)


def test_tasks_on_which_the_arms_disagree_come_first_and_cells_lead_to_sessions(store: Path) -> None:
    app = run_page(store, tasks=100, done=30)
    rows = sheet_of(app, "Tasks by variant")
    assert len(rows) == 30
    unlike = [row["old"]["text"] != row["new"]["text"] for row in rows]
    assert unlike[0]
    assert not unlike[-1]
    first = rows[0]
    task = first["Task"]["text"]
    assert f"session=orders.7f3a%2Fold%2F{task}.0" in first["old"]["href"]
    assert "invalid" in first["old"]["text"]
    assert first["old"]["heat"]
    in_order = sheet_of(opened(PAGE, trial=RUN, tasks_by="run"), "Tasks by variant")
    assert [row["Task"]["text"] for row in in_order] == sorted(row["Task"]["text"] for row in rows)


@pytest.mark.thorough
def test_many_tasks_are_paged_and_found_by_their_id(store: Path) -> None:
    app = run_page(store, replace(OLD, refused=0.3), replace(OLD, name="new"), tasks=1000, looks=1, done=95)
    assert len(sheet_of(app, "Tasks by variant")) == 40
    assert len(sheet_of(opened(PAGE, trial=RUN, tasks_page="3"), "Tasks by variant")) == 15
    assert len(sheet_of(opened(PAGE, trial=RUN, tasks_page="99"), "Tasks by variant")) == 15
    rows = sheet_of(opened(PAGE, trial=RUN, task="TASK-012"), "Tasks by variant")
    assert [row["Task"]["text"] for row in rows] == ["task-012"]
    assert "No task matches." in page_text(opened(PAGE, trial=RUN, task="nothing"))


@pytest.mark.thorough
def test_where_arms_differ_is_told_by_tool_parameter_and_finding(store: Path) -> None:
    made = make_run((OLD, NEW), tasks=60)
    publish(store, join_tables(small_tables(), made.tables))
    rows = sheet_of(opened(PAGE, trial=RUN, show="differ"), "Differences by tool")
    assert {row["Tool"]["text"] for row in rows} == {"search_orders", "refund"}
    k, n = (sum(int(row["old"]["sub"].split(" / ")[side]) for row in rows) for side in (0, 1))
    mine = [outcome for outcome in made.outcomes if outcome.arm == "old"]
    assert (k, n) == (sum(outcome.refused for outcome in mine), sum(outcome.calls for outcome in mine))
    assert "run=orders.7f3a&arm=old" in rows[0]["old"]["href"]
    parameters = sheet_of(
        opened(PAGE, trial=RUN, show="differ", differ_by="parameter"), "Differences by parameter"
    )
    assert parameters[0]["Parameter"]["text"].endswith(" · customer")
    codes = sheet_of(opened(PAGE, trial=RUN, show="differ", differ_by="code"), "Differences by diagnostic")
    assert codes[0]["Diagnostic"]["text"] == "required_parameter_missing"
    assert int(codes[0]["old"]["sub"].split(" / ")[0]) == sum(outcome.refused for outcome in mine)


def test_a_success_costs_what_all_priced_trials_cost_by_those_that_were_right(store: Path) -> None:
    made = make_run((OLD, replace(NEW, cost=None)), tasks=60, looks=1)
    publish(store, join_tables(small_tables(), made.tables))
    old, new = sheet_of(opened(PAGE, trial=RUN, show="cost"), "Cost of a success by variant")
    right = sum(bool(outcome.right) for outcome in made.outcomes if outcome.arm == "old")
    assert old["Succeeded"]["sub"] == f"{right} / 60"
    assert old["Cost / success"]["order"] == pytest.approx(60 * 0.002 / right)
    assert (new["Cost / success"]["text"], new["Cost / success"]["sub"]) == ("–", "unpriced")


@pytest.mark.thorough
def test_without_any_price_the_page_says_how_to_name_one(store: Path) -> None:
    app = run_page(store, replace(OLD, cost=None), replace(NEW, cost=None), query={"show": "cost"})
    assert "No trial is priced" in page_text(app)
    assert "No trial is priced." in page_text(app)


@pytest.mark.thorough
def test_what_was_held_equal_comes_after_what_was_not(store: Path) -> None:
    app = run_page(store, OLD, replace(NEW, model="heron"), tasks=20, query={"show": "conditions"})
    rows = {row["Condition"]["text"]: row for row in sheet_of(app, "Conditions by variant")}
    assert next(iter(rows)) == "Model"
    assert (rows["Model"]["Variants"]["text"], rows["Model"]["Values"]["text"]) == ("Differ", "old: falcon-3")
    assert rows["Model"]["Values"]["sub"] == "new: heron"
    assert (rows["Sampling"]["Variants"]["text"], rows["Sampling"]["Values"]["text"]) == (
        "Equal",
        "temperature 0.7",
    )
    assert rows["Endpoints"]["Values"]["text"] == "local: openai-chat llama.cpp"


@pytest.mark.thorough
def test_what_probes_found_out_is_told_by_model(store: Path) -> None:
    made = make_run((OLD, NEW), tasks=20)
    capabilities = {"supports_tool_use": {"value": True, "known_by": "probed"}}
    session = {"session_id": "probe", "source": "session_history", "file_id": 1, "duplicate": False}
    probe = {**session, "model": "falcon-3", "ok": True, "trial_run": RUN}
    probe.pop("duplicate")
    made.tables["sessions"].append({**session, "trial_run": RUN, "capabilities": json.dumps(capabilities)})
    made.tables["probes"] = [probe]
    publish(store, join_tables(small_tables(), made.tables))
    (row,) = sheet_of(opened(PAGE, trial=RUN, show="probes"), "Capabilities of each model")
    assert (row["Probe"]["text"], row["Native tool calls"]["text"]) == ("A native call", "yes")
    assert row["Native tool calls"]["sub"] == "probed"


@pytest.mark.thorough
def test_a_run_without_a_probe_says_so(store: Path) -> None:
    app = run_page(store, tasks=20, query={"show": "probes"})
    assert "No model was probed, and nothing was declared." in page_text(app)


def test_an_unknown_run_is_a_sentence_and_a_way_back(small: Path) -> None:
    app = opened(PAGE, trial="gone.1")
    assert "not found" in page_text(app)
    assert here_links(app)["← All runs"] == "trials?"


@pytest.mark.thorough
def test_runs_before_and_after_are_one_key_away(store: Path) -> None:
    run = make_run((OLD, NEW), tasks=20)
    other = make_run((OLD, NEW), run="newer.1", tasks=20, created_at="2026-11-21T10:00:00")
    publish(store, join_tables(small_tables(), run.tables, other.tables))
    links = here_links(opened(PAGE, trial=RUN))
    assert (links["↑ Newer"], links["↓ Older"]) == ("trials?trial=newer.1", None)


@pytest.mark.thorough
def test_names_of_people_are_text(store: Path) -> None:
    arms = (replace(OLD, name=HOSTILE), replace(NEW, name="=1+1|`b`\u202e"))
    app = run_page(store, *arms, question=HOSTILE, tasks=30)
    assert plain(app.title[0].value) == HOSTILE
    assert sheet_of(app, "Invalid calls by variant")[0]["Variant"]["text"].startswith("<img src=x")
    assert not app.error
    for tab in ("differ", "cost", "conditions", "probes"):
        assert not opened(PAGE, trial=RUN, show=tab).error


def test_how_many_tasks_are_needed_comes_from_the_history_of_the_store(small: Path) -> None:
    app = opened(PAGE)
    assert "So far 2.3% (1 / 44)" in plain(page_text(app))
    tasks = texts(sheets(app)["Tasks needed by smallest difference"], 1)
    numbers = [int(text.replace(",", "")) for text in tasks]
    assert numbers == sorted(numbers, reverse=True)
    more = texts(sheets(opened(PAGE, plan_arms="4"))["Tasks needed by smallest difference"], 1)
    assert int(more[0].replace(",", "")) > numbers[0]


def test_without_a_history_the_plan_must_name_a_rate(store: Path) -> None:
    publish(store, {})
    assert "expected_rate" in page_text(opened(PAGE))


@pytest.mark.thorough
def test_trials_themselves_are_no_history(store: Path) -> None:
    publish(store, make_run((OLD, NEW), tasks=20).tables)
    assert "expected_rate" in page_text(opened(PAGE))
