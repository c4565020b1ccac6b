"""Tests decisions and notes on pages."""

from __future__ import annotations

import json
import re
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from callgauge.analysis import wording
from callgauge.dashboard import viewer
from callgauge.dashboard.pages import PAGES
from callgauge.memory import alert_rules, baselines, decisions, notes, signature_states, views
from callgauge.memory.decisions import FrozenComparison, FrozenSide
from callgauge.memory.memory_file import FILE, MemoryFile
from callgauge.memory.records import TeamRecords
from callgauge.memory.team_memory import TeamMemory
from callgauge.serving.identity import User
from tests.analysis.made_nights import publish_nights, regressed
from tests.analysis.store_fixture import HOSTILE
from tests.dashboard.conftest import opened, page_text
from tests.dashboard.sheets import here_links, sheet_of, sheets

PAGE = {entry.name: entry.file for entry in PAGES}
SINCE = date(2026, 11, 12)
ADA = User("ada@team.test", "viewer", may_write=True)
READER = User("rea@team.test", "viewer", may_write=False)
STRANGER = User("", "viewer", may_write=False)


@pytest.fixture
def nights(store: Path) -> MemoryFile:
    """Publish 40 days. From 12 November on, one model fails more often. Return the store's memory, without
    notes.
    """
    publish_nights(store, regressed(SINCE))
    return MemoryFile(store)


def sign_in(monkeypatch: pytest.MonkeyPatch, user: User) -> None:
    monkeypatch.setattr(viewer, "read_headers", lambda _: user)


def remembered(file: MemoryFile) -> TeamRecords:
    return TeamMemory(file.path.parent).read()


def click(app: AppTest, label: str) -> AppTest:
    next(button for button in app.button if button.label == label).click().run()
    assert not app.exception
    return app


def field_key(app: AppTest, beginning: str) -> str:
    return next(
        str(text_input.key) for text_input in app.text_input if str(text_input.key).startswith(beginning)
    )


def plain(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


def palette_views(app: AppTest) -> list[dict[str, Any]]:
    sent = [json.loads(block.proto.json) for block in app.get("bidi_component") if block.proto.json]
    views: list[dict[str, Any]] = next(message_["views"] for message_ in sent if "may_save" in message_)
    return views


def dialog() -> AppTest:
    """Execute only the dialog's function, because AppTest closes a dialog when its form is sent."""

    def show() -> None:
        from callgauge.dashboard.components.memory.saved_views import ask_view_name

        ask_view_name("models", "Models", "model=kestrel-14b&days=7+days")

    return AppTest.from_function(show, default_timeout=60).run()


def test_a_view_is_saved_under_its_name_and_listed_for_the_team(nights: MemoryFile) -> None:
    app = dialog()
    app.text_input(key="view_name").set_value(HOSTILE)
    app.text_input(key="view_by").set_value("Ada")
    click(app, "Save view")
    (view,) = remembered(nights).views
    assert (view.name, view.owner, view.page, view.shared) == (HOSTILE[:200].strip(), "Ada", "models", True)
    (listed,) = palette_views(opened(PAGE["errors"]))
    assert listed["href"] == "models?model=kestrel-14b&days=7+days"
    assert listed["about"] == "Models · Ada"


def test_a_name_that_is_taken_is_said_and_the_first_view_stays(nights: MemoryFile) -> None:
    views.save_view(nights, "Monday", "errors", "")
    app = dialog()
    app.text_input(key="view_name").set_value("Monday ")
    click(app, "Save view")
    assert "You have a view with this name" in page_text(app)
    assert [view.page for view in remembered(nights).views] == ["errors"]


def test_the_name_that_is_offered_has_the_page_and_what_is_chosen(nights: MemoryFile) -> None:
    app = opened(PAGE["models"], model="kestrel-14b", days="7 days", rate="mended")
    app.button(key="save").click().run()
    assert app.text_input(key="view_name").value == "Models · kestrel-14b · 7 days"


def test_others_see_shared_views_only_and_change_none(
    nights: MemoryFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    views.save_view(nights, "mine", "models", "", owner=ADA.name, shared=False)
    views.save_view(nights, "of the team", "errors", "", owner="bob@team.test")
    views.save_view(nights, "bob's own", "errors", "", owner="bob@team.test", shared=False)
    views.save_view(nights, "of a page that is gone", "dreams", "", owner=ADA.name)
    sign_in(monkeypatch, ADA)
    app = opened(PAGE["decisions"], about="views")
    assert [view["title"] for view in palette_views(app)] == ["mine", "of the team"]
    assert [label for label in ("mine", "of the team", "bob's own") if label in here_links(app)] == [
        "mine",
        "of the team",
    ]
    assert sum(button.label == "Delete view" for button in app.button) == 2
    sign_in(monkeypatch, READER)
    app = opened(PAGE["decisions"], about="views")
    assert "You can read the team's decisions and notes, but not change them." in page_text(app)
    assert not [
        button.label for button in app.button if button.label in ("Delete view", "Rename", "Save this view")
    ]


@pytest.mark.thorough
def test_a_view_is_renamed_and_deleted_by_its_owner(nights: MemoryFile) -> None:
    views.save_view(nights, "Monday", "models", "days=7+days", owner="Ada")
    app = opened(PAGE["decisions"], about="views")
    app.text_input(key=field_key(app, "name_")).set_value("Every Monday")
    click(app, "Rename")
    assert [view.name for view in remembered(nights).views] == ["Every Monday"]
    click(app, "Make private")
    assert not remembered(nights).views[0].shared
    click(app, "Delete view")
    assert remembered(nights).views == []
    assert "No saved views yet." in page_text(app)


def test_a_note_on_a_day_is_added_at_a_trend_and_marked_there(nights: MemoryFile) -> None:
    app = opened(PAGE["models"])
    app.text_input(key="note_text_models_trend").set_value(HOSTILE)
    app.date_input(key="note_day_models_trend").set_value(date(2026, 11, 12))
    app.text_input(key="note_by_models_trend").set_value("Ada")
    click(app, "Add note")
    (note,) = remembered(nights).notes
    assert (note.kind, note.subject, note.day, note.by) == ("day", "2026-11-12", SINCE, "Ada")
    (row,) = (row for row in sheet_of(app, "What changed, and when") if "a note" in str(row["What changed"]))
    assert row["From"]["text"] == "2026-11-12"
    assert row["What changed"]["sub"] == "a note by Ada"


def test_notes_on_a_series_and_on_what_is_filtered_stand_on_trends_and_others_do_not(
    nights: MemoryFile,
) -> None:
    day = date(2026, 11, 5)
    notes.add_note(nights, "model", "heron-large", "other hosts", day=day)
    notes.add_note(nights, "model", "somebody", "not here", day=day)
    notes.add_note(nights, "model", "heron-large", "without a day")
    notes.add_note(nights, "tool", "read_file", "renamed", day=day)
    notes.add_note(nights, "day", "2020-01-01", "long ago", day=date(2020, 1, 1))

    def marked(**query: str) -> list[str]:
        table = sheets(opened(PAGE["models"], **query)).get("What changed, and when", {"rows": []})
        cells = [row[2] for row in table["rows"]]
        return [cell["text"] for cell in cells if str(cell["sub"]).startswith("a note")]

    assert marked() == ["other hosts"]
    assert sorted(marked(tool="read_file")) == ["other hosts", "renamed"]


def test_decisions_between_what_a_trend_shows_are_marked_on_it(nights: MemoryFile) -> None:
    def decide(title: str, run: str = "", **parameters: Any) -> None:
        newer, against = (FrozenSide("a", 1.0, 2.0, 2, parameters=side) for side in (parameters, {}))
        figures = FrozenComparison("parse_error", "a is better", newer, against, run=run)
        decisions.record_decision(nights, title, "", "compare", figures, by="Ada")

    decide(HOSTILE, models=["kestrel-14b"])
    decide("of another model", models=["somebody"])
    decide("of a tool", tools=["read_file"])
    decide("of all", from_day="2026-11-01")
    decide("of a run of trials", run="r1", models=["kestrel-14b"])
    decide("of an import", models="kestrel-14b", tools=["none"])
    nights.write(("UPDATE decisions SET at = '2026-11-05T09:00:00+00:00'", [()]))
    decide("after the newest day", models=["kestrel-14b"])

    def marked(**query: str) -> list[str]:
        table = sheets(opened(PAGE["models"], **query)).get("What changed, and when", {"rows": []})
        return sorted(row[2]["text"] for row in table["rows"] if row[2]["sub"] == "a decision by Ada")

    one_line = wording.one_line(HOSTILE, 300)
    assert marked() == sorted([one_line, "of all"])
    assert marked(tool="read_file") == sorted([one_line, "of a tool", "of all"])


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize(
    ("page", "query", "kind", "subject"),
    [
        ("tools", {"tool_open": "read_file"}, "tool", "read_file"),
        ("models", {"model": "falcon-3"}, "model", "falcon-3"),
        ("calls", {"call": "c1"}, "call", "c1"),
        ("sessions", {"session": "s1"}, "session", "s1"),
        ("prompts", {}, "prompt", "support"),
    ],
)
def test_a_note_stands_on_the_page_of_its_thing_and_is_added_changed_and_deleted_there(
    small: Path, page: str, query: dict[str, str], kind: Any, subject: str
) -> None:
    file = MemoryFile(small)
    app = opened(PAGE[page], **query)
    app.text_input(key=field_key(app, f"note_text_{kind}_")).set_value("look <b>here</b>")
    next(
        button
        for button in app.button
        if button.label == "Add note" and f"note_form_{kind}_" in str(button.key)
    ).click().run()
    (note,) = remembered(file).notes
    assert note.kind == kind
    assert "look <b>here</b>" in plain(page_text(app))
    app.text_input(key=f"changed_text_{note.id}").set_value("looked at")
    click(app, "Save note")
    assert [note.text for note in remembered(file).notes] == ["looked at"]
    app.button(key=f"delete_note_{note.id}").click().run()
    assert remembered(file).notes == []


def test_a_rule_that_fires_is_told_on_the_overview_and_muted_from_the_memory(nights: MemoryFile) -> None:
    model_filter = {"model": ("kestrel-14b",)}
    alert_rules.save_rule(nights, HOSTILE, "parse_error", "above", 0.1, model_filter, by="Ada")
    alert_rules.save_rule(nights, "quiet", "parse_error", "above", 0.5, model_filter)
    app = opened()
    labels = [plain(str(link.proto.label)) for link in app.get("page_link")]
    (alert,) = (label for label in labels if "(rule: above 10%)" in label)
    assert "parse errors 30% since 14 Nov" in alert
    assert "Needs attention (2)" in page_text(app)
    memory = opened(PAGE["decisions"], about="rules")
    assert "fires]" in page_text(memory)
    assert "quiet]" in page_text(memory)
    click(memory, "A week")
    muted = next(rule for rule in remembered(nights).alert_rules if rule.name == HOSTILE[:200].strip())
    assert muted.muted_until == datetime.now(UTC).date() + timedelta(6)
    assert "Needs attention (1)" in page_text(opened())


@pytest.mark.thorough
def test_a_rule_watches_what_the_filters_chose(nights: MemoryFile) -> None:
    app = opened(model="heron-large")
    app.selectbox(key="rule_kind").set_value("changed by")
    app.number_input(key="rule_bound").set_value(2.0)
    app.text_input(key="rule_name").set_value("heron")
    click(app, "Save rule")
    (rule,) = remembered(nights).alert_rules
    assert (rule.rate, rule.kind, rule.bound, rule.slice) == (
        "parse_error",
        "changed",
        0.02,
        {"model": ("heron-large",)},
    )
    click(app, "Save rule")
    assert "A rule with this name exists" in page_text(app)


def signature_of(app: AppTest) -> str:
    (row,) = sheet_of(app, "Errors by signature")
    return str(row["Signature"]["href"]).split("signature=")[1].split("&")[0]


@pytest.mark.thorough
def test_an_error_is_known_then_fixed_and_back_when_it_is_seen_after_the_fix(nights: MemoryFile) -> None:
    listed = opened(PAGE["errors"])
    assert "Triage status" not in sheet_of(listed, "Errors by signature")[0]
    signature = signature_of(listed)
    app = opened(PAGE["errors"], signature=signature)
    app.selectbox(key="status_state").set_value("known").run()
    app.text_input(key="status_note").set_value(HOSTILE)
    click(app, "Save status")
    assert remembered(nights).signature_states[signature].state == "known"
    app.selectbox(key="status_state").set_value("fixed").run()
    app.text_input(key="status_version").set_value("release 13")
    app.date_input(key="status_day").set_value(date(2026, 11, 10))
    click(app, "Save status")
    assert "Back since 2026-11-11" in page_text(app)
    listed = opened(PAGE["errors"])
    assert "1 fixed error is back." in plain(page_text(listed))
    (row,) = sheet_of(listed, "New errors")
    assert "New errors and errors that are back" in page_text(listed)
    assert (row["Triage status"]["text"], row["Triage status"]["sub"]) == (
        "back",
        "fixed in release 13, 2026-11-10",
    )
    labels = [plain(str(link.proto.label)) for link in opened().get("page_link")]
    assert any("Fixed and back: “json_parse_error:expected a comma”" in label for label in labels)


@pytest.mark.thorough
def test_errors_are_narrowed_to_a_status(nights: MemoryFile) -> None:
    signature = signature_of(opened(PAGE["errors"]))
    signature_states.set_state(nights, signature, "fixed", fixed_day=date(2026, 12, 24))
    signature_states.set_state(nights, "another", "known")
    shown = {
        status: "Errors by signature" in sheets(opened(PAGE["errors"], status=status))
        for status in ("all", "new", "known", "fixed", "back")
    }
    assert shown == {"all": True, "new": False, "known": False, "fixed": True, "back": False}
    assert "No error has this triage status here." in page_text(opened(PAGE["errors"], status="back"))


@pytest.mark.thorough
def test_a_decision_keeps_the_comparison_with_its_numbers_and_is_held_against_later_days(
    store: Path,
) -> None:
    publish_nights(store, regressed(SINCE), last=date(2026, 11, 8))
    nights = MemoryFile(store)
    app = opened(PAGE["compare"], a_model="falcon-3", b_model="kestrel-14b")
    title = next(text_input for text_input in app.text_input if text_input.label == "Decision")
    assert title.value == "Keep falcon-3"
    title.set_value("Take kestrel-14b: cheaper")
    app.text_area(key="decision_reason_compare").set_value(HOSTILE)
    click(app, "Save decision")
    (decision,) = remembered(nights).decisions
    assert decision.title == "Take kestrel-14b: cheaper"
    figures = decision.figures
    assert figures
    assert (figures.of.name, figures.against.name, figures.measure) == (
        "kestrel-14b",
        "falcon-3",
        "parse_error",
    )
    assert (figures.of.n, figures.against.n) == (28 * 70, 28 * 60)
    assert figures.of.parameters == {
        "models": ["kestrel-14b"],
        "from_day": "2026-10-12",
        "to_day": "2026-11-08",
    }
    assert figures.sentence in plain(page_text(app))
    assert "b_model=kestrel-14b" in decision.link
    assert "No later data yet." in page_text(opened(PAGE["decisions"]))
    publish_nights(store, regressed(SINCE), number=2)
    memory = opened(PAGE["decisions"])
    rows = sheet_of(memory, "Numbers of the decision Take kestrel-14b: cheaper")
    since = "Since, 2026-11-09 to 2026-11-20"
    assert rows[1]["Then"]["sub"].startswith(f"{figures.of.k:,.0f} / 1,960 · ")
    assert rows[1][since]["sub"].split(" / ")[1].startswith("840")
    assert rows[2][since]["sub"].endswith("worse")
    assert here_links(memory)["Open the comparison"] == decision.link
    click(memory, "Delete decision")
    assert remembered(nights).decisions == []


def test_a_decision_of_an_import_with_strange_parameters_is_shown_without_later_numbers(
    nights: MemoryFile,
) -> None:
    side = FrozenSide("a", 1.0, 2.0, 2, parameters={"from_day": "never", "models": "no list"})
    figures = FrozenComparison("parse_error", HOSTILE, side, side)
    decisions.record_decision(nights, HOSTILE, HOSTILE, "compare", figures)
    decisions.record_decision(nights, "unreadable", "", "compare", figures)
    nights.write(("UPDATE decisions SET figures = '[]' WHERE title = 'unreadable'", [()]))
    words = page_text(opened(PAGE["decisions"]))
    assert "No later data yet." in words
    assert "This version cannot read its numbers." in words


@pytest.mark.thorough
def test_a_pinned_baseline_takes_the_place_of_the_filters(nights: MemoryFile) -> None:
    span = (date(2026, 10, 20), date(2026, 10, 31))
    baselines.save_baseline(nights, "falcon", span, {"model": ("falcon-3",)})
    baselines.save_baseline(nights, "all", span)

    def before(name: str) -> str:
        app = opened(baseline=name, model="kestrel-14b", days="7 days")
        return next(str(metric.delta) for metric in app.metric if metric.label == "Parse errors")

    pinned, free = before("falcon"), before("all")
    assert pinned != free
    app = opened(model="falcon-3", days="7 days")
    app.checkbox(key="baseline_pinned").check()
    app.text_input(key="baseline_name").set_value("kept here")
    click(app, "Keep")
    kept = next(baseline for baseline in remembered(nights).baselines if baseline.name == "kept here")
    assert (kept.days, kept.slice) == (
        (date(2026, 11, 14), date(2026, 11, 20)),
        {"model": ("falcon-3",)},
    )
    links = here_links(opened(PAGE["compare"], a_model="heron-large", b_model="kestrel-14b"))
    href = str(links["Compared with falcon"])
    assert {"a_model=falcon-3", "a_days=2026-10-20_2026-10-31", "b_model=kestrel-14b"} <= set(
        href.split("?")[1].split("&")
    )


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("user", [READER, STRANGER], ids=["signed in", "from the network"])
def test_who_may_not_write_sees_no_control_and_a_sentence(
    nights: MemoryFile, monkeypatch: pytest.MonkeyPatch, user: User
) -> None:
    signature = signature_of(opened(PAGE["errors"]))
    notes.add_note(nights, "day", "2026-11-12", "seen by all", day=SINCE)
    sign_in(monkeypatch, user)
    sentence = "You can read" if user.name else "Without sign-in, only users of this machine"
    writes = ("Keep", "Save", "Add note", "Acknowledge", "Delete", "Remove")
    for page, query in (
        ("overview", {}),
        ("errors", {"signature": signature}),
        ("decisions", {"about": "notes"}),
    ):
        app = opened(PAGE[page], **query)
        assert not [button.label for button in app.button if button.label.startswith(writes)]
        assert page == "errors" or sentence in page_text(app)
    assert "seen by all" in page_text(app)


def test_a_person_who_is_signed_in_writes_under_that_name(
    nights: MemoryFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    sign_in(monkeypatch, ADA)
    app = opened(PAGE["models"])
    assert not [text_input for text_input in app.text_input if text_input.label == "Your name"]
    app.text_input(key="note_text_models_trend").set_value("seen")
    click(app, "Add note")
    assert remembered(nights).notes[0].by == "ada@team.test"
    notes.add_note(nights, "day", "2026-11-12", "of somebody else", by="bob@team.test")
    app = opened(PAGE["decisions"], about="notes")
    # a user can delete only her own notes
    assert len([button for button in app.button if button.label == "Delete"]) == 1


def test_a_run_of_a_page_asks_the_memory_nothing_twice(
    nights: MemoryFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes.add_note(nights, "day", "2026-11-12", "x", day=SINCE)
    alert_rules.save_rule(nights, "r", "parse_error", "above", 0.1)
    questions: list[tuple[str, ...]] = []
    rows = MemoryFile.read_rows

    def count(self: MemoryFile, *queries: str, values: Any = ()) -> Any:
        questions.append(queries)
        return rows(self, *queries, values=values)

    monkeypatch.setattr(MemoryFile, "read_rows", count)
    opened()
    # The three queries read the decisions, the nightly runs and the sources.
    assert len(questions) == len(set(questions)) == 3


def test_a_damaged_memory_is_said_and_pages_go_on_without_it(nights: MemoryFile) -> None:
    (nights.path.parent / FILE).write_bytes(b"no database at all, but long enough" * 40)
    for page in ("decisions", "errors", "compare"):
        app = opened(PAGE[page])
        texts = " ".join(str(shown.value) for shown in (*app.warning, *app.error))
        assert "move it away" in texts
