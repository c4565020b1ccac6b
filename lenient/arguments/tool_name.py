"""Removes special tokens of a model's own format from the name of a tool."""

from __future__ import annotations

import re

_SPECIAL = re.compile(r"<[|｜][^<>\s]{0,60}[|｜]?>?|</?tool_calls?>|\[(?:ARGS|CALL_ID|TOOL_CALLS)\]")
_KIMI_ID = re.compile(r"functions\.([^\s:]+):\d+")


def clean_tool_name(name: str) -> tuple[str, bool]:
    """Return the name without special tokens of the model's format, and True when it held any.

    `functions.bash<|channel|>commentary` and `bash<|channel|>json` become `bash`; so does Kimi's id
    `functions.bash:0`. A name that consists of special tokens only is returned unchanged.
    """
    if name.isidentifier():
        return name, False
    kimi = _KIMI_ID.fullmatch(name.strip())
    if kimi is not None:
        return kimi.group(1), True
    token = _SPECIAL.search(name)
    if token is None:
        return name, False
    kept = name[: token.start()].strip().removeprefix("to=").removeprefix("functions.")
    return kept or name, True
