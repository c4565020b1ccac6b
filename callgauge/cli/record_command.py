"""The command `callgauge record`: a proxy that records the traffic between an agent and its model."""

from __future__ import annotations

import logging
import signal
import socket
from pathlib import Path
from typing import Annotated

import typer

from callgauge.cli import render
from callgauge.cli.render.exit_codes import ExitCode
from callgauge.serving.settings import is_loopback

_LOOPBACK = "127.0.0.1"


def record(
    to: Annotated[
        str, typer.Option("--to", metavar="URL", help="The model's server: https://api.openai.com.")
    ],
    log: Annotated[
        Path,
        typer.Option(
            metavar="DIR", help="The folder for the logs (one file per hour), for `callgauge ingest`."
        ),
    ] = Path("recorded"),
    port: Annotated[int, typer.Option(min=1, max=65535, help="The port to listen on.")] = 8788,
    address: Annotated[
        str,
        typer.Option(help="The address to listen on. 0.0.0.0 opens it to the network: anyone can use it."),
    ] = _LOOPBACK,
    most_mb: Annotated[
        int, typer.Option(min=1, max=1024, help="Megabytes to record of one body; longer bodies still pass.")
    ] = 32,
) -> None:
    """Record an agent's requests; pass them on unchanged.

    The agent needs one environment variable: the printed address as its base URL. Keys and headers are not
    recorded. Ctrl-C finishes running requests; Ctrl-C twice stops immediately.
    """
    import uvicorn

    from callgauge.recorder import ExchangeLog, RecordingProxy
    from callgauge.recorder.exchange import PassingExchange
    from callgauge.traces.intake import TraceFolder, TraceIntake

    written = ExchangeLog(log, str(port), PassingExchange.free)
    try:
        proxy = RecordingProxy(to, written, most_body=most_mb << 20, is_local=is_loopback(address))
    except ValueError as wrong:
        render.fail(f"--to: {wrong}", ExitCode.WRONG_USE)
    listening = _listen(address, port)
    try:
        written.open()
    except OSError as error:
        render.fail(f"{log}: {error.strerror or error}; name a writable folder with --log", ExitCode.FAILED)
    logging.basicConfig(format="%(message)s", level=logging.WARNING)
    _print_addresses(proxy.target, address, port, log)
    taking = TraceIntake(proxy, TraceFolder(log), proxy.check_sender)
    config = uvicorn.Config(
        taking, log_level="critical", access_log=False, lifespan="on", server_header=False, date_header=False
    )
    # At its end uvicorn sends itself the signal again, which must not interrupt a write to the disk.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        uvicorn.Server(config).run(sockets=[listening])
    except KeyboardInterrupt:
        pass
    finally:
        written.close()
    render.print_message(_describe(written.written, written.lost, log))


def _print_addresses(target: str, address: str, port: int, log: Path) -> None:
    """Print what to set in an agent, and in a framework that exports traces."""
    from callgauge.traces.intake import TRACES

    own = f"http://{_LOOPBACK if address == '0.0.0.0' else address}:{port}"  # noqa: S104 - compared only
    render.print_message(f"{own} passes on to {target} and records into {log} (Ctrl-C stops it)")
    render.print_message(f"Set OPENAI_BASE_URL={own}/v1 or ANTHROPIC_BASE_URL={own} for your agent.")
    if not is_loopback(address):
        render.print_message("Anyone who reaches this machine can use it and is recorded.")
    render.print_message(f"Set OTEL_EXPORTER_OTLP_TRACES_ENDPOINT={own}{TRACES} for traces of a framework.")


def _listen(address: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    opened = socket.socket(family)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        opened.bind((address, port))
        opened.listen(2048)  # early connections wait until the server runs
    except OSError as error:
        render.fail(
            f"cannot listen on {address}:{port}: {error.strerror}; choose another port with --port",
            ExitCode.WRONG_USE,
        )
    return opened


def _describe(written: int, lost: int, log: Path) -> str:
    summary = f"{written:,} exchange{'' if written == 1 else 's'} recorded in {log}"
    if lost:
        summary += f"; {lost:,} could not be written"
    return summary + (f". Next: callgauge ingest {log} --store DIR" if written else ".")
