"""Counts the input tokens of a model call, and those of them that a provider's cache read or wrote.

Providers differ: OpenAI and Gemini count cached tokens within the input, Anthropic beside it. In the events
`input_tokens` is all input, and `cached_tokens` and `cache_write_tokens` are parts of it that do not overlap.
"""

from __future__ import annotations

from typing import Any

from ingest.decoding.fields import read_count


def count_whole_input(whole: Any, cached: Any = None, written: Any = None) -> dict[str, Any]:
    """Return the counts of a log whose input includes the tokens of the cache, by the fields of `StepMade`.

    An input of 0 stands for an unknown number. An input smaller than its parts was counted without them.
    """
    input_tokens, cached_tokens, write_tokens = read_count(whole), read_count(cached), read_count(written)
    if input_tokens is not None and input_tokens < (cached_tokens or 0) + (write_tokens or 0):
        return count_input_parts(whole, cached, written)
    return _counts(input_tokens, cached_tokens, write_tokens)


def count_input_parts(fresh: Any, cached: Any = None, written: Any = None) -> dict[str, Any]:
    """Return the counts of a log whose input leaves out the tokens of the cache, by the fields of `StepMade`.

    The input is unknown where all parts are 0 or absent.
    """
    cached_tokens, write_tokens = read_count(cached), read_count(written)
    return _counts(
        (read_count(fresh) or 0) + (cached_tokens or 0) + (write_tokens or 0), cached_tokens, write_tokens
    )


def _counts(whole: int | None, cached: int | None, written: int | None) -> dict[str, Any]:
    if not whole:
        return {"input_tokens": None, "cached_tokens": None, "cache_write_tokens": None}
    return {"input_tokens": whole, "cached_tokens": cached, "cache_write_tokens": written}
