"""The Errors page: signatures, the new ones first, one of them in full, and its calls on the Calls page."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from tests.analysis.store_fixture import HOSTILE, a_call, a_turn, publish
from tests.dashboard.conftest import opened, said
from tests.dashboard.sheets import sheets, texts

PAGE = "callgauge/dashboard/pages/errors/page.py"
MISSING = "ls: <path>: No such file or directory"


@pytest.fixture
def failing(store: Path) -> Path:
    """Five of one fault the day before; on the newest day one more, a new one, and a hostile one."""
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


def test_new_signatures_stand_first_and_are_flagged(failing: Path) -> None:
    table = sheets(opened(PAGE))["Signatures of errors"]
    assert [row[0]["sub"] is not None for row in table["rows"]] == [True, True, False]
    assert texts(table, 0)[2] == MISSING
    assert texts(table, 2) == ["1", "1", "6"]
    assert [row[4]["bars"] for row in table["rows"]][2] == [1.0, 0.2]
    assert table["rows"][2][8]["href"] == "calls?call=c5"


def test_a_signature_opens_by_its_id_with_the_tools_and_models_that_have_it(failing: Path) -> None:
    identity = signature_of(failing, MISSING)
    app = opened(PAGE, signature=identity)
    assert MISSING in [code.value for code in app.code]
    table = sheets(app)["Where the signature occurs"]
    assert [(row[0]["text"], row[1]["text"], row[2]["text"]) for row in table["rows"]] == [
        ("bash", "falcon-3", "5"),
        ("bash", "kestrel", "1"),
    ]
    assert table["rows"][1][2]["href"] == f"calls?model=kestrel&tool=bash&signature={identity}"


def test_the_calls_page_lists_the_calls_of_a_signature_and_lets_it_go(failing: Path) -> None:
    app = opened("callgauge/dashboard/pages/calls/page.py", signature=signature_of(failing, MISSING))
    assert "6 calls" in said(app)
    app.button(key="no_signature").click().run()
    assert "58 calls" in said(app)
    assert "signature" not in app.query_params


def test_an_unknown_signature_says_so(failing: Path) -> None:
    app = opened(PAGE, signature="<b>x")
    assert "No calls of this signature here" in said(app)
    assert "error signature" in said(app)


def test_the_page_begins_with_how_many_where_and_what_is_new(failing: Path) -> None:
    assert opened(PAGE).header[0].value == (
        r"8 of 58 calls were seen to go wrong\, most often at execution \(8 \/ 8\)\. "
        r"On 2026\-11\-21\, 2 errors appeared for the first time\."
    )


def test_layers_and_codes_and_what_goes_with_failure_are_on_the_page(failing: Path) -> None:
    app = opened(PAGE)
    assert "Where calls went wrong first" in said(app)
    assert "What the parser found" in said(app)
    assert "No trait" not in said(app)  # folded, and not asked for
    app = opened(PAGE, traits="1")
    assert "No trait stands out" in said(app) or "No trait can be compared" in said(app)


def test_a_store_without_faults_says_so(store: Path) -> None:
    publish(store, {"tool_calls": [a_call(1)], "turns": [a_turn(1)]})
    assert "No call of this selection went wrong." in said(opened(PAGE))


def test_an_empty_store_says_what_to_load(store: Path) -> None:
    publish(store, {})
    assert "callgauge ingest" in said(opened(PAGE))
