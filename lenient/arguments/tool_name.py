"""Removes from a tool's name what leaked into it from the model's own format."""

from __future__ import annotations

import re

_SPECIAL = re.compile(r"<[|｜][^<>\s]{0,60}[|｜]?>?|</?tool_calls?>|\[(?:ARGS|CALL_ID|TOOL_CALLS)\]")
_KIMI_ID = re.compile(r"functions\.([^\s:]+):\d+")


def clean_tool_name(name: str) -> tuple[str, bool]:
    """Return the name without what leaked into it, and whether anything did.

    `functions.bash<|channel|>commentary` and `bash<|channel|>json` are `bash`; so is Kimi's id
    `functions.bash:0`. A name that consists of nothing else comes back as it is.
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
