"""Starts the dashboard's server as a child process."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from callgauge.configuration.settings import ServeSettings, SignInSettings
from callgauge.serving.settings import (
    EMBEDDING_VARIABLE,
    ENDS_WITH_INPUT_VARIABLE,
    HEALTHY_HOURS_VARIABLE,
    HOSTS_VARIABLE,
    LOCAL_NAMES,
    SIGN_IN_VARIABLE,
    STORE_VARIABLE,
    TEXTS_VARIABLE,
    TRACES_VARIABLE,
    is_loopback,
    write_sign_in,
)

ENTRY = Path(__file__).resolve().parents[2] / "server.py"
STREAMLIT = Path(__file__).with_name("server_process.py")
_FRONT = Path(__file__).with_name("front_process.py")
HAS_FRONT = hasattr(socket, "send_fds")
"""False on Windows, where a front process cannot hand connections to workers."""
_SURE = 1.0  # seconds; a server whose port is in use ends within this time
_STOP_PATIENCE = 10.0  # seconds; a server needs at most 5 to stop


class ServerEndedError(Exception):
    """Raised when the server process has ended. `code` is its return code, as in `subprocess`."""

    def __init__(self, code: int) -> None:
        super().__init__(f"the server has ended with {code}")
        self.code = code


def try_port(address: str, port: int) -> int:
    """Return the port. Return a free port if the given port is 0. Raises OSError if no server can listen on
    the port.
    """
    with bind_port(address, port) as trial:
        return int(trial.getsockname()[1])


def bind_port(address: str, port: int) -> socket.socket:
    """Return a socket that is bound to the port. Port 0 means any free port. Raises OSError."""
    bound = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
    try:
        if os.name == "posix":  # on Windows this option would let two servers share a port
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if bound.family == socket.AF_INET6:
                bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)  # `::` then accepts IPv4, too
        bound.bind((address, port))
    except OSError:
        bound.close()
        raise
    return bound


def write_address(settings: ServeSettings) -> str:
    """Return the URL of the dashboard."""
    host = f"[{settings.address}]" if ":" in settings.address else settings.address
    return f"http://{host}:{settings.port}"


def make_server_command(
    store: Path, settings: ServeSettings, signing: SignInSettings, *, is_worker: bool = False
) -> tuple[list[str], dict[str, str]]:
    """Return the command that serves a store, and the environment of the server process.

    A worker receives its connections from the front process and needs no port of its own.
    """
    port, address = (0, "127.0.0.1") if is_worker else (settings.port, settings.address)
    options = ["--server.port", str(port), "--server.address", address]
    names = [*LOCAL_NAMES, *settings.hosts]
    if not is_loopback(settings.address):
        names.append(settings.address)
    for name in names:
        options += ["--server.allowedHosts", name]  # a request with another name could be DNS rebinding
    command = [sys.executable, "-P", str(STREAMLIT), "run", str(ENTRY), *options]
    environment = {
        **os.environ,
        STORE_VARIABLE: str(store),
        HOSTS_VARIABLE: ",".join(names),
        EMBEDDING_VARIABLE: " ".join(settings.embed_in),
        SIGN_IN_VARIABLE: write_sign_in(signing),
        TEXTS_VARIABLE: "yes" if settings.texts else "no",
        HEALTHY_HOURS_VARIABLE: str(settings.healthy_hours),
        TRACES_VARIABLE: str(settings.traces.resolve()) if settings.traces else "",
        # Uvicorn must not replace the peer's address; the gate decides which proxy headers to trust.
        "FORWARDED_ALLOW_IPS": "",
    }
    return command, environment


def make_front_command(
    store: Path, settings: ServeSettings, signing: SignInSettings
) -> tuple[list[str], dict[str, str]]:
    """Return the command and the environment of a front process with workers for a store."""
    command, environment = make_server_command(store, settings, signing, is_worker=True)
    front = [sys.executable, "-P", str(_FRONT), settings.address, str(settings.port), str(settings.workers)]
    return [*front, *command], environment


class ServerProcess:
    """Runs the dashboard's server as a child process until the `with` block or this process ends."""

    def __init__(self, store: Path, settings: ServeSettings) -> None:
        self._address = settings.address, settings.port
        command, environment = make_server_command(store, settings, SignInSettings())
        self._process = subprocess.Popen(
            command,
            env={**environment, ENDS_WITH_INPUT_VARIABLE: "yes"},
            stdin=subprocess.PIPE,
            start_new_session=True,  # this process handles Ctrl-C in a terminal
        )

    def __enter__(self) -> ServerProcess:
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the server and wait until it has ended."""
        if self._process.stdin:
            self._process.stdin.close()
        try:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_STOP_PATIENCE)
        finally:
            self._process.kill()

    def wait_until_it_listens(self) -> None:
        """Wait until the server accepts connections. Raises ServerEndedError."""
        while True:
            with suppress(OSError), socket.create_connection(self._address, timeout=1):
                break
            self.pause(0.1)
        self.pause(_SURE)

    def pause(self, seconds: float) -> None:
        """Sleep. Raises ServerEndedError if the server ends during this time."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            time.sleep(min(left, 1.0))
            code = self._process.poll()
            if code is not None:
                raise ServerEndedError(code)
