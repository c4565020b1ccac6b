"""Tests the execution of tools: the checks before the function is called, and the result for the model."""

from __future__ import annotations

import asyncio
import dataclasses
import enum
import json
import logging
import sys
import time
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, TypedDict

import pydantic
import pytest

from callgauge.gateway import (
    Executor,
    RecordedAnswer,
    Tool,
    Toolbox,
    ToolContext,
    ToolRejected,
    ToolResult,
    recorded_tools,
    tool,
)
from callgauge.gateway.tools.executor import MOST_CHARACTERS
from lenient import Policy, ToolCatalog, ToolDefinition, parse_arguments
from tests.event_loops import run
from tests.gateway.sample_tool import memory_search


@tool
def search_orders(customer: str, limit: Annotated[int, "How many at most."] = 10) -> list[dict[str, Any]]:
    """Orders of a customer."""
    if limit > 100:
        raise ToolRejected("limit_out_of_range", "limit must be between 1 and 100.")
    if customer == "nobody":
        raise KeyError("nobody")
    return [{"customer": customer, "limit": limit}]


def execute(raw: str, *tools: Tool, name: str | None = None, **options: Any) -> ToolResult:
    box = Toolbox(tools or (search_orders,))
    request = parse_arguments(raw, box.catalog, tool_name=name or next(iter(box)).name, tool_call_id="call_1")
    return run(Executor(box, **options).execute(ToolContext(request)))


@pytest.mark.parametrize(
    ("raw", "status", "text"),
    [
        ('{"customer": "Acme"}', "success", '[{"customer":"Acme","limit":10}]'),
        (
            '{"customer": "Acme", "limit": "3"}',
            "success",
            '[{"customer":"Acme","limit":3}]\n[ParseWarning] string_literal_converted',
        ),
        (
            "{'customer': 'Acme'}",
            "success",
            '[{"customer":"Acme","limit":10}]\n[ParseWarning] single_quotes; single_quotes',
        ),
        (
            "我想查询一下",
            "input_unparsable",
            "The tool was not run. json_parse_error:no_object_found\n- $: The text",
        ),
        ('{"limit": 3}', "input_invalid", "The tool was not run. missing_required:customer\n- $"),
        (
            '{"customer": "Acme", "limit": "many"}',
            "input_invalid",
            "The tool was not run. value_not_converted",
        ),
        (
            '{"customer": "Acme", "limit": 101}',
            "tool_rejected",
            "limit_out_of_range: limit must be between 1 and 100.",
        ),
        ('{"customer": "nobody"}', "execution_failed", "KeyError: 'nobody'"),
    ],
)
def test_each_way_a_call_can_end_has_its_status_and_text(raw: str, status: str, text: str) -> None:
    result = execute(raw)
    assert result.status == status
    assert result.text.startswith(text) or (
        status == "input_invalid" and result.text.startswith("The tool was not run. ")
    )
    if status.startswith("input"):
        assert result.text.endswith(
            "Call the tool again with arguments that fit its definition: "
            "search_orders(customer: string, limit?: integer)"
        )
    assert result.ran is (not status.startswith("input"))


def test_a_lossy_mend_never_reaches_a_tool_that_did_not_ask_for_it() -> None:
    cut = '{"limit": 3, "customer": "Acme"'
    request = parse_arguments('{"customer": "Acme", "limit": 3, "cust', search_orders.definition)
    assert request.lossy
    assert execute(cut).status == "success"  # the repair only adds a brace, so no data is lost
    refused = execute('{"customer": "Acme", "limit": 3, "cust')
    assert refused.status == "input_invalid"
    assert refused.text.startswith("The tool was not run. The arguments lost meaning when they were read: ")
    brave = dataclasses.replace(search_orders, takes_lossy=True)
    assert execute('{"customer": "Acme", "limit": 3, "cust', brave).status == "success"


def test_a_strict_tool_takes_no_mended_arguments_and_says_which_finding_it_refuses() -> None:
    strict = dataclasses.replace(search_orders, policy=Policy.STRICT)
    refused = execute("{'customer': 'Acme'}", strict)
    assert refused.status == "input_invalid"
    assert refused.text.startswith("The tool was not run. single_quotes; single_quotes\n- ")


def test_an_unknown_tool_never_runs_and_the_nearest_is_named() -> None:
    result = execute("{}", name="search_order")
    assert result.status == "tool_not_found"
    assert result.text == (
        "There is no tool search_order. Did you mean search_orders? The tools are: search_orders."
    )
    empty = run(Executor(Toolbox()).execute(ToolContext(parse_arguments("{}", ToolCatalog(), tool_name="x"))))
    assert empty.text == "There is no tool x. No tools are available."


def test_only_declared_parameters_are_passed_on() -> None:
    result = execute('{"customer": "Acme", "verbose": true}')
    assert result.status == "success"
    assert "unknown_parameter:verbose" in result.text

    @tool
    def takes_any(name: str, **more: Any) -> dict[str, Any]:
        return more

    assert execute('{"name": "a", "verbose": true}', takes_any).text.startswith('{"verbose":true}')


def test_a_context_is_filled_in_and_left_out_of_the_definition() -> None:
    @tool
    async def remember(note: str, context: ToolContext) -> str:
        context.metadata["kept"] = context.environment["store"]
        return f"{context.request.tool_call_id}: {context.request.raw_arguments!r}"

    assert [parameter.name for parameter in remember.definition.parameters] == ["note"]
    box = Toolbox([remember])
    request = parse_arguments('{"note":"x"}', box.catalog, tool_name="remember", tool_call_id="call_9")
    result = run(Executor(box).execute(ToolContext(request, "s1", 2, 3, {"store": "disk"})))
    assert (result.text, result.metadata) == ('call_9: \'{"note":"x"}\'', {"kept": "disk"})


class Unit(enum.Enum):
    CELSIUS = "celsius"
    KELVIN = "kelvin"


@dataclasses.dataclass
class Place:
    city: str
    country: str = "DE"


def test_values_come_in_the_types_of_the_hints() -> None:
    arguments: dict[str, Any] = {}

    @tool
    def weather(
        place: Place, unit: Unit, at: datetime, days: tuple[int, ...] = (), mode: Literal["a", "b"] = "a"
    ) -> None:
        arguments.update(place=place, unit=unit, at=at, days=days, mode=mode)

    result = execute(
        '{"place": {"city": "Bonn"}, "unit": "KELVIN", "at": "2026-11-24T08:00:00Z", '
        '"days": [1, 2], "mode": "b"}',
        weather,
    )
    assert result.status == "success", result.text
    assert arguments["place"] == Place("Bonn")
    assert arguments["unit"] is Unit.KELVIN
    assert arguments["at"].isoformat() == "2026-11-24T08:00:00+00:00"
    assert (arguments["days"], arguments["mode"]) == ((1, 2), "b")


@dataclasses.dataclass
class Slot:
    start: datetime
    label: str = ""


class Window(TypedDict):
    end: datetime


def test_a_parameter_of_the_type_datetime_is_given_one_however_the_time_is_written() -> None:
    arguments: dict[str, Any] = {}

    @tool
    def book(
        at: datetime,
        until: Annotated[datetime | None, "not after"] = None,
        days: list[datetime] | None = None,
        by_name: dict[str, datetime] | None = None,
        slot: Slot | None = None,
        window: Window | None = None,
        note: str = "",
        either: str | datetime = "",
    ) -> None:
        arguments.update(
            at=at, until=until, days=days, by_name=by_name, slot=slot, window=window, note=note, either=either
        )

    zulu, others = (
        "2026-12-01T09:00:00Z",
        ("2026-12-01T10:00+01", "2026-12-01 09:00:00,0 Z", "2026-12-01T09:00:00"),
    )
    for written in (zulu, *others, 1796115600):
        sent = {
            "at": written, "until": written, "days": [written], "window": {"end": written},
            "by_name": {"a": written}, "slot": {"start": written, "label": "2026-12-01T09:00Z"},
            "note": "2026-12-01T09:00Z", "either": "2026-12-01T09:00Z",
        }  # fmt: skip
        assert execute(json.dumps(sent), book).status == "success"
        moment = datetime(2026, 12, 1, 9, tzinfo=UTC)
        assert (arguments["at"], arguments["until"], arguments["days"], arguments["by_name"]) == (
            moment, moment, [moment], {"a": moment},
        )  # fmt: skip
        assert arguments["window"] == {"end": moment}
        assert arguments["slot"] == Slot(moment, "2026-12-01T09:00Z")
        assert (arguments["note"], arguments["either"]) == ("2026-12-01T09:00Z", "2026-12-01T09:00Z")


class Order(pydantic.BaseModel):
    item: str
    amount: int = 1

    @pydantic.field_validator("amount")
    @classmethod
    def check_amount(cls, amount: int) -> int:
        if amount > 9:
            raise ValueError("at most nine")
        return amount


def test_models_arrive_as_models_however_deep_they_stand() -> None:
    arguments: dict[str, Any] = {}

    @tool
    def buy(first: Order, more: list[Order], by_name: dict[str, Order], last: Order | None = None) -> None:
        arguments.update(first=first, more=more, by_name=by_name, last=last)

    sent = '{"first": {"item": "a"}, "more": [{"item": "b", "amount": 2}], "by_name": {"x": {"item": "c"}}}'
    result = execute(sent, buy)
    assert result.status == "success", result.text
    assert arguments == {
        "first": Order(item="a"),
        "more": [Order(item="b", amount=2)],
        "by_name": {"x": Order(item="c")},
        "last": None,
    }


def test_what_a_model_says_against_its_fields_is_told() -> None:
    ran: list[object] = []

    @tool
    def buy(orders: list[Order]) -> None:
        ran.append(orders)

    result = execute('{"orders": [{"item": "a", "amount": 10}]}', buy)
    assert (result.status, ran) == ("execution_failed", [])
    assert "at most nine" in result.text


def test_a_name_and_a_description_can_be_given() -> None:
    @tool(name="memory.search", description="Finds.", policy="safe", timeout=2)
    def search(query: str) -> str:
        return query

    assert (search.name, search.definition.description, search.policy) == (
        "memory.search",
        "Finds.",
        Policy.SAFE,
    )


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_a_tool_that_takes_too_long_is_given_up(kind: str) -> None:
    @tool
    async def waits() -> None:
        await asyncio.sleep(60)

    @tool
    def sleeps() -> None:
        time.sleep(0.4)

    result = execute("{}", waits if kind == "async" else sleeps, timeout=0.05)
    assert result.status == "execution_failed"
    assert result.text.endswith("gave no result within 0.05 s.")


def test_a_tool_that_ends_the_program_only_fails() -> None:
    @tool
    def leaves() -> None:
        sys.exit("bye")

    assert execute("{}", leaves).text == "SystemExit: bye"


@pytest.mark.parametrize("error", [GeneratorExit, StopIteration, StopAsyncIteration, asyncio.CancelledError])
@pytest.mark.parametrize("kind", ["sync", "async"])
def test_what_ends_generators_and_tasks_only_fails_the_tool(error: type[BaseException], kind: str) -> None:
    @tool
    def raises() -> None:
        raise error

    @tool
    async def raises_later() -> None:
        await asyncio.sleep(0)
        raise error

    result = execute("{}", raises if kind == "sync" else raises_later)
    assert (result.status, result.ran) == ("execution_failed", True)


def test_an_execution_that_is_closed_from_outside_ends() -> None:
    @tool
    async def waits() -> None:
        await asyncio.Event().wait()

    box = Toolbox([waits])
    request = parse_arguments("{}", box.catalog, tool_name="waits", tool_call_id="call_1")

    async def close_it() -> None:
        running = Executor(box).execute(ToolContext(request))
        task = asyncio.ensure_future(asyncio.sleep(0))
        running.send(None)
        await task
        running.close()  # if the coroutine continued, `close` would raise RuntimeError

    run(close_it())


@pytest.mark.parametrize(
    ("returned", "text"),
    [
        (None, ""),
        ("words", "words"),
        ({"a": {1, 2}}, '{"a":[1,2]}'),
        (Place("Bonn"), '{"city":"Bonn","country":"DE"}'),
        (object, "<class 'object'>"),
    ],
)
def test_a_result_is_text(returned: Any, text: str) -> None:
    @tool
    def gives() -> Any:
        return returned

    assert execute("{}", gives).text.strip('"') == text


def test_a_long_result_is_cut_and_says_so() -> None:
    @tool
    def gives() -> str:
        return "x" * (MOST_CHARACTERS + 1_234)

    assert execute("{}", gives).text.endswith("x\n[cut: 1,234 characters more]")


def test_warnings_can_be_kept_from_the_model() -> None:
    assert "[ParseWarning]" not in execute("{'customer': 'Acme'}", tells_warnings=False).text


def test_the_categories_of_the_log_are_those_of_the_seed(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "callgauge"):
        execute("我想")
        execute("{'customer': 'Acme'}")
        execute("{}", name="nope")
    records = {(record.name, record.levelname) for record in caplog.records}
    assert ("callgauge.ToolParse", "WARNING") in records
    assert ("callgauge.ToolParse", "INFO") in records
    assert ("callgauge.Tools", "INFO") in records
    assert "tool_definition_missing: nope" in caplog.text


def test_recorded_answers_are_chosen_by_the_typed_arguments() -> None:
    definition = ToolDefinition.from_json_schema(
        name="stock",
        schema={"type": "object", "properties": {"item": {"type": "string"}, "n": {"type": "integer"}}},
    )
    answers = [
        RecordedAnswer("stock", "one left", {"item": "x", "n": 1}),
        RecordedAnswer("stock", "sold_out: no more", {"item": "y"}, "tool_rejected"),
        RecordedAnswer("stock", "TimeoutError: 30 s", {"item": "z"}, "execution_failed"),
    ]
    [stock] = recorded_tools(ToolCatalog.from_definitions([definition]), answers)
    answer = execute('{"item": "x", "n": "1", "more": []}', stock)
    assert (answer.status, answer.text.splitlines()[0], answer.metadata) == (
        "success",
        "one left",
        {"simulated": "recorded"},
    )
    assert execute('{"item": "y"}', stock).code == "sold_out"
    assert execute('{"item": "z"}', stock).text == "TimeoutError: 30 s"
    missed = execute('{"item": "w"}', stock)
    assert (missed.status, missed.metadata) == ("execution_failed", {"simulated": "miss"})


def test_the_sample_tool_of_the_seed_runs() -> None:
    search = memory_search(["agent state is kept", "consistency of agent state", "nothing"])
    assert search.definition.to_json_schema()["required"] == ["query"]
    assert execute('{"query": "agent state consistency", "limit": "1"}', search).text.startswith(
        '["consistency of agent state"]'
    )
    assert execute('{"query": "x", "limit": 99}', search).code == "limit_out_of_range"


def test_a_toolbox_grows_by_a_new_one() -> None:
    box = Toolbox([search_orders])
    more = box.add(memory_search([]))
    assert ([tool.name for tool in box], len(more), more.get("memory.search") is None) == (
        ["search_orders"],
        2,
        False,
    )
    assert box.get(None) is None


def test_a_tools_own_timeout_or_cancellation_is_its_failure_and_is_named() -> None:
    @tool
    def slow_database() -> None:
        raise TimeoutError("the database is slow")

    @tool
    async def inner() -> None:
        raise asyncio.CancelledError("something within")

    @tool
    def empty() -> int:
        return next(iter(()))  # asyncio cannot pass a StopIteration out of a thread

    assert execute("{}", slow_database).text == "TimeoutError: the database is slow"
    assert execute("{}", inner).text == "CancelledError: something within"
    assert execute("{}", empty, timeout=20).text == "RuntimeError: StopIteration"


def test_a_conversation_that_is_cancelled_within_a_tool_is_cancelled() -> None:
    begun = asyncio.Event()

    @tool
    async def waits() -> None:
        begun.set()
        await asyncio.sleep(60)

    async def cancel() -> None:
        box = Toolbox([waits])
        request = parse_arguments("{}", box.catalog, tool_name="waits")
        running = asyncio.create_task(Executor(box).execute(ToolContext(request)))
        await begun.wait()
        running.cancel()
        await running

    with pytest.raises(asyncio.CancelledError):
        run(cancel())


def test_a_tool_can_read_the_text_as_the_model_sent_it() -> None:
    @tool
    def compare(customer: str, context: ToolContext) -> list[Any]:
        return [context.request.raw_arguments, context.request.arguments]

    assert execute("{'customer': 'Acme'}", compare).text.startswith(
        """["{'customer': 'Acme'}",{"customer":"Acme"}]"""
    )


def test_a_toolbox_tells_a_planner_what_its_tools_are() -> None:
    listed = {
        definition.name: [
            (parameter.name, parameter.kind.value, parameter.required) for parameter in definition.parameters
        ]
        for definition in Toolbox([search_orders, memory_search([])]).catalog
    }
    assert listed == {
        "search_orders": [("customer", "string", True), ("limit", "integer", False)],
        "memory.search": [("query", "string", True), ("limit", "integer", False)],
    }
    assert "How many at most." in search_orders.definition.to_markdown()
