"""Describes in words how the parser, the agent and the log judge one tool call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from callgauge.analysis import wording
from callgauge.analysis.texts.marked_text import TextMark, find_named_position
from callgauge.dashboard.viewer import sees_texts

Row = Mapping[Any, Any]

TEXT_IS = {
    "raw": "as the model sent it",
    "unattributed": "as the agent got it; a server may have written it again",
    "reserialised": "rebuilt from the object in the log; the text that the model sent is lost",
    "truncated": "cut off by the log",
    "missing": "not in the log",
    "redacted": "redacted: the log has only a placeholder",
}
STRATEGIES = {"tool_use": "native tool use", "json_fallback": "call written as text"}
REASONS = {
    "ended_with_answer": "ended with an answer",
    "no_answer": "no answer",
    "chain_abandoned": "a failed call was given up",
    "call_lost": "a call has no result",
    "ended_badly": "ended badly",
    "not_ended": "has not ended",
    "cancelled": "the user stopped it",
}
_NOT_JUDGED = {
    "unattributed": "a server may have written the text again",
    "reserialised": "the log keeps only the decoded object",
    "truncated": "the log cut the text",
    "missing": "the log keeps no text",
    "redacted": "the arguments are redacted",
}
_SEEN = {"full": "judged", "failures": "only failures are in the log", "none": "not measured"}
_FLAGS = {
    "explicit": "the log's own flag",
    "derived_text": "the words of the result",
    "derived_exit_code": "the exit code",
    "envelope": "the result itself reports a failure",
    "envelope_against_ok": "the result itself reports a failure; the log says ok",
}
TEXT_REMOVED = "The text was removed: the store keeps content for a limited time. Its diagnostics stay."
_TEXT_HIDDEN = "The text is not shown: this store is served without content."
_NO_CALL = "no call was made, so there was nothing to judge"


def describe_not_judged(row: Row) -> str | None:
    """Return why the parser gives no verdict on a call. Return None when the parser gives a verdict."""
    if row["fault_layer"] == "emission":
        return _NO_CALL
    is_refused = str(row["parse_error"] or "").startswith("refused_by_harness")
    was_checked = (
        "full" in (row["syntax_seen"], row["schema_seen"]) or row["parse_error"] or row["parse_warning"]
    )
    if is_refused or not was_checked:
        return _NOT_JUDGED.get(row["args_source"], "the log keeps no definition to judge it by")
    return None


def say_not_judged(row: Row, reason: str) -> str:
    """Return a sentence that says why the parser gives no verdict.

    The sentence also says whether the agent rejected the call.
    """
    verdict = f" The agent {describe_harness(row['harness_verdict'])}." if is_harness_fault(row) else ""
    return f"The parser did not judge this: {reason}.{verdict}"


def is_harness_fault(row: Row) -> bool:
    """Return True when the agent rejected the arguments at the stage where the call first failed."""
    return row["fault_layer"] in ("syntax", "schema") and row["harness_verdict"] == row["fault_layer"]


def describe_no_text(row: Row) -> str:
    """Return a sentence on why the page shows no raw arguments for a tool call."""
    return _describe_unseen(row) or "The log kept no text to show."


def _describe_unseen(row: Row) -> str | None:
    if is_text_removed(row):
        return TEXT_REMOVED
    return None if sees_texts() or row["args_source"] == "missing" else _TEXT_HIDDEN


def is_text_removed(row: Row) -> bool:
    """Return True when `callgauge retain` removed the content of the call."""
    return bool(row.get("text_removed") or False)


def describe_no_arguments(row: Row) -> str:
    """Return a sentence on why the parser read no arguments from a tool call."""
    if is_text_removed(row):
        return TEXT_REMOVED
    if row["fault_layer"] == "emission":
        return "None: no call was made."
    if unseen := _describe_unseen(row):
        return unseen
    reason = describe_not_judged(row)
    return f"None: {reason}." if reason else "None: the text is not an object."


def parser_message(row: Row) -> str:
    return row["parse_error"] or row["parse_warning"] or "no diagnostics"


def describe_visibility(row: Row) -> str:
    """Return two lines, on how much of the raw arguments and of the definition the log contains."""
    return f"text: {_SEEN.get(row['syntax_seen'], '–')}\ndefinition: {_SEEN.get(row['schema_seen'], '–')}"


def describe_harness(verdict: str | None) -> str:
    if verdict in (None, "accepted"):
        return verdict or "did not say"
    return f"rejected it: {wording.failure_stage(verdict)}"


def describe_error_flag(source: str | None) -> str:
    return _FLAGS.get(source or "", "no flag in the log")


def describe_attempt(row: Row) -> str:
    if not row["attempt"]:
        return "in no retry sequence"
    kind = f"{row['retry_kind']} arguments" if row["retry_kind"] else "first try"
    return f"{row['attempt']} ({kind})"


def harness_marks(row: Row) -> list[TextMark]:
    """Return a mark at the position in the raw arguments that the agent's message names.

    The result is empty if the message names no position.
    """
    if row["args_source"] not in ("raw", "truncated") or not row["harness_message"]:
        return []
    at = find_named_position(row["harness_message"], row["raw_arguments"])
    return [] if at is None else [TextMark(at, at + 1, "place named by the agent")]


def describe_turn_end(row: Row) -> str:
    words = {True: "successful", False: "unsuccessful", None: "unknown"}
    reason = (
        f" ({REASONS.get(row['derived_reason'], row['derived_reason'])})" if row["derived_reason"] else ""
    )
    return f"Reported: {words[row['recorded_ok']]} · derived: {words[row['derived_ok']]}{reason}"


def place_in_turn(row: Row) -> str:
    return f"turn {row['turn']}, step {row['step']}"


def log_name(row: Row) -> str:
    """Return the file name, without folders, of the log that contains a tool call."""
    return wording.visible(row["file"] or "unknown file").rpartition("/")[2]


def full_place_in_log(row: Row) -> str:
    """Return the log's path with the line and the byte offset of a tool call, such as /logs/night.jsonl:7
    byte 5120.
    """
    return f"{row['file'] or 'unknown file'}:{row['line']} byte {row['byte_offset']}"


def shorten_name(text: str | None) -> str:
    return wording.short_name(text or "unknown", 60)
