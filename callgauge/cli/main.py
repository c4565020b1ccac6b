"""The `callgauge` command: serve, parse, lint, explain, formats, and the commands of the other modules.

Messages go to stderr, results to stdout. Exit codes: 0 everything loaded, 1 nothing could be read, 2 wrong
usage, 3 loaded, but with new unreadable lines or files (with --strict: any in the store), 130 stopped by
Ctrl-C.
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
    export_command,
    ingest_command,
    install_command,
    keeping_commands,
    maintenance_commands,
    memory_command,
    model_commands,
    price_command,
    program_commands,
    record_command,
    render,
    report_command,
    serve_command,
    service_commands,
    user_commands,
)
from callgauge.cli.trials import commands as trial_commands
from ingest.processes import leave_pandas_out
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
    help="Load agent logs and show which model and which prompt make tool calls that work.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
NOTHING_READ, WRONG_USE = 1, 2
app.command()(serve_command.serve)

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
    """Parse one call's arguments and list every repair and coercion.

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
        render.fail(str(problem), WRONG_USE)


def load_definition(path: Path, name: str | None) -> ToolDefinition:
    """Return the tool definition `name` of a file, or the only one when `name` is None.

    Exits with a message when there is no such definition, or several and no name.
    """
    tools = list(load_catalog(path))
    names = ", ".join(tool.name for tool in tools[:10])
    if name is None and len(tools) != 1:
        render.fail(f"{path} defines {len(tools)} tools ({names}); choose one with --name", WRONG_USE)
    meant = [tool for tool in tools if name in (None, tool.name)]
    if not meant:
        render.fail(f"{path} has no tool {name!r}; it defines {names or 'no tools'}", WRONG_USE)
    return meant[0]


@app.command()
def lint(
    file: Annotated[Path, typer.Argument(metavar="FILE", readable=False, help="Definitions, in any format.")],
    name: Annotated[str | None, typer.Option(help="Only this tool.")] = None,
    as_json: Json = False,
) -> None:
    """Find what makes models fail in tool definitions, and suggest fixes.

    Exits with 1 if there is a warning or an error, with 0 if there are only notes or nothing.
    """
    subject = load_definition(file, name) if name is not None else load_catalog(file)
    findings = definition_findings(subject)
    data = [render.definition_finding_data(found) for found in findings]
    print(render.to_json(data) if as_json else render.definition_findings_text(findings))
    raise typer.Exit(1 if any(found.severity is not Severity.NOTE for found in findings) else 0)


@app.command()
def explain(
    code: Annotated[
        str | None, typer.Argument(help="A code, for example missing_required. Without one: list all.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Explain a diagnostic code of the parser or the linter, with an example."""
    if code is None:
        listed = [render.code_data(known) for known in CODES.values()]
        print(render.to_json(listed) if as_json else render.codes_text())
        return
    if code in DEFINITION_CODES:
        of_lint = DEFINITION_CODES[code]
        print(render.to_json(asdict(of_lint)) if as_json else render.definition_code_text(of_lint))
        return
    known = CODES.get(code.split(":")[0])
    if known is None:
        near = difflib.get_close_matches(code, [*CODES, *DEFINITION_CODES], n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else "`callgauge explain` lists all codes"
        render.fail(f"unknown code {code!r}; {hint}", WRONG_USE)
    print(render.to_json(render.code_data(known)) if as_json else render.code_text(known))


def formats_(
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE…", help="Show which format reads each of these files."),
    ] = None,
    as_json: Json = False,
) -> None:
    """List the log formats, or show which one reads a file and why the others do not.

    Exits with 1 if no format reads one of the files.
    """
    from ingest.formats import formats
    from ingest.pipeline.reading.format_explanation import explain_files

    if not files:
        sources = [form.SOURCE for form in formats().values()]
        print(render.to_json(list(map(asdict, sources))) if as_json else render.formats_text(sources))
        return
    claims = [claim for file in files for claim in explain_files(file)]
    print(render.to_json([asdict(claim) for claim in claims]) if as_json else render.claims_text(claims))
    raise typer.Exit(0 if all(claim.name for claim in claims) else NOTHING_READ)


def _explain_errors(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command, changed so that it exits with a one-sentence message on IngestError or Ctrl-C."""

    @functools.wraps(command)
    def explain_errors(**words: Any) -> None:
        from callgauge.checked_files.file_problems import CheckedFileError
        from callgauge.memory.memory_file import MemoryProblemError
        from ingest.errors import IngestError, OptionError

        try:
            command(**words)
        except KeyboardInterrupt:
            render.fail(
                "stopped immediately: nothing was published, the store is unchanged", render.INTERRUPTED
            )
        except OptionError as problem:
            render.fail(str(problem), WRONG_USE)
        except CheckedFileError as mistakes:
            render.print_mistakes(mistakes)
            raise typer.Exit(WRONG_USE) from None
        except (IngestError, MemoryProblemError) as problem:
            render.fail(str(problem))

    return explain_errors


app.command("formats")(_explain_errors(formats_))
app.command()(model_commands.chat)
app.command()(model_commands.probe)
app.command()(record_command.record)
app.command()(export_command.export_tests)
app.command()(report_command.report)
app.command()(report_command.gate)
app.command()(service_commands.metrics)
app.add_typer(trial_commands.trial)
app.add_typer(program_commands.token)
app.command()(program_commands.mcp)
app.add_typer(user_commands.users)
app.add_typer(memory_command.memory)
for explained in (
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
    service_commands.check_config,
    service_commands.init_config,
    service_commands.nightly,
    install_command.install_service,
):
    app.command()(_explain_errors(explained))


def main() -> None:
    """Run the `callgauge` command line.

    This process never draws the dashboard: `serve` replaces it by a Streamlit process.
    """
    leave_pandas_out()
    app(prog_name="callgauge")


if __name__ == "__main__":
    main()
