"""Tests the API over HTTP."""

from __future__ import annotations

import asyncio
import json
import shutil
import threading
from collections.abc import Awaitable, Callable
from datetime import date, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from starlette.routing import Route
from starlette.testclient import TestClient

from callgauge.analysis.metrics import answer_metric, metrics
from callgauge.analysis.metrics.published_store import open_generation
from callgauge.api import tables
from callgauge.api.openapi import BASE, make_document
from callgauge.api.questions import store_access
from callgauge.api.questions.answers import LOG_TEXT
from callgauge.api.questions.metric_questions import ADMIN_METRICS
from callgauge.api.questions.problems import ProblemError
from callgauge.api.questions.question_list import QUESTIONS
from callgauge.api.questions.store_access import SharedStore, StoreAccess
from callgauge.api.routes import make_application
from callgauge.memory.memory_file import MemoryFile
from callgauge.memory.nights.night_steps import NightRecords
from callgauge.serving.identity import NETWORK_USER, User
from tests.analysis.store_fixture import HOSTILE, a_call, publish, small_tables
from tests.api.conftest import Api, make_client
from tests.event_loops import run

VIEWER = User("ci", "viewer", may_write=False)
ADMIN = User("ops", "admin", may_write=False)
SLOW = "SELECT sum(a.range * b.range) FROM range(100_000_000) a, range(1_000_000) b"


def problem(client: TestClient, path: str, **query: Any) -> dict[str, Any]:
    answer = client.get(path, params=query)
    assert answer.headers["content-type"] == "application/problem+json"
    detail: dict[str, Any] = answer.json()
    assert detail["status"] == answer.status_code >= 400
    assert detail["title"]
    assert detail["detail"].endswith((".", "?")), detail
    return detail


def test_nobody_is_told_anything_unless_the_gate_names_them(small: Api) -> None:
    paths = [question.path for question in QUESTIONS.values()]
    for user in (None, NETWORK_USER):
        client = small.client(user)
        for path in (*paths, "/openapi.json", "/metrics/slices"):
            refused = client.get(path)
            assert refused.status_code == 401, path
            assert refused.headers["www-authenticate"].startswith("Bearer")
            assert "falcon" not in refused.text
            assert "callgauge token create" in refused.json()["detail"]


def test_sql_and_raw_exports_take_an_admin(small: Api) -> None:
    viewer, admin = small.client(VIEWER), small.client(ADMIN)
    assert problem(viewer, "/sql", query="SELECT 1")["status"] == 403
    for name in ADMIN_METRICS:
        assert problem(viewer, f"/metrics/{name}")["status"] == 403
        assert admin.get(f"/metrics/{name}").status_code == 200
    answer = admin.get("/sql", params={"query": "SELECT count(*) AS calls FROM tool_calls"}).json()
    assert answer["rows"] == [{"calls": 44}]
    assert "SELECT" in problem(admin, "/sql", query="DROP TABLE tool_calls")["detail"]
    assert viewer.get("/calls/c41").status_code == 200
    assert viewer.get("/calls", params={"limit": 200}).status_code == 200
    assert problem(viewer, "/calls", limit=201)["status"] == 400


def test_what_a_viewers_program_asks_of_all_calls_holds_no_arguments(small: Api) -> None:
    rows = small.connection.execute(
        "SELECT DISTINCT raw_arguments FROM tool_calls WHERE length(raw_arguments) > 5"
    ).fetchall()
    texts = [json.dumps(text)[1:-1] for (text,) in rows]
    assert any(text in small.client(ADMIN).get("/metrics/calls").text for text in texts)
    viewer = small.client(VIEWER)
    for name in sorted(metrics().keys() - ADMIN_METRICS):
        answer = viewer.get(f"/metrics/{name}")
        assert not [text for text in texts if text in answer.text], name


def test_days_after_all_data_are_no_good_news(small: Api) -> None:
    answer = small.get("/ranking", rate="parse_error", since="2026-11-01", until="2999-01-01")["sentence"]
    assert "newest data" not in answer
    newest = small.get("/calls", days="all", limit="1")["rows"][0]["ts"][:10]
    answer = small.get("/ranking", since="2998-01-01", until="2999-01-01")["sentence"]
    assert answer.endswith(f"The newest data is of {newest}, before these days.")


def test_what_is_not_known_is_refused_by_its_name(small: Api) -> None:
    client = small.client()
    for path, query, status, words in (
        ("/rates", {"modle": "x"}, 400, "Did you mean model?"),
        ("/rates", {"model": "falkon-3"}, 400, "Did you mean falcon-3?"),
        ("/rates", {"rate": "parse_eror"}, 400, "Did you mean parse_error"),
        ("/metrics/slice", {}, 404, "Did you mean slices"),
        ("/metrics/slices", {"rate": "parse_error"}, 400, "Did you mean rates?"),
        ("/codes/missing_reqired", {}, 404, "missing_required"),
        ("/calls/none", {}, 404, "no call with this id"),
        ("/sessions/none", {}, 404, "no session with this id"),
        ("/rate", {}, 404, "There is no address"),
        ("/comparison", {"a_model": "falcon-3", "b_model": "falcon-3"}, 400, "Both sides are the same"),
        ("/calls", {"cursor": "WzEsMl0"}, 409, "loaded again"),
        ("/calls", {"cursor": "%%%"}, 400, "Invalid cursor"),
        ("/calls", {"cursor": "e30"}, 400, "Invalid cursor"),
        ("/rates", {"format": "xml"}, 400, "format"),
        ("/calls/c41", {"format": "parquet"}, 406, "JSON only"),
    ):
        answer = problem(client, path, **query)
        assert (answer["status"], words in answer["detail"]) == (status, True), (path, query, answer)
    assert client.get("/rates", headers={"accept": "image/png"}).status_code == 406
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        refused = client.request(method, "/rates")
        assert (refused.status_code, refused.json()["title"]) == (405, "This API is read-only")
    assert client.head("/rates").status_code == 200


def test_an_id_may_hold_a_slash_and_a_baseline_be_named(tmp_path: Path) -> None:
    name = "team/2026 11/Zürich?"
    made = small_tables() | {"sessions": [{"session_id": name, "source": "session_history", "file_id": 1}]}
    publish(tmp_path, made)
    client = make_client(SharedStore(tmp_path))
    assert client.get(f"/sessions/{quote(name, safe='')}").json()["session"]["session_id"] == name
    assert client.get("/ranking", params={"baseline": HOSTILE}).json()["baseline"] == HOSTILE
    assert "falcon-3" in problem(client, "/ranking", baseline="falcon-4")["detail"]


def test_an_empty_store_has_answers_of_nothing(tmp_path: Path) -> None:
    publish(tmp_path, {})
    client = make_client(SharedStore(tmp_path))
    for path in ("/rates", "/ranking", "/calls", "/sessions", "/signatures", "/choices"):
        answer = client.get(path)
        assert (answer.status_code, answer.json()["rows"]) == (200, []), path
    assert client.get("/loads").json()["last_load"]["calls"] == 0
    answer = client.get("/comparison", params={"a_days": "7 days", "b_days": "2026-11"}).json()
    assert answer["verdict"] == "unmeasured"


def test_a_list_is_paged_by_its_cursor_without_gap_or_repeat(sample: Api) -> None:
    arguments: dict[str, Any] = {"model": "kestrel-coder-14b", "fault": "syntax", "days": "all", "limit": 30}
    ids, cursor = [], None
    while True:
        page = sample.get("/calls", **arguments, **({"cursor": cursor} if cursor else {}))
        ids += [row["call_id"] for row in page["rows"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    parameters = {"models": ["kestrel-coder-14b"], "fault": "syntax", "limit": 1000, "offset": 0}
    assert len(ids) > 60
    assert ids == answer_metric(sample.connection, "calls", parameters).call_id.tolist()
    assert page["found"] == len(ids)


def test_sorted_lists_have_the_order_that_is_asked(sample: Api) -> None:
    took = [row["latency_ms"] for row in sample.get("/calls", order="took", tool="run_command")["rows"]]
    assert took == sorted(took, reverse=True)
    rows = sample.get("/calls", order="time", reversed="true", days="all")["rows"]
    oldest = [datetime.fromisoformat(row["ts"]) for row in rows]
    assert oldest == sorted(oldest)
    turns = [row["turns"] for row in sample.get("/sessions", order="turns", days="all")["rows"]]
    assert turns == sorted(turns, reverse=True)


def test_a_signature_says_where_it_occurs(small: Api) -> None:
    (signature,) = small.get("/signatures")["rows"]
    answer = small.get("/signatures", signature=signature["signature_id"])
    assert answer["where"][0]["tool"] == "read_file"
    calls = small.get("/calls", signature=signature["signature_id"])["rows"]
    assert [row["call_id"] for row in calls] == ["c41"]


def test_a_hostile_log_is_data_in_json_and_marked_as_such(small: Api) -> None:
    answer = small.client().get("/calls", params={"limit": 1})
    assert answer.json()["log_text"] == LOG_TEXT
    assert answer.json()["rows"][0]["model"] == HOSTILE
    assert answer.headers["content-type"] == "application/json"
    assert small.get("/rates", model=HOSTILE)["rows"][0]["total"] == 1


def test_a_store_that_is_served_without_text_gives_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALLGAUGE_TEXTS", "no")
    publish(tmp_path, small_tables())
    client = make_client(SharedStore(tmp_path))
    call = client.get("/calls/c41").json()["call"]
    assert (call["outcome"], call["raw_arguments"], call["result_text"]) == ("failed", None, None)
    assert client.get("/calls", params={"limit": 1}).json()["rows"][0]["preview"] == ""
    assert (
        client.get("/metrics/testset_calls", params={"calls": "c41"}).json()["rows"][0]["raw_arguments"]
        is None
    )
    answer = client.get("/sql", params={"query": "SELECT count(raw_arguments) AS n FROM tool_calls"}).json()
    assert answer["rows"] == [{"n": 0}]


def test_the_nights_stand_beside_the_loads(tmp_path: Path) -> None:
    publish(tmp_path, small_tables())
    nights = NightRecords(tmp_path)
    nights.begin_step(date(2026, 11, 20), "load", 1)
    nights.end_step(date(2026, 11, 20), "load", "done", {})
    answer = make_client(SharedStore(tmp_path)).get("/loads").json()
    (night,) = answer["nights"]
    assert (night["night"], night["step"], night["outcome"]) == ("2026-11-20", "load", "done")
    assert answer["rows"][0]["run_id"] == 1


@pytest.mark.parametrize("path", ["/loads", "/model-choices", "/public-rates"])
def test_an_answer_without_the_teams_memory_names_no_file(tmp_path: Path, path: str) -> None:
    publish(tmp_path, small_tables())
    MemoryFile(tmp_path).path.write_text("not a database")
    answer = problem(make_client(SharedStore(tmp_path)), path)
    assert (answer["status"], str(tmp_path) in answer["detail"]) == (503, False)


def test_a_store_that_is_not_there_or_moves_on_is_told_and_followed(tmp_path: Path) -> None:
    client = make_client(SharedStore(tmp_path / "store"))
    answer = problem(client, "/rates")
    assert (answer["status"], "callgauge ingest" in answer["detail"]) == (503, True)
    assert str(tmp_path) not in answer["detail"]
    first = publish(tmp_path / "store", small_tables())
    listed = client.get("/calls", params={"limit": 10}).json()
    assert (listed["generation"], listed["found"]) == ("gen-000001", 44)
    more = [a_call(number) for number in range(50)]
    publish(tmp_path / "store", small_tables() | {"tool_calls": more}, number=2)
    first.unlink()
    assert client.get("/calls").json()["found"] == 50
    assert problem(client, "/calls", cursor=listed["next_cursor"])["status"] == 409
    # The store was deleted and built again. The new file has the same name, but the API must give the new
    # numbers.
    page = open_generation(tmp_path / "store" / "gen-000002.duckdb", texts=True)
    shutil.rmtree(tmp_path / "store")
    publish(tmp_path / "store", small_tables(), number=2)
    assert problem(client, "/calls")["status"] == 503
    page.close()
    assert client.get("/calls").json()["found"] == 44


def slow_question(store: StoreAccess) -> Any:
    return store.connection.cursor().execute(SLOW).fetchall()


def ask(store: SharedStore, left: Callable[[], Awaitable[None]] | None = None) -> Any:
    return run(store.answer(slow_question, left))


def test_a_question_that_takes_too_long_is_interrupted(small: Api) -> None:
    store = SharedStore(small.store.folder, seconds=0.1)
    with pytest.raises(ProblemError, match=r"Stopped after 0\.1 seconds") as refused:
        ask(store)
    assert refused.value.status == 504
    assert not store._opened, "the generation is closed again"


def test_a_question_whose_client_has_left_is_interrupted(small: Api) -> None:
    async def leave() -> None:
        await asyncio.sleep(0.05)

    store = SharedStore(small.store.folder, seconds=600)
    with pytest.raises(ProblemError):
        ask(store, leave)
    assert not store._opened


def test_a_question_ends_with_its_server(small: Api) -> None:
    begun = threading.Event()

    def begin(store: StoreAccess) -> Any:
        cursor = store.connection.cursor()
        begun.set()
        return cursor.execute(SLOW).fetchall()

    async def end() -> None:
        question = asyncio.create_task(SharedStore(small.store.folder, seconds=600).answer(begin))
        await asyncio.to_thread(begun.wait, 60)
        question.cancel()
        with pytest.raises(asyncio.CancelledError):
            await question

    run(end())


def test_only_so_many_questions_wait(small: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_access, "AT_ONCE", 1)
    monkeypatch.setattr(store_access, "WAITING", 1)
    store = SharedStore(small.store.folder)
    begun, go_on = threading.Event(), threading.Event()
    most = 0

    def wait(_: StoreAccess) -> str:
        nonlocal most
        most += 1
        begun.set()
        assert go_on.wait(60)
        most -= 1
        return "done"

    async def ask_three() -> list[Any]:
        questions = [asyncio.create_task(store.answer(wait)) for _ in range(2)]
        await asyncio.to_thread(begun.wait, 60)
        with pytest.raises(ProblemError, match="waiting already") as refused:
            await store.answer(wait)
        assert refused.value.status == 503
        assert most == 1
        go_on.set()
        return await asyncio.gather(*questions)

    assert run(ask_three()) == ["done", "done"]


def test_a_large_answer_is_cut_and_says_so(small: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MOST_ROWS", dict.fromkeys(tables.MOST_ROWS, 10))
    parameters = {"limit": 40, "offset": 0}
    answer = small.client().get("/metrics/calls", params=parameters)
    assert (len(answer.json()["rows"]), answer.json()["truncated"]) == (10, True)
    assert (answer.headers["callgauge-rows"], answer.headers["callgauge-truncated"]) == ("10", "true")
    arrow = small.client().get("/metrics/calls", params={**parameters, "format": "arrow"})
    assert arrow.headers["callgauge-truncated"] == "true"
    monkeypatch.setattr(tables, "MOST_BYTES", 100)
    assert problem(small.client(), "/metrics/calls", **parameters)["status"] == 413


def test_what_breaks_within_is_told_without_its_insides(small: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: StoreAccess) -> str:
        raise RuntimeError("a path of this machine: /home/ada")

    monkeypatch.setattr(StoreAccess, "generation", property(fail))
    client = small.client()
    answer = TestClient(client.app, headers=dict(client.headers), raise_server_exceptions=False).get("/rates")
    assert answer.status_code == 500
    assert "ada" not in answer.text


def test_integers_and_texts_that_json_cannot_hold_are_told_as_texts() -> None:
    value = json.loads(tables.write_json({"big": 2**80, "half": "\ud800", "list": [float("nan"), 1]}))
    assert value == {"big": str(2**80), "half": "\\ud800", "list": [None, 1]}


def test_the_document_names_every_route_and_its_parameters() -> None:
    document = make_document()
    application = make_application(SharedStore(None))
    declared_routes = [route for route in application.routes if isinstance(route, Route)]
    routes = {
        BASE + route.path.replace(":path", "") for route in declared_routes if "{name}" not in route.path
    }
    assert set(document["paths"]) == routes | {f"{BASE}/metrics/{name}" for name in metrics()}
    for question in QUESTIONS.values():
        parameters = document["paths"][BASE + question.path]["get"]["parameters"]
        named = {parameter["name"] for parameter in parameters} - {"format"}
        assert named == {parameter.name for parameter in question.parameters}
