"""Executes asynchronous code in tests, even while Playwright's event loop occupies the main thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar

T = TypeVar("T")
P = ParamSpec("P")


def call_apart(function: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
    """Call a function in a new thread that has no event loop. Return the result."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(function, *arguments, **options).result()


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    return call_apart(asyncio.run, coroutine)
