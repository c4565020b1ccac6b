"""Finds the failure stage of a call from the tool's message, with the same table for all formats.

Agents word the same failure differently, and most logs only mark a failure as an error. The stages have these
meanings. `tool_rejected`: the tool checked the arguments and did nothing, for example because the text to
replace is not in the file or the file has changed. `execution`: a command was executed and exited with an
error. `refused`: a person or a policy denied the call.

The sentences come from the agents' source code and from real logs. tests/sessions/test_refusal_texts.py has a
case for each sentence.
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from ingest.events import FaultLayer, FlagSource, ResultSeen, ResultStatus
from lenient.regex import compile_regex

_ERROR = ResultStatus.ERROR  # looking up an Enum member is slow, so the member is looked up only once
_LONGEST = 1_000  # number of characters that are searched; the known sentences come first in a message

_PREFIX = compile_regex(
    r"(?:\s|<(?:tool_use_)?error>|Error(?: executing tool[^\n:]{0,200})?:|ERROR:|Tool execution failed:"
    r"|The tool execution failed with the following error:|\{\"error\": ?\")*"
)
_DENIALS = (
    r"The user (?:doesn't want to |rejected |denied |has (?:declined|denied) )",
    r"User (?:rejected|denied|declined) ",
    r"Permission (?:to use|for) [^\n]{1,900}? (?:has been|was) denied",
)
_THE_TOOL_REFUSED = (
    # An edit failed. The old text is not in the file, occurs more than once, or equals the new text.
    r"String to replace not found",
    r"The old string was not found",
    r"[`'\"]?old_?(?:string|str|text)\b",
    r"Could not find (?:the exact text|the string|oldString|old_string|edits\[\d+\])",
    r"Failed to edit, ",
    r"No (?:replacement|edit)s? (?:was|were) (?:performed|made)",
    r"The SEARCH block",
    r"No match(?:es)? found for (?:the )?(?:old_?str|replacement|search)",
    r"(?:apply_)?patch verification failed|apply_patch handler received|Failed to find expected lines",
    r"No changes (?:to (?:make|apply)|made to )",
    r"Found (?:\d+|multiple) (?:matches|occurrences)\b",
    r"Multiple (?:matches|occurrences) (?:of|found)",
    # The file is in another state than the model assumed.
    r"File has not been read yet",
    r"You must (?:first )?(?:read (?:the )?file|use the \S{1,80} tool to read)",
    r"(?:The )?file (?:\S[^\n]{0,900}? )?has been modified since",
    # The path does not exist, is not a file, or is outside the allowed folders.
    r"(?:The )?(?:file|path|directory) (?:[^\n]{1,900}? )?(?:does not exist|not found)\b",
    r"ENOENT: no such file or directory, (?!posix_spawn|spawn|uv_spawn|chdir)",
    r"(?:FileNotFoundError: )?\[Errno 2\] No such file or directory",
    r"(?:EISDIR|ENOTDIR): ",
    r"(?:The )?path [^\n]{0,900}?is (?:a directory|not a (?:file|directory))",
    r"Invalid `(?:path|view_range|insert_line)` parameter|File path must be ",
    r"Offset \d+ is (?:out of range|beyond)",
    r"File content \([^)\n]{1,80}\) exceeds maximum",
)
_TEXTS = tuple(
    (layer, compile_regex("|".join(words), re.IGNORECASE))
    for layer, words in (
        (FaultLayer.REFUSED, _DENIALS),
        (FaultLayer.TOOL_REJECTED, _THE_TOOL_REFUSED),
    )
)


def settle_layer(result: ResultSeen) -> ResultSeen:
    """Return the result with the failure stage that its content shows.

    A more exact stage that the log states is not changed.
    """
    if result.status is not _ERROR or result.flag_source is FlagSource.DERIVED_EXIT_CODE:
        return result
    if result.fault_layer not in (None, FaultLayer.EXECUTION):
        return result
    layer = find_refusal(result.content or result.message or "")
    if layer is None:
        return result
    status = ResultStatus.DENIED if layer is FaultLayer.REFUSED else ResultStatus.ERROR
    return replace(result, fault_layer=layer, status=status)


def find_refusal(message: str) -> FaultLayer | None:
    """Return the failure stage that the message of a failed call shows, or None if it shows no stage."""
    head = message[:_LONGEST]
    prefix = _PREFIX.match(head)
    start = prefix.end() if prefix else 0
    return next((layer for layer, words in _TEXTS if words.match(head, start)), None)
