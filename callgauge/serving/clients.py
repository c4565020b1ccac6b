"""Where a request comes from: for limits and the log, and whether it comes from this machine."""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import Scope

from callgauge.serving.settings import is_loopback

_FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip")


def peer_address(scope: Scope) -> str:
    """Return the address at the other end of the connection; empty where there is none."""
    client = scope.get("client")
    return str(client[0]) if client else ""


def client_address(scope: Scope) -> str:
    """Return the client's address: behind a proxy of this machine what that says, which is no proof."""
    peer = peer_address(scope)
    if is_loopback(peer):
        told = Headers(scope=scope).get("x-forwarded-for", "").rpartition(",")[2].strip()
        if told and len(told) <= 64 and told.isprintable():
            return told
    return peer


def is_of_this_machine(scope: Scope) -> bool:
    """Return True when a request was made on this machine, under its own name, and by no proxy for others.

    A proxy that hides for whom it asks mostly keeps the name that its client used, and a site that makes its
    own name lead here (DNS rebinding) has to.
    """
    headers = Headers(scope=scope)
    if not is_loopback(peer_address(scope)) or any(name in headers for name in _FORWARDED):
        return False
    try:
        return is_loopback(urlsplit(f"//{headers.get('host', '')}").hostname or "")
    except ValueError:
        return False
