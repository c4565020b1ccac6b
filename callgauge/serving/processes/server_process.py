"""Runs Streamlit's command line, as `python -m streamlit` does. Ctrl-C and SIGTERM end the process with exit
code 0.

After a stop signal, open requests get some seconds to finish, and then the process ends.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import threading
import time
from contextlib import suppress
from types import FrameType
from typing import Any

import uvicorn
from click import Abort  # Streamlit uses click, which raises Abort at Ctrl-C
from streamlit.web.cli import main

from callgauge.serving.connections import WaitingConnections, guard_connections, raise_file_limit
from callgauge.serving.processes.handed_connections import HandedConnections, WorkerAnswers, worker_place
from callgauge.serving.settings import ENDS_WITH_INPUT_VARIABLE, store_from_environment
from ingest.safe_files import limit_new_files

_LONGEST_STOP = 5.0  # seconds; systemd kills a process after 90, Kubernetes after 30, Docker after 10


class GuardedServer(uvicorn.Server):
    """Uvicorn's server, which also closes idle connections and stops soon after a signal.

    In a worker process, the server receives its connections from the front process.
    """

    _handed: HandedConnections | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to listen."""
        most = max(64, min(raise_file_limit() // 4, 1_000))
        waiting = WaitingConnections(most, each=most // 2)
        protocol: Any = self.config.http_protocol_class
        self.config.http_protocol_class = guard_connections(protocol, waiting)
        place = worker_place()
        if place is None:
            await super().startup(sockets)
            return
        for unused in sockets or ():  # the front process listens, so the worker's sockets are closed
            unused.close()
        await super().startup([])
        if place.total > 1:
            self.config.loaded_app = WorkerAnswers(self.config.loaded_app, place.number)
        self._handed = HandedConnections(socket.socket(fileno=place.channel), self._make_protocol)
        self._handed.begin()
        self.config.callback_notify = self._handed.report
        self.config.timeout_notify = 0  # call the callback at each tick, once a second

    def _make_protocol(self) -> asyncio.Protocol:
        protocol: asyncio.Protocol = self.config.http_protocol_class(  # type: ignore[call-arg]
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )
        return protocol

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept no new connections, and finish the open connections."""
        if self._handed is not None:
            self._handed.end()
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop the server. uvicorn calls this method when a signal arrives."""
        if not self.should_exit:
            # An exception would not end the process: Python waits for the threads of pages that still
            # calculate.
            deadline = threading.Timer(_LONGEST_STOP, os._exit, (0,))
            deadline.daemon = True
            deadline.start()
        super().handle_exit(sig, frame)


def _end(_signal: int, _frame: FrameType | None) -> None:
    """End with exit code 0 when uvicorn raises the stop signal again after its own shutdown."""
    raise SystemExit(0)


def _end_with_input() -> None:
    """Stop the server when standard input closes, which means that the parent process has ended."""
    while os.read(0, 1024):  # not sys.stdin: Python cannot end while a thread holds its lock
        pass
    signal.raise_signal(signal.SIGTERM)
    time.sleep(2 * _LONGEST_STOP)
    os._exit(1)  # the main thread hangs and has not handled the signal


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _end)
    if store := store_from_environment():
        limit_new_files(store)
    if os.environ.get(ENDS_WITH_INPUT_VARIABLE) == "yes":
        threading.Thread(target=_end_with_input, daemon=True).start()
    uvicorn.Server = GuardedServer  # type: ignore[misc]  # Streamlit makes its server of this name
    with suppress(Abort):
        main(prog_name="streamlit", standalone_mode=False)
