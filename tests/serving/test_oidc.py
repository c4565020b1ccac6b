"""Tests sign-in with an OpenID provider."""

from __future__ import annotations

import time
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from joserfc import jwk
from starlette.testclient import TestClient

from tests.serving.conftest import ADDRESS, DATA, Site
from tests.serving.oidc_issuer import CLIENT, SECRET, Issuer, make_key

ANN = {"email": "ann@example.com", "email_verified": True}
BOB = {"email": "Bob@Example.com", "email_verified": True}
HTML = {"accept": "text/html"}


def begin(browser: TestClient, then: str = "/") -> str:
    """Start a sign-in. Return the address of the provider."""
    answer = browser.get(f"/sign-in/oidc?next={quote(then, safe='')}")
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


def sign_in(browser: TestClient, issuer: Issuer, then: str = "/") -> Any:
    return browser.get(issuer.authorize(begin(browser, then)))


def test_a_known_person_comes_in_and_goes_where_she_wanted(oidc_site: Site, issuer: Issuer) -> None:
    issuer.claims = ANN
    browser = oidc_site.browser()
    wanted = browser.get("/models?model=%C3%A4+b&days=7", headers=HTML)
    assert wanted.status_code == 303
    sign_in_page = browser.get(wanted.headers["location"])
    assert DATA not in sign_in_page.text
    then = parse_qs(urlsplit(wanted.headers["location"]).query)["next"][0]
    answer = sign_in(browser, issuer, then)
    assert answer.status_code == 303
    assert answer.headers["location"] == "/models?model=%C3%A4+b&days=7"
    cookie = next(
        cookie_header
        for cookie_header in answer.headers.get_list("set-cookie")
        if cookie_header.startswith("callgauge_session")
    )
    assert {"HttpOnly", "SameSite=lax", "Path=/", "Max-Age=43200"} <= set(cookie.split("; "))
    assert "name='ann@example.com', role='admin', may_write=True" in browser.get("/").text
    sent = issuer.asked[0]
    assert sent["redirect_uri"] == f"{ADDRESS}/sign-in/oidc/callback"
    assert '"event": "sign_in", "user": "ann@example.com", "role": "admin"' in oidc_site.log()


@pytest.mark.parametrize(
    ("claims", "role"),
    [
        (BOB, "viewer"),
        (BOB | {"groups": ["chiefs"]}, "admin"),
        ({"email": "eve@else.test", "email_verified": True, "groups": ["gaugers"]}, "viewer"),
        ({"email": "eve@else.test", "email_verified": True, "groups": "chiefs"}, "admin"),
    ],
)
def test_the_rules_say_who_is_what(
    oidc_site: Site, issuer: Issuer, claims: dict[str, Any], role: str
) -> None:
    issuer.claims = claims
    browser = oidc_site.browser()
    assert sign_in(browser, issuer).status_code == 303
    assert f"name='{claims['email'].lower()}', role='{role}'" in browser.get("/").text


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        ({"email": "ann@example.com", "email_verified": False}, "has not verified"),
        ({"email": "ann@example.com", "email_verified": "true"}, "has not verified"),
        ({"email": "ann@example.com"}, "has not verified"),
        ({"email_verified": True}, "sent no e-mail address"),
        ({"email": "ann@example.com@else.test", "email_verified": True}, "sent no e-mail address"),
        ({"email": "ann@else.test", "email_verified": True}, "not allowed"),
        ({"email": "ann@sub.example.com", "email_verified": True}, "not allowed"),
        ({"email": "ann@notexample.com", "email_verified": True}, "not allowed"),
        ({"email": "eve@else.test", "email_verified": True, "groups": ["Gaugers"]}, "not allowed"),
        (ANN | {"iss": "https://else.test"}, "invalid_claim"),
        (ANN | {"aud": "another client"}, "invalid_claim"),
        (
            ANN | {"aud": [CLIENT, "another client"]},
            "missing_claim",
        ),  # without `azp`, the token does not say for which client it was issued
        (ANN | {"azp": "another client"}, "invalid_claim"),
        (ANN | {"exp": int(time.time()) - 3600}, "expired_token"),
        (ANN | {"iat": int(time.time()) + 3600}, "invalid_claim"),
        (ANN | {"exp": None}, "missing_claim"),
        (ANN | {"nonce": "another"}, "invalid_claim"),
        (ANN | {"nonce": None}, "missing_claim"),
    ],
)
def test_whom_an_id_token_does_not_prove_stays_out(
    oidc_site: Site, issuer: Issuer, claims: dict[str, Any], reason: str
) -> None:
    issuer.claims = claims
    refuse(oidc_site, issuer, reason)


def refuse(site: Site, issuer: Issuer, reason: str) -> None:
    browser = site.browser()
    answer = sign_in(browser, issuer)
    assert answer.status_code == 403
    assert "callgauge_session" not in answer.headers.get("set-cookie", "")
    assert DATA not in browser.get("/").text
    assert "sign_in_refused" in site.log()
    assert reason in site.log()


def test_a_token_that_another_key_signed_lets_nobody_in(oidc_site: Site, issuer: Issuer) -> None:
    issuer.claims = ANN
    issuer.key = make_key("first")  # the new key has the same id as the old key
    refuse(oidc_site, issuer, "bad_signature")


def test_a_token_signed_with_what_everybody_knows_lets_nobody_in(oidc_site: Site, issuer: Issuer) -> None:
    issuer.claims, issuer.algorithm = ANN, "HS256"
    issuer.key = jwk.OctKey.import_key(SECRET)
    refuse(oidc_site, issuer, "unsupported_algorithm")


def test_a_provider_that_changes_its_key_goes_on(oidc_site: Site, issuer: Issuer) -> None:
    issuer.claims = ANN
    assert sign_in(oidc_site.browser(), issuer).status_code == 303
    issuer.key = make_key("second")
    issuer.published = [issuer.key]
    assert sign_in(oidc_site.browser(), issuer).status_code == 303


@pytest.mark.parametrize(
    "metadata", [{"issuer": "https://else.test"}, {"token_endpoint": "http://else.test/token"}]
)
def test_a_provider_that_is_another_one_is_not_asked(
    oidc_site: Site, issuer: Issuer, metadata: dict[str, str]
) -> None:
    issuer.metadata = metadata
    answer = oidc_site.browser().get("/sign-in/oidc")
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


def test_an_answer_counts_once_and_in_one_browser(oidc_site: Site, issuer: Issuer) -> None:
    issuer.claims = ANN
    browser, other = oidc_site.browser(), oidc_site.browser()
    back = issuer.authorize(begin(browser))
    # This is an attack: the attacker starts a sign-in, and makes a victim open its last address.
    assert other.get(back).status_code == 403
    begun = dict(browser.cookies)
    assert browser.get(back).status_code == 303
    assert oidc_site.browser(cookies=begun).get(back).status_code == 403
    assert browser.get(back.replace("state=", "state=x")).status_code == 403
    back = issuer.authorize(begin(other))
    assert other.get(back.replace("state=", "state=x")).status_code == 403


def test_a_code_that_the_provider_does_not_know_lets_nobody_in(oidc_site: Site, issuer: Issuer) -> None:
    browser = oidc_site.browser()
    answer = browser.get(issuer.authorize(begin(browser)).replace("code=", "code=x"))
    assert answer.status_code == 403
    assert "was not accepted (invalid_grant)" in answer.text


def test_a_provider_that_cannot_be_reached_is_said_so(oidc_site: Site, issuer: Issuer) -> None:
    issuer.metadata = {"token_endpoint": "http://127.0.0.1:9/token"}
    issuer.claims = ANN
    browser = oidc_site.browser()
    answer = browser.get(issuer.authorize(begin(browser)))
    assert answer.status_code == 403
    assert "cannot be reached just now" in answer.text
