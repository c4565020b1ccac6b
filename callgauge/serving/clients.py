"""Finds the address of the client that sent a request. Decides whether the client is a program on this
machine.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import Scope

from callgauge.serving.settings import is_loopback

# Prefixes of headers that only proxies add.
_OF_PROXIES = (
    "via", "forwarded", "x-real-ip", "x-client-ip", "x-cluster-client-ip", "x-original-for",
    "x-original-host", "true-client-ip", "cf-connecting-ip", "cdn-loop", "x-envoy-", "x-proxyuser-ip",
    "x-forwarded", "x-arr-",
)  # fmt: skip


def peer_address(scope: Scope) -> str:
    """Return the address at the other end of the connection. Return '' if the address is unknown."""
    client = scope.get("client")
    return str(client[0]) if client else ""


class ClientAddresses:
    """Finds the address of the client that sent a request.

    `proxies` contains addresses and networks of trusted proxies. Only their X-Forwarded-For headers are used.
    Raises ValueError if an item is neither an address nor a network.
    """

    def __init__(self, proxies: Sequence[str] = ()) -> None:
        self._proxies = [ipaddress.ip_network(name, strict=False) for name in proxies]

    def find(self, scope: Scope) -> str:
        """Return the client's address. If the request came through trusted proxies, read the address from
        X-Forwarded-For.
        """
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


def is_of_this_machine(scope: Scope, proxies: ClientAddresses) -> bool:
    """Return True if a program on this machine made the request for itself, not as a proxy for a client.

    A request through a proxy on this machine also comes from a loopback address. Signs of a proxy are:
    - the address of a configured proxy;
    - a Host header that names another machine;
    - an Origin or Referer header that names another host than the Host header;
    - a header that only proxies add;
    - HTTP/1.0, the default of nginx.
    """
    headers, peer = Headers(scope=scope), peer_address(scope)
    if not is_loopback(peer) or proxies.is_proxy(peer) or scope.get("http_version") == "1.0":
        return False
    if any(name.startswith(_OF_PROXIES) for name in headers):
        return False
    pages = (headers[name] for name in ("origin", "referer") if name in headers)
    return all(map(_is_of_loopback, (f"//{headers.get('host', '')}", *pages)))


def _is_of_loopback(address: str) -> bool:
    try:
        return is_loopback(urlsplit(address).hostname or "")
    except ValueError:
        return False
