"""Contains the sample tool `memory.search`, which searches stored passages for words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated

from callgauge.gateway.tools.functions import tool
from callgauge.gateway.tools.toolbox import Tool, ToolRejected

MOST_PASSAGES = 20


def memory_search(passages: Sequence[str]) -> Tool:
    """Return a tool that finds the passages with most of the given words."""

    @tool(name="memory.search", description="Find passages of the memory that hold the words of a query.")
    def search(
        query: Annotated[str, "The words to look for."],
        limit: Annotated[int, "The most passages to return, 1 to 20."] = 3,
    ) -> list[str]:
        if not 1 <= limit <= MOST_PASSAGES:
            raise ToolRejected("limit_out_of_range", f"limit must be between 1 and {MOST_PASSAGES}.")
        words = set(re.findall(r"\w+", query.lower()))
        counted = [(len(words & set(re.findall(r"\w+", text.lower()))), text) for text in passages]
        return [text for count, text in sorted(counted, key=lambda each: -each[0]) if count][:limit]

    return search
