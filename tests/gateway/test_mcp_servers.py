"""Tests the use of MCP servers' tools in the gateway."""

from __future__ import annotations

import asyncio
import base64
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from callgauge.gateway import (
    Capabilities,
    Executor,
    Gateway,
    McpServer,
    McpServerError,
    Tool,
    Toolbox,
    ToolContext,
    ToolResult,
    Turn,
    open_mcp_servers,
)
from lenient import ToolDefinition, parse_arguments
from tests.event_loops import run
from tests.gateway.served.brain import Asked, Emitted
from tests.gateway.served.in_process import BrainEndpoint

mcp_server = pytest.importorskip("mcp.server", reason="the extra callgauge[mcp] is not installed")
mcp_types = pytest.importorskip("mcp.types", reason="the extra callgauge[mcp] is not installed")

RAW_SERVER = Path(__file__).parent / "served" / "raw_mcp_server.py"
NATIVE = Capabilities(supports_tool_use=True, supports_parallel_tools=True)


def raw_server(kind: str, **options: Any) -> McpServer:
    return McpServer(command=(sys.executable, str(RAW_SERVER), kind), **options)


def with_tools(asking: Callable[[list[Tool]], Awaitable[Any]], *servers: McpServer, **options: Any) -> Any:
    """Open the servers, call a coroutine function with their tools, and return its result."""

    async def inside() -> Any:
        async with open_mcp_servers(servers, **options) as tools:
            return await asking(tools)

    return run(inside())


async def execute(tools: Sequence[Tool], name: str, raw: str, timeout: float = 30.0) -> ToolResult:
    box = Toolbox(tools)
    request = parse_arguments(raw, box.catalog, tool_name=name, tool_call_id="call_1")
    return await Executor(box, timeout=timeout).execute(ToolContext(request))


def call(server: McpServer, name: str, raw: str) -> ToolResult:
    result = with_tools(lambda tools: execute(tools, name, raw), server)
    assert isinstance(result, ToolResult)
    return result


def orders_program() -> Any:
    """Return an MCP server made with the SDK."""
    program = mcp_server.MCPServer("orders", log_level="CRITICAL")

    def search_orders(customer: str, limit: int = 10) -> str:
        """Orders of a customer."""
        if customer == "nobody":
            raise LookupError("no such customer")
        return f"{customer} has {limit} orders."

    program.add_tool(search_orders)

    return program


ORDERS = '{"customer": "Acme", "limit": "3"}'


# --- the three ways to a server


def test_a_server_in_this_process_gives_tools_whose_calls_are_read_and_run() -> None:
    result = call(McpServer(program=orders_program()), "search_orders", ORDERS)
    assert result.status == "success", result.text
    assert result.text.splitlines() == [
        "Acme has 3 orders.",
        "[ParseWarning] string_literal_converted_to_integer",
    ]


def test_the_definition_is_the_servers_own() -> None:
    async def describe(tools: list[Tool]) -> Any:
        return tools[0].definition.description, tools[0].definition.to_json_schema()["required"]

    assert with_tools(describe, McpServer(program=orders_program())) == (
        "Orders of a customer.",
        ["customer"],
    )


def test_a_command_is_started_and_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    script = tmp_path / "orders.py"
    script.write_text(
        "import os, pathlib\n"
        "from mcp.server import MCPServer\n"
        "pathlib.Path('pid').write_text(str(os.getpid()))\n"
        "server = MCPServer('orders', log_level='CRITICAL')\n"
        "@server.tool()\n"
        "def search_orders(customer: str, limit: int = 10) -> str:\n"
        "    return f'{customer} has {limit} orders.'\n"
        "server.run()\n"
    )
    server = McpServer(command=(sys.executable, "orders.py"), environment=("PYTHONPATH",), folder=tmp_path)
    assert call(server, "search_orders", ORDERS).text.startswith("Acme has 3 orders.")
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


@contextmanager
def served_over_http(app: Any) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """Serve an application on a port. Yield the address, and the headers of each request."""
    uvicorn = pytest.importorskip("uvicorn")
    headers: list[dict[str, str]] = []

    async def remember(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            headers.append({name.decode(): value.decode() for name, value in scope["headers"]})
        await app(scope, receive, send)

    server = uvicorn.Server(uvicorn.Config(remember, port=0, log_level="critical", lifespan="auto"))
    begun = threading.Event()
    startup = server.startup

    async def start(*arguments: Any, **options: Any) -> None:
        await startup(*arguments, **options)
        begun.set()

    server.startup = start
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    assert begun.wait(30)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}/mcp", headers
    finally:
        server.should_exit = True
        thread.join(30)


def test_an_address_is_asked_with_its_key() -> None:
    with served_over_http(orders_program().streamable_http_app()) as (url, headers):
        result = call(McpServer(url=url, key="sk-canary-7f3a"), "search_orders", ORDERS)
    assert result.text.startswith("Acme has 3 orders.")
    assert {sent.get("authorization") for sent in headers} == {"Bearer sk-canary-7f3a"}


def test_an_address_that_is_gone_at_a_call_is_told_to_the_model() -> None:
    serving = served_over_http(orders_program().streamable_http_app())
    url, _ = serving.__enter__()

    async def stop_and_ask(tools: list[Tool]) -> ToolResult:
        await asyncio.to_thread(serving.__exit__, None, None, None)
        return await execute(tools, "search_orders", ORDERS)

    result = with_tools(stop_and_ask, McpServer(url=url))
    assert (result.status, result.text) == ("execution_failed", "The MCP server orders cannot be reached.")


def test_an_address_that_wants_a_key_says_so() -> None:
    async def nothing(tools: list[Tool]) -> None:
        raise AssertionError("it cannot be opened")

    async def refuse(scope: Any, receive: Any, send: Any) -> None:
        assert scope["type"] == "http"
        await send({"type": "http.response.start", "status": 401, "headers": []})
        await send({"type": "http.response.body", "body": b"no sk-canary-7f3a"})

    with served_over_http(refuse) as (url, _), pytest.raises(McpServerError) as raised:
        with_tools(nothing, McpServer(url=url, key="sk-canary-7f3a"))
    assert str(raised.value).endswith("(HTTP 401: it wants a key, or another one)")
    assert "sk-canary" not in str(raised.value)


# --- what results become


def content_program() -> Any:
    types = mcp_types
    program = mcp_server.MCPServer("kinds", log_level="CRITICAL")
    picture = base64.b64encode(b"x" * 1000).decode()
    kinds = {
        "texts": [types.TextContent(type="text", text="one"), types.TextContent(type="text", text="two")],
        "image": [types.ImageContent(type="image", data=picture, mime_type="image/png")],
        "link": [types.ResourceLink(type="resource_link", uri="file:///a.txt", name="a")],
        "file": [
            types.EmbeddedResource(
                type="resource", resource=types.TextResourceContents(uri="file:///a", text="within")
            )
        ],
        "blob": [
            types.EmbeddedResource(
                type="resource",
                resource=types.BlobResourceContents(uri="file:///b", blob=picture, mime_type="audio/wav"),
            )
        ],
        "nothing": [],
    }

    def show(kind: str) -> Any:
        return types.CallToolResult(content=kinds[kind])

    program.add_tool(show, structured_output=False)

    def structured() -> Any:
        return types.CallToolResult(content=[], structured_content={"city": "Köln"})

    program.add_tool(structured, structured_output=False)

    def fail(words: str) -> Any:
        return types.CallToolResult(content=[types.TextContent(type="text", text=words)], is_error=True)

    program.add_tool(fail, structured_output=False)

    def refuse(code: int) -> Any:
        raise sys.modules["mcp"].MCPError(code, "limit is too high")

    program.add_tool(refuse, structured_output=False)

    return program


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("texts", "one\ntwo"),
        ("image", "[image: image/png, 1,000 bytes]"),
        ("link", "[resource_link: file:///a.txt]"),
        ("file", "within"),
        ("blob", "[resource: file:///b, audio/wav, 1,000 bytes]"),
        ("nothing", ""),
    ],
)
def test_what_is_no_text_is_named(kind: str, text: str) -> None:
    result = call(McpServer(program=content_program()), "show", f'{{"kind": "{kind}"}}')
    assert (result.status, result.text) == ("success", text)


def test_a_result_without_content_is_its_structure() -> None:
    assert call(McpServer(program=content_program()), "structured", "{}").text == '{"city":"Köln"}'


@pytest.mark.parametrize(
    ("words", "status", "code"),
    [
        ("MCP error -32602: Input validation error: Required", "tool_rejected", "arguments_rejected"),
        ("Error executing tool fail: 1 validation error for X", "tool_rejected", "arguments_rejected"),
        ("Input validation error: 'x' is not of type 'integer'", "tool_rejected", "arguments_rejected"),
        ("Error in a query: Invalid timezone: No such zone", "tool_rejected", "arguments_rejected"),
        ("Invalid time format. Expected HH:MM", "tool_rejected", "arguments_rejected"),
        ("connection to the database was lost", "execution_failed", None),
        ("Invalid response of the database", "execution_failed", None),
        ("", "execution_failed", None),
    ],
)  # fmt: skip
def test_a_failure_is_the_tools_no_where_its_words_say_arguments(
    words: str, status: str, code: str | None
) -> None:
    result = call(McpServer(program=content_program()), "fail", f'{{"words": "{words}"}}')
    assert (result.status, result.code) == (status, code)
    assert result.text == (words or "The tool failed, and its server does not say why.")


@pytest.mark.parametrize(("code", "status"), [(-32602, "tool_rejected"), (-32603, "execution_failed")])
def test_an_error_of_the_protocol_is_told_by_its_code(code: int, status: str) -> None:
    result = call(McpServer(program=content_program()), "refuse", f'{{"code": {code}}}')
    assert (result.status, result.text) == (status, "limit is too high")


def test_an_exception_of_the_servers_tool_is_a_failed_execution() -> None:
    result = call(McpServer(program=orders_program()), "search_orders", '{"customer": "nobody"}')
    assert (result.status, result.text) == ("execution_failed", "Error executing tool search_orders")


def test_dates_are_sent_as_the_model_wrote_them() -> None:
    program = mcp_server.MCPServer("dates", log_level="CRITICAL")

    def show(at: str) -> str:
        return at

    program.add_tool(show)

    tool_schema = {"type": "object", "properties": {"at": {"type": "string", "format": "date-time"}}}

    async def ask(tools: list[Tool]) -> ToolResult:
        definition = ToolDefinition.from_json_schema(name="show", schema=tool_schema)
        return await execute(
            [replace(tools[0], definition=definition)], "show", '{"at": "2026-11-24T08:00:00Z"}'
        )

    assert with_tools(ask, McpServer(program=program)).text == "2026-11-24T08:00:00Z"


# --- bad servers


def test_all_pages_of_the_list_are_read() -> None:
    async def name_all(tools: list[Tool]) -> list[str]:
        return [tool.name for tool in tools]

    assert with_tools(name_all, raw_server("plain")) == ["echo", "echo_1"]


@pytest.mark.parametrize("kind", ["rubbish", "invalid"])
def test_what_a_server_prints_beside_messages_is_passed_over_and_said_once(
    kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "callgauge.Tools"):
        assert call(raw_server(kind), "echo", '{"text": "hi"}').text == "said hi"
    ours = [record for record in caplog.records if record.name == "callgauge.Tools"]
    assert len(ours) == 1
    assert "prints lines that are not messages" in ours[0].getMessage()


@pytest.mark.parametrize(
    ("server", "sentence"),
    [
        (
            raw_server("quits"),
            "it ended before it answered. (its last output: cannot read the configuration of",
        ),
        (raw_server("silent", timeout=0.5), "it did not answer within 0.5 s."),
        (raw_server("endless"), "its list of tools has no end after 100 pages."),
        (McpServer(command=("no-such-command-7f3a",)), "command not found: no-such-command-7f3a."),
        (raw_server("plain", environment=("NO_SUCH_NAME",)), "the environment has no variable NO_SUCH_NAME."),
        (McpServer(url="http://user:pw@127.0.0.1:1/mcp"), "MCP server 127.0.0.1: ConnectError"),
    ],
)
def test_a_server_that_cannot_be_used_is_named_with_the_reason(server: McpServer, sentence: str) -> None:
    async def nothing(tools: list[Tool]) -> None:
        raise AssertionError("it cannot be opened")

    with pytest.raises(McpServerError) as raised:
        with_tools(nothing, server)
    assert sentence in str(raised.value)
    assert str(raised.value).startswith("MCP server ")
    assert "pw" not in str(raised.value)


def test_a_server_that_dies_at_a_call_is_told_to_the_model_and_the_turn_goes_on() -> None:
    requests: list[str] = []

    def brain(request: Asked) -> Emitted:
        requests.append(request.last.text)
        if len(requests) <= 2:
            return Emitted(calls=[("echo", f'{{"text": "{len(requests)}"}}'), ("search_orders", ORDERS)])
        return Emitted("All done.")

    async def talk(tools: list[Tool]) -> Turn:
        async with Gateway(BrainEndpoint(brain), tools, "m", capabilities=NATIVE) as gateway:
            return await gateway.run("Go.")

    turn = with_tools(talk, raw_server("dies"), McpServer(program=orders_program()))
    assert turn.status == "ok"
    assert [call.result.status for call in turn.calls] == ["execution_failed", "success"] * 2
    assert {call.result.text for call in turn.calls if call.result.status != "success"} == {
        "The MCP server raw has ended; its tools cannot be used any more."
    }


def test_a_call_that_takes_too_long_is_given_up_and_the_server_ended() -> None:
    async def ask(tools: list[Tool]) -> ToolResult:
        return await execute(tools, "echo", '{"text": "slow"}', timeout=0.2)

    result = with_tools(ask, raw_server("plain"))
    assert result.text == "echo gave no result within 0.2 s."


def test_a_cancelled_conversation_ends_its_servers(tmp_path: Path) -> None:
    marks: list[int] = []

    async def cancelled() -> None:
        async with open_mcp_servers([raw_server("plain")]) as tools:
            marks.append(len(tools))
            await execute(tools, "echo", '{"text": "slow"}')

    async def inside() -> None:
        task = asyncio.create_task(cancelled())
        while not marks:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        names = [task.get_name() for task in asyncio.all_tasks()]
        assert not [name for name in names if name.startswith("MCP server")]

    run(inside())


# --- names


def test_names_that_clash_get_their_servers_name_before_them() -> None:
    async def name_all(tools: list[Tool]) -> list[str]:
        results = [await execute(tools, tool.name, ORDERS) for tool in tools if "search" in tool.name]
        assert {result.status for result in results} == {"success"}
        return [tool.name for tool in tools]

    names = with_tools(
        name_all,
        McpServer(program=orders_program()),
        McpServer(name="old shop", program=orders_program()),
        raw_server("plain"),
        taken=("echo",),
    )
    assert names == ["orders_search_orders", "old_shop_search_orders", "raw_echo", "echo_1"]


def test_two_servers_that_cannot_be_told_apart_are_refused() -> None:
    async def nothing(tools: list[Tool]) -> None:
        raise AssertionError("it cannot be opened")

    with pytest.raises(McpServerError, match="there are two tools orders_search_orders"):
        with_tools(nothing, McpServer(program=orders_program()), McpServer(program=orders_program()))


def test_a_name_that_no_api_takes_is_written_with_underscores_and_called_by_its_own() -> None:
    program = mcp_server.MCPServer("dots", log_level="CRITICAL")
    program.add_tool(lambda text: f"got {text}", name="notes.add/now", description="Adds.")
    result = call(McpServer(program=program), "notes_add_now", '{"text": "x"}')
    assert (result.status, result.text) == ("success", "got x")


# --- secrets


def test_only_named_variables_are_passed_on_and_secrets_stand_in_no_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("SERVER_TOKEN", "SERVER_FOLDER", "OTHER_TOKEN"):
        monkeypatch.setenv(name, f"canary-of-{name}")
    server = raw_server("plain", environment=("SERVER_TOKEN", "SERVER_FOLDER"))
    text = call(server, "echo", '{"text": "environment"}').text
    assert "SERVER_TOKEN=[SERVER_TOKEN]" in text
    assert "SERVER_FOLDER=canary-of-SERVER_FOLDER" in text, "a path must reach the model as it is"
    assert "OTHER_TOKEN" not in text
    assert "canary-of-SERVER_TOKEN" not in f"{text}{server!r}"
    assert "sk-canary" not in repr(McpServer(url="http://x", key="sk-canary-7f3a"))


def test_a_server_is_one_of_three() -> None:
    for wrong in ({}, {"command": ("x",), "url": "http://x"}):
        with pytest.raises(ValueError, match="one of the three"):
            McpServer(**wrong)  # type: ignore[arg-type]


def test_nobody_imports_the_package_who_names_no_server() -> None:
    code = "import sys, callgauge.gateway; sys.exit('mcp' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
