"""Tests a table of slices. Slices with too few sessions are in one folded list."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from callgauge.dashboard.components.slice_table import compact_rate_cell, judged_rate_cell, make_scale
from tests.analysis.session_shares import of_slice
from tests.dashboard.sheets import sheet_of, sheets


def page() -> None:
    import streamlit as st

    from callgauge.dashboard.components.slice_table import draw_slice_table
    from tests.analysis.session_shares import of_slice

    hardly = of_slice("hardly", 0, 40, total=4000)
    several = [of_slice("solid", 5, 200), of_slice("thin", 1, 9), of_slice("unseen", 0, 0, total=7)]
    several += [hardly] if st.query_params.get("hardly") else []
    several += [of_slice("large", 0, 493, sessions=5)] if st.query_params.get("large") else []
    retried = [of_slice("solid", 2, 90, rate="retried"), of_slice("thin", 1, 4, rate="retried")]
    draw_slice_table("strategy", {"parse_error": several, "retried": retried}, key="strategies")


def opened(**query: str) -> AppTest:
    app = AppTest.from_function(page)
    for name, value in query.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


def test_what_has_too_few_sessions_for_every_rate_is_one_folded_line() -> None:
    app = opened()
    assert [row["Strategy"]["text"] for row in sheet_of(app, "Rates by strategy")] == ["solid"]
    assert [expander.label for expander in app.expander] == ["2 strategies with too few sessions"]
    assert list(sheets(app)) == ["Rates by strategy"], "closed, it draws nothing"


def test_opened_it_lists_counts_and_sessions_and_no_rate() -> None:
    app = opened()
    app.session_state["strategies_thin"] = True
    rows = sheet_of(app.run(), "2 strategies with too few sessions: counts")
    assert [{title: cell["text"] for title, cell in row.items()} for row in rows] == [
        {"Strategy": "thin", "Sessions": "9", "Parse errors": "1 / 9", "Retry rate": "1 / 4"},
        {"Strategy": "unseen", "Sessions": "0", "Parse errors": "–", "Retry rate": "–"},
    ]


def test_the_list_of_counts_sorts_by_the_rate_and_not_by_its_denominator() -> None:
    app = opened(large="1")
    app.session_state["strategies_thin"] = True
    rows = sheet_of(app.run(), "3 strategies with too few sessions: counts")
    orders = {row["Strategy"]["text"]: row["Parse errors"]["order"] for row in rows}
    assert orders == {"large": 0.0, "thin": 1 / 9, "unseen": None}


def test_what_is_hardly_measured_has_sessions_enough_and_is_folded_as_well() -> None:
    (fold,) = opened(hardly="1").expander
    assert fold.label == "3 strategies with too few sessions or too little known"


def test_a_cell_of_too_few_sessions_has_counts_and_no_interval() -> None:
    thin, solid = of_slice("thin", 1, 2), of_slice("solid", 5, 200)
    cell = judged_rate_cell(thin, make_scale([solid.share]), "calls")
    assert (cell.text, cell.sub, cell.low, cell.pale) == ("1 / 2", "2 sessions", None, True)
    assert judged_rate_cell(solid, make_scale([solid.share])).text == "2.5%"
    narrow = compact_rate_cell(thin, heat=0.4)
    assert (narrow.text, narrow.heat, narrow.order) == ("1 / 2", None, None)
    assert compact_rate_cell(solid, heat=0.4).heat == 0.4
    assert compact_rate_cell(of_slice("unseen", 0, 0, total=4)).text == "–"
    assert compact_rate_cell(None).text == ""
