"""The `callgauge` command: serve, parse, lint, explain, formats, and the commands of the other modules.

Messages go to stderr, results to stdout. `render.exit_codes` has the exit codes.
"""

from __future__ import annotations

import difflib
import functools
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from callgauge.cli import (
    ingest_command,
    install_command,
    keeping_commands,
    maintenance_commands,
    memory_command,
    model_commands,
    price_command,
    program_commands,
    render,
    serve_command,
    service_commands,
    up_command,
    user_commands,
)
from callgauge.cli.answers import (
    fix_definition,
    gate_command,
    mcp_servers,
    public_rates,
    publish,
    report_command,
    which_model,
)
from callgauge.cli.recording import record_command
from callgauge.cli.render.command_groups import CommandGroup
from callgauge.cli.render.exit_codes import ExitCode
from callgauge.cli.trials import commands as trial_commands
from callgauge.cli.trials import export_tests
from ingest.processes import leave_pandas_out
from ingest.version import CALLGAUGE_VERSION
from lenient import (
    CODES,
    DEFINITION_CODES,
    Policy,
    ToolCatalog,
    ToolDefinition,
    ToolDefinitionError,
    definition_findings,
    parse_arguments,
)
from lenient.diagnostics.codes import Severity

app = typer.Typer(
    name="callgauge",
    cls=CommandGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command()(serve_command.serve)


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


Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


@app.command()
def parse(
    raw: Annotated[str, typer.Argument(help="The raw arguments; - reads them from standard input.")] = "-",
    tool: Annotated[
        Path | None,
        typer.Option("--tool", help="The tool's definition, in any provider's format."),
    ] = None,
    name: Annotated[str | None, typer.Option(help="The tool to use if the file defines several.")] = None,
    policy: Annotated[Policy, typer.Option(help="What the exit code accepts as success.")] = Policy.LENIENT,
    as_json: Json = False,
) -> None:
    """List every repair and coercion of a call's arguments.

    Exits with 0 if the policy accepts the arguments, else with 1.
    """
    text = sys.stdin.buffer.read() if raw == "-" else raw
    request = parse_arguments(
        text, load_definition(tool, name) if tool else None, policy=policy, tool_name=name
    )
    print(render.to_json(render.request_data(request)) if as_json else render.request_text(request))
    raise typer.Exit(0 if request.accepted_under(policy) else 1)


def load_catalog(path: Path) -> ToolCatalog:
    """Return all tool definitions of a file. Exits with a message when they cannot be read."""
    try:
        return ToolCatalog.load(path)
    except ToolDefinitionError as problem:
        render.fail(str(problem), ExitCode.WRONG_USE)


def load_definition(path: Path, name: str | None) -> ToolDefinition:
    """Return the tool definition `name` of a file. If `name` is None, the file must have only one definition.

    Exits with a message if no definition can be returned.
    """
    tools = list(load_catalog(path))
    names = ", ".join(tool.name for tool in tools[:10])
    if name is None and len(tools) != 1:
        render.fail(
            f"{path} defines {len(tools)} tools ({names}); choose one with --name", ExitCode.WRONG_USE
        )
    matching = [tool for tool in tools if name in (None, tool.name)]
    if not matching:
        render.fail(f"{path} has no tool {name!r}; it defines {names or 'no tools'}", ExitCode.WRONG_USE)
    return matching[0]


@app.command()
def lint(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE…", readable=False, help="Definitions, in any format.")
    ],
    name: Annotated[str | None, typer.Option(help="Only this tool.")] = None,
    as_json: Json = False,
) -> None:
    """Find what makes models fail in tool definitions.

    Each file is checked separately. Each problem has a fix. Exits with 1 if there is a warning or an error,
    else with 0.
    """
    subjects = [load_definition(file, name) if name is not None else load_catalog(file) for file in files]
    findings = list(zip(files, map(definition_findings, subjects), strict=True))
    print(render.lint_json(findings) if as_json else render.lint_text(findings))
    severities = [finding.severity for _, several in findings for finding in several]
    raise typer.Exit(1 if any(severity is not Severity.NOTE for severity in severities) else 0)


@app.command()
def explain(
    code: Annotated[
        str | None, typer.Argument(help="A code, for example missing_required. Without one: list all.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Explain a diagnostic code of the parser or the linter.

    The explanation has an example.
    """
    if code is None:
        listed = [render.code_data(code_entry) for code_entry in CODES.values()]
        print(render.to_json(listed) if as_json else render.codes_text())
        return
    if code in DEFINITION_CODES:
        of_lint = DEFINITION_CODES[code]
        print(render.to_json(asdict(of_lint)) if as_json else render.definition_code_text(of_lint))
        return
    diagnostic_code = CODES.get(code.split(":")[0])
    if diagnostic_code is None:
        near = difflib.get_close_matches(code, [*CODES, *DEFINITION_CODES], n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else "`callgauge explain` lists all codes"
        render.fail(f"unknown code {code!r}; {hint}", ExitCode.WRONG_USE)
    print(render.to_json(render.code_data(diagnostic_code)) if as_json else render.code_text(diagnostic_code))


def formats_(
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE…", help="Show which format reads each of these files."),
    ] = None,
    as_json: Json = False,
) -> None:
    """List the log formats, or show which format reads a file.

    For a file, the output also says why the other formats do not read it. Exits with 1 if no format reads one
    of the files.
    """
    from ingest.formats import distribution_of, format_problems, formats
    from ingest.pipeline.reading.format_explanation import explain_files

    for problem in format_problems():
        render.print_message(problem)
    if not files:
        sources = [(form.SOURCE, distribution_of(form)) for form in formats().values()]
        listed = [{**asdict(source), "distribution": distribution} for source, distribution in sources]
        print(render.to_json(listed) if as_json else render.formats_text(sources))
        return
    claims = [claim for file in files for claim in explain_files(file)]
    print(render.to_json([asdict(claim) for claim in claims]) if as_json else render.claims_text(claims))
    raise typer.Exit(0 if all(claim.name for claim in claims) else ExitCode.FAILED)


def _explain_errors(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with error handling: IngestError and Ctrl-C end the command with a one-sentence
    message.
    """

    @functools.wraps(command)
    def explain_errors(**words: Any) -> None:
        from callgauge.checked_files.file_problems import CheckedFileError
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


app.command("formats")(_explain_errors(formats_))
app.command()(model_commands.chat)
app.command()(model_commands.probe)
app.command(context_settings={"allow_interspersed_args": False})(record_command.record)
app.command()(export_tests.export_tests)
app.command()(report_command.report)
app.command()(gate_command.gate)
app.command()(fix_definition.fix_definition)
app.command()(which_model.which_model)
app.command()(service_commands.metrics)
app.add_typer(trial_commands.trial)
app.add_typer(program_commands.token)
app.command()(program_commands.mcp)
app.add_typer(user_commands.users)
app.add_typer(memory_command.memory)
for explained in (
    up_command.up,
    up_command.demo,
    ingest_command.ingest,
    maintenance_commands.reparse,
    maintenance_commands.rejects,
    keeping_commands.forget,
    keeping_commands.retain,
    keeping_commands.backup,
    keeping_commands.restore,
    keeping_commands.verify,
    maintenance_commands.models,
    price_command.prices,
    public_rates.public_rates,
    service_commands.check_config,
    service_commands.init_config,
    service_commands.nightly,
    install_command.install_service,
    publish.publish,
    mcp_servers.mcp_servers,
):
    app.command()(_explain_errors(explained))


def main() -> None:
    """Run the `callgauge` command line."""
    leave_pandas_out()
    app(prog_name="callgauge")


if __name__ == "__main__":
    main()
