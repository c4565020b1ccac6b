"""Tests the files of a published leaderboard: their numbers, their escaping, and what they omit."""

from __future__ import annotations

import io
import json
import re
import zipfile
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from callgauge.analysis.comparisons.leaderboard import Leaderboard, PublishedNames, read_leaderboard
from callgauge.analysis.comparisons.rankings import judge_ranking
from callgauge.analysis.measures.alerts import Alert, AlertPlace
from callgauge.analysis.measures.rates import RATES
from callgauge.analysis.metrics.published_store import read_store
from callgauge.documents.badge import draw_badge, measure_text
from callgauge.documents.leaderboard_files import BADGES, DATA, MARKDOWN, PAGE, write_archive, write_files
from callgauge.memory.records import ModelPrice
from callgauge.stats import Share
from tests.analysis.store_fixture import a_turn, publish
from tests.dashboard.sheets import calls

EVIL = '<script>alert(1)</script>|`c`[x](http://evil.test) & "q" @team \u202egnp\x1b[31m\n# h'
PLANTED = "PLANTED"


def plant(place: str) -> str:
    return f"{PLANTED}-{place}"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store with three models, three tools, hostile names, and a planted text in every column that
    people must not see.
    """
    folder = tmp_path_factory.mktemp("board") / "store"
    planted = {
        "raw_arguments": f'{{"q": "{plant("arguments")}"}}',
        "arguments": f'{{"q": "{plant("arguments")}"}}',
        "result_text": plant("result"),
        "provider": "host-1",
    }
    made = [
        *calls(98, 2, model="falcon", tool="read_file", prompt_id="fixer@1", **planted),
        *calls(60, 40, model="heron", tool="read_file", prompt_id="0123456789abcdef", **planted),
        *calls(45, 5, model="falcon", tool="edit_file", prompt_id="fixer@1", **planted),
        *calls(40, 0, model=EVIL, tool=EVIL, prompt_id=EVIL, **planted),
        *calls(3, 0, model="new", tool="read_file", prompt_id="fixer@1", **planted),
    ]
    for number, call in enumerate(made):
        call |= {"session_id": f"{plant('session')}-{number}", "turn_id": f"{plant('session')}-{number}:1"}
        made[number] = call
    turns = [
        a_turn(
            1,
            **{name: call[name] for name in ("session_id", "turn_id", "model", "prompt_id")},
            steps=1,
            counted_steps=1,
            counted_input=1000,
            counted_cached=0,
            counted_cache_write=0,
            counted_output=100,
            user_text=plant("user text"),
            answer_text=plant("answer"),
        )
        for call in made
    ]
    publish(
        folder,
        {
            "tool_calls": made,
            "turns": turns,
            "sessions": [
                {
                    "session_id": call["session_id"],
                    "file_id": 1,
                    "user_name": plant("person"),
                    "project": plant("project"),
                    "branch": plant("branch"),
                    "task": plant("task"),
                }
                for call in made
            ],
            "prompts": [
                {"prompt_id": "fixer@1", "name": "fixer", "version": "1", "text": plant("prompt text")},
                {"prompt_id": "0123456789abcdef", "text": plant("nameless prompt text")},
                {"prompt_id": EVIL, "name": EVIL, "text": plant("evil prompt text")},
            ],
            "files": [
                {"file_id": 1, "run_id": 1, "path": f"/home/{plant('path')}.jsonl", "status": "loaded"}
            ],
            "ingest_runs": [{"run_id": 1, "finished_at": "2026-11-21T03:00:00"}],
        },
    )
    return folder


def read(
    store: Path, names: PublishedNames | None = None, prices: tuple[ModelPrice, ...] = (), **chosen: Any
) -> Leaderboard:
    with read_store(store, texts=True) as reader:
        return read_leaderboard(reader.ask, prices, chosen, 8, names)


def read_svg(text: str) -> ET.Element:
    return ET.fromstring(text)  # noqa: S314 - our own output


def written(store: Path, names: PublishedNames | None = None, **chosen: Any) -> dict[str, str]:
    files = write_files(read(store, names, **chosen), "1.2.3")
    return {path: content.decode() for path, content in files.items()}


def test_the_files_have_the_numbers_of_each_model_and_tool(store: Path) -> None:
    files = written(store)
    data = json.loads(files[DATA])
    assert (data["made_by"], data["version"], data["as_of"]) == ("callgauge publish", "1.2.3", "2026-11-21")
    models = {row["model"]: row for row in data["models"]}
    errors = models["falcon"]["parse_error"]
    assert (errors["k"], errors["n"], errors["not_measured"], errors["enough"]) == (7, 150, 0, True)
    assert errors["low"] < 7 / 150 < errors["high"]
    assert models["falcon"]["turn_success"]["k"] == 150
    assert models["new"]["parse_error"]["enough"] is False
    assert (data["valid_calls"]["k"], data["valid_calls"]["n"]) == (246, 293)
    tools = {row["tool"]: row for row in data["by_tool"]}
    by_model = {row["model"]: row["valid_calls"] for row in tools["read_file"]["models"]}
    assert (by_model["heron"]["k"], by_model["heron"]["n"]) == (60, 100)
    assert "by_prompt" not in data
    for path in (PAGE, MARKDOWN):
        assert "60 / 100" in files[path]
        assert "7 / 150" in files[path]
        assert "2026-11-20 to 2026-11-20 (1 day)" in files[path]
        assert "1.2.3" in files[path]
        assert "95 % interval over sessions" in files[path]
    assert set(data["files"]) == set(files)


def test_the_page_and_the_markdown_define_their_words(store: Path) -> None:
    files = written(store)
    for path in (PAGE, MARKDOWN, DATA):
        text = " ".join(files[path].replace("\\", "").split())
        for word in (
            "Valid tool calls: 100 % minus the parse errors.",
            "Retry rate: the",
            "Turn success: the",
        ):
            assert word in text, path
        assert "Mix-adjusted: compares two models" in text
    assert "Models by rates and cost" in files[PAGE]
    assert "\n- Retry rate: " in files[MARKDOWN].replace("\\", "")


@pytest.mark.parametrize("is_pair", [True, False])
def test_an_alert_never_names_a_host(store: Path, monkeypatch: pytest.MonkeyPatch, is_pair: bool) -> None:
    days = (date(2026, 11, 14), date(2026, 11, 20))
    alert = Alert(
        key="key", values={"model": "falcon", **({"provider": "east-1"} if is_pair else {})},
        rate=RATES["parse_error"], found=days[1], since=days[0], back=None, over=None, rose=True,
        now=Share(50, 100), interval=None, before=Share(5, 100), difference=None, q=0.001, days=days,
        baseline=days,
        place=AlertPlace("provider", "east-1", is_only=True),
    )  # fmt: skip

    def judge(*args: Any, **options: Any) -> Any:
        ranking = judge_ranking(*args, **options)
        return replace(ranking, context=replace(ranking.context, alerts=[alert], night=days[1]))

    monkeypatch.setattr("callgauge.analysis.comparisons.leaderboard.judge_ranking", judge)
    files = written(store)
    assert not any("east-1" in content for content in files.values())
    assert ("Open alert" in json.loads(files[DATA])["sentence"]) is not is_pair


def test_the_sentence_is_the_ranking_of_the_page_models(store: Path) -> None:
    board = read(store)
    assert board.sentence in json.loads(written(store)[DATA])["sentence"]
    assert "by parse errors" in board.sentence
    assert board.models[0].label == "falcon"


@pytest.mark.parametrize("names", [PublishedNames(), PublishedNames(prompts=True, tools=False)])
def test_no_content_path_session_or_person_is_in_any_byte(store: Path, names: PublishedNames) -> None:
    for path, content in written(store, names).items():
        assert PLANTED not in content, path
        assert "/home/" not in content, path


def test_prompts_are_published_only_on_request_and_without_their_text(store: Path) -> None:
    assert not any("fixer" in content for content in written(store).values())
    files = written(store, PublishedNames(prompts=True))
    prompts = [row["prompt"] for row in json.loads(files[DATA])["by_prompt"]]
    assert prompts[:2] == ["fixer@1", "prompt 0123456"]


def test_hidden_tools_are_numbers_in_every_file(store: Path) -> None:
    files = written(store, PublishedNames(tools=False), tools=("read_file", "edit_file"))
    assert not any("read_file" in content or "edit_file" in content for content in files.values())
    assert "tool 1" in files[PAGE]
    assert json.loads(files[DATA])["filters"] == {"Tool": "2 chosen"}


def test_names_from_logs_are_escaped_in_every_format(store: Path) -> None:
    files = written(store, PublishedNames(prompts=True))
    for path, content in files.items():
        assert "\x1b" not in content, path
        assert "\u202e" not in content, path
        if path != DATA:
            assert "<script" not in content, path
    assert "[x](http" not in files[MARKDOWN]
    assert "@team" not in files[MARKDOWN]
    assert "src=" not in files[PAGE]
    assert "href=" not in files[PAGE]
    json.loads(files[DATA])


def test_the_same_store_gives_the_same_bytes(store: Path) -> None:
    first, second = (write_files(read(store), "1.2.3") for _ in range(2))
    assert first == second
    archive = write_archive(first)
    assert archive == write_archive(second)
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        assert {entry.removeprefix("leaderboard/") for entry in opened.namelist()} == set(first)


def test_each_model_has_a_badge_with_a_safe_name(store: Path) -> None:
    files = written(store)
    badges = {path: content for path, content in files.items() if path.startswith(f"{BADGES}/")}
    assert len(badges) == 5
    assert all(re.fullmatch(r"badges/[A-Za-z0-9][A-Za-z0-9._-]*\.svg", path) for path in badges)
    texts = {path: [each.text for each in read_svg(svg).iter() if each.text] for path, svg in badges.items()}
    assert re.fullmatch(r"95\.3 % \(\d\d\.\d–\d\d\.\d\), n = 150", texts["badges/falcon.svg"][-1])
    assert texts["badges/falcon.svg"][-2] == "falcon · tool calls valid"
    assert texts["badges/new.svg"][-1] == "too little data, n = 3"
    assert texts["badges/all.svg"][-2] == "tool calls valid"


@pytest.mark.parametrize(
    "text", ["tool calls valid", "iiii", "WWWW", "日本語モデル", "e\u0301" * 9, "", EVIL]
)
def test_the_text_of_a_badge_has_the_width_of_its_box(text: str) -> None:
    svg = read_svg(draw_badge(text, "99.4 % (98.9–99.7), n = 2,113", "words"))
    names = "{http://www.w3.org/2000/svg}"
    texts = list(svg.iter(f"{names}text"))
    ends = [int(each.attrib["x"]) + int(each.attrib["textLength"]) for each in texts]
    assert ends[0] < int(texts[1].attrib["x"])
    assert ends[1] < int(svg.attrib["width"])
    assert measure_text("W" * 40) > 2 * measure_text("i" * 40)


@pytest.mark.parametrize(
    "names", [["a/b", "a-b", "A/B"], ["con", "nul.txt", "..", "…"], ["m" * 300, "m" * 299]]
)
def test_badges_of_similar_names_are_different_files(tmp_path: Path, names: list[str]) -> None:
    publish(tmp_path, {"tool_calls": [call for name in names for call in calls(2, 0, model=name)]})
    paths = [path for path in written(tmp_path) if path.startswith(f"{BADGES}/")]
    assert len({path.casefold() for path in paths}) == len(names) + 1
    assert all(path.removeprefix(f"{BADGES}/").split(".")[0] not in ("con", "nul", "") for path in paths)


# --- too little data --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "sentences"),
    [
        ([], ["The store has no tool calls, so there is no ranking."]),
        (calls(4, 1), ["Nothing to rank: only one model was observed (5 calls).", "too little data"]),
        (
            calls(40, 1),
            ["Cost per successful turn: not known.", "no price", "Turn success: not measured."],
        ),
    ],
)
def test_missing_data_is_reported_on_the_page(tmp_path: Path, made: list[Any], sentences: list[str]) -> None:
    publish(tmp_path, {"tool_calls": made})
    files = written(tmp_path)
    assert all(sentence in files[PAGE] for sentence in sentences)
    assert "80%" not in files[PAGE]
    assert bool(json.loads(files[DATA])["models"]) == bool(made)
    assert any(path.startswith(BADGES) for path in files) == bool(made)


def test_days_without_calls_give_a_page_that_says_so(store: Path) -> None:
    files = written(store, from_day=date(2020, 1, 1), to_day=date(2020, 1, 2))
    assert "These days have no tool calls, so there is no ranking." in files[PAGE]


def test_priced_turns_have_a_cost_with_an_interval(store: Path) -> None:
    board = read(store, prices=(ModelPrice("falcon", date(2026, 1, 1), 1.0, 10.0),))
    models = json.loads(write_files(board, "1")[DATA])["models"]
    cost = models[0]["cost_per_successful_turn"]
    assert cost["amount"] == pytest.approx(0.002)
    assert not any("Cost per successful turn" in note for note in board.notes)


def test_a_model_without_definitions_is_marked_in_its_badge(tmp_path: Path) -> None:
    undefined = calls(40, 0, model="heron", schema_seen="none", definition_id=None)
    publish(tmp_path, {"tool_calls": [*calls(40, 0, model="falcon"), *undefined]})
    files = written(tmp_path)
    assert "JSON syntax only: the logs have no tool definitions" in files["badges/heron.svg"]
    assert "JSON syntax only" not in files["badges/falcon.svg"]
    assert "JSON syntax only on 50% of calls" in files["badges/all.svg"]
    assert "JSON syntax only on 50% of calls" in files[PAGE]
