"""The command `callgauge record`: a proxy that writes down what an agent and its model say."""

from __future__ import annotations

import logging
import signal
import socket
from pathlib import Path
from typing import Annotated

import typer

from callgauge.cli import render
from callgauge.serving.settings import is_loopback

_FAILED, _WRONG_USE = 1, 2
_LOOPBACK = "127.0.0.1"


def record(
    to: Annotated[
        str, typer.Option("--to", metavar="URL", help="The server of the model: https://api.openai.com.")
    ],
    log: Annotated[
        Path, typer.Option(metavar="DIR", help="Where the logs go: a file an hour, for `callgauge ingest`.")
    ] = Path("recorded"),
    port: Annotated[int, typer.Option(min=1, max=65535, help="The port to listen on.")] = 8788,
    address: Annotated[
        str, typer.Option(help="0.0.0.0 lets the network in: whoever reaches it is recorded.")
    ] = _LOOPBACK,
    most_mb: Annotated[
        int, typer.Option(min=1, max=1024, help="Megabytes that are kept of one body; all of it passes.")
    ] = 32,
) -> None:
    """Pass an agent's requests on to its model, unchanged, and record them.

    The agent needs one environment variable: the address that is printed, as its base URL. Keys and headers
    are not recorded. Ctrl-C finishes what is under way; twice, it stops now.
    """
    from callgauge.gateway import MissingExtraError
    from callgauge.gateway.endpoint import load_httpx

    try:
        load_httpx()
    except MissingExtraError as missing:
        render.fail(str(missing), _WRONG_USE)
    import uvicorn

    from callgauge.recorder import ExchangeLog, RecordingProxy
    from callgauge.recorder.exchange import PassingExchange

    written = ExchangeLog(log, str(port), PassingExchange.free)
    try:
        proxy = RecordingProxy(to, written, most_body=most_mb << 20, is_local=is_loopback(address))
    except ValueError as wrong:
        render.fail(f"--to: {wrong}", _WRONG_USE)
    listening = _listen(address, port)
    try:
        written.open()
    except OSError as error:
        render.fail(f"{log}: {error.strerror or error}; name a folder to write to with --log", _FAILED)
    logging.basicConfig(format="%(message)s", level=logging.WARNING)
    here = f"http://{_LOOPBACK if address == '0.0.0.0' else address}:{port}"  # noqa: S104 - compared only
    render.print_message(f"{here} passes on to {proxy.target} and records into {log} (Ctrl-C stops it)")
    render.print_message(f"Set OPENAI_BASE_URL={here}/v1 or ANTHROPIC_BASE_URL={here} for your agent.")
    if not is_loopback(address):
        render.print_message("Whoever reaches this machine can use it, and is recorded.")
    config = uvicorn.Config(
        proxy, log_level="critical", access_log=False, lifespan="on", server_header=False, date_header=False
    )
    # uvicorn sends itself the signal again once it has ended: what waits for the disk must not die of it.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        uvicorn.Server(config).run(sockets=[listening])
    except KeyboardInterrupt:
        pass
    finally:
        written.close()
    render.print_message(_describe(written.written, written.lost, log))


def _listen(address: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    opened = socket.socket(family)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        opened.bind((address, port))
        opened.listen(2048)  # who connects before the server runs is served then
    except OSError as taken:
        render.fail(
            f"cannot listen on {address}:{port}: {taken.strerror}; name another with --port", _WRONG_USE
        )
    return opened


def _describe(written: int, lost: int, log: Path) -> str:
    told = f"{written:,} exchange{'' if written == 1 else 's'} recorded in {log}"
    if lost:
        told += f"; {lost:,} could not be written"
    return told + (f". Next: callgauge ingest {log} --store DIR" if written else ".")
