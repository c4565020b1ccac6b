"""Tests the page Errors."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from tests.analysis.store_fixture import HOSTILE, a_call, a_turn, publish
from tests.dashboard.conftest import opened, page_text
from tests.dashboard.sheets import sheets, texts

PAGE = "callgauge/dashboard/pages/errors/page.py"
MISSING = "ls: <path>: No such file or directory"


@pytest.fixture
def failing(store: Path) -> Path:
    """Return a store. The first day has five calls with one error. The second day has the same error, a new
    error, and a hostile error.
    """
    ran = {"fault_layer": "execution", "result_status": "error", "tool": "bash"}
    later = {"day": "2026-11-21", "ts": "2026-11-21T10:00:00"}
    old = [
        a_call(n, result_text=f"Exit code 2\nls: /tmp/x{n}/y: No such file or directory", **ran)
        for n in range(5)
    ]
    path = publish(
        store,
        {
            "tool_calls": [
                *old,
                a_call(
                    5,
                    **ran
                    | later
                    | {"result_text": "ls: /a/b: No such file or directory", "model": "kestrel"},
                ),
                a_call(6, **ran | later | {"result_text": "Rate limit reached"}),
                a_call(7, **ran | later | {"result_text": f"failed: {HOSTILE}", "tool": HOSTILE}),
                *(a_call(n) for n in range(10, 60)),
            ],
            "turns": [a_turn(1)],
        },
    )
    assert path.exists()
    return store


def signature_of(store: Path, text: str) -> str:
    with duckdb.connect(str(store / "gen-000001.duckdb"), read_only=True) as connection:
        row = connection.execute("SELECT signature_id FROM signatures WHERE text = $1", [text]).fetchone()
    assert row is not None
    return str(row[0])


def test_new_errors_have_a_card_of_their_own_above_all_others(failing: Path) -> None:
    app = opened(PAGE)
    drawn = list(sheets(app))
    assert drawn.index("New errors") < drawn.index("Errors by signature")
    new, others = sheets(app)["New errors"], sheets(app)["Errors by signature"]
    assert [row[0]["sub"] for row in new["rows"]] == ["new on the newest day"] * 2
    assert (texts(others, 0), texts(others, 1), texts(others, 2)) == ([MISSING], ["Execution"], ["6"])
    assert others["rows"][0][4]["bars"] == [1.0, 0.2]
    assert others["rows"][0][8]["href"] == "calls?call=c5"


def test_of_chosen_days_the_newest_tells_what_is_new(failing: Path) -> None:
    """The page hides errors after the selected days. Errors on the store's first day are not new."""
    app = opened(PAGE, days="2026-11-20 to 2026-11-20")
    assert app.header[0].value.replace("\\", "") == "5 of 55 calls failed, none because of its arguments."
    assert "New errors" not in sheets(app)


def test_an_error_of_this_week_that_keeps_occurring_is_shown_as_new(store: Path) -> None:
    def day_columns(day: int) -> dict[str, str]:
        return {"day": f"2026-11-{day:02}", "ts": f"2026-11-{day:02}T10:00:00"}

    ran = {"fault_layer": "execution", "result_status": "error", "result_text": "Quota used up"}
    quiet = [a_call(number, **day_columns(number % 18 + 1)) for number in range(90)]
    fresh = [
        a_call(100 + number, session_id=f"fresh{number}", **day_columns(19), **ran) for number in range(9)
    ]
    publish(store, {"tool_calls": [*quiet, *fresh, a_call(200, **day_columns(20))]})
    app = opened(PAGE)
    assert app.header[0].value.replace("\\", "") == (
        "9 of 100 calls failed, none because of its arguments. No new errors on 20 Nov. "
        "1 in the six days before."
    )
    assert texts(sheets(app)["New errors"], 0) == ["Quota used up"]
    assert "No other errors." in page_text(app)


def test_a_signature_opens_by_its_id_with_the_tools_and_models_that_have_it(failing: Path) -> None:
    identity = signature_of(failing, MISSING)
    app = opened(PAGE, signature=identity)
    assert MISSING in [code.value for code in app.code]
    table = sheets(app)["Where this error occurs"]
    assert [(row[0]["text"], row[1]["text"], row[2]["text"]) for row in table["rows"]] == [
        ("bash", "falcon-3", "5"),
        ("bash", "kestrel", "1"),
    ]
    assert table["rows"][1][2]["href"] == f"calls?model=kestrel&tool=bash&signature={identity}"


def test_the_calls_page_lists_the_calls_of_a_signature_and_lets_it_go(failing: Path) -> None:
    app = opened("callgauge/dashboard/pages/calls/page.py", signature=signature_of(failing, MISSING))
    assert "6 of 58 calls match the filters. 6 failed." in page_text(app)
    app.button(key="no_signature").click().run()
    assert "58 calls" in page_text(app)
    assert "signature" not in app.query_params


def test_an_unknown_signature_says_so(failing: Path) -> None:
    app = opened(PAGE, signature="<b>x")
    assert "No calls of this signature here" in page_text(app)
    assert "error signature" in page_text(app)


def test_the_page_begins_with_how_many_where_and_what_is_new(failing: Path) -> None:
    assert opened(PAGE).header[0].value == (
        r"8 of 58 calls failed\, none because of its arguments\. 2 new errors on 21 Nov\."
    )


def test_stages_diagnostics_and_what_correlates_with_failures_are_folded(failing: Path) -> None:
    app = opened(PAGE)
    assert "Calls by failure stage" not in sheets(app)
    assert "No trait" not in page_text(app)
    app = opened(PAGE, traits="1", stages="1")
    assert texts(sheets(app)["Calls by failure stage"], 0) == [
        "Missing call",
        "Syntax",
        "Schema",
        "Rejected by the tool",
        "Execution",
        "Denied",
        "No failure seen",
        "Not measured",
    ]
    assert "What the parser found" in page_text(app)
    assert "No trait clearly correlates" in page_text(app) or "No trait can be compared" in page_text(app)


def test_a_store_without_faults_says_so(store: Path) -> None:
    publish(store, {"tool_calls": [a_call(1)], "turns": [a_turn(1)]})
    assert "No failed calls here." in page_text(opened(PAGE))


def test_an_empty_store_says_what_to_load(store: Path) -> None:
    publish(store, {})
    assert "callgauge ingest" in page_text(opened(PAGE))
