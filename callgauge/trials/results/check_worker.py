"""Runs users' check functions and regular expressions in a separate process, because they may raise, hang or
exit.

`check_process` starts this process. Standard input and output carry pickles. The length of each pickle
precedes it in eight bytes.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import os
import pickle
import queue
import re
import sys
import threading
from collections.abc import Callable
from typing import IO, Any

Result = tuple[bool | None, str | None]
READY = b"ready"
"""The first frame that the process sends, when it can answer requests."""
_LONGEST = 300  # An error message of a check keeps this many characters.


def write_frame(stream: IO[bytes], data: bytes) -> None:
    """Write the number of bytes, and then the bytes. Raises OSError when the reader has closed the pipe."""
    stream.write(len(data).to_bytes(8, "big") + data)
    stream.flush()


def read_frame(stream: IO[bytes]) -> bytes:
    """Return the next bytes that `write_frame` wrote. Raises EOFError at the end of the stream."""
    head = stream.read(8)
    size = int.from_bytes(head, "big")
    data = stream.read(size) if len(head) == 8 else b""
    if len(head) < 8 or len(data) < size:
        raise EOFError
    return data


def find_pattern(pattern: str, text: str) -> Result:
    """Return whether a string matches a regular expression anywhere."""
    return (True, None) if re.search(pattern, text) else (False, f"the answer does not match {pattern}")


def find_function(named: str) -> Result:
    """Return whether `module:name` can be imported and called."""
    module, _, name = named.partition(":")
    function = getattr(importlib.import_module(module), name)
    return (True, None) if callable(function) else (False, f"{named} is not a function")


def call_check(named: str, task: Any, turn: Any) -> Result:
    """Return the result of the check function `module:name` for a turn. Return None if it is not True, False
    or a sentence.
    """
    module, _, name = named.partition(":")
    verdict = getattr(importlib.import_module(module), name)(task, turn)
    if inspect.iscoroutine(verdict):
        verdict = asyncio.run(verdict)
    if isinstance(verdict, bool):
        return verdict, None if verdict else f"{named} returned false"
    if isinstance(verdict, str) and verdict.strip():
        return False, " ".join(verdict.split())[:_LONGEST]
    kind = "an empty text" if isinstance(verdict, str) else type(verdict).__name__
    return None, f"{named} returned {kind}; it returns True, False or a sentence"


_QUESTIONS: dict[str, Callable[..., Result]] = {
    "pattern": find_pattern,
    "function": call_check,
    "find": find_function,
}


def _answer(request: bytes) -> Result:
    named = ""
    try:
        question, named, *arguments = pickle.loads(request)  # noqa: S301 - written by our own process
        return _QUESTIONS[question](named, *arguments)
    except BaseException as error:  # A check may raise anything, including SystemExit.
        message = " ".join(f"{type(error).__name__}: {error}".split())[:_LONGEST]
        return None, f"{named} failed: {message}"


def main() -> None:
    """Answer requests until standard input ends. Then exit immediately, even during a check."""
    requests: IO[bytes] = os.fdopen(os.dup(0), "rb")
    answered: IO[bytes] = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)  # Checks must not read requests from standard input or print into the answers.
    os.dup2(nothing, 1)
    questions: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def read_all() -> None:
        while True:
            try:
                questions.put(read_frame(requests))
            except EOFError:
                os._exit(0)

    sys.path.insert(0, sys.argv[1])
    threading.Thread(target=read_all, daemon=True).start()
    write_frame(answered, READY)
    while True:
        write_frame(answered, pickle.dumps(_answer(questions.get())))


if __name__ == "__main__":
    main()
