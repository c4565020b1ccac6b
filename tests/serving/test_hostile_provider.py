"""Tests that a hostile identity provider cannot sign in somebody else, block the server, or learn secrets."""

from __future__ import annotations

import base64
import gzip
import hashlib
import hmac
import html
import json
import time
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from authlib.integrations.starlette_client import StarletteOAuth2App
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding
from joserfc import jwk
from msgspec.structs import replace

from callgauge.serving.sign_in import oidc
from tests.serving.conftest import ADDRESS, DATA, Site
from tests.serving.oidc_issuer import CLIENT, Issuer, make_key
from tests.serving.test_oidc import ANN, begin, refuse, sign_in

CONFIGURATION, KEYS, TOKEN = "/.well-known/openid-configuration", "/keys", "/token"
KELVIN_SIGN = "\N{KELVIN SIGN}"
OTHER = make_key("other")
CRITICAL = {"kid": "first", "x": 1, "b64": False}


def encode(part: object) -> str:
    data = part if isinstance(part, bytes) else json.dumps(part).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def sign(key: Any, header: Mapping[str, Any], claims: object) -> str:
    """Return a signed token with any header, which no library would write."""
    text = f"{encode({'alg': 'RS256'} | dict(header))}.{encode(claims)}"
    return f"{text}.{encode(key.private_key.sign(text.encode(), padding.PKCS1v15(), hashes.SHA256()))}"


def sign_with_public_key(key: Any, claims: object) -> str:
    text = f"{encode({'alg': 'HS256', 'kid': 'first'})}.{encode(claims)}"
    return f"{text}.{encode(hmac.new(key.as_pem(private=False), text.encode(), hashlib.sha256).digest())}"


def sign_nothing(algorithm: str, signature: bytes = b"") -> Callable[[Any, Any], str]:
    return lambda _, claims: (
        f"{encode({'alg': algorithm, 'kid': 'first'})}.{encode(claims)}.{encode(signature)}"
    )


def with_header(**header: Any) -> Callable[[Any, Any], str]:
    """Return a function that makes tokens and signs them with another key."""
    return lambda _, claims: sign(OTHER, header, claims)


TOKENS: dict[str, Callable[[Any, Any], Any]] = {
    "kid is a path": with_header(kid="../../../dev/null"),
    "no signature": sign_nothing("none"),
    "signed with the public key": sign_with_public_key,
    "no signature, other spelling": sign_nothing("nOnE"),
    "a key of another type": sign_nothing("ES256", bytes(64)),
    "kid is SQL": with_header(kid="' OR 1=1 --"),
    "kid is an address": with_header(kid="http://127.0.0.1:9/keys"),
    "kid is empty": with_header(kid=""),
    "kid is null": with_header(kid=None),
    "kid is a list": with_header(kid=["first"]),
    "kid is long": with_header(kid="first" * 20_000),
    "kid is missing": with_header(),
    "the key is in the token": with_header(kid="first", jwk=OTHER.as_dict(private=False)),
    "the token names its keys": with_header(kid="first", jku="http://127.0.0.1:9/keys"),
    "the token names its certificate": with_header(kid="first", x5u="http://127.0.0.1:9/keys"),
    "an unknown critical field": lambda key, claims: sign(key, CRITICAL | {"crit": ["x"]}, claims),
    "an unencoded payload": lambda key, claims: sign(key, CRITICAL | {"crit": ["b64"]}, claims),
    "claims are a list": lambda key, _: sign(key, {"kid": "first"}, [1]),
    "claims are null": lambda key, _: sign(key, {"kid": "first"}, None),
    "the token is a number": lambda *_: 5,
    "the token is null": lambda *_: None,
    "the token is encrypted": lambda *_: "a.b.c.d.e",
}  # fmt: skip


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("case", TOKENS)
def test_a_forged_token_lets_nobody_in(oidc_site: Site, issuer: Issuer, case: str) -> None:
    issuer.claims = ANN
    issuer.metadata = {"id_token_signing_alg_values_supported": ["RS256", "ES256", "HS256", "none"]}
    issuer.make_token = lambda claims: TOKENS[case](issuer.key, claims)
    refuse(oidc_site, issuer, "sign_in_refused")


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(
    "claims",
    [
        {"email": f"{KELVIN_SIGN}ate@example.com"},
        {"email": "eve@else.test", "groups": {"chiefs": True}},
        {"email": "eve@else.test", "groups": 5},
        {"email": f"eve@else.test{KELVIN_SIGN}example.com"},
        {"email": "ann@\N{FULLWIDTH LATIN SMALL LETTER E}xample.com"},
        {"email": "ann@example\N{IDEOGRAPHIC FULL STOP}com"},
        {"email": "ann\N{FULLWIDTH COMMERCIAL AT}example.com"},
        {"email": "ann@example.com\N{ZERO WIDTH SPACE}"},
        {"email": "ann@\N{CYRILLIC SMALL LETTER IE}xample.com"},
        {"email": "@example.com"},
        {"email": "ann@example.com\n"},
        {"email": "eve ann@example.com"},
        {"email": "x" * 400 + "@example.com"},
        {"email": ["ann@example.com"]},
        {"email_verified": "false"},
        {"email_verified": {"value": True}},
        {"email_verified": 1},
        {"aud": {CLIENT: 1}},
        {"aud": [[CLIENT]]},
        {"aud": [CLIENT, "another"], "azp": [CLIENT]},
        {"exp": "9999999999"},
        {"exp": True},
        {"email": "eve@else.test", "groups": [["chiefs"], "\N{FULLWIDTH LATIN SMALL LETTER C}hiefs"]},
    ],
    ids=lambda claims: ascii(claims)[:60],
)
def test_claims_that_only_look_like_allowed_claims_let_nobody_in(
    oidc_site: Site, issuer: Issuer, claims: dict[str, Any]
) -> None:
    issuer.claims = ANN | claims
    refuse(oidc_site, issuer, "sign_in_refused")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("claim", "seconds", "status"),
    [
        ("exp", -55, 303),
        ("exp", -65, 403),
        ("iat", 55, 303),
        ("iat", 65, 403),
        ("nbf", 55, 303),
        ("nbf", 65, 403),
    ],
)
def test_two_clocks_may_differ_by_a_minute(
    oidc_site: Site, issuer: Issuer, claim: str, seconds: int, status: int
) -> None:
    issuer.claims = ANN | {claim: int(time.time()) + seconds}
    assert sign_in(oidc_site.browser(), issuer).status_code == status


def test_the_keys_are_those_that_the_provider_publishes_now(oidc_site: Site, issuer: Issuer) -> None:
    issuer.claims = ANN
    assert sign_in(oidc_site.browser(), issuer).status_code == 303
    issuer.published = [OTHER]
    # the provider withdrew the first key, but still signs with it
    refuse(oidc_site, issuer, "invalid_key_id")
    issuer.key = jwk.RSAKey.import_key(OTHER.as_dict(private=True) | {"kid": "first"})
    issuer.published = [issuer.key]
    # the provider uses another key that has the same name
    assert sign_in(oidc_site.browser(), issuer).status_code == 303


def test_the_configuration_sets_no_option_of_our_requests(oidc_site: Site, issuer: Issuer) -> None:
    issuer.claims = ANN
    issuer.metadata = {
        "proxy": "http://127.0.0.1:9",
        "verify": False,
        "timeout": 0.000001,
        "client_id": "another",
        "code_challenge_method": "plain",
        "scope": "profile",
        "follow_redirects": True,
        "jwks": {"keys": [OTHER.as_dict(private=False)]},
    }
    assert sign_in(oidc_site.browser(), issuer).status_code == 303
    issuer.make_token = lambda claims: sign(OTHER, {"kid": "other"}, claims)
    refuse(oidc_site, issuer, "invalid_key_id")


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("path", [TOKEN, KEYS, CONFIGURATION])
def test_no_redirect_is_followed(oidc_site: Site, issuer: Issuer, path: str) -> None:
    followed: list[str] = []

    def redirect(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(307)
        handler.send_header("location", f"{issuer.url}/elsewhere")
        handler.send_header("content-length", "0")
        handler.end_headers()

    issuer.claims, issuer.metadata = ANN, {"follow_redirects": True}
    issuer.answers = {path: redirect, "/elsewhere": lambda handler: followed.append(handler.command)}
    assert try_sign_in(oidc_site, issuer) == 403
    assert not followed


@pytest.mark.parametrize("address", ["http://127.0.0.1:8501/token", "https:///token", "file:///etc/passwd"])
def test_a_provider_elsewhere_leads_to_no_port_of_this_machine(
    oidc_site: Site, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def load(_: object) -> dict[str, Any]:
        endpoints = dict.fromkeys(("authorization_endpoint", "jwks_uri"), "https://login.example.com/x")
        return {"issuer": "https://login.example.com", "token_endpoint": address, "_loaded_at": 0} | endpoints

    monkeypatch.setattr(StarletteOAuth2App, "load_server_metadata", load)
    site = Site(replace(oidc_site.settings, issuer="https://login.example.com"), oidc_site.folder)
    answer = site.browser().get("/sign-in/oidc")
    assert (answer.status_code, "token_endpoint is not an https address" in html.unescape(answer.text)) == (
        403,
        True,
    )


def long_answer(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    for _ in range(100):
        handler.wfile.write(b" " * 1_000_000)


def packed_answer(handler: BaseHTTPRequestHandler) -> None:
    body = gzip.compress(b'{"keys": [], "access_token": "' + b"x" * 50_000_000 + b'"}')
    handler.send_response(200)
    handler.send_header("content-encoding", "gzip")
    handler.send_header("content-length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def slow_answer(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    for _ in range(50):
        handler.wfile.write(b" ")
        time.sleep(0.1)


def slow_header(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
    for _ in range(50):
        handler.wfile.write(b"x: y\r\n")
        time.sleep(0.1)


def deep_answer(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    handler.wfile.write(b"[" * 200_000)


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("answer", [slow_answer, long_answer, packed_answer, slow_header, deep_answer])
@pytest.mark.parametrize("path", [KEYS, TOKEN, CONFIGURATION])
def test_an_answer_without_end_is_not_waited_for(
    oidc_site: Site,
    issuer: Issuer,
    path: str,
    answer: Callable[[BaseHTTPRequestHandler], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(oidc, "_MOST_SECONDS", 0.5)
    issuer.claims, issuer.answers = ANN, {path: answer}
    started = time.monotonic()
    assert try_sign_in(oidc_site, issuer) == 403
    assert time.monotonic() - started < 4
    issuer.answers = {}
    monkeypatch.undo()
    monkeypatch.setenv("CALLGAUGE_CLIENT_SECRET", "x")
    assert sign_in(oidc_site.browser(), issuer).status_code == 303  # the provider works normally again


def try_sign_in(site: Site, issuer: Issuer) -> int:
    """Try to sign in, and return the status of the last response. The attempt may end before the provider's
    page.
    """
    browser = site.browser()
    answer = browser.get("/sign-in/oidc")
    if answer.status_code == 303:
        answer = browser.get(issuer.authorize(answer.headers["location"]))
    assert DATA not in browser.get("/").text
    return answer.status_code


def test_a_link_to_the_callback_shows_no_text_of_its_author(oidc_site: Site) -> None:
    browser = oidc_site.browser()
    begin(browser)
    answer = browser.get(f"{ADDRESS}/sign-in/oidc/callback?error=Your+account+is+locked.+Call+555&state=x")
    assert "was not accepted (invalid)" in answer.text
    assert "555" not in answer.text + oidc_site.log()
