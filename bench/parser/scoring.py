"""Compares a result with the intended arguments: right, silently wrong, wrong but reported, or refused."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from bench.parser.corpus import Entry
from bench.parser.readings import Finding, Reading
from lenient.diagnostics import Path, render_path


class Verdict(StrEnum):
    RIGHT = "right"
    SILENT = "wrong, silent"  # the result is another object, without a report that would make a caller stop
    TOLD = "wrong, reported"  # the result is another object, and an error or a loss of meaning is reported
    REFUSED = "refused"


@dataclass(slots=True)
class Tally:
    """The number of inputs with each verdict."""

    counts: dict[Verdict, int] = field(default_factory=lambda: dict.fromkeys(Verdict, 0))

    def add(self, verdict: Verdict) -> None:
        self.counts[verdict] += 1

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    def share(self, verdict: Verdict) -> float:
        return self.counts[verdict] / self.total if self.total else 0.0


def same(intended: Any, got: Any, *, spacing: bool = True) -> bool:
    """Return True when two values are equal as JSON.

    1 equals 1.0, true is not 1, the order of members does not matter, and timestamps are compared as points
    in time. If `spacing` is False, strings that contain JSON objects or arrays are compared as JSON.
    """
    if isinstance(intended, bool) or isinstance(got, bool):
        return isinstance(intended, bool) and isinstance(got, bool) and intended is got
    if isinstance(got, datetime):
        return isinstance(intended, str) and _moment(intended) == got
    if isinstance(intended, dict) and isinstance(got, dict):
        return intended.keys() == got.keys() and all(
            same(intended[name], got[name], spacing=spacing) for name in intended
        )
    if isinstance(intended, list) and isinstance(got, list):
        return len(intended) == len(got) and all(
            same(item, other, spacing=spacing) for item, other in zip(intended, got, strict=True)
        )
    if isinstance(intended, (dict, list)) or isinstance(got, (dict, list)):
        return False
    if isinstance(intended, str) and isinstance(got, str) and _moment(intended) is not None:
        return intended == got or _moment(intended) == _moment(got)
    return bool(intended == got) or (not spacing and _same_json_text(intended, got))


def _same_json_text(intended: Any, got: Any) -> bool:
    if not (isinstance(intended, str) and isinstance(got, str) and intended[:1] in ("{", "[")):
        return False
    return is_strict_json(intended) and is_strict_json(got) and same(json.loads(intended), json.loads(got))


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def without_nulls(value: Any) -> Any:
    """Return objects without null members, because typed parsers treat null members as absent."""
    if isinstance(value, dict):
        return {name: without_nulls(inner) for name, inner in value.items() if inner is not None}
    return [without_nulls(inner) for inner in value] if isinstance(value, list) else value


def verdict(
    entry: Entry, reading: Reading, *, partial: bool = False, null_is_absent: bool = False
) -> Verdict:
    """Return the verdict on an input.

    `entry.refused` lists the positions of values that must be reported as errors. A parser that can refuse
    single values (`partial`) must refuse these values. Any other parser must refuse the whole input.
    """
    arguments, intended = reading.arguments, entry.intended
    is_warned = any(finding.warns for finding in reading.findings)
    if entry.ask and (arguments is None or is_warned):
        return Verdict.RIGHT
    if any(same(other, arguments, spacing=entry.spacing) for other in entry.others):
        return Verdict.RIGHT
    if intended is None or "$" in entry.refused:
        refused = arguments is None or any(finding.error for finding in reading.findings)
        return Verdict.RIGHT if refused else Verdict.TOLD if is_warned else Verdict.SILENT
    if arguments is None:
        return Verdict.RIGHT if entry.refused and not partial else Verdict.REFUSED
    if null_is_absent:
        arguments, intended = without_nulls(arguments), without_nulls(intended)
    schema = entry.tool.schema if entry.tool else {}
    compared = (comparable(value, schema, entry.refused) for value in (intended, arguments))
    if same(*compared, spacing=entry.spacing) and refusals_reported(entry.refused, reading.findings):
        return Verdict.RIGHT
    return Verdict.TOLD if is_warned else Verdict.SILENT


def comparable(
    arguments: dict[str, Any], schema: Mapping[str, Any], refused: Iterable[str] = ()
) -> dict[str, Any]:
    """Return the object without parameters that contain a refused value.

    Nulls that mean the same as an absent parameter are also left out.
    """
    inside = [path.removeprefix("$.") for path in refused]
    return {
        name: value
        for name, value in arguments.items()
        if not any(_below(path, name) for path in inside)
        and not (value is None and _may_be_null(schema, name))
    }


def _may_be_null(schema: Mapping[str, Any], name: str) -> bool:
    """Return True for an optional parameter that may be null. Null then means an absent parameter."""
    declared = (schema.get("properties") or {}).get(name)
    if not isinstance(declared, dict) or name in (schema.get("required") or []):
        return False
    branches = [declared, *(declared.get("anyOf") or declared.get("oneOf") or [])]
    return any("null" in branch.get("type", ()) or branch.get("nullable") for branch in branches)


def refusals_reported(paths: Iterable[str], findings: Iterable[Finding]) -> bool:
    """Return True when an error is reported at or below each position in `paths`."""
    errors = [finding.path for finding in findings if finding.error and finding.path is not None]
    return all(any(_below(error, path) for error in errors) for path in paths)


def _below(path: str, above: str) -> bool:
    return path == above or (path.startswith(above) and path[len(above)] in ".[")


def located(entry: Entry, findings: Iterable[Finding], *, any_code: bool) -> bool:
    """Return True when a report points to the position of the single defect.

    Unless `any_code` is set, the report needs one of the expected codes.
    """
    assert entry.place is not None
    first, last = entry.place
    return any(
        (any_code or finding.code in entry.codes)
        and finding.start is not None
        and finding.start <= last
        and (finding.end if finding.end is not None else finding.start) >= first
        for finding in findings
    )


# --- unreported changes ----------------------------------------------------------------------------------


def is_strict_json(raw: str | bytes) -> bool:
    def no_constant(name: str) -> None:
        raise ValueError(name)

    try:
        json.loads(raw, parse_constant=no_constant)
    except (ValueError, RecursionError):
        return False
    return True


def mended_unsaid(entry: Entry, reading: Reading) -> bool:
    """Return True when broken JSON was read as an object without any report."""
    if reading.arguments is None or is_strict_json(entry.raw):
        return False
    return not any(finding.of_text for finding in reading.findings)


def changes_unsaid(entry: Entry, reading: Reading) -> list[str]:
    """Return the positions of values in valid JSON that the parser changed without a report."""
    if reading.arguments is None or not is_strict_json(entry.raw):
        return []
    sent = json.loads(entry.raw)
    if isinstance(sent, str):  # a string-encoded object counts as a single change
        return [] if any(finding.path == "$" for finding in reading.findings) else ["$"]
    reported = {finding.path for finding in reading.findings if finding.path is not None}
    return [paths[0] for paths in _changes(sent, reading.arguments, None) if not _spoken_of(paths, reported)]


def _spoken_of(paths: list[str], reported: set[str]) -> bool:
    """Return True if a report is at or below one of the positions, or at an outer value except the root."""
    return any(
        _below(place, path) or (place != "$" and _below(path, place)) for path in paths for place in reported
    )


def _changes(sent: Any, got: Any, path: Path) -> Iterator[list[str]]:
    """Yield, for each change, the positions at which a report counts. A renamed member has two positions."""
    if isinstance(sent, dict) and isinstance(got, dict):
        gone = [render_path((path, name)) for name in sent if name not in got]
        new = [render_path((path, name)) for name in got if name not in sent]
        yield from ([path, *new] for path in gone)
        yield from ([path, *gone] for path in new)
        for name in sent.keys() & got.keys():
            yield from _changes(sent[name], got[name], (path, name))
    elif isinstance(sent, list) and isinstance(got, list) and len(sent) == len(got):
        for index, (before, after) in enumerate(zip(sent, got, strict=True)):
            yield from _changes(before, after, (path, index))
    elif not same(sent, got) or isinstance(sent, float) is not isinstance(got, float):
        yield [render_path(path)]
