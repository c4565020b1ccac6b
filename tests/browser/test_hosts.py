"""The server answers browsers that reach it by a name it was told, and no other website's."""

from __future__ import annotations

from http.client import HTTPConnection

import pytest

from tests.browser.conftest import Served

SWITCHING, FORBIDDEN = 101, 403


@pytest.mark.parametrize(
    ("name", "expected"), [("localhost", SWITCHING), ("127.0.0.1", SWITCHING), ("evil.example", FORBIDDEN)]
)
def test_a_page_of_another_host_name_gets_no_data(served: Served, name: str, expected: int) -> None:
    port = int(served.url.rpartition(":")[2])
    connection = HTTPConnection("127.0.0.1", port, timeout=90)
    headers = {
        "Host": f"{name}:{port}",
        "Origin": f"http://{name}:{port}",
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    }
    connection.request("GET", "/_stcore/stream", headers=headers)
    assert connection.getresponse().status == expected
    connection.close()
