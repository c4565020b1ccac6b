"""Tests alerts on pages. An alert stays until the rate is normal again or a user acknowledges the alert."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from callgauge.analysis.measures.alerts import Alert, read_alerts
from callgauge.analysis.metrics.published_store import read_store
from callgauge.memory.memory_file import FILE
from tests.analysis.made_nights import LAST, Rate, publish_nights, regressed
from tests.analysis.store_fixture import HOSTILE, a_call
from tests.dashboard.conftest import opened, page_text

SINCE = date(2026, 11, 12)
KESTREL = ":blue[Parse errors of kestrel\\-14b] "


def sentences(app: AppTest) -> list[str]:
    """Return the page's sentences on rates and errors as plain text."""
    labels = [str(link.proto.label) for link in app.get("page_link")]
    items = [label for label in labels if label[0] == ":" and label.split("[")[1][0] in "▲▼○"]
    return [label.split("] ", 1)[1] for label in items if " not recognised]" not in label]


def lines_on(store: Path, rate: Rate, last: date) -> list[str]:
    publish_nights(store, rate, last=last)
    return sentences(opened())


def acknowledge(app: AppTest, *, by: str = "", note: str = "") -> AppTest:
    button, *_ = (button for button in app.button if "Acknowledge" in button.label)
    place = str(button.key).removeprefix("save_")
    app.text_input(key=f"by_{place}").set_value(by)
    app.text_input(key=f"note_{place}").set_value(note)
    button.click().run()
    assert not app.exception
    return app


@pytest.mark.thorough
@pytest.mark.parametrize("day", range(12, 19))
def test_a_regression_stands_on_every_night_until_it_is_over(store: Path, day: int) -> None:
    lines = lines_on(store, regressed(SINCE), date(2026, 11, day))
    assert lines[0].startswith(f"{KESTREL}rose from ")
    assert lines[0].endswith(" on 12 Nov")


@pytest.mark.thorough
def test_a_rate_that_is_back_says_so_for_a_week_and_leaves(store: Path) -> None:
    rate = regressed(SINCE, date(2026, 11, 16))
    assert "on 12 Nov" in lines_on(store, rate, date(2026, 11, 16))[0]
    over = next(
        last
        for last in (date(2026, 11, day) for day in range(17, 26))
        if f"{KESTREL}returned to " in lines_on(store, rate, last)[0]
    )
    assert over <= date(2026, 11, 24)
    assert not lines_on(store, rate, over + timedelta(8))


@pytest.mark.thorough
def test_the_same_rate_that_changes_again_is_another_alert(store: Path) -> None:
    def rate(model: str, day: date) -> float:
        again = day >= date(2026, 11, 26)
        return regressed(SINCE, None if again else date(2026, 11, 15))(model, day)

    lines = lines_on(store, rate, date(2026, 11, 27))
    assert [line for line in lines if line.startswith(f"{KESTREL}rose") and line.endswith("on 26 Nov")]


@pytest.mark.thorough
def test_a_quiet_night_says_what_could_have_been_found(store: Path) -> None:
    publish_nights(store)
    app = opened()
    assert sentences(app) == []
    assert "No alerts on 20 Nov. A change below about " in page_text(app)
    assert "in a model would not show after one day yet (about " in page_text(app)
    assert "beyond chance" not in page_text(app)


@pytest.mark.thorough
def test_with_too_few_days_before_no_change_is_claimed(store: Path) -> None:
    publish_nights(store, regressed(LAST), days=5)
    assert "Too few days to find a change: it takes 5 before the newest one, and 5 days have" in page_text(
        opened()
    )


def test_without_days_before_there_is_nothing_to_compare_with(small: Path) -> None:
    text = page_text(opened())
    assert "Too few days to find a change: it takes 5 before the newest one, and 1 day has" in text


def test_the_same_alerts_show_whatever_days_the_page_shows(store: Path) -> None:
    publish_nights(store, regressed(SINCE))
    lines = sentences(opened())
    assert sentences(opened(days="2026-11-15 to 2026-11-17")) == lines
    assert sentences(opened(days="2026-11-01 to 2026-11-10")) == lines


def test_a_filter_leaves_the_alerts_on_what_it_chooses(store: Path) -> None:
    publish_nights(store, regressed(SINCE))
    assert sentences(opened(model="kestrel-14b"))
    assert not [line for line in sentences(opened(model="falcon-3")) if KESTREL in line]


def test_an_open_alert_is_marked_on_the_trend_with_the_same_words(store: Path) -> None:
    publish_nights(store, regressed(date(2026, 11, 19)))
    words = page_text(opened())
    assert "1 open alert of the nightly runs is marked." in words
    assert "0 changes found" not in words


@pytest.mark.thorough
def test_an_alert_leads_to_its_comparison_with_the_days_before_it_began(store: Path) -> None:
    publish_nights(store, regressed(SINCE))
    (link,) = [link for link in opened().get("page_link") if KESTREL in str(link.proto.label)]
    query = str(link.proto.query_string)
    assert "b_days=2026-11-12_2026-11-20" in query
    assert "_2026-11-11&" in query
    assert "rate=parse_error" in query


def test_an_acknowledged_alert_folds_away_with_who_and_why_and_comes_back(store: Path) -> None:
    publish_nights(store, regressed(SINCE))
    assert "Needs attention (1)" in page_text(opened())
    app = acknowledge(opened(), by="Ana *", note=HOSTILE)
    words = page_text(app)
    assert "1 acknowledged" in [expander.label for expander in app.expander]
    assert "by Ana \\*, " in words
    assert "\\<img src" in words
    assert "Needs attention\n" in words
    app = opened()
    assert "Needs attention\n" in page_text(app)
    next(button for button in app.button if button.label == "Withdraw").click().run()
    assert "Needs attention (1)" in page_text(app)


@pytest.mark.thorough
def test_what_a_model_does_to_its_prompt_and_tool_is_told_once(store: Path) -> None:
    publish_nights(store, regressed(SINCE, to=0.5))
    app = opened()
    assert sentences(app)[0].startswith(KESTREL)
    assert "Needs attention (1)" in page_text(app)
    assert "2 other changes" in [expander.label for expander in app.expander]


@pytest.mark.thorough
def test_models_that_fail_alike_leave_their_prompt_in_the_lead(store: Path) -> None:
    """A new prompt version is worse with every model, so the alert about the prompt comes first."""
    publish_nights(store, lambda _, day: 0.3 if day >= SINCE else 0.03)
    assert "Needs attention (1)" in page_text(opened())


@pytest.mark.thorough
def test_a_memory_that_cannot_be_written_is_told(store: Path) -> None:
    publish_nights(store, regressed(SINCE))
    app = opened()
    (store / FILE).mkdir()  # writing fails if the file is a folder, even for root
    app = acknowledge(app)
    assert "cannot be read or written" in page_text(app)
    assert sentences(app)


def test_a_new_error_is_told_with_its_calls_and_its_text_is_only_text(store: Path) -> None:
    failed = {
        "fault_layer": "refused",
        "result_status": "denied",
        "result_text": f"max_results {HOSTILE}",
    }
    new = [
        a_call(
            n, call_id=f"n{n}", session_id=f"n{n % 4}", day="2026-11-18", ts="2026-11-18T10:00:00", **failed
        )
        for n in range(10)
    ]
    publish_nights(store, tool_calls=new)
    (line,) = [sentence for sentence in sentences(opened()) if "New error" in sentence]
    assert "10 calls since 18 Nov" in line
    assert "**" not in line
    assert "<img" not in line.replace("\\<img", "")


@pytest.mark.thorough
def test_a_night_finds_the_same_whatever_came_later(store: Path) -> None:
    rate = regressed(SINCE, date(2026, 11, 16))
    found = []
    for last in (date(2026, 11, 16), date(2026, 11, 19)):
        publish_nights(store, rate, last=last, number=last.day)
        found.append(
            {(alert.key, alert.found) for alert in alerts_of(store) if alert.found <= date(2026, 11, 16)}
        )
    assert found[0] == found[1]
    assert found[0]


def alerts_of(store: Path) -> tuple[Alert, ...]:
    with read_store(store, texts=True) as reader:
        night = read_alerts(reader.ask)
    assert night
    return night.alerts
