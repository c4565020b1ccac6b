"""Serves a scripted model over HTTP/1.1 on a free port of this machine. Each request has its own thread."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.gateway.served.brain import Asked, Brain
from tests.gateway.served.dressed import read_asked, write_emitted


@dataclass
class ModelServer:
    """A running server: the address, and the received requests in order."""

    url: str
    requests: list[Asked] = field(default_factory=list)


@contextmanager
def serve_model(brain: Brain) -> Iterator[ModelServer]:
    served = ModelServer("")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *arguments: object) -> None:
            pass

        def do_POST(self) -> None:  # the HTTP server of the standard library calls this name
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            request = read_asked(self.path, dict(self.headers), body)
            served.requests.append(request)
            emitted = brain(request)
            if emitted.slow:
                time.sleep(emitted.slow)
            if emitted.status != 200:
                content = (
                    emitted.body if isinstance(emitted.body, bytes) else json.dumps(emitted.body).encode()
                )
                kind = "application/json"
            else:
                content, kind = write_emitted(request, emitted)
            self.send_response(emitted.status)
            self.send_header("Content-Type", kind)
            for name, value in emitted.headers.items():
                self.send_header(name, value)
            if emitted.cut is None:
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                half = len(content) // 2
                self.wfile.write(content[:half])
                if emitted.status == 200 and emitted.halfway is not None:
                    emitted.halfway()
                self.wfile.write(content[half:])
            else:  # there is no length, so closing the connection marks the end of the answer
                self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.write(content[: emitted.cut])
                self.close_connection = True

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            """Ignore the error, because clients disconnect in some tests."""

    server = Server(("127.0.0.1", 0), Handler)
    served.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
