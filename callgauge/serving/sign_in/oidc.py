"""Sign-in with OpenID Connect: the authorization code flow with PKCE, state and nonce. Uses Authlib.

The server stores the state of each sign-in under a random id. Only the cookie of the browser that signs in
contains this id. A state can be used only once.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import time
import unicodedata
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.types import Scope

from callgauge.serving.settings import is_loopback
from callgauge.serving.sign_in.admission import Identity

if TYPE_CHECKING:
    from authlib.integrations.starlette_client import StarletteOAuth2App

MINUTES = 10
"""The time in minutes that a sign-in at the provider may take."""
_MOST_PENDING = 1_000
_LEEWAY = 60  # seconds by which the clocks of provider and server may differ
_MOST_SECONDS = 20.0  # limit for all requests of one step, even if the provider sends one byte per second
_LONGEST_ADDRESS = 320  # maximum number of characters in an e-mail address
_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")
_ALGORITHM_LIST = "id_token_signing_alg_values_supported"
_ERROR_CODE = re.compile(r"[a-z_]{1,40}")
# Only the provider can create these signatures. `none` and algorithms with a shared secret are excluded.
_ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")


class ProviderRefusedError(Exception):
    """Raised when the provider's answer is not accepted; the message is a sentence for the user."""


@dataclass(frozen=True, slots=True)
class _Pending:
    next: str
    until: float
    session: dict[str, Any] = field(default_factory=dict)


class OidcProvider:
    """An OpenID provider. `issuer` is its address. The configuration is published below this address."""

    def __init__(
        self,
        issuer: str,
        client_id: str,
        client_secret: str | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._issuer = issuer
        self._client_id = client_id
        self._client_secret = client_secret
        self._clock = clock
        self._pending: OrderedDict[str, _Pending] = OrderedDict()
        self._made: StarletteOAuth2App | None = None

    async def begin(self, scope: Scope, back: str, then: str) -> tuple[str, str]:
        """Return the provider's address for the redirect, and the content of the cookie for this sign-in.

        `back` is our address to which the provider sends its response. `then` is the page to open after the
        sign-in. Raises ProviderRefusedError.
        """
        pending = _Pending(then, self._clock() + MINUTES * 60)
        with _Explained():
            async with asyncio.timeout(_MOST_SECONDS):
                client = await self._client()
            answer = await client.authorize_redirect(Request({**scope, "session": pending.session}), back)
        cookie = secrets.token_urlsafe(32)
        self._pending[cookie] = pending
        while len(self._pending) > _MOST_PENDING:
            self._pending.popitem(last=False)
        return answer.headers["location"], cookie

    async def finish(self, scope: Scope, cookie: str | None) -> tuple[Identity, str]:
        """Return the person whom the provider confirms, and the page to open. Raises ProviderRefusedError."""
        pending = self._pending.pop(cookie or "", None)
        if pending is None or pending.until < self._clock():
            raise ProviderRefusedError("This sign-in is over already, took too long, or began elsewhere.")
        with _Explained():
            async with asyncio.timeout(_MOST_SECONDS):
                client = await self._client()
                client.server_metadata.pop("jwks", None)  # load the keys again: a key may be new or withdrawn
                token = await client.authorize_access_token(
                    Request({**scope, "session": pending.session}),
                    leeway=_LEEWAY,
                    claims_options={
                        "iss": {"essential": True, "value": self._issuer},
                        "aud": {"essential": True, "value": self._client_id},
                    },
                )
        return _read_claims(token.get("userinfo")), pending.next

    async def _client(self) -> StarletteOAuth2App:
        if self._made is None:
            from authlib.integrations.starlette_client import OAuth

            from callgauge.serving.sign_in.limited_answers import limit_answer

            made: StarletteOAuth2App = OAuth().register(
                "provider",
                client_id=self._client_id,
                client_secret=self._client_secret,
                server_metadata_url=f"{self._issuer.rstrip('/')}/.well-known/openid-configuration",
                client_kwargs={
                    "scope": "openid email profile",
                    "code_challenge_method": "S256",
                    "headers": {"accept-encoding": "identity"},
                    "event_hooks": {"response": [limit_answer]},
                },
            )
            made.server_metadata = self._check_metadata(await made.load_server_metadata())
            self._made = made
        return self._made

    def _check_metadata(self, metadata: Mapping[str, Any]) -> dict[str, Any]:
        """Return only the fields of the provider's configuration that are used here.

        Authlib would interpret other fields as options of its HTTP client (`proxy`, `verify`,
        `follow_redirects`) or of the request (`code_challenge_method`). Raises ProviderRefusedError.
        """
        if metadata.get("issuer") != self._issuer:
            raise ProviderRefusedError("The provider names another issuer than callgauge.toml does.")
        is_local = not self._issuer.startswith("https:")
        for name in _ENDPOINTS:
            address = str(metadata.get(name))
            # The configuration of a provider elsewhere must not lead to ports of this machine.
            if not is_safe_address(address) or not (is_local or address.startswith("https:")):
                raise ProviderRefusedError(f"The provider's {name} is not an https address.")
        offered = metadata.get(_ALGORITHM_LIST) or ["RS256"]
        algorithms = [name for name in offered if name in _ALGORITHMS] or ["RS256"]
        names = ("issuer", *_ENDPOINTS, "_loaded_at")
        return {name: metadata[name] for name in names} | {_ALGORITHM_LIST: algorithms}


class _Explained:
    """Converts errors of an unreachable or invalid provider to ProviderRefusedError."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, problem: BaseException | None, _: object) -> None:
        from authlib.common.errors import AuthlibBaseError
        from httpx2 import HTTPError, InvalidURL
        from joserfc.errors import JoseError

        if isinstance(problem, (AuthlibBaseError, JoseError)):
            # Show only codes: anybody could have written a text into the address of our callback.
            error = str(getattr(problem, "error", ""))
            code = error if _ERROR_CODE.fullmatch(error) else "invalid"
            raise ProviderRefusedError(f"The provider's answer was not accepted ({code}).") from problem
        if isinstance(problem, (HTTPError, InvalidURL, OSError)):
            raise ProviderRefusedError("The provider cannot be reached just now.") from problem
        if isinstance(problem, (KeyError, TypeError, ValueError, RuntimeError, AttributeError)):
            raise ProviderRefusedError("The provider's answer could not be read.") from problem


def _read_claims(claims: Any) -> Identity:
    """Return the person in an id token. Raises ProviderRefusedError if the e-mail address is not verified."""
    if not isinstance(claims, Mapping):
        raise ProviderRefusedError("The provider sent no id token.")
    address = claims.get("email")
    name = address.lower() if isinstance(address, str) else ""
    # `lower` turns the Kelvin sign into a k: another mailbox would count as a listed person's.
    if not _is_mail_address(name) or not unicodedata.is_normalized("NFKC", str(address)):
        raise ProviderRefusedError("The identity provider sent no e-mail address.")
    if claims.get("email_verified") is not True:
        raise ProviderRefusedError("The provider has not verified this account's e-mail address.")
    groups = claims.get("groups")
    if isinstance(groups, str):
        groups = [groups]
    named = tuple(group for group in groups if isinstance(group, str)) if isinstance(groups, list) else ()
    return Identity(name, named)


def _is_mail_address(text: str) -> bool:
    local_part, _, domain = text.partition("@")
    is_complete = bool(local_part and domain) and len(text) <= _LONGEST_ADDRESS
    return is_complete and "@" not in domain and " " not in text and text.isprintable()


def is_safe_address(address: str) -> bool:
    """Return True for https addresses, and for http addresses of this machine."""
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
        return (parts.scheme == "https" and bool(host)) or (parts.scheme == "http" and is_loopback(host))
    except ValueError:
        return False
