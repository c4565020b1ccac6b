"""The web server of the dashboard. `streamlit run` finds the variable `app` in this file.

Streamlit reads `.streamlit/config.toml` and `static/` in the folder of this file and of app.py.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st
from starlette.middleware import Middleware

from callgauge.api.endpoints import program_routes
from callgauge.serving.guard import ServerGuard, read_first_page
from callgauge.serving.monitoring_routes import HealthRoute, MetricsRoute, PlainAnswer
from callgauge.serving.moved_pages import MovedPages
from callgauge.serving.processes.first_request import FIRST
from callgauge.serving.processes.handed_connections import worker_place
from callgauge.serving.settings import (
    embedders_from_environment,
    healthy_hours_from_environment,
    hosts_from_environment,
    sign_in_from_environment,
    store_from_environment,
    traces_from_environment,
)
from callgauge.serving.sign_in.gate import Gate
from callgauge.serving.sign_in.sessions import Sessions
from callgauge.serving.sign_in.setup import gate_options
from callgauge.serving.streamlit_answers import SCRIPTS, CompressedAssets, FirstPage, GoneBrowsers
from callgauge.serving.tokens import check_sender, find_token
from callgauge.traces.intake import TraceFolder, TraceIntake
from ingest.store.shared.follower import follow

if TYPE_CHECKING:
    from callgauge.monitoring.exposition import StoreFigures
    from callgauge.monitoring.store_health import HealthWatch

_NO_STORE = Path(os.devnull)  # used when nothing has been loaded into the store yet

_NOT_SAVED = "A sign-out could not be saved; see the log of the server."


@cache
def _health_watch() -> HealthWatch:
    # This import is here, because the module imports DuckDB, which would delay the start.
    from callgauge.monitoring.store_health import HealthWatch

    return HealthWatch(store_from_environment() or _NO_STORE, healthy_hours_from_environment())


def _check_health() -> tuple[bool, dict[str, object]]:
    health = _health_watch().check()
    is_well, details = health.reason is None, health.describe()
    if _sessions is not None and _sessions.find_problem():
        is_well, details = False, details | {"reason": _NOT_SAVED}
    return is_well, details


@cache
def _store_figures() -> StoreFigures:
    from callgauge.monitoring.exposition import StoreFigures

    return StoreFigures(store_from_environment() or _NO_STORE)


def _write_metrics() -> PlainAnswer:
    from callgauge.monitoring.exposition import MEDIA_TYPE

    text, _ = _store_figures().write()
    return PlainAnswer(200, MEDIA_TYPE, text)


@asynccontextmanager
async def _follow_shared_store(_app: st.App) -> AsyncIterator[None]:
    """Fetch new data that other machines load into a shared store, while the server runs.

    With several workers, only the first worker fetches the data, for all workers.
    """
    place = worker_place()
    if place is None or place.number == FIRST:
        follow(store_from_environment() or _NO_STORE)
    yield


_traces = traces_from_environment()
_gate = gate_options(sign_in_from_environment(), store_from_environment(), find_token)
_sessions: Sessions | None = _gate.get("sessions")

app = st.App(
    Path(__file__).with_name("app.py"),
    lifespan=_follow_shared_store,
    routes=program_routes(),
    middleware=[
        Middleware(HealthRoute, check=_check_health),
        Middleware(
            ServerGuard,
            page=read_first_page(SCRIPTS.parents[1]),
            hosts=hosts_from_environment(),
            embed_in=embedders_from_environment(),
            address=sign_in_from_environment().address,
        ),
        Middleware(TraceIntake, folder=TraceFolder(_traces) if _traces else None, check=check_sender),
        Middleware(Gate, **_gate),
        Middleware(MetricsRoute, write=_write_metrics),
        Middleware(MovedPages),
        Middleware(GoneBrowsers),
        Middleware(FirstPage),
        Middleware(CompressedAssets),
    ],
)
