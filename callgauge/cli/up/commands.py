"""The commands `callgauge up` and `callgauge demo`: load logs and show them in a browser, in one step."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from callgauge.cli import ingest_command, render
from callgauge.cli.ingest_command import WRONG_USE, split_map
from callgauge.cli.options.store_option import OptionalStore
from callgauge.cli.serve_command import check_port
from callgauge.cli.up.served_loads import FindLogs, choose_port, serve_loads
from callgauge.configuration.settings import LoadSettings, ServeSettings, SourceSettings
from callgauge.serving.settings import is_loopback

if TYPE_CHECKING:
    from ingest.pipeline.survey import AgentSurvey

STORE = Path("callgauge-store")
_SAMPLE_LOGS = ("logs/session_history/made", "logs/claude_code")
_SAMPLE = "the sample: three made weeks and some real transcripts"
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
    paths: ingest_command.Files = None,
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
    """Load logs, open the dashboard, and keep loading while the logs grow, until Ctrl-C.

    Without a PATH, choose among the logs of the agents on this machine and a sample. The store is
    ./callgauge-store unless --store names another folder. Nothing leaves this machine.

    Exits with 1 if no log could be read, with 2 if a choice is needed and there is no terminal.
    """
    from callgauge.nightly.source_loads import load_words, source_words
    from ingest.errors import OptionError
    from ingest.sources.local_files import STDIN

    named = list(paths or ())
    if STDIN in named:
        raise OptionError("standard input cannot be followed; name a file or a folder")
    settings = _choose_server(address, port)
    find_logs = named.copy if named else _choose_logs(is_sure=yes)
    if find_logs is None and store is None:
        _serve_sample(settings, opens_browser=not no_browser)
    source = SourceSettings(
        name="", log_format=form, model=model, from_path=tuple(from_path or ()),
        mapping=split_map(mapping or ()),
    )  # fmt: skip
    words = {**load_words(LoadSettings(tools=tuple(tools or ()))), **source_words(source)}
    folder = (store or STORE).absolute()
    render.print_message(f"loading into {folder}; nothing leaves this machine")
    serve_loads(find_logs or list_sample_logs, folder, words, settings, opens_browser=not no_browser)


def demo(port: Port = None, address: Address = None, no_browser: NoBrowser = False) -> None:
    """Show a sample in the dashboard, from a temporary store that is removed at the end."""
    _serve_sample(_choose_server(address, port), opens_browser=not no_browser)


def _choose_server(address: str | None, port: int | None) -> ServeSettings:
    """Return where to listen. Exits if that is open to the network, or if the port is taken."""
    settings = ServeSettings()
    address = address or settings.address
    if not is_loopback(address):
        render.fail(
            f"{address} is open to the network, and this command has no sign-in: load with `callgauge "
            f"ingest`, then use `callgauge serve --address {address}` (see docs/service.md)",
            WRONG_USE,
        )
    if port is not None:
        check_port(address, port)
    return replace(settings, address=address, port=port or choose_port(address))


def _serve_sample(settings: ServeSettings, *, opens_browser: bool) -> NoReturn:
    """Serve the sample, with prices, from a temporary store. Exits."""
    from callgauge.memory.team_memory import TeamMemory
    from callgauge.prices import read_price_file

    with tempfile.TemporaryDirectory(prefix="callgauge-demo-", ignore_cleanup_errors=True) as folder:
        render.print_message(f"loading {_SAMPLE} into a temporary store, which is removed at the end")
        TeamMemory(Path(folder)).replace_prices(read_price_file(find_sample() / "prices.csv"))
        serve_loads(list_sample_logs, Path(folder), {}, settings, opens_browser=opens_browser, follows=False)


def find_sample() -> Path:
    """Return the folder of the sample: in an installed wheel, or in a checkout."""
    package = Path(__file__).resolve().parents[2]
    bundled = package / "_bundled" / "sample_data"
    return bundled if bundled.is_dir() else package.parent / "sample_data"


def list_sample_logs() -> list[str]:
    """Return the folders of the sample that a first look needs."""
    return [str(find_sample() / name) for name in _SAMPLE_LOGS]


def _choose_logs(*, is_sure: bool) -> FindLogs | None:
    """Return how to find the logs that the user chooses; None is the sample.

    `is_sure`: choose the logs of all agents found, else the sample. Exits if there is nobody to ask.
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
    """Print the commands for each choice, and exit."""
    if has_logs:
        render.print_message("to load the logs of these agents: callgauge up --yes")
    render.print_message("to load other logs: callgauge up PATH")
    render.print_message("to see a sample: callgauge demo")
    raise typer.Exit(WRONG_USE)


def _find_logs_of(chosen: AgentSurvey) -> FindLogs:
    from ingest.pipeline.survey import survey_machine

    def find_logs() -> list[str]:
        return [path for survey in survey_machine() if survey.agent == chosen.agent for path in survey.paths]

    return find_logs


def _ask(choices: Sequence[tuple[str, FindLogs | None]]) -> FindLogs | None:
    """Ask which of the numbered choices to load, and return it."""
    for number, (words, _) in enumerate(choices, start=1):
        typer.echo(f"  {number}  {words}", err=True)

    def read_number(text: str) -> int:
        if text.strip() not in map(str, range(1, len(choices) + 1)):
            raise typer.BadParameter(f"{text!r} is not one of the numbers 1 to {len(choices)}")
        return int(text)

    number = typer.prompt(
        "Load which? Nothing leaves this machine", default="1", value_proc=read_number, err=True
    )
    return choices[number - 1][1]
