"""Requests a page over the websocket, as a browser does, and collects everything that the server sends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

LONGEST_WAIT = 90.0  # seconds; only a broken server reaches this limit


@dataclass(slots=True)
class PageTraffic:
    """The bytes and messages that arrived over the websocket while a page was drawn."""

    data: bytes = b""
    messages: list[ForwardMsg] = field(default_factory=list)

    def find_page_names(self) -> dict[str, str]:
        """Return a dictionary that maps the name of each page to the hash of its script."""
        return {
            page.url_pathname: page.page_script_hash
            for message in self.messages
            if message.WhichOneof("type") == "navigation"
            for page in message.navigation.app_pages
        }


def open_socket(
    url: str, headers: Mapping[str, str] | None = None, protocols: str = "streamlit"
) -> ClientConnection:
    """Open the websocket of a dashboard as a page does. `protocols` may contain the id of an old session."""
    return connect(
        f"{url.replace('http:', 'ws:')}/_stcore/stream",
        additional_headers=dict(headers or {}),
        origin=Origin(url),
        subprotocols=[Subprotocol(name) for name in protocols.split(", ")],
        max_size=None,
        open_timeout=LONGEST_WAIT,
        proxy=None,
    )


def run_page(socket: ClientConnection, name: str = "", query: str = "", script: str = "") -> PageTraffic:
    """Request a page by name and query. Read all messages until the page's script ends."""
    request = BackMsg()
    request.rerun_script.query_string = query
    request.rerun_script.page_name = name
    request.rerun_script.page_script_hash = script
    request.rerun_script.context_info.url = f"http://127.0.0.1/{name}"
    socket.send(request.SerializeToString())
    traffic = PageTraffic()
    while True:
        data = socket.recv(timeout=LONGEST_WAIT)
        assert isinstance(data, bytes)
        message = ForwardMsg()
        message.ParseFromString(data)
        traffic.data += data
        traffic.messages.append(message)
        if message.WhichOneof("type") == "script_finished":
            return traffic
