"""Runs a small OpenID provider on this machine."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

from joserfc import jwk, jwt

CLIENT, SECRET = "callgauge", "the client's own secret"


@dataclass(slots=True)
class Issuer:
    """The configuration and the state of the provider.

    `claims` are added to each id token. A claim with the value None is removed. `key` signs the tokens, and
    `published` are the keys that the provider publishes. `metadata` overrides the configuration. `asked` has
    the parameters of each request that exchanged a code. `make_token` makes the response to such a request
    from the claims. `answers` maps URL paths to unusual responses.
    """

    url: str = ""
    claims: dict[str, Any] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    key: Any = None
    algorithm: str = "RS256"
    published: list[Any] = field(default_factory=list)
    asked: list[dict[str, str]] = field(default_factory=list)
    make_token: Callable[[dict[str, Any]], Any] | None = None
    answers: dict[str, Callable[[BaseHTTPRequestHandler], None]] = field(default_factory=dict)
    _begun: dict[str, dict[str, str]] = field(default_factory=dict)

    def authorize(self, address: str) -> str:
        """Sign in as the person with this e-mail address. Return the address of the redirect."""
        parts = urlsplit(address)
        query_fields = dict(parse_qsl(parts.query))
        assert parts.path == "/authorize"
        assert query_fields["client_id"] == CLIENT
        assert query_fields["code_challenge_method"] == "S256"
        code = f"code-{len(self._begun)}"
        self._begun[code] = query_fields
        return f"{query_fields['redirect_uri']}?{urlencode({'code': code, 'state': query_fields['state']})}"

    def answer(self, path: str, body: Mapping[str, str]) -> dict[str, Any] | None:
        """Return the response to a request. Return None if there is no such route."""
        if path == "/.well-known/openid-configuration":
            return {
                "issuer": self.url,
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
                "jwks_uri": f"{self.url}/keys",
                "id_token_signing_alg_values_supported": ["RS256", "HS256", "none"],
            } | self.metadata
        if path == "/keys":
            return {"keys": [key.as_dict(private=False) for key in self.published]}
        if path == "/token":
            return self._exchange(dict(body))
        return None

    def _exchange(self, body: dict[str, str]) -> dict[str, Any] | None:
        self.asked.append(body)
        begun = self._begun.pop(body["code"], None)
        if begun is None:
            return None
        digest = hashlib.sha256(body["code_verifier"].encode()).digest()
        assert base64.urlsafe_b64encode(digest).decode().rstrip("=") == begun["code_challenge"]
        now = int(time.time())
        usual = {
            "iss": self.url,
            "aud": CLIENT,
            "sub": "1",
            "iat": now,
            "exp": now + 300,
            "nonce": begun["nonce"],
        }
        claims = {name: value for name, value in (usual | self.claims).items() if value is not None}
        if self.make_token is not None:
            return {"access_token": "unused", "token_type": "Bearer", "id_token": self.make_token(claims)}
        header = {"alg": self.algorithm, "kid": self.key.kid} if self.key.kid else {"alg": self.algorithm}
        token = jwt.encode(header, claims, self.key, algorithms=[self.algorithm])
        return {"access_token": "unused", "token_type": "Bearer", "id_token": token}


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self._answer({})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        self._answer({name: values[0] for name, values in parse_qs(body).items()})

    def _answer(self, body: Mapping[str, str]) -> None:
        issuer: Issuer = self.server.issuer  # type: ignore[attr-defined]
        path = urlsplit(self.path).path
        if path in issuer.answers:
            with suppress(ConnectionError):  # the client may have closed the connection
                issuer.answers[path](self)
            return
        reply = issuer.answer(path, body)
        data = json.dumps({"error": "invalid_grant"} if reply is None else reply).encode()
        self.send_response(400 if reply is None else 200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


def make_key(name: str) -> Any:
    return jwk.RSAKey.generate_key(2048, {"kid": name, "use": "sig"}, auto_kid=False)


@contextmanager
def running_issuer(key: Any) -> Iterator[Issuer]:
    """Run a provider whose tokens are signed with `key`."""
    issuer = Issuer(key=key, published=[key])
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.issuer = issuer  # type: ignore[attr-defined]
    issuer.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield issuer
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
