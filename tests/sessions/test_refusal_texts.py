"""Tests the rules that assign a failure stage to a tool's failure message."""

from __future__ import annotations

import pytest

from ingest.events import FaultLayer, FlagSource, LogLine, ResultSeen, ResultStatus
from ingest.sessions.results.refusal_texts import find_refusal, settle_layer

REJECTED, REFUSED = FaultLayer.TOOL_REJECTED, FaultLayer.REFUSED
MESSAGES = [
    # The text to replace does not exist.
    ("Claude Code Edit", "String to replace not found in file.\nString: foo", REJECTED),
    ("Claude Code Edit", "<tool_use_error>String to replace not found in file.</tool_use_error>", REJECTED),
    ("Claude Code Edit", "Found 3 matches of the string to replace, but replace_all is false.", REJECTED),
    ("Claude Code Edit", "No changes to make: old_string and new_string are exactly the same.", REJECTED),
    ("Codex apply_patch", "apply_patch verification failed: Failed to find expected lines in a.py", REJECTED),
    ("pi edit", "Could not find the exact text in /a/b.ts. The old text must match exactly.", REJECTED),
    ("pi edit", "Found 2 occurrences of the text in a.ts.", REJECTED),
    ("OpenHands edit", "ERROR:\nNo replacement was performed, old_str `x` did not appear in /a.", REJECTED),
    ("OpenHands edit", "No replacement was performed. Multiple occurrences of old_str `x`", REJECTED),
    ("OpenCode edit", "Error: Could not find oldString in the file.", REJECTED),
    ("OpenCode edit", "oldString not found in content", REJECTED),
    ("OpenCode edit", "Error: oldString and newString must be different", REJECTED),
    ("Gemini CLI replace", "Failed to edit, 0 occurrences found for old_string in /a.", REJECTED),
    ("Qwen Code edit", "Error: Failed to edit, could not find the string to replace.", REJECTED),
    ("Kimi StrReplaceFile", "No replacements were made. The old string was not found in the file.", REJECTED),
    ("Goose text_editor", "'old_str' must appear exactly once in the file, but it appears 2 times", REJECTED),
    (
        "Cline replace_in_file",
        "The tool execution failed with the following error:\n<error>\nThe SEARCH block:\nx",
        REJECTED,
    ),
    # The model assumed another state of the file.
    ("Claude Code Write", "File has not been read yet. Read it first before writing to it.", REJECTED),
    ("Claude Code Edit", "File has been modified since read, either by the user or by a linter.", REJECTED),
    ("OpenCode edit", "File /a/b c.ts has been modified since it was last read.", REJECTED),
    # The file does not exist.
    ("Claude Code Read", "File does not exist. Note: your current working directory is /a.", REJECTED),
    ("Claude Code Grep", "Path does not exist: /a/b. Note: your current working directory is /a", REJECTED),
    ("Copilot CLI view", "Path does not exist", REJECTED),
    ("pi read", "ENOENT: no such file or directory, access '/a/b'", REJECTED),
    ("OpenCode read", "Error: File not found: /a/b.ts", REJECTED),
    ("OpenHands read", "ERROR:\nInvalid `path` parameter: /a. The path /a does not exist.", REJECTED),
    ("SWE-agent view", "The path /testbed/a.py does not exist. Please provide a valid path.", REJECTED),
    ("an MCP server", "Error executing tool read_file: [Errno 2] No such file or directory: '/a'", REJECTED),
    ("Kimi ReadFile", "`/a` does not exist.", None),  # nothing in the message shows that `/a` is a path
    ("Claude Code Read", "EISDIR: illegal operation on a directory, read", REJECTED),
    ("OpenCode read", "Error: Offset 1460 is out of range for this file (1447 lines)", REJECTED),
    ("Claude Code Read", "File content (27364 tokens) exceeds maximum allowed tokens (25000).", REJECTED),
    # The tool ran and failed.
    ("a shell", "cat: /a: No such file or directory", None),
    ("a shell", "python: can't open file '/a.py': [Errno 2] No such file or directory", None),
    ("Claude Code Grep", "ENOENT: no such file or directory, posix_spawn '/a/claude'", None),
    ("a shop", "Error: Reservation IFOYWZ not found", None),
    ("a shell", "Permission denied", None),
    ("a web tool", "Request failed with status code 404", None),
    # The call was denied.
    ("Claude Code, auto mode", "Permission for this action has been denied. Reason: it is risky.", REFUSED),
    ("Claude Code", "Permission to use Bash has been denied because of don't ask mode.", REFUSED),
    ("Claude Code", "The user doesn't want to proceed with this tool use.", REFUSED),
    ("Copilot CLI", "The user rejected this tool call.", REFUSED),
    ("", "", None),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "text", "layer"), MESSAGES)
def test_a_failed_call_has_the_layer_that_its_text_shows(
    tool: str, text: str, layer: FaultLayer | None
) -> None:
    assert find_refusal(text) is layer, tool


def result(**facts: object) -> ResultSeen:
    base = {
        "session_id": "s", "where": LogLine(1, 0), "status": ResultStatus.ERROR,
        "flag_source": FlagSource.EXPLICIT, "content": "File does not exist.",
    }  # fmt: skip
    return ResultSeen(**(base | facts))  # type: ignore[arg-type]


def test_only_what_the_log_calls_a_failure_is_looked_at() -> None:
    assert settle_layer(result()).fault_layer is REJECTED
    assert settle_layer(result(fault_layer=FaultLayer.EXECUTION)).fault_layer is REJECTED
    assert settle_layer(result(status=ResultStatus.OK)).fault_layer is None
    assert settle_layer(result(fault_layer=FaultLayer.SCHEMA)).fault_layer is FaultLayer.SCHEMA
    by_code = result(flag_source=FlagSource.DERIVED_EXIT_CODE)
    assert settle_layer(by_code) is by_code


def test_a_denial_is_no_error() -> None:
    denied = settle_layer(result(content="Permission for this action has been denied."))
    assert (denied.fault_layer, denied.status) == (REFUSED, ResultStatus.DENIED)


def test_a_long_text_costs_no_more_than_its_beginning() -> None:
    assert find_refusal("File " + "a" * 5_000_000) is None
    assert find_refusal("Error: " * 1_000_000) is None
