"""Opens pages with Streamlit's AppTest, over a small store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.components.v2.manifest_scanner import scan_component_manifests
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import AppTest, app_test, local_script_runner
from streamlit.util import calc_hash

from callgauge.dashboard.components.controls import url_widgets
from callgauge.dashboard.components.controls.chart import CHARTS_LOADED
from callgauge.dashboard.pages import PAGES
from tests.analysis.store_fixture import publish, small_tables
from tests.dashboard.sheets import calls

APP = Path(__file__).parents[2] / "app.py"
FILES = [entry.file for entry in PAGES]
COUNTING = [entry.file for entry in PAGES if entry.needs_store]


@pytest.fixture(scope="session", autouse=True)
def _packages_are_read_once() -> Iterator[None]:
    """Cache the metadata of installed packages, because reading it takes half of the time of each AppTest."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", cache(scan_component_manifests))
        yield


@pytest.fixture(scope="session", autouse=True)
def _scripts_are_compiled_once() -> Iterator[None]:
    """Cache the bytecode of pages, as a server does. Otherwise, each AppTest compiles its page again."""
    compiled = ScriptCache()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(app_test, "ScriptCache", lambda: compiled)
        patch.setattr(local_script_runner, "ScriptCache", lambda: compiled)
        yield


@pytest.fixture(scope="session", autouse=True)
def _runs_are_waited_for_without_looking() -> Iterator[None]:
    """Wait for the end of a page's script without polling. An AppTest polls a thousand times a second, which
    slows the script.
    """

    def wait(runner: Any, timeout: float) -> None:
        runner._script_thread.join(timeout)
        if runner._script_thread.is_alive():
            raise RuntimeError(f"the page was not drawn within {timeout} s")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_script_runner, "require_widgets_deltas", wait)
        yield


@pytest.fixture(scope="session", autouse=True)
def _popovers_are_open() -> Iterator[None]:
    """Draw the content of each popover, as if a user had opened it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(url_widgets, "is_open", lambda _: True)
        yield


@pytest.fixture(autouse=True)
def _fresh_caches() -> None:
    st.cache_data.clear()
    st.cache_resource.clear()


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "store"
    monkeypatch.setenv("CALLGAUGE_STORE", str(folder))
    return folder


@pytest.fixture
def small(store: Path) -> Path:
    publish(store, small_tables())
    return store


FEW = ["egret", "falcon", "heron"]
"""The models of `few_of_many` with enough sessions. The model with the fewest parse errors is first."""


@pytest.fixture
def few_of_many(store: Path) -> Path:
    """Return a store of 40 models, of which three have enough sessions. One of the other models has 493 calls
    without errors, but in only two sessions.
    """
    made = [*calls(300, 3, model="egret"), *calls(260, 40, model="falcon"), *calls(150, 150, model="heron")]
    for number in range(2):
        session = f"long {number}"
        made += calls(247 - number, 0, model="lucky", session_id=session, turn_id=session)
    for number in range(36):
        made += calls(1 + number % 9, number % 2, model=f"rare-{number:02}")
    publish(store, {"tool_calls": made})
    return store


def open_fold(app: AppTest, key: str) -> AppTest:
    """Open the folded list below the table `key`, which contains the slices with too few sessions."""
    app.session_state[f"{key}_thin"] = True
    app.run()
    assert not app.exception
    return app


def opened(page: str = FILES[0], state: Mapping[str, Any] | None = None, /, **query: str) -> AppTest:
    """Return a page as a link opens it. `state` is Streamlit's session state, such as an open popover."""
    app = AppTest.from_file(str(APP), default_timeout=300)
    app.session_state[CHARTS_LOADED] = True  # without a browser, no chart can report that it is visible
    for name, value in (state or {}).items():
        app.session_state[name] = value
    for name, value in query.items():
        app.query_params[name] = value
    if page != FILES[0]:
        # A link opens the page without a run of the Overview. `switch_page` would derive a wrong URL from the
        # file name.
        app._page_hash = calc_hash(Path(page).parent.name)
    app.run()
    assert not app.exception
    return app


def page_text(app: AppTest) -> str:
    """Return the content of all text elements of a page."""
    kinds = (
        app.title,
        app.header,
        app.subheader,
        app.caption,
        app.text,
        app.markdown,
        app.code,
        app.error,
        app.metric,
    )
    return "\n".join(str(element.value) for kind in kinds for element in kind)
