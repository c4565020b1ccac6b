"""Provides a sign-in gate for each sign-in method. The application behind the gate returns a secret."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from callgauge.configuration.settings import SignInSettings
from callgauge.serving.identity import User, read_headers
from callgauge.serving.sign_in.gate import Gate
from callgauge.serving.sign_in.sessions import Sessions
from callgauge.serving.sign_in.setup import gate_options
from tests.serving.oidc_issuer import CLIENT, SECRET, Issuer, make_key, running_issuer

DATA = "the secret numbers"
ADDRESS = "http://gauge.test"
PASSWORD = "correct horse battery"  # noqa: S105 - of nobody
TOKEN = "a token that holds"  # noqa: S105 - of nobody


def offer_files(text: str) -> bytes:
    """Return a Streamlit message that offers one file. The label and the help text mention another file."""
    message = ForwardMsg()
    message.delta.new_element.download_button.url = "/media/abc123.csv"
    message.delta.new_element.download_button.label = f"{text} /media/typed123.csv"
    message.delta.new_element.download_button.help = "/media/typed123.csv"
    return bytes(message.SerializeToString())


async def secret_app(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "lifespan":
        return
    # If a header occurs twice, Streamlit uses the first value.
    user = read_headers({name.decode(): value.decode() for name, value in reversed(scope["headers"])})
    text = f"{DATA} for {user}"
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.send", "bytes": offer_files(text)})
        while (await receive())["type"] != "websocket.disconnect":
            await send({"type": "websocket.send", "bytes": DATA.encode()})
        return
    headers = [(b"content-type", b"text/plain")]
    if scope["path"].startswith("/media/"):
        headers.append((b"content-disposition", b'attachment; filename="calls.csv"'))
    status = 206 if any(name == b"range" for name, _ in scope["headers"]) else 200
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode()})


def find_token(text: str) -> User | None:
    return User("ci", "viewer", may_write=False) if text == TOKEN else None


class Site:
    """Creates the gate, and browsers that use the gate. `address` is the network address of a browser."""

    def __init__(self, settings: SignInSettings, folder: Path) -> None:
        self.settings, self.folder = settings, folder
        options = gate_options(settings, folder, find_token)
        self._options = options
        self.gate = Gate(secret_app, **options)

    def browser(self, client: str = "192.0.2.7", **options: Any) -> TestClient:
        return TestClient(self.gate, ADDRESS, client=(client, 50_000), follow_redirects=False, **options)

    @property
    def sessions(self) -> Sessions:
        sessions = self._options["sessions"]
        assert isinstance(sessions, Sessions)
        return sessions

    def log(self) -> str:
        return (self.folder / "access.jsonl").read_text("utf-8")


@pytest.fixture(scope="session")
def provider_key() -> Any:
    return make_key("first")


@pytest.fixture
def issuer(provider_key: Any) -> Iterator[Issuer]:
    with running_issuer(provider_key) as running:
        yield running


@pytest.fixture
def oidc_site(issuer: Issuer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    monkeypatch.setenv("CALLGAUGE_CLIENT_SECRET", SECRET)
    settings = SignInSettings(
        method="oidc",
        issuer=issuer.url,
        client_id=CLIENT,
        domains=("example.com",),
        groups=("gaugers",),
        admins=("ann@example.com",),
        admin_groups=("chiefs",),
    )
    return Site(settings, tmp_path)
