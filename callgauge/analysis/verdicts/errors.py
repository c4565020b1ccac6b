"""The sentences on failed calls: how many failed, the causes, and the new errors."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from datetime import date
from typing import Any

from callgauge.analysis import wording

_OF_ARGUMENTS = ("syntax", "schema")


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
