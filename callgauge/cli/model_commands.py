"""The commands that call models: `callgauge chat` and `callgauge probe`."""

from __future__ import annotations

import asyncio
import os
import runpy
import shlex
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import typer

from callgauge.cli import render
from callgauge.cli.render.exit_codes import ExitCode
from callgauge.cli.render.terminal import handle_signals
from lenient import ToolCatalog, ToolDefinitionError

if TYPE_CHECKING:
    from callgauge.gateway import Endpoint, Gateway, McpServer, Probe, Tool

T = TypeVar("T")
_ATTEMPTS = 3  # There are only a few attempts, because a user waits for the answer.
_KEYS = {
    "openai-chat": "OPENAI_API_KEY",
    "openai-responses": "OPENAI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
    "gemini": "GEMINI_API_KEY",
}

Address = Annotated[
    str,
    typer.Option(
        "--endpoint", metavar="URL", help="The server's base URL, such as http://127.0.0.1:8080/v1."
    ),
]
Wire = Annotated[
    str,
    typer.Option(help="The server's API: openai-chat, openai-responses, anthropic or gemini."),
]
KeyName = Annotated[
    str | None,
    typer.Option(
        "--key",
        metavar="VARIABLE",
        help="The environment variable with the key. [default: OPENAI_API_KEY or the API's equivalent]",
    ),
]
Server = Annotated[
    str | None, typer.Option(help="The server software (ollama, llama.cpp, vllm …), if known.")
]
NoStream = Annotated[
    bool, typer.Option("--no-stream", help="Ask for whole answers, if a server leaves calls out of streams.")
]

ToolsFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        readable=False,
        help="A Python file whose functions are the tools (the file is run), or tool definitions of any "
        "provider (then you type the results).",
    ),
]
McpServers = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COMMAND|URL",
        help="An MCP server whose tools are also offered: a command in quotes, or an address. Repeatable.",
    ),
]
McpVariables = Annotated[
    list[str] | None,
    typer.Option(metavar="VARIABLE", help="An environment variable to pass to the MCP commands. Repeatable."),
]
McpKey = Annotated[
    str | None,
    typer.Option(metavar="VARIABLE", help="The environment variable with the key for the one --mcp address."),
]


def chat(
    endpoint: Address,
    model: Annotated[str, typer.Option(help="The model's name, as the server knows it.")],
    tools: ToolsFile = None,
    mcp: McpServers = None,
    mcp_env: McpVariables = None,
    mcp_key: McpKey = None,
    prompt: Annotated[
        str, typer.Option(metavar="TEXT|FILE", help="The system prompt, or a file with it.")
    ] = "",
    strategy: Annotated[
        Literal["auto", "tool_use", "json_fallback"], typer.Option(help="How the model calls tools.")
    ] = "auto",
    log: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write the session log here, for `callgauge ingest`.")
    ] = None,
    wire: Wire = "openai-chat",
    key: KeyName = None,
    server: Server = None,
    no_stream: NoStream = False,
) -> None:
    """Talk to a model and see the diagnostics of each call.

    The answers appear as they arrive. Each line that you type is a turn. An empty line or Ctrl-D ends the
    conversation. Exits with 1 if the last turn failed.
    """
    from callgauge.gateway import Gateway, open_mcp_servers

    printer = render.ReplyPrinter()
    offered = _read_tools(tools, printer.end_line) if tools is not None else []
    servers = _read_servers(mcp or (), tuple(mcp_env or ()), mcp_key)
    opened = _open_endpoint(endpoint, wire, key, server, streams=not no_stream)
    text = _read_prompt(prompt)

    async def talk() -> bool:
        async with open_mcp_servers(
            servers, taken=[offered_tool.name for offered_tool in offered]
        ) as mcp_tools:
            if servers:
                names = ", ".join(mcp_tool.name for mcp_tool in mcp_tools)
                render.print_message(f"{len(mcp_tools)} tools of MCP servers: {names}")
            async with Gateway(
                opened,
                [*offered, *mcp_tools],
                model,
                text,
                strategy=strategy,
                log=log,
                watch=_stop_if_closed(printer.print_step),
                on_text=_stop_if_closed(printer.print_piece),
            ) as gateway:
                if log is not None:
                    render.print_message(f"logged to {Path(log) / gateway.session_id}.jsonl")
                return await _talk(gateway, printer)

    if not _run(talk(), printer.end_line):
        raise typer.Exit(ExitCode.FAILED)


class _OutputClosedError(BaseException):
    """Raised when nobody reads the output any more. Not an `Exception`, because the gateway catches these."""

    def __init__(self, error: BrokenPipeError) -> None:
        super().__init__(str(error))
        self.error = error


def _stop_if_closed(show: Callable[[T], None]) -> Callable[[T], None]:
    """Return a function that prints a string, and ends the conversation if nobody reads the output."""

    def show_or_stop(part: T) -> None:
        try:
            show(part)
        except BrokenPipeError as error:
            raise _OutputClosedError(error) from None

    return show_or_stop


async def _talk(gateway: Gateway, printer: render.ReplyPrinter) -> bool:
    """Send each typed line to the model as a turn. Return whether the last turn succeeded."""
    from callgauge.gateway.sentences import FALLBACK_IS_DEPRECATED

    is_ok = True
    for line in _read_lines():
        turn = await gateway.run(line)
        if gateway.used_strategy == "json_fallback" and gateway.turns == 1:
            render.print_message(FALLBACK_IS_DEPRECATED)
        printer.print_turn(turn)
        is_ok = turn.status == "ok"
    return is_ok


def probe(
    endpoint: Address,
    model: Annotated[
        list[str], typer.Option(help="A model's name, as the server knows it; repeat for several.")
    ],
    wire: Wire = "openai-chat",
    key: KeyName = None,
    server: Server = None,
    no_stream: NoStream = False,
    json_questions: Annotated[
        int, typer.Option("--json-questions", min=0, max=50, help="How often to test the JSON fallback.")
    ] = 5,
    full: Annotated[
        bool,
        typer.Option("--full", help="Also test strict definitions, answers by a JSON Schema and seeds."),
    ] = False,
    time_limit: Annotated[
        float, typer.Option(metavar="SECONDS", min=1, help="The time limit for each model.")
    ] = 300,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Test what models and their server can do with tools.

    Each model gets a few short questions.
    The cost uses today's built-in list prices. Exits with 1 if a server could not be reached.
    """
    from callgauge.gateway import probe_model
    from callgauge.prices import PriceList, cost_of_tokens

    opened = _open_endpoint(endpoint, wire, key, server, streams=not no_stream)

    async def ask_one(name: str, show: Callable[[str], None]) -> Probe:
        return await probe_model(
            opened,
            name,
            json_questions=json_questions,
            is_full=full,
            time_limit=time_limit,
            watch=lambda question: show(f"{name}: {question}"),
        )

    async def ask_all() -> list[Probe]:
        async with opened:
            with render.show_status() as show:
                return [await ask_one(name, show) for name in model]

    prices, today = PriceList(), datetime.now(UTC).date()
    rows = []
    for name, result in zip(model, _run(ask_all()), strict=True):
        price = prices.find(name, today)
        tokens = result.tokens
        cost = None if price is None else cost_of_tokens(price, tokens.read, tokens.written, tokens.cached)
        rows.append(render.ProbeRow(name, result, cost))
    render.print_probes(rows, as_json=as_json)


def _open_endpoint(url: str, wire: str, key: str | None, server: str | None, *, streams: bool) -> Endpoint:
    from callgauge.gateway import Endpoint

    name = key or _KEYS.get(wire, "")
    if key is not None and key not in os.environ:
        render.fail(f"--key: the environment variable {key} is not set", ExitCode.WRONG_USE)
    try:
        return Endpoint(
            url,
            wire=wire,
            key=os.environ.get(name, ""),
            server=server,
            streams=streams,
            attempts=_ATTEMPTS,
        )
    except ValueError as problem:
        render.fail(str(problem), ExitCode.WRONG_USE)


def _run(asking: Any, clean_up: Callable[[], None] = lambda: None) -> Any:
    """Run a coroutine. After Ctrl-C, call `clean_up` and exit with a message."""
    from callgauge.gateway import McpServerError

    try:
        return asyncio.run(asking)
    except McpServerError as missing:
        render.fail(str(missing), ExitCode.WRONG_USE)
    except _OutputClosedError as closed:
        raise closed.error from None
    except KeyboardInterrupt:
        clean_up()
        render.fail("stopped", ExitCode.INTERRUPTED)


def _read_tools(path: Path, end_line: Callable[[], None]) -> list[Tool]:
    """Return the tools of a file. Exits with a message if the file defines no tool.

    A user types the result of each tool call. `end_line` is called before the user is asked.
    """
    from callgauge.gateway import Tool, ToolContext, tool

    if path.suffix == ".py":
        try:
            names = runpy.run_path(str(path), run_name="callgauge_tools")
        except Exception as error:  # Code in a user's file may raise any exception.
            render.fail(f"cannot run {path}: {type(error).__name__}: {error}", ExitCode.WRONG_USE)
        made = [value for value in names.values() if isinstance(value, Tool)]
        plain = [
            tool(value)
            for name, value in names.items()
            if not name.startswith("_")
            and getattr(value, "__module__", None) == "callgauge_tools"
            and callable(value)
            and not isinstance(value, (type, Tool))
        ]
        if not made and not plain:
            render.fail(
                f"{path} defines no function; a tool is a function, with or without @tool", ExitCode.WRONG_USE
            )
        return made or plain
    try:
        catalog = ToolCatalog.load(path)
    except ToolDefinitionError as problem:
        render.fail(str(problem), ExitCode.WRONG_USE)

    async def type_result(context: ToolContext) -> str:
        end_line()
        question = f"  result of {context.request.tool_name}> "
        return await asyncio.to_thread(_read_line, question)

    return [Tool(definition, type_result, timeout=3600) for definition in catalog]


def _read_servers(
    named: Sequence[str], environment: tuple[str, ...], key_variable: str | None
) -> list[McpServer]:
    from callgauge.gateway import McpServer

    addresses = [argument for argument in named if _is_address(argument)]
    if key_variable is not None and len(addresses) != 1:
        render.fail(f"--mcp-key needs exactly one --mcp address, not {len(addresses)}", ExitCode.WRONG_USE)
    if key_variable is not None and key_variable not in os.environ:
        render.fail(f"--mcp-key: the environment variable {key_variable} is not set", ExitCode.WRONG_USE)
    key = os.environ[key_variable] if key_variable is not None else ""
    servers = []
    for argument in named:
        if _is_address(argument):
            servers.append(McpServer(url=argument, key=key))
            continue
        try:
            command = tuple(shlex.split(argument))
        except ValueError as problem:
            render.fail(f"--mcp {argument!r}: {problem}", ExitCode.WRONG_USE)
        if not command:
            render.fail("--mcp is empty; give a command in quotes, or an address", ExitCode.WRONG_USE)
        servers.append(McpServer(command=command, environment=environment))
    return servers


def _is_address(named: str) -> bool:
    return named.startswith(("http://", "https://"))


def _read_prompt(prompt: str) -> str:
    try:
        is_file = bool(prompt) and len(prompt) < 1_000 and Path(prompt).is_file()
        return Path(prompt).read_text(encoding="utf-8") if is_file else prompt
    except (OSError, UnicodeDecodeError) as problem:
        render.fail(f"{prompt}: {problem}", ExitCode.WRONG_USE)


def _read_lines() -> Iterator[str]:
    """Yield typed or piped lines up to the first empty line."""
    while line := _read_line("you> "):
        yield line


def _read_line(question: str) -> str:
    if sys.stdin.isatty():
        # asyncio's handler only notes Ctrl-C and does not end input().
        is_main = threading.current_thread() is threading.main_thread()
        with handle_signals(["SIGINT"] if is_main else [], signal.default_int_handler):
            try:
                return input(question).strip()
            except EOFError:
                print()
                return ""
    return sys.stdin.readline().strip()
