"""Keeps the keys of a run out of its files, also where a model, a tool or an error repeats them."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterable
from urllib.parse import quote, unquote, urlsplit

from callgauge.trials.planning.plan import EndpointPlan

HIDDEN = "[key]"
_SHORTEST = 8  # characters; shorter ones are words of placeholders (`none`, `ollama`) that logs may hold
_DEPTH = 4  # how often a text may be written as JSON within JSON


class KnownSecrets:
    """Replaces each of some values, however JSON or a URL spells it, by `[key]`."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        spelled = {spelling for value in values if len(value) >= _SHORTEST for spelling in _spellings(value)}
        self._texts = sorted(spelled, key=len, reverse=True)
        self._bytes = [text.encode("utf-8", "surrogatepass") for text in self._texts]

    def hide(self, text: str) -> str:
        """Return a text without the secrets."""
        for secret in self._texts:
            text = text.replace(secret, HIDDEN)
        return text

    def hide_bytes(self, content: bytes) -> bytes:
        """Return the content of a file without the secrets; JSON stays JSON."""
        for secret in self._bytes:
            content = content.replace(secret, HIDDEN.encode())
        return content


def secrets_of(endpoints: Iterable[EndpointPlan]) -> KnownSecrets:
    """Return the secrets of endpoints: keys from the environment, and what stands before the @ of a URL."""
    values: list[str] = []
    for endpoint in endpoints:
        if endpoint.key_variable is not None:
            values.append(os.environ.get(endpoint.key_variable, ""))
        values += _url_secrets(endpoint.url)
    return KnownSecrets(values)


def hide_credentials(url: str) -> str:
    """Return an address without user, password and query."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


def _url_secrets(url: str) -> Iterable[str]:
    user_info = urlsplit(url).netloc.rpartition("@")[0]
    if not user_info:
        return ()
    user, _, password = user_info.partition(":")
    secret = unquote(password or user)
    basic = base64.b64encode(unquote(user_info).encode()).decode()
    return (user_info, secret, basic)


def _spellings(value: str) -> Iterable[str]:
    yield quote(value, safe="")
    for is_ascii in (True, False):
        spelled = value
        for _ in range(_DEPTH):
            yield spelled
            spelled = json.dumps(spelled, ensure_ascii=is_ascii)[1:-1]
