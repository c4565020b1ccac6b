"""Make tools from Python functions: read the definition from the signature, and convert the arguments."""

from __future__ import annotations

import asyncio
import functools
import inspect
import types
import typing
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, overload

import msgspec

from callgauge.gateway.tools.toolbox import Tool, ToolContext
from lenient import Policy, ToolDefinition
from lenient.coerce.coercions import read_timestamp
from lenient.definitions.signatures import resolve_hints


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...


@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    policy: Policy | str = Policy.LENIENT,
    takes_lossy: bool = False,
    timeout: float | None = None,
) -> Callable[[Callable[..., Any]], Tool]: ...


def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    policy: Policy | str = Policy.LENIENT,
    takes_lossy: bool = False,
    timeout: float | None = None,
) -> Any:
    """Make a tool from a function. Can be a decorator, with or without options, or a plain call.

    The definition is read from the signature, the type hints and the docstring
    (`lenient.ToolDefinition.from_function`). The definition omits a parameter of the type `ToolContext`.
    Functions that are not async run in a thread, so that they can time out. Raises
    lenient.ToolDefinitionError for an object without a signature.
    """
    if function is None:
        return functools.partial(
            _make_tool,
            name=name,
            description=description,
            policy=Policy(policy),
            takes_lossy=takes_lossy,
            timeout=timeout,
        )
    return _make_tool(function)


def _make_tool(
    function: Callable[..., Any],
    *,
    name: str | None = None,
    description: str | None = None,
    policy: Policy = Policy.LENIENT,
    takes_lossy: bool = False,
    timeout: float | None = None,
) -> Tool:
    hints = resolve_hints(function)
    filled_in = tuple(parameter for parameter, hint in hints.items() if _bare_hint(hint) is ToolContext)
    definition = ToolDefinition.from_function(function, name=name, description=description, without=filled_in)

    async def run(context: ToolContext) -> Any:
        arguments = _bind(function, hints, context.request.arguments or {})
        arguments |= dict.fromkeys(filled_in, context)
        if inspect.iscoroutinefunction(function):
            return await function(**arguments)
        result = await asyncio.to_thread(_call, function, arguments)
        return await result if inspect.isawaitable(result) else result

    return Tool(definition, run, policy, takes_lossy, timeout)


def _call(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    """Call a function in its thread. Replace StopIteration, which asyncio cannot pass out of a thread."""
    try:
        return function(**arguments)
    except (StopIteration, GeneratorExit) as error:
        raise RuntimeError(type(error).__name__) from error


def _bare_hint(hint: Any) -> Any:
    """Return the class in a hint, without `Annotated` and `| None`."""
    if typing.get_origin(hint) is typing.Annotated:
        return _bare_hint(typing.get_args(hint)[0])
    others = [argument for argument in typing.get_args(hint) if argument is not type(None)]
    return others[0] if len(others) == 1 and len(typing.get_args(hint)) == 2 else hint


def _bind(
    function: Callable[..., Any], hints: Mapping[str, Any], arguments: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the arguments for which the function has parameters, converted to the type hints.

    All other arguments are dropped, unless the function takes `**kwargs`.
    """
    declared = inspect.signature(function).parameters.values()
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in declared)
    names = {parameter.name for parameter in declared if parameter.kind not in _NOT_BY_NAME}
    return {
        name: _convert(value, hints.get(name, Any))
        for name, value in arguments.items()
        if name in names or takes_any
    }


_NOT_BY_NAME = (
    inspect.Parameter.VAR_KEYWORD,
    inspect.Parameter.VAR_POSITIONAL,
    inspect.Parameter.POSITIONAL_ONLY,
)


_UNIONS = (typing.Union, types.UnionType)


def _read_times(value: Any, hint: Any) -> Any:
    """Return the value with timestamps converted to `datetime` where the hint requires that.

    msgspec converts only RFC 3339, but a definition accepts all of ISO 8601. If the hint also allows strings,
    a string stays.
    """
    hint = _bare_hint(hint)
    if hint is datetime and isinstance(value, str):
        return read_timestamp(value) or value
    inner = () if typing.get_origin(hint) in _UNIONS else typing.get_args(hint)
    if isinstance(value, list) and inner:
        return [_read_times(item, inner[min(place, len(inner) - 1)]) for place, item in enumerate(value)]
    if isinstance(value, dict) and len(inner) == 2:
        return {name: _read_times(item, inner[1]) for name, item in value.items()}
    if isinstance(value, dict) and isinstance(hint, type):
        try:
            hints = typing.get_type_hints(hint, include_extras=True)
        except (NameError, TypeError):
            return value
        return {name: _read_times(item, hints.get(name, Any)) for name, item in value.items()}
    return value


def _convert(value: Any, hint: Any) -> Any:
    """Convert a JSON value to the type of a hint: enumeration members, dates, dataclasses, models.

    A value that cannot be converted stays unchanged. Validation errors of pydantic models are raised.
    """
    refused: list[Exception] = []

    def make_model(wanted: Any, value: Any) -> Any:
        if not hasattr(wanted, "model_validate"):
            raise NotImplementedError
        try:
            return wanted.model_validate(value)
        except ValueError as error:
            refused.append(error)
            raise

    value = _read_times(value, hint)
    try:
        return msgspec.convert(value, type=hint, strict=True, dec_hook=make_model)
    except (msgspec.ValidationError, TypeError, ValueError, NotImplementedError):
        if refused:
            raise refused[0] from None
        return value
