"""The commands of the parser: `callgauge parse`, `lint`, `explain` and `formats`."""

from __future__ import annotations

import difflib
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from msgspec import structs

from callgauge.api.questions.parsed_calls import code_data, request_data
from callgauge.cli import render
from callgauge.cli.render import parser
from callgauge.cli.render.exit_codes import ExitCode
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

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


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
        text, _load_definition(tool, name) if tool else None, policy=policy, tool_name=name
    )
    print(render.to_json(request_data(request)) if as_json else parser.request_text(request))
    raise typer.Exit(0 if request.accepted_under(policy) else 1)


def _load_catalog(path: Path) -> ToolCatalog:
    """Return all tool definitions of a file. Exits with a message when they cannot be read."""
    try:
        return ToolCatalog.load(path)
    except ToolDefinitionError as problem:
        render.fail(str(problem), ExitCode.WRONG_USE)


def _load_definition(path: Path, name: str | None) -> ToolDefinition:
    """Return the tool definition `name` of a file. If `name` is None, the file must have only one definition.

    Exits with a message if no definition can be returned.
    """
    tools = list(_load_catalog(path))
    names = ", ".join(tool.name for tool in tools[:10])
    if name is None and len(tools) != 1:
        render.fail(
            f"{path} defines {len(tools)} tools ({names}); choose one with --name", ExitCode.WRONG_USE
        )
    matching = [tool for tool in tools if name in (None, tool.name)]
    if not matching:
        render.fail(f"{path} has no tool {name!r}; it defines {names or 'no tools'}", ExitCode.WRONG_USE)
    return matching[0]


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
    subjects = [_load_definition(file, name) if name is not None else _load_catalog(file) for file in files]
    findings = list(zip(files, map(definition_findings, subjects), strict=True))
    print(parser.lint_json(findings) if as_json else parser.lint_text(findings))
    severities = [finding.severity for _, several in findings for finding in several]
    raise typer.Exit(1 if any(severity is not Severity.NOTE for severity in severities) else 0)


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
        listed = [code_data(code_entry) for code_entry in CODES.values()]
        print(render.to_json(listed) if as_json else parser.codes_text())
        return
    if code in DEFINITION_CODES:
        of_lint = DEFINITION_CODES[code]
        print(render.to_json(asdict(of_lint)) if as_json else parser.definition_code_text(of_lint))
        return
    diagnostic_code = CODES.get(code.split(":")[0])
    if diagnostic_code is None:
        near = difflib.get_close_matches(code, [*CODES, *DEFINITION_CODES], n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else "`callgauge explain` lists all codes"
        render.fail(f"unknown code {code!r}; {hint}", ExitCode.WRONG_USE)
    print(render.to_json(code_data(diagnostic_code)) if as_json else parser.code_text(diagnostic_code))


def formats(
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
    from ingest import formats as log_formats
    from ingest.pipeline.reading.format_explanation import explain_files

    for problem in log_formats.format_problems():
        render.print_message(problem)
    if not files:
        sources = [
            (form.SOURCE, log_formats.distribution_of(form)) for form in log_formats.formats().values()
        ]
        listed = [
            {**structs.asdict(source), "distribution": distribution} for source, distribution in sources
        ]
        print(render.to_json(listed) if as_json else parser.formats_text(sources))
        return
    claims = [claim for file in files for claim in explain_files(file)]
    print(render.to_json(claims) if as_json else parser.claims_text(claims))
    raise typer.Exit(0 if all(claim.name for claim in claims) else ExitCode.FAILED)
