"""Tests the selectors of rate, dimension and reference, and the URL keys that store the selection."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest


def page() -> None:
    import streamlit as st

    from callgauge.dashboard.components.controls.rate_choice import (
        choose_dimension,
        choose_rate,
        choose_smallest,
        link_here,
    )
    from callgauge.dashboard.url_keys import PageUrlKeys, declare_url_keys

    declare_url_keys(PageUrlKeys(place=("rate", "by", "against"), kept=("smallest",)))
    rate = choose_rate()
    by = choose_dimension("By", among=("model", "tool"))
    st.text(f"{rate.name} by {by}")
    st.text(f"from {choose_smallest()}")
    st.code(link_here("tools", {}, against="falcon"))


def opened(**query: str) -> AppTest:
    app = AppTest.from_function(page)
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


def test_without_a_word_in_the_url_parse_errors_by_model_are_shown() -> None:
    app = opened()
    assert not app.exception
    assert app.text[0].value == "parse_error by model"
    assert app.selectbox(key="rate").options[0] == "Parse errors"
    assert not app.query_params


def test_the_url_chooses_and_a_choice_is_written_into_it() -> None:
    app = opened(rate="recovered", by="tool")
    assert app.text[0].value == "recovered by tool"
    app.selectbox(key="rate").select("execution").run()
    assert app.text[0].value == "execution by tool"
    assert app.query_params == {"rate": "execution", "by": "tool"}
    assert app.code[0].value == "tools?rate=execution&by=tool&against=falcon"


def test_the_smallest_difference_worth_knowing_is_two_points_unless_the_url_says_another() -> None:
    app = opened()
    assert app.text[1].value == "from 0.02"
    assert app.selectbox(key="smallest").options == [
        "0.5 points", "1 point", "2 points", "5 points", "10 points",
    ]  # fmt: skip
    app = opened(smallest="0.5")
    assert app.text[1].value == "from 0.005"
    app.selectbox(key="smallest").select("10 points").run()
    assert app.text[1].value == "from 0.1"
    assert app.query_params == {"smallest": "10"}
    assert app.code[0].value == "tools?smallest=10&against=falcon"
    app.selectbox(key="smallest").select("2 points").run()
    assert not app.query_params


@pytest.mark.parametrize("nonsense", ["", "-1", "3", "nan", "2 points", "1e9"])
def test_a_size_that_cannot_be_chosen_counts_as_none(nonsense: str) -> None:
    app = opened(smallest=nonsense)
    assert not app.exception
    assert app.text[1].value == "from 0.02"


@pytest.mark.parametrize("nonsense", ["", "no_such_rate", "<b>", "x" * 9000])
def test_a_word_that_is_no_rate_counts_as_none(nonsense: str) -> None:
    app = opened(rate=nonsense, by="definition")
    assert not app.exception
    assert app.text[0].value == "parse_error by model"


def test_what_another_pages_selector_left_behind_does_no_harm() -> None:
    app = AppTest.from_function(page)
    app.session_state["by"] = "Prompt"
    assert not app.run().exception
    assert app.text[0].value == "parse_error by model"


def test_a_click_that_comes_with_the_url_from_before_the_last_one_undoes_nothing() -> None:
    app = opened()
    app.selectbox(key="rate").select("recovered").run()
    assert app.query_params == {"rate": "recovered"}
    app.query_params.clear()
    app.selectbox(key="by").select("Tool").run()
    assert app.text[0].value == "recovered by tool"
    app.query_params.clear()
    app.query_params["rate"] = "recovered"
    app.selectbox(key="rate").select("execution").run()
    assert app.text[0].value == "execution by tool"
    assert app.query_params == {"rate": "execution", "by": "tool"}


def test_another_url_than_those_before_is_a_link() -> None:
    app = opened()
    app.selectbox(key="rate").select("recovered").run()
    app.query_params["rate"] = "mended"
    app.run()
    assert app.text[0].value == "mended by model"
    app.run()
    app.query_params.clear()
    app.run()
    assert app.text[0].value == "parse_error by model"
