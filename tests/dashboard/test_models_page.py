"""Tests the page Models."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest
from typer.testing import CliRunner

from callgauge.cli.main import app as cli
from callgauge.dashboard.components.controls.rate_choice import DIMENSIONS
from callgauge.memory.memory_file import FILE, MemoryFile
from callgauge.memory.public_rates import PublicRate, save_public_rates
from ingest.pipeline.load import load
from tests.analysis.public_logs import COERCED, VALID, write_log, write_session
from tests.analysis.store_fixture import HOSTILE, a_turn, publish
from tests.dashboard.conftest import FEW, open_fold, opened, page_text
from tests.dashboard.sheets import calls, sheet_of, sheets

PAGE = "callgauge/dashboard/pages/models/page.py"
RANKING = "Parse errors by model"
AUDIT = "Calling strategy: probe results and calls"


def ranked_by(by: str) -> AppTest:
    """Return the page Models with this URL key `by`."""
    app = opened(PAGE)
    app.query_params["by"] = by
    return app.run()


@pytest.fixture
def ranked(store: Path) -> Path:
    hidden = {"syntax_seen": "none", "schema_seen": "none", "outcome": "unmeasured"}
    publish(
        store,
        {
            "tool_calls": [
                *calls(300, 100, model="heron"),
                *calls(198, 2, model="falcon"),
                *calls(9, 0, model="new"),
                *calls(40, 0, model=HOSTILE),
                *calls(10, 0, model="hidden"),
                *calls(90, 0, model="hidden", **hidden),
            ]
        },
    )
    return store


def test_the_best_comes_first_and_each_is_held_against_the_one_with_most_sessions(ranked: Path) -> None:
    app = opened(PAGE)
    rows = sheet_of(app, RANKING)
    assert [row["Model"]["text"][:6] for row in rows] == ["<img s", "falcon", "heron"]
    assert [row["Rank"]["text"] for row in rows] == ["1", "1", "3"]
    assert [row["Rank"]["sub"] for row in rows] == ["tied"] * 2 + [None]
    assert [row["Verdict"]["text"] for row in rows] == ["Better", "Better", "Compared with"]
    assert app.selectbox(key="base_model").value == "heron"
    assert "Differences are from heron." in page_text(app)
    assert "Verdicts are corrected for all 3 pairs." in page_text(app)
    falcon = rows[1]
    assert falcon["Difference"]["text"] == "−24.0"
    assert falcon["Parse errors"]["sub"].startswith("2 / 200 · ")
    assert falcon["Verdict"]["title"].startswith("falcon is better (parse errors): 1.0% vs 25.0%")
    assert falcon["Verdict"]["sub"] == "p < 0.001, Holm"
    assert falcon["Parse errors"]["href"] == "calls?model=falcon&fault=arguments"


def test_another_reference_is_chosen_in_the_url(ranked: Path) -> None:
    rows = sheet_of(opened(PAGE, base_model="falcon"), RANKING)
    verdicts = {row["Model"]["text"]: row["Verdict"]["text"] for row in rows}
    assert (verdicts["falcon"], verdicts["heron"], verdicts[HOSTILE]) == (
        "Compared with",
        "Worse",
        "No clear difference",
    )


def test_the_card_begins_with_the_tie_group_at_the_top(ranked: Path) -> None:
    (answer,) = (block.value for block in opened(PAGE).header if "parse errors" in str(block.value))
    assert answer.startswith(r"The best by parse errors is \<img src\=x")
    assert r" or falcon\; heron is worse than " in answer


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("asked", [{"base_model": "falcon"}, {"smallest": "5"}, {"tab": "cost"}])
def test_the_sentence_is_the_same_for_every_baseline_and_tab(ranked: Path, asked: dict[str, str]) -> None:
    assert opened(PAGE, **asked).header[0].value == opened(PAGE).header[0].value


def test_the_leading_rates_stand_beside_the_verdict(ranked: Path) -> None:
    (row, *_) = sheet_of(opened(PAGE), RANKING)
    assert list(row) == [
        *("Model", "Rank", "Parse errors", "Difference", "Verdict", "Retry rate", "Turn success", "Sessions"),
    ]


@pytest.mark.thorough
def test_a_difference_that_matters_only_from_ten_points_on_is_alike(store: Path) -> None:
    publish(store, {"tool_calls": [*calls(180, 20, model="falcon"), *calls(179, 24, model="heron")]})
    verdicts = {}
    for smallest in ("", "10", "nonsense"):
        app = opened(PAGE, **({"smallest": smallest} if smallest else {}))
        rows = {row["Model"]["text"]: row["Verdict"] for row in sheet_of(app, RANKING)}
        verdicts[smallest] = rows["falcon"]["text"], rows["falcon"]["sub"]
    assert verdicts["10"] == ("Equivalent", "within 10 points")
    assert verdicts[""] == verdicts["nonsense"]
    assert verdicts[""][0] == "No clear difference"


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("by", ["provider", "harness_version", "strategy", "source"])
def test_other_things_than_models_can_be_ranked(ranked: Path, by: str) -> None:
    app = ranked_by(by)
    assert not app.error
    assert f"Parse errors by {DIMENSIONS[by].lower()}" in sheets(app)


def test_a_rate_that_nothing_is_known_of_says_so(ranked: Path) -> None:
    assert "No retry sequences for this rate here" in page_text(opened(PAGE, rate="recovered"))


def test_cost_is_shown_per_turn_and_per_success(store: Path) -> None:
    session_of_falcon = {
        "model": "falcon",
        "steps": 4,
        "input_tokens": 900,
        "output_tokens": 100,
        "latency_ms": 2000.0,
    }
    turns = [a_turn(number, **session_of_falcon, recorded_ok=number < 5) for number in range(10)]
    publish(
        store, {"tool_calls": calls(40, 0, model="falcon"), "turns": [*turns, a_turn(99, model="falcon")]}
    )
    app = opened(PAGE, all_rates="1")
    row = column_of(app, "falcon", "cost") | column_of(app, "falcon", "latency")
    assert row["Tokens / turn"]["text"] == "1,000"
    assert row["Tokens / turn"]["sub"] == "of 91%"
    assert row["Seconds / turn"]["text"] == "2"
    assert row["Tokens / success"]["text"] == "1,830"
    assert row["Tokens / success"]["title"].endswith("; 6 / 11 turns succeeded, reported by the log")


def column_of(app: AppTest, name: str, group: str) -> dict[str, dict[str, Any]]:
    """Return a model's cells in a group of rates, by the title of the rate."""
    rows = sheet_of(app, f"{group.capitalize()}: every rate by model")
    return {row[group.capitalize()]["text"]: row[name] for row in rows}


def test_all_rates_are_one_line_each_and_asked_for_only_when_opened(ranked: Path) -> None:
    app = opened(PAGE)
    assert not [name for name in sheets(app) if "every rate" in name]
    app = opened(PAGE, all_rates="1")
    falcon = column_of(app, "falcon", "arguments")
    assert list(falcon)[:3] == ["Parse errors", "Syntax errors", "Schema errors"]
    assert (falcon["Syntax errors"]["text"], falcon["Syntax errors"]["sub"]) == ("1.0%", "2 / 200")
    assert falcon["Syntax errors"]["href"] == "calls?model=falcon&fault=syntax"
    assert {"Denied", "Missing calls", "Rejected by the tool"} <= set(column_of(app, "falcon", "tool"))


def test_latency_has_percentiles_and_says_on_what_it_was_measured(store: Path) -> None:
    timed = [dict(call, latency_ms=750.0 if n < 90 else 2000.0) for n, call in enumerate(calls(100, 0))]
    untimed = calls(100, 0)
    publish(store, {"tool_calls": [*timed, *(dict(call, call_id=f"u{n}") for n, call in enumerate(untimed))]})
    latencies = column_of(opened(PAGE, all_rates="1"), "falcon-3", "latency")
    assert latencies["Tool call, p50"]["text"] in ("738 ms", "753 ms")
    assert latencies["Tool call, p95"]["text"].startswith(("1.9", "2.0"))
    assert latencies["Tool call, p95"]["sub"] == "measured on 50.0% of tool calls"
    assert latencies["Model step, p50"]["title"] == "not measured"


@pytest.mark.thorough
def test_of_forty_models_three_have_enough_and_the_others_are_one_folded_line(few_of_many: Path) -> None:
    app = opened(PAGE)
    rows = sheet_of(app, RANKING)
    assert [row["Model"]["text"] for row in rows] == FEW
    assert [row["Rank"]["text"] for row in rows] == ["1", "2", "3"]
    assert "egret is the best by parse errors" in str(app.header[0].value)
    fold = "37 models with too few sessions"
    assert fold in [expander.label for expander in app.expander]
    rows = sheet_of(open_fold(app, "ranking"), f"{fold}: counts")
    lucky = next(row for row in rows if row["Model"]["text"] == "lucky")
    assert (lucky["Sessions"]["text"], lucky["Parse errors"]["text"]) == ("2", "0 / 493")
    cells = [cell for row in rows for cell in row.values()]
    assert all(cell["low"] is None and "%" not in cell["text"] for cell in cells), (
        "nothing in it is a finding"
    )


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("tab", ["days", "cost", "strategies", "versions"])
def test_a_model_of_two_sessions_has_no_rank_and_no_interval_anywhere(few_of_many: Path, tab: str) -> None:
    app = opened(PAGE, tab=tab)
    assert not app.exception
    drawn = [row for table_ in sheets(app).values() for row in table_["rows"]]
    assert not [row for row in drawn for cell in row if cell["text"] == "lucky"]


@pytest.mark.thorough
def test_what_the_logs_do_not_name_has_no_rank_and_comes_last(store: Path) -> None:
    made = [*calls(200, 0, model=None), *calls(190, 10, model="falcon"), *calls(100, 100, model="heron")]
    publish(store, {"tool_calls": made})
    rows = sheet_of(opened(PAGE), RANKING)
    assert [row["Model"]["text"] for row in rows] == ["falcon", "heron", "unknown"]
    assert [row["Rank"]["text"] for row in rows] == ["1", "2", "–"]
    assert rows[-1]["Verdict"]["text"] == "Not named"


@pytest.mark.thorough
def test_one_model_alone_has_neither_rank_nor_verdict(store: Path) -> None:
    publish(store, {"tool_calls": [*calls(200, 4, model="falcon"), *calls(5, 0, model="heron")]})
    app = opened(PAGE)
    (row,) = sheet_of(app, RANKING)
    assert list(row) == ["Model", "Parse errors", "Retry rate", "Turn success", "Sessions"]
    assert "1 of 2 models has" in str(app.header[0].value)


def test_a_baseline_with_too_few_sessions_says_so(few_of_many: Path) -> None:
    app = opened(PAGE, base_model="lucky")
    assert "What is compared with has too few sessions" in page_text(app)
    assert {row["Verdict"]["text"] for row in sheet_of(app, RANKING)} == {"Not enough data"}


def test_the_open_tab_is_kept_in_the_url_and_a_wrong_one_counts_as_the_first(ranked: Path) -> None:
    app = opened(PAGE, tab="strategies")
    assert AUDIT in [block.value for block in app.header]
    assert app.query_params["tab"] == "strategies"
    app = opened(PAGE, tab="<b>")
    assert "Parse errors by day and model" in [block.value for block in app.header]
    assert "tab" not in app.query_params


def test_the_same_model_on_two_hosts_is_compared(store: Path) -> None:
    slow, fast = {"model": "falcon", "provider": "slow"}, {"model": "falcon", "provider": "fast"}
    alone = {"model": "heron", "provider": "fast"}
    publish(store, {"tool_calls": [*calls(100, 50, **slow), *calls(300, 3, **fast), *calls(50, 0, **alone)]})
    rows = sheet_of(opened(PAGE, view="host"), "Parse errors by model and host")
    assert [(row["Host"]["text"], row["Verdict"]["text"]) for row in rows] == [
        ("fast", "Compared with"),
        ("slow", "Worse"),
    ]


@pytest.mark.thorough
def test_hosts_are_also_compared_at_the_same_mix_of_tools(store: Path) -> None:
    """For each tool, both hosts have the same rate. But one host has more calls of the harder tool."""
    hard, easy = {"model": "falcon", "tool": "hard"}, {"model": "falcon", "tool": "easy"}
    publish(
        store,
        {
            "tool_calls": [
                *calls(240, 60, provider="most", **hard),
                *calls(100, 0, provider="most", **easy),
                *calls(35, 15, provider="few", **hard),
                *calls(240, 10, provider="few", **easy),
            ]
        },
    )
    app = opened(PAGE, view="host")
    _, row = sheet_of(app, "Parse errors by model and host")
    assert row["Difference"]["sub"].endswith("\nmix-adjusted")
    assert row["Difference"]["title"].startswith(
        "Mix-adjusted by tools, strategies and prompts: as if both had done the same work."
    )
    assert "Unadjusted: " in row["Difference"]["title"]
    assert row["Verdict"]["text"] in ("Better", "Worse")
    assert row["Verdict"]["sub"].endswith(", mix-adjusted")
    assert row["Verdict"]["title"].endswith("Mix-adjusted, the order reverses.")


@pytest.mark.thorough
def test_hosts_that_share_no_work_are_not_adjusted(store: Path) -> None:
    first, other = {"provider": "one", "tool": "search"}, {"provider": "other", "tool": "write"}
    publish(store, {"tool_calls": [*calls(100, 5, **first), *calls(50, 5, **other)]})
    _, rows = sheet_of(opened(PAGE, view="host"), "Parse errors by model and host")
    assert rows["Difference"]["sub"].endswith("\nplain")
    assert rows["Difference"]["title"].endswith("There is no mix-adjusted difference.")
    assert (rows["Verdict"]["text"], rows["Verdict"]["tone"]) == ("Different work", "calm")


def test_models_that_got_different_work_are_ranked_at_the_same_mix(store: Path) -> None:
    """The counts are three times those of Charig et al. (1986). Model A is better for both kinds of work."""
    counts = {("A", "small"): (81, 6), ("A", "large"): (192, 71), ("B", "small"): (234, 36)}
    counts |= {("B", "large"): (55, 25)}
    made = [
        call
        for (model, tool), (good, bad) in counts.items()
        for call in calls(3 * good, 3 * bad, model=model, tool=tool)
    ]
    publish(store, {"tool_calls": made})
    app = opened(PAGE, base_model="B")
    first, second = sheet_of(app, RANKING)
    assert [row["Model"]["text"] for row in (first, second)] == ["A", "B"]
    assert [row["Rank"]["text"] for row in (first, second)] == ["1", "2"]
    assert first["Difference"]["at"] < 0.5
    assert first["Difference"]["sub"].endswith("\nmix-adjusted")
    assert (first["Verdict"]["text"], first["Verdict"]["sub"][-14:]) == ("Better", ", mix-adjusted")
    assert first["Verdict"]["title"].endswith("Mix-adjusted, the order reverses.")
    assert "A is the best by parse errors" in str(app.header[0].value)
    assert "; but mix-adjusted, " in page_text(app).replace("\\", "")


@pytest.mark.thorough
def test_a_probe_that_said_yes_is_held_against_the_calls(store: Path) -> None:
    probe = {"source": "session_history", "day": "2026-11-20", "ts": "2026-11-20T09:00:00"}
    publish(
        store,
        {
            "tool_calls": [
                *calls(60, 40, model="falcon"),
                *calls(99, 1, model="heron", strategy="json_fallback"),
                *calls(30, 0, model="pico", strategy="json_fallback"),
            ],
            "probes": [probe | {"model": "falcon", "ok": True}, probe | {"model": "heron", "ok": True}],
        },
    )
    app = opened(PAGE, tab="strategies")
    verdicts = {row["Model"]["text"]: row["Verdict"] for row in sheet_of(app, AUDIT)}
    assert verdicts["falcon"]["text"] == "The probe passed, but parse errors are surely 5% or more."
    assert verdicts["falcon"]["tone"] == "bad"
    assert verdicts["heron"]["text"] == "The last probe passed: it may no longer need text calls."
    assert verdicts["pico"]["text"] == "No evidence: no probe, and no native call of it."
    strict = sheet_of(opened(PAGE, tab="strategies", least="20"), AUDIT)
    assert "surely 20% or more" in strict[0]["Verdict"]["text"]


@pytest.mark.thorough
def test_the_first_bad_day_is_marked_with_what_was_new(store: Path) -> None:
    days = [f"2026-11-{day:02d}" for day in range(1, 21)]
    rows = [
        call
        for place, day in enumerate(days)
        for call in calls(25 if place < 10 else 15, 5 if place < 10 else 15, model="falcon", day=day)
    ]
    for row in rows:
        row["prompt_id"] = "p1" if row["day"] < "2026-11-11" else "p2"
    publish(store, {"tool_calls": rows})
    app = opened(PAGE)
    rows = sheet_of(app, "What changed, and when")
    row = next(row for row in rows if "→" in row["What changed"]["text"])
    assert row["From"]["text"] == "2026-11-11"
    assert row["What changed"]["text"] == "falcon: parse errors 16.7% → 50.0%"
    assert row["New that day"]["text"] == "prompt p2"
    assert row["From"]["href"] == "calls?model=falcon&days=2026-11-11&fault=arguments"
    assert "1 change found in 1 series" in page_text(app)


def test_what_logs_say_stays_text(ranked: Path) -> None:
    app = opened(PAGE, base_model=HOSTILE)
    assert not app.error
    captions = "\n".join(block.value for block in app.caption)
    assert r"\<img src\=x" in captions
    assert "<img src=x" not in captions


@pytest.mark.thorough
def test_versions_of_a_harness_are_shown_in_the_order_of_their_use(store: Path) -> None:
    sessions, made = [], []
    for place in range(16):
        these = calls(
            *((40, 0) if place < 8 else (20, 20)), model=f"m{place}", day=f"2026-11-{1 + place:02d}"
        )
        made += these
        sessions += [
            {
                "session_id": call["session_id"],
                "source": call["source"],
                "harness_version": f"1.{place}",
                "duplicate": False,
            }
            for call in these
        ]
    publish(store, {"tool_calls": made, "sessions": sessions})
    app = opened(PAGE, tab="versions")
    rows = sheet_of(app, "Parse errors by version of session_history")
    assert [row["Version"]["text"] for row in rows] == [f"1.{place}" for place in reversed(range(16))]
    assert [row["Version"]["text"] for row in rows if row["Change"]["text"]] == ["1.8"]
    assert rows[7]["Change"]["text"] == "Worse from here on"
    assert r"From 1\.8 on" in page_text(app)


def test_tool_call_errors_are_next_to_the_public_rates(store: Path, tmp_path: Path) -> None:
    sessions = [write_session(f"s{n}", [[VALID], [COERCED]]) for n in range(20)]
    load([write_log(tmp_path / "logs", *sessions)], store)
    day = date(2025, 6, 1)
    rates = [PublicRate("owl", "EAST", day, 0.005, HOSTILE), PublicRate(HOSTILE, "x", day, 0.1, "list")]
    save_public_rates(MemoryFile(store), rates)
    assert "Tool-call errors by model and host, next to public rates" not in sheets(opened(PAGE))
    app = opened(PAGE, public_rates="1")
    (row,) = sheet_of(app, "Tool-call errors by model and host, next to public rates")
    assert row["Tool-call errors"]["sub"].startswith("20 / 40 · ")
    assert (row["Schema accuracy"]["text"], row["Public rate"]["text"]) == ("50%", "0.50%")
    assert row["Public rate"]["sub"].endswith(" · 526 days apart · listed as owl on EAST")
    assert row["Verdict"]["text"] == "Higher than the public rate"
    assert row["Parse errors"]["sub"] == "0 / 40"
    (left,) = sheet_of(app, "Public rates that match no calls")
    assert (left["Public model"]["text"], left["Reason"]["text"]) == (HOSTILE, "no calls of this model")
    assert "owl on east has more tool\\-call errors than the public rate" in page_text(app)
    (store / FILE).write_bytes(b"no database" * 1000)
    broken = opened(PAGE, public_rates="1")
    assert any("cannot be read or written" in block.value for block in broken.error)


@pytest.fixture
def archive(monkeypatch: pytest.MonkeyPatch) -> Callable[[], dict[str, bytes]]:
    """Return a function that makes the leaderboard that the opened page offers, as files by path."""
    offered: dict[str, Callable[[], bytes]] = {}

    def note(_label: str, data: Callable[[], bytes], _name: str, *_: Any, **more: Any) -> None:
        offered[more["key"]] = data

    def read() -> dict[str, bytes]:
        with zipfile.ZipFile(io.BytesIO(offered["take_leaderboard"]())) as opened_archive:
            return {name: opened_archive.read(name) for name in opened_archive.namelist()}

    monkeypatch.setattr(st, "download_button", note)
    return read


@pytest.mark.parametrize(
    ("options", "checked"), [((), ()), (("--hide-tools", "--prompts"), ("hide_tools", "add_prompts"))]
)
def test_the_download_has_the_files_of_the_command_publish(
    ranked: Path,
    archive: Callable[[], dict[str, bytes]],
    options: Sequence[str],
    checked: Sequence[str],
) -> None:
    app = opened(PAGE, days="All days")
    for key in checked:
        app.checkbox(key=key).check()
    app.run()
    board = ranked.parent / "board"
    command = ["publish", "--store", str(ranked), "--out", str(board), "--days", "all", *options]
    assert CliRunner().invoke(cli, command).exit_code == 0
    assert archive() == {
        f"leaderboard/{path.relative_to(board).as_posix()}": path.read_bytes()
        for path in board.rglob("*")
        if path.is_file()
    }


@pytest.mark.usefixtures("ranked")
def test_the_download_names_the_chosen_filters(archive: Callable[[], dict[str, bytes]]) -> None:
    opened(PAGE, days="All days", model="heron")
    data = json.loads(archive()["leaderboard/leaderboard.json"])
    assert data["filters"] == {"Model": "heron"}
    assert [row["model"] for row in data["models"]] == ["heron"]
