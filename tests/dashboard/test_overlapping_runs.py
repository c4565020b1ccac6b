"""Tests that Streamlit may start a page's script again before its previous execution has stopped."""

from __future__ import annotations

from pathlib import Path

import pytest
import streamlit as st

from callgauge.analysis.metrics.published_store import NothingLoadedError, published_generation
from callgauge.dashboard import store_queries


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(st, "session_state", {})


@pytest.mark.usefixtures("small", "session")
def test_an_earlier_run_finds_its_generation_while_the_next_one_begins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store_queries.begin_run()
    shown, generations = store_queries.shown_generation(), []

    def read_in_between(folder: str | None) -> Path:
        generations.append((store_queries.shown_generation(), store_queries.team_records()))
        return published_generation(folder)

    monkeypatch.setattr(store_queries, "published_generation", read_in_between)
    store_queries.begin_run()
    assert {generation for generation, _ in generations} == {shown}
    assert store_queries.shown_generation() == shown


@pytest.mark.usefixtures("session")
def test_a_run_without_a_store_has_no_generation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALLGAUGE_STORE", str(tmp_path))
    with pytest.raises(NothingLoadedError):
        store_queries.begin_run()
    assert not store_queries.is_open()
    with pytest.raises(NothingLoadedError):
        store_queries.shown_generation()
