"""The commands `callgauge up` and `callgauge demo`: load logs, serve their store, and follow the logs."""

from __future__ import annotations

import os
import re
import signal
import socket
import sys
import tempfile
import threading
import time
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from msgspec.structs import replace

from callgauge.cli import ingest_command, render
from callgauge.cli.ingest_command import exit_code, show_report, split_map
from callgauge.cli.options.listening import open_port
from callgauge.cli.options.store_option import OptionalStore
from callgauge.cli.render.exit_codes import ExitCode
from callgauge.cli.render.terminal import handle_signals
from callgauge.configuration.settings import LoadSettings, ServeSettings, SourceSettings
from callgauge.serving.processes.server_child import ServerEndedError, ServerProcess, try_port, write_address
from callgauge.serving.settings import is_loopback
from ingest.processes import describe_exit

if TYPE_CHECKING:
    from ingest.load_report import LoadReport
    from ingest.pipeline.survey import AgentSurvey

FindLogs = Callable[[], Sequence[str]]
"""Returns the paths to load. It is called before each load, because new files may exist."""
_LOCK = "up.lock"
_LOCAL_URL = re.compile(r"http://(localhost|127\.[\d.]+|\[::1\]):\d{1,5}")
_PATIENCE = 1.0  # seconds; another `callgauge up` may test the lock, and then has the lock for a moment
_USUAL_PORTS = range(8501, 8521)
_PORT_TRIES = 5
STORE = Path("callgauge-store")
_SAMPLE_LOGS = ("logs/session_history/made", "logs/claude_code")
_SAMPLE = "the sample: three made weeks and some real transcripts"
Paths = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[PATH…]",
        help="Files, folders (with subfolders), archives, quoted patterns, addresses (s3:// gs:// az:// "
        "https://). Formats are recognised by content.",
    ),
]
Port = Annotated[
    int | None,
    typer.Option(min=1, max=65535, help="The port to listen on. [default: 8501, or the next free port]"),
]
Address = Annotated[
    str | None,
    typer.Option(help="The address to listen on, one of this machine only. [default: 127.0.0.1]"),
]
NoBrowser = Annotated[bool, typer.Option("--no-browser", help="Only print the URL.")]
Yes = Annotated[
    bool,
    typer.Option("--yes", help="Without a PATH: load the logs of all agents found, else the sample."),
]


def up(
    paths: Paths = None,
    store: OptionalStore = None,
    port: Port = None,
    address: Address = None,
    no_browser: NoBrowser = False,
    yes: Yes = False,
    form: ingest_command.Form = None,
    mapping: ingest_command.Map = None,
    from_path: ingest_command.FromPath = None,
    model: ingest_command.Model = None,
    tools: ingest_command.Tools = None,
) -> None:
    """Load logs, open the dashboard, and load new lines.

    Ctrl-C stops the command. Without a PATH, you choose: the logs of an agent on this machine, or a sample in
    a temporary store. The store is ./callgauge-store unless --store names another folder. Nothing leaves this
    machine.

    If another `callgauge up` already serves the store, the command prints the URL of the dashboard and exits
    with 0. Exits with 1 if no log could be read, with 2 if a choice is needed and there is no terminal.
    """
    from callgauge.nightly.source_loads import load_words, source_words
    from ingest.errors import OptionError
    from ingest.sources.local_files import STDIN

    named = list(paths or ())
    if STDIN in named:
        raise OptionError("standard input cannot be followed; name a file or a folder")
    folder = (store or STORE).absolute()
    _exit_if_served(folder)
    settings = _choose_server(address, port)
    find_logs = named.copy if named else _choose_logs(is_sure=yes)
    if find_logs is None:
        _serve_sample(settings, opens_browser=not no_browser)
    source = SourceSettings(
        name="", log_format=form, model=model, from_path=tuple(from_path or ()),
        mapping=split_map(mapping or ()),
    )  # fmt: skip
    words = {**load_words(LoadSettings(tools=tuple(tools or ()))), **source_words(source)}
    render.print_message(f"loading into {folder}; nothing leaves this machine")
    serve_loads(find_logs, folder, words, settings, opens_browser=not no_browser)


def demo(port: Port = None, address: Address = None, no_browser: NoBrowser = False) -> None:
    """Show a sample in the dashboard.

    The sample is loaded into a temporary store, which is removed at the end.
    """
    _serve_sample(_choose_server(address, port), opens_browser=not no_browser)


def _choose_server(address: str | None, port: int | None) -> ServeSettings:
    """Return the address and port to listen on. Port 0 means any free port.

    Exits if the address is public or the port is in use.
    """
    settings = ServeSettings()
    address = address or settings.address
    if not is_loopback(address):
        render.fail(
            f"{address} is open to the network, and this command has no sign-in: load with `callgauge "
            f"ingest`, then use `callgauge serve --address {address}` (see docs/service.md)",
            ExitCode.WRONG_USE,
        )
    if port is not None:
        open_port(address, port).close()
    return replace(settings, address=address, port=port or 0)


def _serve_sample(settings: ServeSettings, *, opens_browser: bool) -> NoReturn:
    from callgauge.memory.team_memory import TeamMemory
    from callgauge.prices import read_price_file

    with tempfile.TemporaryDirectory(prefix="callgauge-demo-", ignore_cleanup_errors=True) as folder:
        render.print_message(f"loading {_SAMPLE} into a temporary store, which is removed at the end")
        TeamMemory(Path(folder)).replace_prices(read_price_file(find_sample() / "prices.csv"))
        serve_loads(list_sample_logs, Path(folder), {}, settings, opens_browser=opens_browser, follows=False)


def find_sample() -> Path:
    """Return the folder of the sample, in an installed wheel or in a checkout."""
    package = Path(__file__).resolve().parents[1]
    bundled = package / "_bundled" / "sample_data"
    return bundled if bundled.is_dir() else package.parent / "sample_data"


def list_sample_logs() -> list[str]:
    """Return those folders of the sample that are loaded first."""
    return [str(find_sample() / name) for name in _SAMPLE_LOGS]


def _choose_logs(*, is_sure: bool) -> FindLogs | None:
    """Return a function that finds the logs to load. Return None if the user chose the sample.

    If `is_sure` is True, the user is not asked: all found agents are chosen, or the sample if there are none.
    Exits if the user must choose and there is no terminal.
    """
    from ingest.pipeline.survey import list_readable_logs, survey_machine

    surveys = survey_machine()
    readable = [survey for survey in surveys if survey.is_read]
    for line in render.survey_lines(surveys, datetime.now().astimezone()):
        print(line, flush=True)
    if not readable:
        render.print_message(f"no readable logs of known agents in {Path.home()}")
    if is_sure:
        return list_readable_logs if readable else None
    if not (sys.stdin and sys.stdin.isatty() and sys.stderr.isatty()):
        _explain_choices(has_logs=bool(readable))
    choices: list[tuple[str, FindLogs | None]] = []
    if len(readable) > 1:
        choices.append((f"all {len(readable)} agents that can be read", list_readable_logs))
    choices += [(survey.agent, _find_logs_of(survey)) for survey in readable]
    choices.append((_SAMPLE, None))
    return _ask(choices)


def _explain_choices(*, has_logs: bool) -> NoReturn:
    if has_logs:
        render.print_message("to load the logs of these agents: callgauge up --yes")
    render.print_message("to load other logs: callgauge up PATH")
    render.print_message("to see a sample: callgauge demo")
    raise typer.Exit(ExitCode.WRONG_USE)


def _find_logs_of(chosen: AgentSurvey) -> FindLogs:
    from ingest.pipeline.survey import survey_machine

    def find_logs() -> list[str]:
        return [path for survey in survey_machine() if survey.agent == chosen.agent for path in survey.paths]

    return find_logs


def _ask(choices: Sequence[tuple[str, FindLogs | None]]) -> FindLogs | None:
    for place, (words, _) in enumerate(choices, start=1):
        typer.echo(f"  {place}  {words}", err=True)

    def read_number(text: str) -> int:
        if text.strip() not in map(str, range(1, len(choices) + 1)):
            raise typer.BadParameter(f"{text!r} is not one of the numbers 1 to {len(choices)}")
        return int(text)

    number: int = typer.prompt(
        "Load which? Nothing leaves this machine", default="1", value_proc=read_number, err=True
    )
    return choices[number - 1][1]


def choose_port(address: str) -> int:
    """Return the first free port of the usual ports. If none of these is free, return any free port."""
    for port in _USUAL_PORTS:
        with suppress(OSError):
            return try_port(address, port)
    try:
        return try_port(address, 0)
    except OSError as problem:
        render.fail(
            f"cannot listen on {address}: {problem.strerror}; choose another --address", ExitCode.WRONG_USE
        )


def serve_loads(
    find_logs: FindLogs,
    store: Path,
    words: dict[str, Any],
    settings: ServeSettings,
    *,
    opens_browser: bool,
    follows: bool = True,
) -> NoReturn:
    """Load logs, serve the store, and load again when files change, until Ctrl-C, SIGTERM or SIGHUP.

    `words` has parameters of `ingest.pipeline.load.load`. If `follows` is False, changes are not loaded.
    Exits without serving if the first load finds no data. Raises IngestError when the first load fails.
    """
    from ingest.pipeline.watch import watch
    from ingest.sources import discovery

    def look() -> dict[str, object]:
        return {log.name: (log.seen, log.problem) for log in discovery.find_logs(find_logs(), store)}

    def load_changes() -> None:
        _show_changes(_load(find_logs, store, words, is_first=False))

    # Look at the paths before a store is created, because a name may be misspelled.
    watched = look() if follows else {}
    with _interrupt_on_signals(), _lock_store(store) as write_url:
        report = _load(find_logs, store, words, is_first=True)
        show_report(report, store=store, quiet=False, as_json=False)
        if exit_code(report, store, strict=False) == ExitCode.FAILED:
            render.fail(
                "there is nothing to show: no log could be read. `callgauge formats FILE` explains why; "
                "--map names the fields of your own JSON, and `callgauge demo` shows a sample"
            )
        print(render.escape_for_terminal(write_verdict(store)), flush=True)
        try:
            with _start_server(store, settings) as (server, url):
                write_url(url)
                render.print_message(f"Callgauge on {url} (Ctrl-C stops it)")
                if opens_browser and can_open_browser():
                    # A slow browser, or a browser in the terminal, must not block the loads.
                    threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
                while not follows:
                    server.pause(1)
                watch(look, load_changes, render.print_message, server.pause, watched)
        except ServerEndedError as end:
            render.fail(f"the server has ended ({describe_exit(end.code)}); run the command again")
        except KeyboardInterrupt:
            raise typer.Exit(0) from None


@contextmanager
def _start_server(store: Path, settings: ServeSettings) -> Iterator[tuple[ServerProcess, str]]:
    """Yield a listening server and its URL. Raises ServerEndedError.

    If another process takes the port before the server starts, the next free port is used.
    """
    for tries_left in reversed(range(_PORT_TRIES)):
        chosen = replace(settings, port=settings.port or choose_port(settings.address))
        with ServerProcess(store, chosen) as server:
            try:
                server.wait_until_it_listens()
            except ServerEndedError:
                if settings.port or not tries_left:
                    raise
                continue
            yield server, write_address(chosen)
            return


@contextmanager
def _interrupt_on_signals() -> Iterator[None]:
    """Handle SIGTERM and SIGHUP like Ctrl-C, unless the process ignores them (nohup)."""
    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]  # Windows has no SIGHUP.
    handled = [name for name in names if signal.getsignal(getattr(signal, name)) is not signal.SIG_IGN]
    with handle_signals(handled, signal.default_int_handler):
        yield


def _exit_if_served(store: Path) -> None:
    """Print the URL and exit if another `callgauge up` on this machine serves the store."""
    from ingest.safe_files import is_locked, read_owner

    path = store / _LOCK
    owner = read_owner(path) if is_locked(path) else None
    # Several users may write to the folder of a shared store, so print only a URL of this machine.
    if owner is None or owner.host != socket.gethostname() or not _LOCAL_URL.fullmatch(owner.url):
        return
    render.print_message(
        f"{owner} already serves {store}, so this command loads nothing; `callgauge ingest` can load more "
        "logs into this store"
    )
    render.print_message(f"Callgauge on {owner.url}")
    raise typer.Exit(0)


@contextmanager
def _lock_store(store: Path) -> Iterator[Callable[[str], None]]:
    """Lock a store against a second `callgauge up`. Raises StoreError.

    Yield a function that writes the dashboard's URL into the lock file. If another `callgauge up` uses the
    store, exit with the URL of its dashboard, or with a message if there is no URL.
    """
    from ingest.safe_files import lock_file
    from ingest.store.generations import prepare_store

    until = time.monotonic() + _PATIENCE

    def wait(owner: str) -> None:
        _exit_if_served(store)
        if time.monotonic() > until:
            render.fail(
                f"{owner} uses {store} with `callgauge up`, and its dashboard cannot be opened here, or not "
                "yet: try again later, stop the process, or name another folder with --store"
            )
        time.sleep(0.05)

    prepare_store(store)
    with lock_file(store / _LOCK, wait) as write_url:
        yield write_url


def _load(find_logs: FindLogs, store: Path, words: dict[str, Any], *, is_first: bool) -> LoadReport:
    """Load the logs. Wait while another process loads into the store. Raises IngestError.

    The first Ctrl-C ends the load after the current batch, and then the command ends.
    """
    from ingest.pipeline.load import load  # A top-level import would load DuckDB and Arrow for every command.

    with render.catch_interrupts() as interrupts, render.show_progress(quiet=not is_first) as tell:
        stop = interrupts.is_stop_wanted
        patience = render.make_patience(stopped=stop)
        report = load(find_logs(), store, **words, on_progress=tell, stop=stop, patience=patience)
    if stop():
        render.print_message("stopped; run the same command again to read the rest")
        raise typer.Exit(ExitCode.INTERRUPTED if is_first else 0)
    return report


def _show_changes(report: LoadReport) -> None:
    """Print one line for a load that changed the store, and a line for each newly unreadable file."""
    if report.generation:
        files = "1 new or changed file" if report.loaded == 1 else f"{report.loaded:,} new or changed files"
        render.print_message(f"loaded {files}: {report.calls:,} tool calls")
    if report.new_rejects or report.new_rejected:
        for line in render.load_trouble(report):
            render.print_message(line)


def write_verdict(store: Path) -> str:
    """Return the headline of the page Overview for all days of a store, or the reason why there is none."""
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
        return str(problem)
    return sentence or "Not enough data: the logs contain no tool call."


def can_open_browser() -> bool:
    """Return whether this machine can open a browser for the user who started the command."""
    if not (sys.stdin and sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    if "BROWSER" in os.environ:
        return True
    if "SSH_CONNECTION" in os.environ:
        return False
    has_screen = sys.platform in ("darwin", "win32") or "DISPLAY" in os.environ
    return has_screen or "WAYLAND_DISPLAY" in os.environ
