"""Serves the comments of one pull request on 127.0.0.1, like the REST API of GitHub."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

REPOSITORY, NUMBER = "acme/agent", 7


@dataclass
class FakeGitHub:
    """The comments of the pull request, and the requests that the server received.

    `refuse` maps an HTTP method to the status with which the server answers. `broken` is the body of every
    answer if it is not None.
    """

    comments: list[dict[str, Any]] = field(default_factory=list)
    requests: list[tuple[str, str, str]] = field(default_factory=list)
    refuse: dict[str, int] = field(default_factory=dict)
    broken: bytes | None = None
    address: str = ""

    def add(self, body: str, kind: str = "User") -> None:
        login = "github-actions[bot]" if kind == "Bot" else "somebody"
        comment = {"id": 100 + len(self.comments), "body": body, "user": {"login": login, "type": kind}}
        self.comments.append(comment)

    def bodies(self, kind: str = "Bot") -> list[str]:
        return [comment["body"] for comment in self.comments if comment["user"]["type"] == kind]

    def variables(self, folder: Path, event: object = None) -> dict[str, str]:
        """Return the variables that a runner sets. `event` is the event of the workflow."""
        pull_request = {"pull_request": {"number": NUMBER, "head": {"sha": "0123456789abcdef"}}}
        file = folder / "event.json"
        file.write_text(json.dumps(pull_request if event is None else event))
        return {
            "GITHUB_EVENT_PATH": str(file),
            "GITHUB_API_URL": self.address,
            "GITHUB_SERVER_URL": "https://github.example.com",
            "GITHUB_REPOSITORY": REPOSITORY,
            "GITHUB_RUN_ID": "42",
        }

    def answer(self, method: str, path: str, body: str) -> tuple[int, Any]:
        if method in self.refuse:
            return self.refuse[method], {"message": "Resource not accessible by integration"}
        parts, query = urlsplit(path), parse_qs(urlsplit(path).query)
        if method == "PATCH":
            prefix, _, number = parts.path.rpartition("/")
            assert prefix == f"/repos/{REPOSITORY}/issues/comments"
            (comment,) = (each for each in self.comments if each["id"] == int(number))
            comment["body"] = json.loads(body)["body"]
            return 200, comment
        assert parts.path == f"/repos/{REPOSITORY}/issues/{NUMBER}/comments"
        if method == "POST":
            self.add(json.loads(body)["body"], "Bot")
            return 201, self.comments[-1]
        size, page = int(query["per_page"][0]), int(query["page"][0])
        return 200, self.comments[size * (page - 1) : size * page]


@contextmanager
def serve_github() -> Iterator[FakeGitHub]:
    """Yield the pull request while the server runs."""
    github = FakeGitHub()

    class Handler(BaseHTTPRequestHandler):
        def respond(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            github.requests.append((self.command, self.path, self.headers["Authorization"] or ""))
            status, data = github.answer(self.command, self.path, body)
            answer = json.dumps(data).encode() if github.broken is None else github.broken
            self.send_response(status)
            if status == 302:
                self.send_header("Location", f"{github.address}/elsewhere")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        do_GET = do_POST = do_PATCH = respond  # noqa: N815 - names of the standard library

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    github.address = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield github
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
