"""Tests the examples for `check_call` in docs/parser.md."""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from lenient import Policy, ToolCatalog, check_call

ROOT = Path(__file__).parents[2]
LIMIT = {"type": "integer", "default": 10}
SCHEMA = {
    "type": "object",
    "properties": {"query": {"type": "string"}, "limit": LIMIT},
    "required": ["query"],
}
CATALOG = ToolCatalog.load([{"name": "search", "description": "Search.", "input_schema": SCHEMA}])
INVALID, BROKEN = '{"limit": "many"}', "{'query': 'blue', 'limit': '3',}"
REPLY = "The tool was not run. unsupported_integer_literal:limit; missing_required:query"


def example(label: str) -> str:
    text = (ROOT / "docs" / "parser.md").read_text(encoding="utf-8")
    (found,) = re.findall(rf"^```python {label}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return str(found)


# --- the function


@pytest.mark.parametrize(
    ("raw", "arguments"),
    [
        ('{"query": "a"}', {"query": "a", "limit": 10}),
        (BROKEN, {"query": "blue", "limit": 3}),
        ({"query": "a", "limit": "5"}, {"query": "a", "limit": 5}),
        (BROKEN.encode(), {"query": "blue", "limit": 3}),
    ],
)
def test_arguments_that_can_be_read_are_returned_with_defaults(raw: Any, arguments: Any) -> None:
    checked = check_call("search", raw, CATALOG)
    assert (checked.arguments, checked.reply) == (arguments, None)
    assert check_call("search", raw, next(iter(CATALOG))).arguments == arguments


def test_a_call_that_must_not_run_has_a_reply_with_reason_and_parameters() -> None:
    checked = check_call("search", INVALID, CATALOG)
    assert checked.arguments is None
    assert checked.reply is not None
    first, *_, last = checked.reply.splitlines()
    assert first == REPLY
    assert last.endswith("search(query: string, limit?: integer)")
    assert [diagnostic.code for diagnostic in checked.request.diagnostics][-1] == "missing_required"


def test_an_unknown_tool_has_a_reply_with_the_nearest_name() -> None:
    checked = check_call("serch", "{}", CATALOG)
    assert checked.reply == "There is no tool serch. Did you mean search? The tools are: search."
    assert (check_call(None, "{}", CATALOG).reply or "").startswith("There is no tool (without a name).")


def test_the_policy_and_lost_meaning_decide() -> None:
    assert check_call("search", BROKEN, CATALOG, policy=Policy.STRICT).arguments is None
    lossy = '{"query": "a", "limit": 3.7}'
    assert "lost meaning" in (check_call("search", lossy, CATALOG).reply or "")
    assert check_call("search", lossy, CATALOG, accepts_lossy=True).arguments == {"query": "a", "limit": 3}


@pytest.mark.parametrize(
    "raw", ["", "[" * 1_000, b"\xff", '{"query": "\ud800"}', {"query": 10**400, "x": {1, 2}}]
)
def test_no_arguments_raise(raw: Any) -> None:
    checked = check_call("search", raw, CATALOG)
    assert (checked.arguments is None) != (checked.reply is None)


# --- the examples, with stubs in the shape of the SDKs' messages


def run_example(label: str, client: Any, messages: list[Any]) -> tuple[str, list[dict[str, Any]]]:
    """Return the final answer of the example's loop, and the arguments of the tool call."""
    ran: list[dict[str, Any]] = []

    def search(**arguments: Any) -> str:
        ran.append(arguments)
        return "found"

    tools = [{"name": "search", "input_schema": SCHEMA}]
    module: dict[str, Any] = {"TOOLS": tools, "FUNCTIONS": {"search": search}}
    exec(compile(example(label), label, "exec"), module)  # noqa: S102
    return module["run_turn"](client, messages), ran


def test_the_example_for_openai_replies_to_the_model_and_runs_the_tool() -> None:
    def message(raw: str | None) -> SimpleNamespace:
        function = SimpleNamespace(name="search", arguments=raw)
        calls = [SimpleNamespace(id="c", function=function)] if raw else None
        answer = SimpleNamespace(role="assistant", content=None if raw else "Done.", tool_calls=calls)
        return SimpleNamespace(choices=[SimpleNamespace(message=answer)])

    answers = iter([message(INVALID), message(BROKEN), message(None)])
    completions = SimpleNamespace(create=lambda **_: next(answers))
    messages: list[Any] = []
    result = run_example("openai", SimpleNamespace(chat=SimpleNamespace(completions=completions)), messages)
    assert result == ("Done.", [{"query": "blue", "limit": 3}])
    replies = [entry["content"] for entry in messages if isinstance(entry, dict)]
    assert [reply.splitlines()[0] for reply in replies] == [REPLY, "found"]


def test_the_example_for_anthropic_replies_to_the_model_and_runs_the_tool() -> None:
    def answer(arguments: Any) -> SimpleNamespace:
        text = SimpleNamespace(type="text", text="Done.")
        call = SimpleNamespace(type="tool_use", id="c", name="search", input=arguments)
        return SimpleNamespace(content=[text if arguments is None else call])

    answers = iter([answer({"limit": "many"}), answer({"query": "blue", "limit": "3"}), answer(None)])
    messages: list[Any] = []
    client = SimpleNamespace(messages=SimpleNamespace(create=lambda **_: next(answers)))
    assert run_example("anthropic", client, messages) == ("Done.", [{"query": "blue", "limit": 3}])
    results = [entry["content"][0] for entry in messages if entry["role"] == "user"]
    assert [result["is_error"] for result in results] == [True, False]


def test_the_example_for_pydantic_ai_retries_and_repairs(monkeypatch: pytest.MonkeyPatch) -> None:
    class RetryError(Exception):
        pass

    stub, capabilities = ModuleType("pydantic_ai"), ModuleType("pydantic_ai.capabilities")
    stub.ModelRetry, capabilities.AbstractCapability = RetryError, object  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pydantic_ai", stub)
    monkeypatch.setitem(sys.modules, "pydantic_ai.capabilities", capabilities)
    module: dict[str, Any] = {}
    exec(compile(example("pydantic-ai"), "pydantic-ai", "exec"), module)  # noqa: S102
    tool = SimpleNamespace(name="search", parameters_json_schema=SCHEMA)

    def validate(args: Any) -> Any:
        hook = module["LenientArguments"]().before_tool_validate
        return asyncio.run(hook(None, call=None, tool_def=tool, args=args))

    assert validate(BROKEN) == {"query": "blue", "limit": 3}
    with pytest.raises(RetryError, match="The tool was not run"):
        validate(INVALID)
