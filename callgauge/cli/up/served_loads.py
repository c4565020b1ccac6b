"""Loads logs, serves their store in a child process, and loads again whenever the logs change."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from callgauge.cli import render
from callgauge.cli.ingest_command import NOTHING_READ, WRONG_USE, exit_code, show_report
from callgauge.cli.serve_command import make_server_command, try_port, write_address
from callgauge.configuration.settings import ServeSettings, SignInSettings
from callgauge.serving.settings import ENDS_WITH_INPUT_VARIABLE

if TYPE_CHECKING:
    from ingest.load_report import LoadReport

FindLogs = Callable[[], Sequence[str]]
"""Returns the paths to load; called before each load, since new files may have appeared."""
_LOCK = "up.lock"
_USUAL_PORTS = range(8501, 8521)
_STOP_PATIENCE = 10.0  # seconds; the server itself ends after 5


def choose_port(address: str) -> int:
    """Return the first usual port that is free, else any free port."""
    for port in _USUAL_PORTS:
        with suppress(OSError):
            return try_port(address, port)
    try:
        return try_port(address, 0)
    except OSError as problem:
        render.fail(f"cannot listen on {address}: {problem.strerror}; choose another --address", WRONG_USE)


def serve_loads(
    find_logs: FindLogs,
    store: Path,
    words: dict[str, Any],
    settings: ServeSettings,
    *,
    opens_browser: bool,
    follows: bool = True,
) -> NoReturn:
    """Load logs, serve the store, and load again whenever files change, until Ctrl-C, SIGTERM or SIGHUP.

    `words`: parameters of `ingest.pipeline.load.load`. `follows`: whether to load again. Exits without
    serving if the first load reads nothing. Raises IngestError when the first load fails.
    """
    from ingest.pipeline.watch import watch
    from ingest.sources import discovery

    def look() -> dict[str, object]:
        return {log.name: (log.seen, log.problem) for log in discovery.find_logs(find_logs(), store)}

    def load_changes() -> None:
        _show_changes(_load(find_logs, store, words, is_first=False))

    seen = look() if follows else {}  # before the store is made: a name may be misspelled
    with _interrupt_on_signals(), _lock_store(store):
        report = _load(find_logs, store, words, is_first=True)
        show_report(report, store=store, quiet=False, as_json=False)
        if exit_code(report, store, strict=False) == NOTHING_READ:
            render.fail(
                "there is nothing to show: no log could be read. `callgauge formats FILE` explains why; "
                "--map names the fields of your own JSON, and `callgauge demo` shows a sample"
            )
        try:
            with ServerProcess(store, settings) as server:
                _print_verdict(store)
                server.wait_until_it_listens()
                url = write_address(settings)
                render.print_message(f"Callgauge on {url} (Ctrl-C stops it)")
                if opens_browser and can_open_browser():
                    # In a thread: a browser in the terminal, or a slow one, must not hold up the loads.
                    threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
                while not follows:
                    server.pause(1)
                watch(look, load_changes, render.print_message, server.pause, seen)
        except KeyboardInterrupt:
            raise typer.Exit(0) from None


@contextmanager
def _interrupt_on_signals() -> Iterator[None]:
    """Treat SIGTERM and a closed terminal as Ctrl-C, unless the process ignores them (nohup)."""
    before = {}
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            before[number] = signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _lock_store(store: Path) -> Iterator[None]:
    """Hold a store for one `callgauge up`; exit with a message if another one has it. Raises StoreError."""
    from ingest.safe_files import lock_file
    from ingest.store.generations import prepare_store

    def refuse(owner: str) -> None:
        render.fail(
            f"{owner} already serves {store} with `callgauge up`: open its page, stop it, or name another "
            "folder with --store"
        )

    prepare_store(store)
    with lock_file(store / _LOCK, refuse):
        yield


def _load(find_logs: FindLogs, store: Path, words: dict[str, Any], *, is_first: bool) -> LoadReport:
    """Load the logs; wait while another process loads into the store. Raises IngestError.

    Raises KeyboardInterrupt after Ctrl-C; the first one ends the load after the current batch.
    """
    from ingest.pipeline.load import load  # imports DuckDB and Arrow

    with render.catch_interrupts() as interrupts, render.show_progress(quiet=not is_first) as tell:
        stop = interrupts.is_stop_wanted
        patience = render.make_patience(stopped=stop)
        report = load(find_logs(), store, **words, on_progress=tell, stop=stop, patience=patience)
    if stop():
        render.print_message(f"stopped; {store} contains the files that were read completely")
        raise typer.Exit(render.INTERRUPTED if is_first else 0)
    return report


def _show_changes(report: LoadReport) -> None:
    """Print one line for a load that changed the store, and what could not be read for the first time."""
    if report.generation:
        render.print_message(f"loaded {report.loaded:,} changed files: {report.calls:,} tool calls")
    if report.new_rejects or report.new_rejected:
        for line in render.load_trouble(report):
            render.print_message(line)


def _print_verdict(store: Path) -> None:
    """Print the bold sentence of the Overview over all days of a store."""
    from ingest.processes import let_pandas_in

    let_pandas_in()
    from callgauge.analysis import wording
    from callgauge.analysis.comparisons.rankings import write_best
    from callgauge.analysis.measures.costs import find_costs
    from callgauge.analysis.measures.rates import HEADLINES, RATES
    from callgauge.analysis.metrics import MetricError
    from callgauge.analysis.metrics.published_store import UnshownStoreError, read_store
    from callgauge.memory.memory_file import MemoryProblemError
    from callgauge.memory.team_memory import TeamMemory
    from callgauge.prices import PriceList

    try:
        prices = PriceList(TeamMemory(store).prices())
        with read_store(store, texts=True) as reader:
            sentence = write_best(
                reader.ask,
                RATES[HEADLINES[0]],
                "model",
                {},
                lambda model: wording.one_line(model, 40),
                find_costs(reader.ask, prices, "model"),
            )
    except (MetricError, MemoryProblemError, UnshownStoreError) as problem:
        sentence = str(problem)
    sentence = sentence or "Not enough data: the logs contain no tool call."
    print(render.escape_for_terminal(sentence), flush=True)


class ServerProcess:
    """The dashboard's server as a child process, which ends with the `with` block and with this process."""

    def __init__(self, store: Path, settings: ServeSettings) -> None:
        self._address = settings.address, settings.port
        command, environment = make_server_command(store, settings, SignInSettings())
        self._process = subprocess.Popen(
            command,
            env={**environment, ENDS_WITH_INPUT_VARIABLE: "yes"},
            stdin=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C in a terminal is for this process to answer
        )

    def __enter__(self) -> ServerProcess:
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the server, and wait for its end."""
        if self._process.stdin:
            self._process.stdin.close()
        try:
            self._process.wait(_STOP_PATIENCE)
        finally:
            self._process.kill()

    def wait_until_it_listens(self) -> None:
        """Return once the server accepts connections. Exits if it has ended."""
        while True:
            with suppress(OSError), socket.create_connection(self._address, timeout=1):
                return
            self.pause(0.1)

    def pause(self, seconds: float) -> None:
        """Sleep; exit with a message if the server has ended."""
        from ingest.processes import describe_exit

        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            time.sleep(min(left, 1.0))
            code = self._process.poll()
            if code is not None:
                render.fail(f"the server has ended ({describe_exit(code)}); run the command again")


def can_open_browser() -> bool:
    """Return whether a browser of this machine can show a page to whoever started the command."""
    if not (sys.stdin and sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    if "BROWSER" in os.environ:
        return True
    if "SSH_CONNECTION" in os.environ:
        return False
    has_screen = sys.platform in ("darwin", "win32") or "DISPLAY" in os.environ
    return has_screen or "WAYLAND_DISPLAY" in os.environ
