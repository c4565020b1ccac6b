"""The routes of /api/v1, which check authentication and parameters, and choose the format of the response."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any

from anyio.to_thread import run_sync
from starlette.applications import Starlette
from starlette.datastructures import QueryParams
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from callgauge.api.openapi import BASE, FORMAT, make_document
from callgauge.api.questions.answers import LOG_TEXT
from callgauge.api.questions.metric_questions import ADMIN_METRICS, find_metric, read_metric_parameters
from callgauge.api.questions.problems import ProblemError, refuse_name
from callgauge.api.questions.question_list import QUESTIONS, Question
from callgauge.api.questions.store_access import SharedStore, StoreAccess
from callgauge.api.tables import (
    ARROW,
    FORMATS,
    JSON,
    PARQUET,
    TableFile,
    write_json,
    write_metric,
    write_rows,
)
from callgauge.serving.identity import NETWORK_USER, User, read_headers

_METHODS = ("GET", "HEAD")


def make_application(store: SharedStore) -> Starlette:
    """Return the ASGI application below /api/v1. The server has already authenticated each request."""
    document = write_json(make_document())

    async def openapi(request: Request) -> Response:
        find_user(request)
        return Response(document, media_type=JSON)

    async def metric(request: Request) -> Response:
        name = request.path_params["name"]
        user = find_user(request)
        query = _read_query(request.query_params)
        media_type = _choose_form(request, query, has_rows=True)
        selected = find_metric(name)
        if name in ADMIN_METRICS and not user.is_admin:
            raise ProblemError(
                403, f"The metric {name} contains the content of many calls; it needs an admin's token."
            )
        parameters = read_metric_parameters(name, query)
        head = {"metric": name, "question": selected.question, "unit": selected.unit, "log_text": LOG_TEXT}

        def write(access: StoreAccess) -> TableFile:
            head_fields = {"generation": access.generation, **head}
            return write_metric(access.connection, name, parameters, media_type, head_fields)

        return _stream(await store.answer(write, _watch(request)))

    def route(question: Question) -> Route:
        async def endpoint(request: Request) -> Response:
            user = find_user(request)
            query = _read_query(request.query_params)
            media_type = _choose_form(request, query, has_rows=question.has_rows)
            _refuse_for(user, question)
            values = question.read({**query, **{name: [text] for name, text in request.path_params.items()}})

            def write(access: StoreAccess) -> bytes | TableFile:
                answer = question.answer(access, values)
                if media_type != JSON:
                    return write_rows(answer.rows or (), media_type)
                warning = {"log_text": LOG_TEXT} if answer.has_log_text else {}
                return write_json({"generation": access.generation, **warning, **answer.to_json()})

            written = await store.answer(write, _watch(request))
            return Response(written, media_type=JSON) if isinstance(written, bytes) else _stream(written)

        path = question.path.replace("}", ":path}")  # Session ids that are file paths contain slashes.
        return Route(path, endpoint, methods=_METHODS, name=question.name)

    routes = [
        Route("/openapi.json", openapi, methods=_METHODS),
        *(route(question) for question in QUESTIONS.values()),
        Route("/metrics/{name}", metric, methods=_METHODS),
    ]
    return Starlette(
        routes=routes,
        exception_handlers={
            ProblemError: _answer_problem,
            HTTPException: _answer_refusal,
            Exception: _answer_failure,
        },
    )


def find_user(request: Request) -> User:
    """Return the user that the server authenticated. Raises ProblemError if there is no user.

    If sign-in is disabled, local requests need no token. Network requests always need a token.
    """
    user = read_headers(request.headers)
    if user is None or user == NETWORK_USER:
        raise ProblemError(
            401, "Send a token: Authorization: Bearer …; `callgauge token create NAME --store DIR` makes one."
        )
    return user


def _refuse_for(user: User, question: Question) -> None:
    if question.role == "admin" and not user.is_admin:
        raise ProblemError(403, f"{BASE}{question.path} takes an admin's token.")


def _read_query(query: QueryParams) -> dict[str, Sequence[str]]:
    return {name: query.getlist(name) for name in dict.fromkeys(query)}


def _choose_form(request: Request, query: dict[str, Sequence[str]], *, has_rows: bool) -> str:
    """Return the media type of the response, and remove the parameter `format` from the query."""
    if form := query.pop("format", None):
        wanted = FORMATS[FORMAT.read(form)]
        if wanted != JSON and not has_rows:
            raise ProblemError(406, "This answer is not a table; it is available as JSON only.")
        return wanted
    accepted = [part.split(";")[0].strip() for part in request.headers.get("accept", "*/*").split(",")]
    forms = (JSON, ARROW, PARQUET) if has_rows else (JSON,)
    for media in accepted:
        if media in forms:
            return media
        if media in ("*/*", "application/*", "text/html", "application/problem+json", ""):
            return JSON
    raise ProblemError(406, f"This answer comes as {' or '.join(forms)}.")


def _watch(request: Request) -> Callable[[], Any]:

    async def wait_until_left() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    return wait_until_left


def _stream(table: TableFile) -> Response:
    headers = {"callgauge-rows": str(table.rows), "callgauge-truncated": str(table.is_truncated).lower()}

    async def read() -> AsyncIterator[bytes]:
        chunks = table.read()
        while (chunk := await run_sync(next, chunks, b"")) != b"":
            yield chunk

    return StreamingResponse(read(), media_type=table.media_type, headers=headers)


async def _answer_problem(_: Request, problem: Exception) -> Response:
    assert isinstance(problem, ProblemError)  # noqa: S101 - Starlette's signature knows exceptions only
    return write_problem(problem)


async def _answer_refusal(request: Request, refused: Exception) -> Response:
    status = refused.status_code if isinstance(refused, HTTPException) else 500
    if status == 405:
        return write_problem(ProblemError(405, "This API only answers GET."))
    if status == 404:
        addresses = [BASE + question.path for question in QUESTIONS.values()]
        return write_problem(refuse_name("address", request.url.path, addresses, status=404))
    return write_problem(ProblemError(status, "The question cannot be answered."))


async def _answer_failure(_: Request, __: Exception) -> Response:
    """Return the response for an internal error. Only the server log has the details."""
    return write_problem(ProblemError(500, "Internal error; the server's log has the reason."))


def write_problem(problem: ProblemError) -> Response:
    headers: Mapping[str, str] = {}
    if problem.status == 401:
        headers = {"www-authenticate": 'Bearer realm="callgauge"'}
    elif problem.status == 503:
        headers = {"retry-after": "5"}
    body = write_json(problem.to_json())
    return Response(body, problem.status, headers, media_type="application/problem+json")
