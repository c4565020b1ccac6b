"""The `callgauge` command and the table of its subcommands. A subcommand is imported when it is called.

Messages go to stderr, results to stdout. `render.exit_codes` has the exit codes.
"""

from __future__ import annotations

import functools
import gc
import importlib
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, cast

import msgspec
import typer
from typer.core import TyperGroup

from callgauge.cli.render.exit_codes import MEANINGS, ExitCode
from ingest.processes import leave_pandas_out
from ingest.version import CALLGAUGE_VERSION

Command = Any  # Typer has no public type for its commands and groups.


class CommandEntry(msgspec.Struct, frozen=True):
    """Where a command is defined, and its line in the help text.

    `place` is "module:name" in this package: a function, or a `typer.Typer` with further commands. `summary`
    is the first sentence of the command's docstring. If `loads` is True, the command reads logs or a store,
    and an IngestError or Ctrl-C ends the command with a message of one sentence.
    """

    place: str
    summary: str
    loads: bool = False


_loading = functools.partial(CommandEntry, loads=True)

GROUPS: Mapping[str, Mapping[str, CommandEntry]] = {
    "Everyday commands": {
        "demo": _loading("up_command:demo", "Show a sample in the dashboard."),
        "up": _loading("up_command:up", "Load logs, open the dashboard, and load new lines."),
        "ingest": _loading("ingest_command:ingest", "Load logs into a store."),
        "serve": CommandEntry("serve_command:serve", "Serve the dashboard of a store."),
        "parse": CommandEntry(
            "parser_commands:parse", "List every repair and coercion of a call's arguments."
        ),
        "report": CommandEntry(
            "answers.report_command:report", "Report what changed in a store, in at most five sentences."
        ),
        "gate": CommandEntry(
            "answers.gate_command:gate", "Fail in CI if the newest days are worse than a baseline."
        ),
        "record": CommandEntry(
            "recording.record_command:record", "Record an agent's requests, and pass them on unchanged."
        ),
    },
    "Next steps": {
        "fix-definition": CommandEntry(
            "answers.fix_definition:fix_definition",
            "Propose edits of tool definitions that models get wrong.",
        ),
        "which-model": CommandEntry(
            "answers.which_model:which_model", "Suggest the cheapest model that is not worse."
        ),
        "public-rates": _loading(
            "answers.public_rates:public_rates", "Compare the errors in tool calls with public rates."
        ),
        "mcp-servers": _loading("answers.mcp_servers:mcp_servers", "Compare the MCP servers of a store."),
        "publish": _loading("answers.publish:publish", "Write a leaderboard of models to hand out."),
    },
    "Administration": {
        "rejects": _loading(
            "maintenance_commands:rejects", "List lines that could not be parsed, with file and line."
        ),
        "reparse": _loading("maintenance_commands:reparse", "Run the parser again on stored calls."),
        "models": _loading(
            "maintenance_commands:models", "List the models of a store with their names in the logs."
        ),
        "prices": _loading(
            "price_command:prices", "Store your own model prices, or list the current prices."
        ),
        "forget": _loading("keeping_commands:forget", "Delete sessions from a store for good."),
        "retain": _loading("keeping_commands:retain", "Apply retention: delete old content and old calls."),
        "backup": _loading("keeping_commands:backup", "Back up a store, even while it is served or loaded."),
        "restore": _loading("keeping_commands:restore", "Restore a backup into an empty store."),
        "verify": _loading(
            "keeping_commands:verify", "Check that a store or a backup is complete and unchanged."
        ),
        "nightly": _loading(
            "service_commands:nightly", "Run the nightly job: load, retention, backup, report."
        ),
        "metrics": CommandEntry(
            "service_commands:metrics", "Print loads, nightly runs and rates for Prometheus."
        ),
        "memory": CommandEntry("memory_command:memory", "Export or import decisions and notes."),
        "users": CommandEntry("user_commands:users", "Manage people who sign in with a password or a link."),
        "token": CommandEntry(
            "program_commands:token", "Manage the tokens of programs that read a served store."
        ),
        "mcp": CommandEntry(
            "program_commands:mcp", "Run an MCP server through which an agent queries a store."
        ),
        "init-config": _loading(
            "service_commands:init_config", "Write an example callgauge.toml with every key."
        ),
        "check-config": _loading("service_commands:check_config", "List every mistake in a callgauge.toml."),
        "install-service": _loading(
            "install_command:install_service", "Write files that run the server and the nightly job."
        ),
    },
    "Experiments": {
        "trial": CommandEntry(
            "trials.commands:trial", "Compare models, prompts and definitions on the same tasks."
        ),
        "export-tests": CommandEntry(
            "trials.export_tests:export_tests", "Export calls as a test set for another tool."
        ),
        "chat": CommandEntry("model_commands:chat", "Talk to a model and see the diagnostics of each call."),
        "probe": CommandEntry("model_commands:probe", "Test what models and their server can do with tools."),
    },
    "Reference": {
        "explain": CommandEntry(
            "parser_commands:explain", "Explain a diagnostic code of the parser or the linter."
        ),
        "formats": _loading(
            "parser_commands:formats", "List the log formats, or show which format reads a file."
        ),
        "lint": CommandEntry("parser_commands:lint", "Find what makes models fail in tool definitions."),
    },
}
"""The commands of each group, in the order of the help text."""

_ENTRIES = {name: entry for entries in GROUPS.values() for name, entry in entries.items()}


class ImportedCommands(Mapping[str, Command]):
    """All commands by name. A look-up imports the command, an iteration imports nothing."""

    def __init__(self) -> None:
        self._imported: dict[str, Command] = {}

    def __getitem__(self, name: str) -> Command:
        if name not in self._imported:
            self._imported[name] = _import_command(name)
        return self._imported[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_ENTRIES)

    def __len__(self) -> int:
        return len(_ENTRIES)


def _import_command(name: str) -> Command:
    """Return the command with this name. Raises KeyError if there is none."""
    entry = _ENTRIES[name]
    module, _, attribute = entry.place.partition(":")
    defined = getattr(importlib.import_module(f"callgauge.cli.{module}"), attribute)
    # Python does not search frozen objects for garbage, neither now nor at its end (0.1 s). DuckDB would
    # report frozen classes of its own as leaked.
    if "duckdb" not in sys.modules:
        gc.freeze()
    holder = typer.Typer(rich_markup_mode=None)
    if isinstance(defined, typer.Typer):
        holder.add_typer(defined)
    else:
        # The command that `record` starts has options of its own.
        settings = {"allow_interspersed_args": False} if name == "record" else None
        holder.command(name, context_settings=settings)(_explain_errors(defined) if entry.loads else defined)
    return typer.main.get_group(holder).commands[name]


def _explain_errors(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with error handling: IngestError and Ctrl-C end the command with a one-sentence
    message.
    """

    @functools.wraps(command)
    def explain_errors(**words: Any) -> None:
        from callgauge.checked_files.file_problems import CheckedFileError
        from callgauge.cli import render
        from callgauge.memory.memory_file import MemoryProblemError
        from ingest.errors import IngestError, OptionError

        try:
            command(**words)
        except KeyboardInterrupt:
            render.fail(
                "stopped immediately: nothing was published, the store is unchanged", ExitCode.INTERRUPTED
            )
        except OptionError as problem:
            render.fail(str(problem), ExitCode.WRONG_USE)
        except CheckedFileError as mistakes:
            render.print_mistakes(mistakes)
            raise typer.Exit(ExitCode.WRONG_USE) from None
        except (IngestError, MemoryProblemError) as problem:
            render.fail(str(problem))

    return explain_errors


class CommandGroup(TyperGroup):
    """The command `callgauge`. Its help text lists the commands by group, and then the exit codes."""

    def __init__(self, **words: Any) -> None:
        super().__init__(**words)
        self.commands = cast("dict[str, Command]", ImportedCommands())

    def invoke(self, ctx: Any) -> Any:
        """Run the command. An invalid value is reported without the prefix that pydantic adds."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as problem:
            problem.message = problem.message.removeprefix("Value error, ")
            raise

    def format_commands(self, _ctx: Any, formatter: Any) -> None:
        width = max(map(len, _ENTRIES))
        for title, entries in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), entry.summary) for name, entry in entries.items()])

    def format_epilog(self, _ctx: Any, formatter: Any) -> None:
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(int(code)), meaning) for code, meaning in MEANINGS.items()])


app = typer.Typer(
    name="callgauge",
    cls=CommandGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _print_version(is_wanted: bool) -> None:
    if is_wanted:
        print(f"callgauge {CALLGAUGE_VERSION}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Load agent logs and show which model and which prompt make tool calls that work."""


def main() -> None:
    """Run the `callgauge` command line."""
    # Imports create many objects that stay. The default of 700 searches them for garbage repeatedly.
    gc.set_threshold(50_000)
    leave_pandas_out()
    app(prog_name="callgauge")


if __name__ == "__main__":
    main()
