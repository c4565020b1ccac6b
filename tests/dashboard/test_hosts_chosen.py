"""Tests the choice of a model's host on pages."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from callgauge.analysis.measures.alert_rules import judge_rules
from callgauge.analysis.metrics.published_store import read_store
from callgauge.dashboard.page_files import page_file
from callgauge.memory.alert_rules import save_rule
from callgauge.memory.memory_file import MemoryFile
from callgauge.memory.team_memory import TeamMemory
from tests.analysis.store_fixture import a_turn, publish
from tests.dashboard.conftest import COUNTING, opened, page_text
from tests.dashboard.sheets import calls, sheet_of, sheets

CALLS, SESSIONS, MODELS, COMPARE, TOOLS = (
    page_file(name) for name in ("calls", "sessions", "models", "compare", "tools")
)
OVERVIEW = page_file("overview")
SCRIPT = "<img src=x onerror=alert(1)>"
COMMA = "a,b"
DAYS = "All days"
BY_HOST = "Parse errors by model and host"


def hosted(good: int, bad: int, host: str | None, **fields: Any) -> list[dict[str, Any]]:
    return calls(good, bad, provider=host, **fields)


@pytest.fixture
def two_hosts(store: Path) -> Path:
    """Return a store of two models on two hosts. One model is worse on one of the hosts. Some calls have no
    host.
    """
    made = [
        *hosted(98, 2, "east-1"),
        *hosted(60, 40, "west-2"),
        *hosted(90, 10, "east-1", model="heron"),
        *hosted(88, 12, "west-2", model="heron"),
        *hosted(7, 1, None),
    ]
    turns = [
        a_turn(1, session_id=call["session_id"], turn_id=call["turn_id"], provider=call["provider"])
        for call in (made[0], made[100])
    ]
    sessions = [
        {
            "session_id": call["session_id"],
            "file_id": 1,
            "source": "session_history",
            "day": "2026-11-20",
            "started_at": "2026-11-20T10:00:00",
            "duplicate": False,
        }
        for call in (made[0], made[100])
    ]
    publish(store, {"tool_calls": made, "turns": turns, "sessions": sessions})
    return store


@pytest.fixture
def odd_hosts(store: Path) -> Path:
    """Return a store with two hosts. The name of one host looks like a script. The name of the other has two
    words and a comma.
    """
    publish(store, {"tool_calls": [*hosted(98, 2, SCRIPT), *hosted(60, 40, COMMA)]})
    return store


def offers_hosts(app: AppTest) -> bool:
    return "provider" in [widget.key for widget in app.multiselect]


def links_of(app: AppTest, caption: str, column: str) -> list[str]:
    return [row[column]["href"] for row in sheet_of(app, caption) if row[column]["href"]]


@pytest.mark.usefixtures("two_hosts")
def test_the_bar_offers_the_hosts_and_the_page_counts_the_chosen_one() -> None:
    app = opened(CALLS, days=DAYS)
    assert app.multiselect(key="provider").options == ["east-1", "west-2", "unknown"]
    assert "408 calls" in page_text(app)
    app = opened(CALLS, days=DAYS, provider="west-2")
    assert app.multiselect(key="provider").value == ["west-2"]
    assert "200 calls" in page_text(app)
    assert {row["Host"]["text"] for row in sheet_of(app, "Calls")} == {"west-2"}


@pytest.mark.usefixtures("two_hosts")
def test_calls_without_a_host_are_chosen_as_unknown() -> None:
    app = opened(CALLS, days=DAYS, provider="unknown")
    assert "8 calls" in page_text(app)
    assert {row["Host"]["text"] for row in sheet_of(app, "Calls")} == {"unknown"}


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("hosts", [(None,), ("east-1",), ("east-1", None)])
def test_a_store_with_a_single_host_offers_none(store: Path, hosts: tuple[str | None, ...]) -> None:
    publish(store, {"tool_calls": [call for host in hosts for call in hosted(20, 2, host)]})
    app = opened(CALLS, days=DAYS)
    assert not offers_hosts(app)
    assert "Host" not in sheet_of(app, "Calls")[0]
    assert not offers_hosts(opened(COMPARE, days=DAYS))
    assert "The two hosts used most" not in str(opened(COMPARE, days=DAYS).main)


def test_a_single_host_that_a_link_chooses_is_shown(store: Path) -> None:
    publish(store, {"tool_calls": [*hosted(20, 2, "east-1"), *hosted(5, 0, None)]})
    app = opened(CALLS, days=DAYS, provider="east-1")
    assert app.multiselect(key="provider").value == ["east-1"]
    assert "22 calls" in page_text(app)


@pytest.mark.usefixtures("two_hosts")
def test_a_host_that_no_log_names_narrows_nothing() -> None:
    app = opened(CALLS, days=DAYS, provider="nowhere")
    assert app.multiselect(key="provider").value == []
    assert "408 calls" in page_text(app)


@pytest.mark.thorough(quick=2)
@pytest.mark.usefixtures("odd_hosts")
@pytest.mark.parametrize("page", COUNTING)
def test_every_page_opens_with_a_hostile_host_and_shows_it_as_text(page: str) -> None:
    app = opened(page, days=DAYS, provider=SCRIPT)
    assert not re.search(r"(?<!\\)<img", page_text(app))


@pytest.mark.thorough(quick=1)
@pytest.mark.usefixtures("odd_hosts")
@pytest.mark.parametrize(("host", "count"), [(SCRIPT, "100 calls"), (COMMA, "100 calls")])
def test_an_odd_name_is_chosen_by_a_link_of_the_page_itself(host: str, count: str) -> None:
    app = opened(MODELS, days=DAYS, by="provider")
    links = links_of(app, "Parse errors by host", "Host")
    (link,) = (link for link in links if parse_qs(urlsplit(link).query)["provider"] == [host])
    page, query = link.split("?")
    assert page == "calls"
    assert count in page_text(opened(CALLS, **dict(parse_qsl(query))))


@pytest.mark.thorough
@pytest.mark.usefixtures("two_hosts")
def test_links_saved_views_and_chips_keep_the_host() -> None:
    app = opened(MODELS, days=DAYS, provider="west-2")
    for link in links_of(app, "Parse errors by model", "Model"):
        assert parse_qs(urlsplit(link).query)["provider"] == ["west-2"]
    navigation = str([block.proto.json for block in app.get("bidi_component")])
    assert "compare?provider=west-2" in navigation
    app.button(key="save").click().run()
    assert str(app.text_input(key="view_name").value).startswith("Models · west-2")
    app = opened(MODELS, days=DAYS, provider="west-2")
    app.button(key="reset").click().run()
    assert app.multiselect(key="provider").value == []


@pytest.mark.thorough
def test_a_rule_keeps_the_host_and_is_judged_on_it_alone(two_hosts: Path) -> None:
    app = opened(OVERVIEW, days=DAYS, provider="west-2")
    app.text_input(key="rule_name").set_value("west breaks")
    app.number_input(key="rule_bound").set_value(10.0)
    next(button for button in app.button if button.label == "Save rule").click().run()
    (rule,) = TeamMemory(two_hosts).read().alert_rules
    assert rule.slice == {"provider": ("west-2",)}
    save_rule(MemoryFile(two_hosts), "east breaks", "parse_error", "above", 0.1, {"provider": ("east-1",)})
    with read_store(two_hosts, texts=True) as reader:
        alerts = judge_rules(reader.ask, TeamMemory(two_hosts).read().alert_rules)
    assert {finding.rule.name: (finding.fires, finding.share and finding.share.n) for finding in alerts} == {
        "west breaks": (True, 200),
        "east breaks": (False, 200),
    }


@pytest.mark.usefixtures("two_hosts")
def test_sessions_name_their_hosts() -> None:
    rows = sheet_of(opened(SESSIONS, days=DAYS), "Sessions")
    assert sorted(row["Models"]["sub"].split("\n")[0] for row in rows) == ["on east-1", "on west-2"]
    (row,) = sheet_of(opened(SESSIONS, days=DAYS, provider="west-2"), "Sessions")
    assert row["Models"]["sub"].startswith("on west-2")


@pytest.mark.usefixtures("two_hosts")
def test_a_model_is_split_into_its_hosts_and_the_sentence_names_the_worse_one() -> None:
    app = opened(MODELS, days=DAYS, view="host")
    words = page_text(app).replace("\\", "")
    assert "falcon-3 is worse on west-2 than on east-1: parse errors 40.0% against 2.0%, +38" in words
    rows = sheet_of(app, BY_HOST)
    assert [(row["Model"]["text"], row["Host"]["text"], row["Verdict"]["text"]) for row in rows] == [
        ("falcon-3", "east-1", "Compared with"),
        ("falcon-3", "west-2", "Worse"),
        ("heron", "east-1", "Compared with"),
        ("heron", "west-2", "No clear difference"),
    ]
    query = dict(parse_qsl(rows[1]["Parse errors"]["href"].split("?")[1]))
    assert "40 of 100 calls match the filters." in page_text(opened(CALLS, **query))
    query = dict(parse_qsl(rows[1]["Difference"]["href"].split("?")[1]))
    assert "west-2 is worse than east-1" in page_text(opened(COMPARE, **query)).replace("\\", "")


@pytest.mark.usefixtures("two_hosts")
def test_with_one_host_chosen_the_tab_says_what_to_do() -> None:
    app = opened(MODELS, days=DAYS, view="host", provider="west-2")
    assert "The filter chooses one host: clear it" in page_text(app).replace("\\", "")
    assert BY_HOST not in sheets(app)


@pytest.mark.usefixtures("two_hosts")
def test_compare_has_the_hosts_among_its_choices_and_breaks_down_by_them() -> None:
    app = opened(COMPARE, days=DAYS, a_model="heron", b_model="falcon-3", broken_by="provider")
    assert app.multiselect(key="a_provider").options[:2] == ["east-1", "west-2"]
    caption = "Parse errors by host, falcon-3 and heron"
    assert [row["Host"]["text"] for row in sheet_of(app, caption)][:3] == ["All hosts", "east-1", "west-2"]
    assert "falcon-3 is worse than heron" in page_text(app).replace("\\", "")
    assert "Most of all for west-2: 40.0% against 12.0%" in page_text(app).replace("\\", "")


@pytest.mark.usefixtures("two_hosts")
def test_the_preset_of_two_hosts_keeps_the_model_of_slice_b() -> None:
    app = opened(COMPARE, days=DAYS, a_model="heron", b_model="falcon-3")
    (href,) = (
        json.loads(block.proto.json)["href"]
        for block in app.get("bidi_component")
        if block.proto.json and "The two hosts used most" in block.proto.json
    )
    query = parse_qs(urlsplit(href).query)
    assert (query["a_model"], query["b_model"]) == (["falcon-3"], ["falcon-3"])
    assert (query["a_provider"], query["b_provider"]) == (["east-1"], ["west-2"])


@pytest.mark.thorough
def test_sixty_hosts_are_all_compared(store: Path) -> None:
    made = [call for n in range(60) for call in hosted(28, 20 if n == 7 else 2, f"host-{n:02}")]
    publish(store, {"tool_calls": made})
    app = opened(MODELS, days=DAYS, view="host")
    words = page_text(app).replace("\\", "")
    assert "falcon-3 is worse on host-07 than on 59 other hosts: parse errors 41.7% against" in words
    rows = sheet_of(app, BY_HOST)
    assert [row["Host"]["text"] for row in rows[:1]] == ["host-07"]
    assert {row["Verdict"]["text"] for row in rows[1:]} == {"No clear difference"}
    query = dict(parse_qsl(rows[0]["Difference"]["href"].split("?")[1]))
    text = page_text(opened(COMPARE, **query)).replace("\\", "")
    assert "host-07 is worse than host-00 and 58 more" in text
