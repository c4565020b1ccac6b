"""Find out where a request comes from: for limits and the log, and whether it comes from this machine."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import Scope

from callgauge.serving.settings import is_loopback

_FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip")


def peer_address(scope: Scope) -> str:
    """Return the address at the other end of the connection, or an empty text."""
    client = scope.get("client")
    return str(client[0]) if client else ""


class ClientAddresses:
    """Finds the client of a request: the other end of the connection, or the client named by a trusted proxy.

    `proxies`: addresses and networks of the proxies whose X-Forwarded-For counts. Raises ValueError for any
    other text.
    """

    def __init__(self, proxies: Sequence[str] = ()) -> None:
        self._proxies = [ipaddress.ip_network(name, strict=False) for name in proxies]

    def find(self, scope: Scope) -> str:
        """Return the client's address: the last address in X-Forwarded-For that is not a proxy."""
        peer = peer_address(scope)
        if self.is_proxy(peer):
            for named in reversed(Headers(scope=scope).get("x-forwarded-for", "").split(",")):
                address = named.strip()
                if _read_address(address) is None:
                    break
                if not self.is_proxy(address):
                    return address
        return peer

    def is_proxy(self, address: str) -> bool:
        """Return True if the address belongs to a trusted proxy."""
        read = _read_address(address)
        return read is not None and any(read in network for network in self._proxies)


def _read_address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def is_of_this_machine(scope: Scope) -> bool:
    """Return True if a program on this machine made the request under its own name, not a proxy for others.

    A proxy that hides its client usually keeps the host name that the client used. A site that lets its own
    name point to this machine (DNS rebinding) has to keep it.
    """
    headers = Headers(scope=scope)
    if not is_loopback(peer_address(scope)) or any(name in headers for name in _FORWARDED):
        return False
    try:
        return is_loopback(urlsplit(f"//{headers.get('host', '')}").hostname or "")
    except ValueError:
        return False
