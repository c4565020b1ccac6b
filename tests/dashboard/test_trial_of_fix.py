"""Tests the trial that the page of a tool exports for its edits: from a log to the report of the trial."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import pytest

from callgauge.gateway import Gateway, tool
from callgauge.trials.results.run_folder import read_ledger
from ingest.pipeline.load import load
from tests.cli.test_trial_run import callgauge
from tests.dashboard.conftest import opened
from tests.dashboard.test_tools_page import PAGE, finish
from tests.event_loops import run
from tests.gateway.served.brain import Asked, Emitted
from tests.gateway.served.in_process import BrainEndpoint
from tests.gateway.served.server import serve_model
from tests.trials.made_plan import KNOWN

SESSIONS = 30
EXPORTED_ADDRESS = "http://127.0.0.1:8080/v1"


@tool(name="find_rows", description="Find rows.")
def find_rows(query: str, limit: int) -> str:
    return f"{limit} rows for {query}"


def brain(request: Asked) -> Emitted:
    """Answer as a model that first sends the limit as a word. After an error, it sends a number.

    In the probe, the model calls tools natively.
    """
    if "number" in request.user:
        return Emitted(calls=[("report_number", '{"number": 7}'), ("report_number", '{"number": 8}')])
    if request.last.role == "user":
        return Emitted(calls=[("find_rows", json.dumps({"query": request.user, "limit": "all"}))])
    if "rows for" in request.last.text:
        return Emitted("Found.")
    return Emitted(calls=[("find_rows", json.dumps({"query": request.user, "limit": 10}))])


def write_log(folder: Path) -> Path:
    async def talk(number: int) -> None:
        asking = Gateway(
            BrainEndpoint(brain), [find_rows], "falcon-3", "Be kind.", capabilities=KNOWN, log=folder,
            session_id=f"s{number}",
        )  # fmt: skip
        async with asking as gateway:
            await gateway.run(f"Query {number}")

    for number in range(SESSIONS):
        run(talk(number))
    return folder


def list_types(requests: Sequence[Asked]) -> set[str]:
    """Return the types of the limit in the definitions that the requests offer.

    A probe offers other tools.
    """
    offered = [entry["function"] for request in requests for entry in request.body.get("tools", ())]
    return {
        str(each["parameters"]["properties"]["limit"]["type"])
        for each in offered
        if each["name"] == "find_rows"
    }


@pytest.mark.thorough
def test_the_edited_definition_is_the_second_variant_and_the_report_compares_both(
    store: Path, tmp_path: Path
) -> None:
    load([write_log(tmp_path / "logs")], store)
    app = finish(opened(PAGE, tool_open="find_rows"))
    app.button(key="definition_testset_prepare").click().run()
    assert not app.exception
    _, prepared = app.session_state["_definition_testset"]
    assert prepared.sentences[0] == f"{SESSIONS} tasks and a plan."
    with zipfile.ZipFile(BytesIO(prepared.data)) as archive:
        archive.extractall(tmp_path / "trial")
    plan = tmp_path / "trial" / "plan.toml"
    with serve_model(brain) as server:
        plan.write_text(plan.read_text("utf-8").replace(EXPORTED_ADDRESS, server.url), "utf-8")
        code, out, err = callgauge("run", plan, folder=tmp_path, CALLGAUGE_TRIAL_KEY="sk-test-12345678")
        requests = list(server.requests)
    assert code == 0, err
    assert list_types(requests) == {"integer", "['integer', 'string']"}
    assert "edited is better than as-it-was: invalid calls " in out
    (folder,) = (tmp_path / "runs").iterdir()
    refused = {
        name: sum(outcome.refused for outcome in read_ledger(folder / "ledger.jsonl") if outcome.arm == name)
        for name in ("as-it-was", "edited")
    }
    assert refused["edited"] == 0 < refused["as-it-was"]
    report = (folder / "report.md").read_text("utf-8")
    assert "edited" in report
    assert "as-it-was" in report
