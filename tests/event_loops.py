"""Runs asynchronous code in tests, also beside Playwright, which keeps a loop running in the main thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar

T = TypeVar("T")
P = ParamSpec("P")


def call_apart(function: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
    """Return what a function returns that is called in a thread of its own, where no loop is running."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(function, *arguments, **options).result()


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Return the result of a coroutine, run in a thread of its own."""
    return call_apart(asyncio.run, coroutine)
