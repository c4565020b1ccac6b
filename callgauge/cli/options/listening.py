"""Open the port given by the options --address and --port."""

from __future__ import annotations

import socket

from callgauge.cli import render
from callgauge.cli.render.exit_codes import ExitCode
from callgauge.serving.processes.server_child import bind_port


def open_port(address: str, port: int) -> socket.socket:
    """Return a socket that listens on a port. Exits with a message if no server can listen on the port."""
    try:
        opened = bind_port(address, port)
        opened.listen(2048)  # early connections wait until the server runs
    except OSError as error:
        render.fail(
            f"cannot listen on {address}:{port}: {error.strerror}; choose another port with --port",
            ExitCode.WRONG_USE,
        )
    return opened
