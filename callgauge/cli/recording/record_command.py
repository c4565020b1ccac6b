"""The command `callgauge record`: a proxy that records the traffic between an agent and its model."""

from __future__ import annotations

import logging
import os
import signal
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from callgauge.cli import render
from callgauge.cli.options.listening import open_port
from callgauge.cli.render.exit_codes import ExitCode
from callgauge.serving.settings import is_loopback

if TYPE_CHECKING:
    import uvicorn

    from callgauge.recorder import ExchangeLog, RecordingProxy

_LOOPBACK = "127.0.0.1"
_PORT = 8788


def record(
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[-- COMMAND …]", help="Run this command and record its requests.", show_default=False
        ),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="URL",
            help="The model's server: https://api.openai.com. With a command, the default is the server in a "
            "variable such as OPENAI_BASE_URL, else the provider's.",
        ),
    ] = None,
    log: Annotated[
        Path,
        typer.Option(
            metavar="DIR", help="The folder for the logs (one file per hour), for `callgauge ingest`."
        ),
    ] = Path("recorded"),
    load_into: Annotated[
        Path | None,
        typer.Option(metavar="STORE", help="Load the log into this store when the command has ended."),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            min=1, max=65535, help="The port to listen on. [default: 8788; with a command, a free one]"
        ),
    ] = None,
    address: Annotated[
        str,
        typer.Option(help="The address to listen on. 0.0.0.0 opens it to the network: anyone can use it."),
    ] = _LOOPBACK,
    most_mb: Annotated[
        int, typer.Option(min=1, max=1024, help="Megabytes to record of one body; longer bodies still pass.")
    ] = 32,
) -> None:
    """Record an agent's requests, and pass them on unchanged.

    A COMMAND runs with environment variables that lead the clients of OpenAI, Anthropic and Gemini to the
    recorder. The exit code is that of COMMAND. Without COMMAND, set the agent's base URL to the printed
    address. Keys and headers are not recorded. Ctrl-C finishes running requests; Ctrl-C twice stops
    immediately.
    """
    if command:
        code = _record_command(command, to, log, port or 0, address, most_mb << 20, load_into)
        raise typer.Exit(code)
    if to is None:
        render.fail("name the model's server with --to, or a command after `--`", ExitCode.WRONG_USE)
    if load_into is not None:
        render.fail("--load-into needs a command; without one run `callgauge ingest`", ExitCode.WRONG_USE)
    _record_agent(to, log, port or _PORT, address, most_mb << 20)


def _record_agent(to: str, log: Path, port: int, address: str, most_body: int) -> None:
    recorder = _open_recorder(to, log, port, address, most_body)
    _print_addresses(recorder.proxy.target, address, recorder.port, log)
    # uvicorn sends itself the signal again at its end. This process must survive that signal to write waiting
    # exchanges to the disk.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        recorder.run()
    except KeyboardInterrupt:
        pass
    finally:
        recorder.written.close()
    render.print_message(_describe(recorder.written.written, recorder.written.lost, log))


def _record_command(
    command: Sequence[str],
    to: str | None,
    log: Path,
    port: int,
    address: str,
    most_body: int,
    load_into: Path | None,
) -> int:
    """Run a command and record its requests. Return its exit code, or the exit code of a failed load."""
    from callgauge.cli.recording.recorded_command import (
        check_command,
        load_recorded,
        run_command,
        serve_in_thread,
    )
    from callgauge.recorder.client_addresses import find_targets, name_recorder

    check_command(command)
    targets = find_targets(os.environ, to)
    recorder = _open_recorder(targets, log, port, address, most_body)
    own = _write_address(address, recorder.port)
    variables = name_recorder(own, targets, os.environ, is_one_server=to is not None)
    render.print_message(f"{own} records {command[0]} into {log}")
    try:
        with serve_in_thread(recorder.run, recorder.stop):
            code = run_command(command, variables)
    finally:
        recorder.written.close()
    render.print_message(_describe(recorder.written.written, recorder.written.lost, log))
    if not recorder.written.written:
        names = ", ".join(name for name in variables if name.lower() != "no_proxy")
        render.print_message(f"No request came. The clients of the command must read one of {names}.")
    elif load_into is not None:
        loaded = load_recorded(log, load_into)
        return code or loaded
    return code


class _Recorder(msgspec.Struct, frozen=True):
    """A recorder with an open port. `run` serves until the server is stopped."""

    proxy: RecordingProxy
    written: ExchangeLog
    server: uvicorn.Server
    listening: socket.socket

    @property
    def port(self) -> int:
        return int(self.listening.getsockname()[1])

    def run(self) -> None:
        self.server.run(sockets=[self.listening])

    def stop(self) -> None:
        self.server.should_exit = True


def _open_recorder(
    target: str | Mapping[str, str], log: Path, port: int, address: str, most_body: int
) -> _Recorder:
    """Return a recorder with an open port and a writable log. Exits with a message on failure."""
    import uvicorn

    from callgauge.recorder import ExchangeLog, RecordingProxy
    from callgauge.recorder.exchange import PassingExchange
    from callgauge.traces.intake import TraceFolder, TraceIntake

    listening = open_port(address, port)
    written = ExchangeLog(log, str(listening.getsockname()[1]), PassingExchange.free)
    try:
        proxy = RecordingProxy(target, written, most_body=most_body, is_local=is_loopback(address))
    except ValueError as wrong:
        name = "--to" if isinstance(target, str) else "the model's server"
        render.fail(f"{name}: {wrong}", ExitCode.WRONG_USE)
    try:
        written.open()
    except OSError as error:
        render.fail(f"{log}: {error.strerror or error}; name a writable folder with --log", ExitCode.FAILED)
    logging.basicConfig(format="%(message)s", level=logging.WARNING)
    taking = TraceIntake(proxy, TraceFolder(log), proxy.check_sender)
    config = uvicorn.Config(
        taking, log_level="critical", access_log=False, lifespan="on", server_header=False, date_header=False
    )
    return _Recorder(proxy, written, uvicorn.Server(config), listening)


def _write_address(address: str, port: int) -> str:
    """Return the URL of the recorder for clients on this machine."""
    return f"http://{_LOOPBACK if address == '0.0.0.0' else address}:{port}"  # noqa: S104 - compared only


def _print_addresses(target: str, address: str, port: int, log: Path) -> None:
    from callgauge.traces.intake import TRACES

    own = _write_address(address, port)
    render.print_message(f"{own} passes on to {target} and records into {log} (Ctrl-C stops it)")
    render.print_message(f"Set OPENAI_BASE_URL={own}/v1 or ANTHROPIC_BASE_URL={own} for your agent.")
    render.print_message(f"Vercel's AI SDK and `callgauge chat` need ANTHROPIC_BASE_URL={own}/v1.")
    if not is_loopback(address):
        render.print_message("Anyone who reaches this machine can use it and is recorded.")
    render.print_message(f"Set OTEL_EXPORTER_OTLP_TRACES_ENDPOINT={own}{TRACES} for traces of a framework.")


def _describe(written: int, lost: int, log: Path) -> str:
    summary = f"{written:,} exchange{'' if written == 1 else 's'} recorded in {log}"
    if lost:
        summary += f"; {lost:,} could not be written"
    return summary + (f". Next: callgauge ingest {log} --store DIR" if written else ".")
