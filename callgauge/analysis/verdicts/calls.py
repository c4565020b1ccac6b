"""Writes the sentences on tool calls: on one call, on a list of calls, on failed calls, and on new errors."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from datetime import date
from typing import Any

from callgauge.analysis import wording

_AT_STAGE = {
    "emission": "The model wrote text where a tool call was due",
    "syntax": "The arguments were not valid JSON",
    "schema": "The arguments did not fit the tool's definition",
    "tool_rejected": "The tool rejected the arguments",
    "execution": "The arguments were accepted, but the tool failed",
    "refused": "A user or a policy denied the call",
}
_WITHOUT_FAILURE = {
    "clean": "The arguments were valid",
    "coerced": "The arguments were valid JSON; a value was converted",
    "repaired": "The arguments were not valid JSON and were repaired",
    "failed": "The arguments could not be used",
}
_OF_ARGUMENTS = ("syntax", "schema")
_RESULTS = {"ok": "the tool returned a result", "error": "the tool returned an error"}


def describe_call(row: Mapping[Any, Any], attempts: int, not_judged: str | None) -> str:
    """Describe the error in a call's arguments or execution, and the end of the call's retry sequence.

    `row` is a row of the metric `call`. `attempts` holds the rows of the retry sequence. `not_judged` says
    why the parser has no verdict, or None.
    """
    return f"{_describe_fault(row, not_judged)}. {_describe_end(row, attempts)}."


def _describe_fault(row: Mapping[Any, Any], not_judged: str | None) -> str:
    stage = row["fault_layer"]
    if stage:
        fault = _AT_STAGE.get(stage, f"The call failed: {stage.replace('_', ' ')}")
        is_parsers = stage in ("syntax", "schema") and not_judged is None
        diagnostic = (row["parse_error"] or "").partition(";")[0] if is_parsers else ""
        return f"{fault}: {wording.one_line(diagnostic, 120)}" if diagnostic else fault
    if not_judged:
        return f"The arguments could not be judged: {not_judged}"
    return _WITHOUT_FAILURE.get(row["outcome"] or "", "The arguments could not be judged")


def _describe_end(row: Mapping[Any, Any], attempts: int) -> str:
    """Describe the end of the retry sequence or, if there was no retry, the result of the tool."""
    number, ended = row["attempt"] or 1, row["chain_outcome"]
    if attempts > 1:
        place = f"This is attempt {number} of {attempts}"
        if ended == "recovered":
            return f"{place}, and it worked" if number == attempts else f"{place}; the last one worked"
        if ended == "abandoned":
            return f"{place}; the call was given up"
        return f"{place}; how it ended is not known"
    if row["fault_layer"]:
        return "It was given up without a retry" if ended == "abandoned" else "No retry is in the log"
    end = _RESULTS.get(row["result_status"] or "", "the log does not say what the tool returned")
    return end[0].upper() + end[1:]


def describe_matches(matches: str, total: int, failed: int | None) -> str:
    """Describe how many calls match the filters of a list, and how many of these calls failed.

    `matches` is the number of matches, followed by `or more` if the number is a lower bound. `failed` is None
    if the number of failed calls is unknown.
    """
    rest = "" if failed is None else f" {failed:,} failed."
    verb = "matches" if matches == "1" else "match"
    return f"{matches} of {wording.plural(total, 'call')} {verb} the filters.{rest}"


def describe_failures(layers: Iterable[Mapping[Hashable, Any]]) -> str:
    """Describe how many calls failed, how many because of their arguments, and how many were not judged.

    `layers` holds the rows of the metric `fault_layers`.
    """
    calls = {row["layer"]: row["calls"] for row in layers}
    failed = sum(calls[stage] for stage in wording.STAGES)
    judged = calls["unknown"]
    unmeasured = f" {judged:,} could not be judged." if judged else ""
    total = sum(calls.values())
    if not failed:
        return f"No failure was seen in {wording.plural(total, 'call')}.{unmeasured}"
    arguments = sum(calls[stage] for stage in _OF_ARGUMENTS)
    why = f"{arguments:,} because of {'its' if arguments == failed == 1 else 'their'} arguments"
    why = why if arguments else "none because of its arguments"
    return f"{failed:,} of {wording.plural(total, 'call')} failed, {why}.{unmeasured}"


def describe_new_errors(new: int, day: date, *, earlier: int = 0, returned: int = 0) -> str:
    """Describe how many errors are new, and how many are back after a fix.

    `new` is the number of errors first seen on `day`. `earlier` is the number of recurring errors first seen
    in the six days before `day`. `returned` is the number of errors that are back after a fix.
    """
    sentences = [f"{wording.plural(new, 'new error') if new else 'No new errors'} on {day.day} {day:%b}."]
    if earlier:
        sentences.append(f"{earlier:,} {'more ' if new else ''}in the six days before.")
    if returned:
        are = "is" if returned == 1 else "are"
        sentences.append(f"{wording.plural(returned, 'fixed error')} {are} back.")
    return " ".join(sentences)
