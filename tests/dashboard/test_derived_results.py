"""Tests that a derived result is computed once per store file, and that the page still lists the SQL queries
behind it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
import streamlit as st

from callgauge.dashboard import store_queries
from tests.analysis.store_fixture import publish, small_tables

pytestmark = pytest.mark.usefixtures("small")


@pytest.fixture(autouse=True)
def _session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(st, "session_state", {})


def _count_calls(*key: str) -> int:
    def count(ask: Callable[..., pd.DataFrame]) -> int:
        return int(ask("fault_layers", models=key).iloc[0].total)

    return store_queries.derive(count, "calls of models", key)


def _fail(_: Callable[..., pd.DataFrame]) -> int:
    raise AssertionError("computed again")


def test_a_later_run_gets_the_same_result_and_knows_the_parameters_of_its_queries() -> None:
    store_queries.begin_run()
    total = _count_calls("heron")
    store_queries.begin_run()
    assert store_queries.last_parameters("fault_layers") == {}
    assert store_queries.derive(_fail, "calls of models", ("heron",)) == total
    assert store_queries.last_parameters("fault_layers") == {"models": ("heron",)}


@pytest.mark.parametrize(("name", "key"), [("calls of models", ("wren",)), ("calls of tools", ("heron",))])
def test_another_key_or_name_is_another_result(name: str, key: tuple[str]) -> None:
    store_queries.begin_run()
    _count_calls("heron")
    with pytest.raises(AssertionError, match="computed again"):
        store_queries.derive(_fail, name, key)


def test_chosen_trials_are_another_result() -> None:
    store_queries.begin_run()
    _count_calls("heron")
    store_queries.show_trials(("run",), None)
    with pytest.raises(AssertionError, match="computed again"):
        store_queries.derive(_fail, "calls of models", ("heron",))


def test_another_generation_is_another_result() -> None:
    store_queries.begin_run()
    _count_calls("heron")
    publish(Path(os.environ["CALLGAUGE_STORE"]), small_tables(), number=2)
    store_queries.begin_run()
    with pytest.raises(AssertionError, match="computed again"):
        store_queries.derive(_fail, "calls of models", ("heron",))
