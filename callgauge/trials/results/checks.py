"""Checks whether a trial succeeded, by comparing the trial's turn with the task's expected result.

Arguments are compared by the rules of BFCL. Source: `ast_checker.py` of the Berkeley Function-Calling
Leaderboard (ShishirPatil/gorilla). docs/trials.md lists the differences. Strings must be equal unless
`is_loose` is True. Numbers are compared by value. A null argument counts as left out. Objects may be nested.
"""

from __future__ import annotations

import atexit
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from typing import Any

from callgauge.checked_files.file_problems import quote_value
from callgauge.gateway import CallResult, Turn
from callgauge.trials.planning.task import Expectation, ExpectedCall, Task
from callgauge.trials.results.check_process import CheckProcess
from lenient.coerce.coercions import is_timestamp, read_timestamp

CHECK_SECONDS = 10.0
"""The maximum duration of a check function or a pattern, in seconds."""
_processes: dict[Path, CheckProcess] = {}
_processes_lock = threading.Lock()
LEFT_OUT = ""
"""An accepted value which means that the parameter may be left out."""
_IGNORED = re.compile(r"[ ,./\-_*^]")


@dataclass(frozen=True, slots=True)
class Verdict:
    """Says whether a trial succeeded, and if not, why. `ok` is None when the task expects nothing, or when a
    check failed to run.
    """

    ok: bool | None
    why: str | None = None


def check_turn(
    task: Task, turn: Turn, *, folder: Path | None = None, seconds: float = CHECK_SECONDS
) -> Verdict:
    """Return whether a turn meets its task's expectation. Never raises.

    Modules of check functions are imported from `folder` first (default: the working folder). The functions
    run in a separate process for at most `seconds` each. This function blocks until the checks end.
    """
    expect = task.expect
    if expect is None:
        return Verdict(None)
    why = next(_find_faults(expect, turn), None)
    if why is not None:
        return Verdict(False, why)
    unknown: Verdict | None = None
    process = _process_of(folder or Path.cwd()) if expect.answer_matches or expect.check else None
    for question, named, arguments in (
        ("pattern", expect.answer_matches, (turn.answer,)),
        ("function", expect.check, (task, turn)),
    ):
        if named is None or process is None:
            continue
        ok, why = process.ask(question, named, *arguments, seconds=seconds)
        if ok is False:
            return Verdict(False, why)
        unknown = Verdict(None, why) if ok is None else unknown
    return unknown or Verdict(True)


def find_missing_function(named: str, folder: Path) -> str | None:
    """Return why `module:name` cannot be imported, or None if the import works. Search `folder` first."""
    ok, why = _process_of(folder).ask("find", named, seconds=CHECK_SECONDS)
    return None if ok else why


def _find_faults(expect: Expectation, turn: Turn) -> Iterator[str]:
    """Yield the differences from the expectation that this process can find."""
    if expect.calls:
        yield from _find_wrong_calls(expect, turn.calls)
    if expect.no_call and (turn.calls or any(step.fault for step in turn.steps)):
        name = turn.calls[0].read.request.tool_name if turn.calls else None
        yield f"{name or 'a tool'} was called, and no call was expected"
    for name in expect.not_called:
        if any(call.read.request.tool_name == name for call in turn.calls):
            yield f"{name} was called"
    answer = turn.answer.casefold()
    for text in expect.answer_contains:
        if text.casefold() not in answer:
            yield f"the answer does not contain {quote_value(text)}"
    if expect.answer_equals is not None and turn.answer.strip() != expect.answer_equals.strip():
        yield f"the answer is not {quote_value(expect.answer_equals)}"


def _find_wrong_calls(expect: Expectation, calls: Sequence[CallResult]) -> Iterator[str]:
    """Yield the mistakes in the tool calls that ran. A rejected tool call counts as not made."""
    made = [call for call in calls if call.result.ran]
    fits = [[_find_misfit(wanted, call, expect) is None for call in made] for wanted in expect.calls]
    matched = _match_in_order(fits, len(made)) if expect.is_ordered else _match(fits, len(made))
    for wanted, place in zip(expect.calls, matched, strict=True):
        if place is None:
            yield _describe_missing(
                wanted, expect, calls, {place for place in matched if place is not None}, made
            )
    if not expect.allows_more:
        for place, call in enumerate(made):
            if place not in matched:
                yield f"{call.read.request.tool_name} was called, and is not expected"


def _find_misfit(wanted: ExpectedCall, call: CallResult, expect: Expectation) -> str | None:
    """Return how a tool call differs from the expected tool call, as a clause, or None if they match."""
    request = call.read.request
    if request.tool_name != wanted.tool:
        return f"{request.tool_name} is called"
    if wanted.takes_any:
        return None
    sent = request.arguments or {}
    # The tool ran with the defaults filled in, so compare with them.
    defaults = request.with_defaults().arguments or {}
    filled_in = {
        name: defaults[name]
        for name, values in wanted.accepted.items()
        if name in defaults and LEFT_OUT not in values
    }
    return _find_difference({**filled_in, **sent}, wanted.accepted, is_loose=expect.is_loose)


def _match(fits: Sequence[Sequence[bool]], calls: int) -> list[int | None]:
    """Return for each expected tool call the position of its own matching tool call, or None if none matches.

    As many calls as possible are matched.
    """
    owner: list[int | None] = [None] * calls

    def assign(wanted: int, tried: set[int]) -> bool:
        for place in range(calls):
            if fits[wanted][place] and place not in tried:
                tried.add(place)
                holder = owner[place]
                if holder is None or assign(holder, tried):
                    owner[place] = wanted
                    return True
        return False

    for wanted in range(len(fits)):
        assign(wanted, set())
    return [owner.index(wanted) if wanted in owner else None for wanted in range(len(fits))]


def _match_in_order(fits: Sequence[Sequence[bool]], calls: int) -> list[int | None]:
    """Return for each expected tool call the position of the first match after the previous match."""
    places: list[int | None] = []
    first = 0
    for row in fits:
        place = next((candidate for candidate in range(first, calls) if row[candidate]), None)
        places.append(place)
        first = first if place is None else place + 1
    return places


def _describe_missing(
    wanted: ExpectedCall,
    expect: Expectation,
    calls: Sequence[CallResult],
    matched: set[int],
    made: Sequence[CallResult],
) -> str:
    """Return a text that says which expected tool call is missing, and which tool call was made instead."""
    of_tool = [call for call in calls if call.read.request.tool_name == wanted.tool]
    free = [call for place, call in enumerate(made) if place not in matched]
    for call in free:
        if call.read.request.tool_name == wanted.tool:
            misfit = _find_misfit(wanted, call, expect)
            return f"{wanted.tool}: {misfit}" if misfit else f"{wanted.tool} was not called in this order"
    refused = next((call for call in of_tool if not call.result.ran), None)
    if refused is not None:
        reason = refused.read.request.parse_error or refused.result.status
        return f"{wanted.tool} was called and not run: {reason}"
    return f"{wanted.tool} was not called{' often enough' if of_tool else ''}"


def _process_of(folder: Path) -> CheckProcess:
    with _processes_lock:
        return _processes.setdefault(folder.resolve(), CheckProcess(folder.resolve()))


@atexit.register
def _end_processes() -> None:
    for process in _processes.values():
        process.close()


def _find_difference(
    sent: Mapping[str, Any], accepted: Mapping[str, Sequence[Any]], *, is_loose: bool
) -> str | None:
    """Return the first difference between arguments and accepted values, as a clause, or None."""
    for name, values in accepted.items():
        value = sent.get(name)
        if value is None and (LEFT_OUT in values or None in values):
            continue
        if name not in sent:
            return f"{name} is missing"
        if not any(_is_same(value, option, is_loose) for option in values):
            expected = " or ".join(_show(option) for option in values[:3]) + (
                " or …" if len(values) > 3 else ""
            )
            return f"{name} is {_show(value)}, not {expected}"
    more = next((name for name, value in sent.items() if name not in accepted and value is not None), None)
    return f"{more} is sent, and is not expected" if more is not None else None


def _is_same(sent: Any, wanted: Any, is_loose: bool) -> bool:
    if isinstance(sent, bool) or isinstance(wanted, bool):
        return isinstance(sent, bool) and isinstance(wanted, bool) and sent == wanted
    if isinstance(sent, str) and isinstance(wanted, str):
        is_same = sent == wanted or (is_loose and _standardise(sent) == _standardise(wanted))
        return is_same or _is_same_time(sent, wanted)
    if isinstance(sent, list) and isinstance(wanted, list):
        pairs = zip(sent, wanted, strict=False)
        return len(sent) == len(wanted) and all(_is_same(item, other, is_loose) for item, other in pairs)
    if isinstance(sent, Mapping) and isinstance(wanted, Mapping):
        return _is_same_object(sent, wanted, is_loose)
    return bool(sent == wanted)


def _is_same_object(sent: Mapping[str, Any], wanted: Mapping[str, Any], is_loose: bool) -> bool:
    """Return True for equal objects. If `wanted` lists accepted values for each field, return True if every
    field matches.
    """
    if sent.keys() == wanted.keys() and all(_is_same(sent[name], wanted[name], is_loose) for name in sent):
        return True
    if not all(isinstance(values, list) and values for values in wanted.values()):
        return False
    return _find_difference(sent, wanted, is_loose=is_loose) is None


def _is_same_time(sent: str, wanted: str) -> bool:
    """Return True when two timestamps are the same moment. If `wanted` has no offset, it is in UTC."""
    time, other = read_timestamp(sent) if is_timestamp(sent) else None, read_timestamp(wanted)
    if other is not None and other.tzinfo is None:
        other = other.replace(tzinfo=UTC)
    return time is not None and time == other


def _standardise(text: str) -> str:
    return _IGNORED.sub("", text).lower().replace("'", '"')


def _show(value: Any) -> str:
    return "left out" if value == LEFT_OUT and isinstance(value, str) else quote_value(value)
