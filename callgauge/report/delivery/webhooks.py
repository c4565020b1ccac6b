"""Posts the report to a webhook.

The address is a secret, so no message and no exception contains it.
"""

from __future__ import annotations

import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from http.client import HTTPException
from typing import Any
from urllib.parse import urlsplit

from callgauge.analysis import wording
from callgauge.report.content.morning_report import MorningReport
from callgauge.report.delivery.attempts import SendError
from callgauge.report.formats.discord import make_discord_message
from callgauge.report.formats.slack import make_slack_message
from callgauge.report.formats.teams import make_teams_message

TIMEOUT = 15.0
"""Timeout in seconds for the connection and for each read."""
_MOST_BYTES = 2_000  # maximum number of bytes read from a response
_REFUSED_FOR_NOW = frozenset((408, 425, 429, 500, 503))
# status codes after which the server behind the gateway may have received the request
_LOST = frozenset((502, 504))

MESSAGES: Mapping[str, Callable[[MorningReport], dict[str, Any]]] = {
    "slack": make_slack_message,
    "teams": make_teams_message,
    "discord": make_discord_message,
    "json": MorningReport.to_data,
}
"""Builds the message for each kind of webhook."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Rejects redirects, which could send the report to another host."""

    def redirect_request(self, *_: Any) -> None:
        return None


def post_message(address: str, message: Mapping[str, Any]) -> str:
    """Send a message to a webhook and return the status. Raises SendError.

    Uses the proxies that the environment configures. After status 429 and other temporary errors, the caller
    may retry.
    """
    _check_address(address)
    body = json.dumps(message, ensure_ascii=False).encode("utf-8", "replace")
    headers = {"Content-Type": "application/json; charset=utf-8", "User-Agent": "callgauge"}
    opener = urllib.request.build_opener(_NoRedirects)
    try:
        request = urllib.request.Request(address, data=body, headers=headers, method="POST")  # noqa: S310 - checked
        with opener.open(request, timeout=TIMEOUT) as answer:
            return f"answered {answer.status}"
    except urllib.error.HTTPError as refused:
        with refused:
            raise _describe_refusal(refused, address) from None
    # urllib raises this error only before the whole request was sent.
    except urllib.error.URLError as problem:
        is_for_good = isinstance(problem.reason, ssl.SSLCertVerificationError)
        raise SendError(f"not reached: {_describe(problem.reason)}", may_retry=not is_for_good) from None
    except (OSError, HTTPException) as problem:
        raise SendError(f"sent, but no answer came: {_describe(problem)}", is_lost=True) from None
    except ValueError:
        raise SendError("its address is invalid; it needs http:// or https:// and a host") from None


def _check_address(address: str) -> None:
    try:
        parts = urlsplit(address)
        is_known = parts.scheme in ("http", "https") and bool(parts.hostname) and address.isprintable()
    except ValueError:
        is_known = False
    if not is_known or " " in address:
        raise SendError("its address is invalid; it needs http:// or https:// and a host")


def _describe_refusal(refused: urllib.error.HTTPError, address: str) -> SendError:
    from callgauge.gateway.retry_after import (
        read_retry_after,  # imported here and not at the start, because the import takes 0.2 seconds
    )

    if 300 <= refused.code < 400:
        return SendError(f"answered {refused.code}: it moved; name its new address")
    try:
        reply = refused.read(_MOST_BYTES).decode("utf-8", "replace")
    except (OSError, HTTPException):
        reply = ""
    parts = urlsplit(address)
    secrets = {address, f"{parts.path}?{parts.query}", parts.path, parts.query, *parts.path.split("/")}
    for secret in sorted(secrets, key=len, reverse=True):
        reply = reply.replace(secret, "…") if len(secret) > 3 else reply
    words = f"answered {refused.code}: {wording.one_line(reply, 120)}".rstrip(": ")
    return SendError(
        words,
        is_lost=refused.code in _LOST,
        may_retry=refused.code in _REFUSED_FOR_NOW,
        wait=read_retry_after(refused.headers.get("Retry-After")),
    )


def _describe(problem: object) -> str:
    """Return the operating system's error message.

    The exception's own message may contain the request.
    """
    if isinstance(problem, TimeoutError):
        return "timed out"
    if isinstance(problem, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted: {problem.verify_message}"
    if isinstance(problem, OSError) and problem.strerror:
        return problem.strerror
    return type(problem).__name__
