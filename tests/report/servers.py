"""Starts servers on this machine that accept a report or fail in typical ways."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

HttpAct = int | tuple[int, dict[str, str]] | Literal["close", "hang", "dribble"]
SmtpAct = Literal[
    "take", "busy", "refuse", "lose the answer", "close at once", "greylist", "refuse one", "no quit"
]


@dataclass(slots=True)
class HttpPlace:
    """An HTTP server that records the URL path and the body of each request.

    `acts` says how to respond to each request in turn. The last item is repeated.
    """

    acts: Sequence[HttpAct]
    address: str = ""
    got: list[tuple[str, bytes]] = field(default_factory=list)
    release: threading.Event = field(default_factory=threading.Event)


@contextmanager
def serve_webhook(*acts: HttpAct) -> Iterator[HttpPlace]:
    place = HttpPlace(acts)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            act = place.acts[min(len(place.got), len(place.acts) - 1)]
            place.got.append((self.path, body))
            if act == "close":
                self.connection.shutdown(socket.SHUT_RDWR)
            elif act == "hang":
                place.release.wait(20)
            elif act == "dribble":
                with suppress(OSError):
                    while not place.release.wait(0.05):
                        self.wfile.write(b"x")
            else:
                status, headers = act if isinstance(act, tuple) else (act, {})
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                answer = f"no such channel {self.path}".encode()
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    place.address = f"http://127.0.0.1:{server.server_port}/hooks/T0PSECRET?token=S3CRET"
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield place
    finally:
        place.release.set()
        server.shutdown()
        server.server_close()


@dataclass(slots=True)
class MailPlace:
    """A mail server that records the recipients and the content of each complete message."""

    acts: Sequence[SmtpAct]
    port: int = 0
    got: list[tuple[list[str], bytes]] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    sessions: int = 0


@contextmanager
def serve_mail(*acts: SmtpAct) -> Iterator[MailPlace]:
    place = MailPlace(acts)
    server = socket.create_server(("127.0.0.1", 0))
    place.port = server.getsockname()[1]

    def listen() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            act = place.acts[min(place.sessions, len(place.acts) - 1)]
            place.sessions += 1
            with connection, suppress(OSError, ValueError):
                _talk(connection, act, place)

    worker = threading.Thread(target=listen, daemon=True)
    worker.start()
    try:
        yield place
    finally:
        server.shutdown(socket.SHUT_RDWR)
        server.close()
        worker.join(5)


def _talk(connection: socket.socket, act: SmtpAct, place: MailPlace) -> None:  # noqa: C901 - a table of verbs
    if act == "close at once":
        return
    lines = connection.makefile("rb")

    def say(text: str) -> None:
        connection.sendall(text.encode() + b"\r\n")

    people: list[str] = []
    say("421 busy" if act == "busy" else "220 here")
    while line := lines.readline():
        word = line.decode().strip()
        place.commands.append(word)
        verb = word.split(" ")[0].upper()
        if verb == "EHLO":
            say("250-here\r\n250 AUTH PLAIN")
        elif verb == "AUTH":
            say("235 welcome")
        elif verb == "RCPT" and act == "greylist":
            say("451 come again")
        elif verb == "RCPT" and (act == "refuse" or (act == "refuse one" and people)):
            say("550 nobody of that name")
        elif verb == "RCPT":
            people.append(word.split("<")[1].rstrip(">"))
            say("250 ok")
        elif verb == "DATA":
            say("354 go on")
            text = b""
            while (line := lines.readline()) not in (b".\r\n", b""):
                text += line.removeprefix(b".") if line.startswith(b"..") else line
            place.got.append((people, text))
            if act == "lose the answer":
                return
            say("250 taken")
        elif verb == "QUIT":
            if act != "no quit":
                say("221 bye")
            return
        else:
            say("250 ok")
