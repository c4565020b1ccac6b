"""Reads the signed-in user from a proxy's header, if the request really comes from that proxy."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.types import Scope

from callgauge.configuration.settings import SignInSettings
from callgauge.serving.clients import ClientAddresses, peer_address
from callgauge.serving.sign_in.admission import Identity

_LONGEST = 320  # maximum number of characters in an e-mail address
_MOST_GROUPS = 200


class ProxyIdentity:
    """Reads the identity from a trusted proxy's headers.

    Raises ValueError for invalid `trusted_proxies`.
    """

    def __init__(self, settings: SignInSettings) -> None:
        self._user_header = settings.user_header
        self._groups_header = settings.groups_header
        self._clients = ClientAddresses(settings.trusted_proxies)

    def read(self, scope: Scope) -> Identity | None:
        """Return the identity in the proxy's header. Return None if the header is missing or no trusted proxy
        sent the request.
        """
        if not self._clients.is_proxy(peer_address(scope)):
            return None
        headers = Headers(scope=scope)
        named = headers.getlist(self._user_header)
        if len(named) != 1:  # with two such headers, one may be forged by the client
            return None
        name = named[0].strip().lower()
        if not name or len(name) > _LONGEST or not name.isprintable():
            return None
        lines = headers.getlist(self._groups_header) if self._groups_header else []
        groups = [group.strip() for line in lines for group in line.split(",")]
        return Identity(name, tuple(group for group in groups if group)[:_MOST_GROUPS])
