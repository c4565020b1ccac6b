"""Computes what the timeline of a session draws: windows, an overview, jumps, and retry sequences.

A position (`TimelinePlace`) is one step, or a turn without steps. The page draws a window of the session's
positions.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

Row = Mapping[Any, Any]

WINDOW = 10  # positions per window: about two screens, with their texts
WIDE = 60  # positions per window when a person asks for more
CELLS = 240  # maximum number of cells in the overview, the strip that shows the whole session
LANES = 8  # maximum number of retry sequences drawn side by side; calls of further sequences only get a label
_LEAD = 4  # positions that a window shows before the target
_ARGUMENTS = {"emission", "syntax", "schema", "tool_rejected"}


@dataclass(frozen=True, slots=True)
class TimelinePlace:
    """One step of a turn with its calls. `step` is None for a turn without steps."""

    turn_id: str
    turn: int
    step: int | None
    calls: tuple[Row, ...] = ()

    @property
    def worst_kind(self) -> str:
        """The kind of the worst call: bad if the arguments made the call fail, warn if the call failed for
        another reason.

        The kind is “call” if no call failed, and “words” if there was no call.
        """
        layers = {call["fault_layer"] for call in self.calls} - {None}
        if layers:
            return "bad" if layers & _ARGUMENTS else "warn"
        return "call" if self.calls else "words"


class AskedPlace(NamedTuple):
    """The target of a link: a call, a step, a turn, or the start of a window."""

    call: str | None = None
    turn: int | None = None
    step: int | None = None
    start: int | None = None


@dataclass(frozen=True, slots=True)
class TimelineWindow:
    """The positions `start` to `end` (half open). `at` is the target position, or None."""

    start: int
    end: int
    at: int | None


@dataclass(frozen=True, slots=True)
class TimelineJumps:
    """The targets of the jump links: the ids of failed calls, the position indexes of turns, or None.

    `faults` is the number of failed calls in the session.
    """

    fault_before: str | None
    fault_after: str | None
    turn_before: int | None
    turn_after: int | None
    faults: int


@dataclass(frozen=True, slots=True)
class OverviewCell:
    """One cell of the overview: the positions `start` to `end` (half open).

    `kind` is the worst kind among these positions. `fault` is the id of the first failed call of that kind,
    or None when no call failed.
    """

    start: int
    end: int
    kind: str
    fault: str | None
    turns: int


class ThreadKnot(NamedTuple):
    """The part of a retry sequence's line that is drawn at one position.

    The line connects the attempts of the sequence. `above` and `below` say whether the line continues to the
    position before or after. `fault` says whether an attempt at this position failed. It is None when there
    is no attempt at this position.
    """

    chain: str
    ended: str | None
    above: bool
    below: bool
    fault: bool | None


def list_places(turns: Iterable[Row], outline: Iterable[Row]) -> list[TimelinePlace]:
    """Return the positions of all turns in order. The steps of each turn are in order."""
    numbers: dict[str, int] = {turn["turn_id"]: turn["turn"] or 0 for turn in turns}
    steps: dict[str, dict[int, list[Row]]] = {turn_id: {} for turn_id in numbers}
    for row in outline:
        numbers.setdefault(row["turn_id"], row["turn"] or 0)
        calls = steps.setdefault(row["turn_id"], {}).setdefault(row["step"], [])
        if row["call_id"] is not None:
            calls.append(row)
    places: list[TimelinePlace] = []
    for turn_id in sorted(steps, key=numbers.__getitem__):
        turn, calls_by_step = numbers[turn_id], steps[turn_id]
        of_turn = [
            TimelinePlace(turn_id, turn, step, tuple(calls_by_step[step])) for step in sorted(calls_by_step)
        ]
        places += of_turn or [TimelinePlace(turn_id, turn, None)]
    return places


def find_place(places: Sequence[TimelinePlace], target: AskedPlace) -> int | None:
    """Return the index of the position that a link opens, or None.

    If the step does not exist, the position is the last step before it in the turn, or the first position of
    the turn.
    """
    if target.call is not None:
        return next(
            (
                index
                for index, place in enumerate(places)
                if any(call["call_id"] == target.call for call in place.calls)
            ),
            None,
        )
    if target.turn is None:
        return None
    of_turn = [index for index, place in enumerate(places) if place.turn == target.turn]
    until = [index for index in of_turn if (places[index].step or 0) <= (target.step or 0)]
    return until[-1] if target.step is not None and until else next(iter(of_turn), None)


def choose_window(places: Sequence[TimelinePlace], target: AskedPlace, size: int = WINDOW) -> TimelineWindow:
    """Return a window of at most `size` positions.

    The window contains the position that the link opens. If the link names no position, the window begins at
    `target.start`.
    """
    at = find_place(places, target)
    wanted = target.start if target.start is not None and at is None else (at or 0) - _LEAD
    start = max(0, min(wanted, len(places) - size))
    if at is not None and target.step is None and target.call is None:
        start = max(0, min(at, len(places) - size))
    return TimelineWindow(start, min(len(places), start + size), at)


def find_jumps(places: Sequence[TimelinePlace], shown: TimelineWindow, call: str | None) -> TimelineJumps:
    """Return the targets of the jump links.

    Jumps start at `call`. If `call` is None, jumps start at the position that the link opens, or at the
    window's start.
    """
    position = shown.at if shown.at is not None else shown.start
    order = [(index, row) for index, place in enumerate(places) for row in place.calls]
    faulty = [number for number, (_, row) in enumerate(order) if row["fault_layer"] is not None]
    lit = next((number for number, (_, row) in enumerate(order) if row["call_id"] == call), None)
    first = bisect_left([index for index, _ in order], position)
    before = bisect_left(faulty, first if lit is None else lit)
    after = before if lit is None else bisect_right(faulty, lit)
    begins = _turn_beginnings(places)
    turn = bisect_right(begins, position) - 1
    return TimelineJumps(
        fault_before=order[faulty[before - 1]][1]["call_id"] if before else None,
        fault_after=order[faulty[after]][1]["call_id"] if after < len(faulty) else None,
        turn_before=begins[turn - 1] if turn > 0 else None,
        turn_after=begins[turn + 1] if turn + 1 < len(begins) else None,
        faults=len(faulty),
    )


def _turn_beginnings(places: Sequence[TimelinePlace]) -> list[int]:
    return [
        index
        for index, place in enumerate(places)
        if index == 0 or place.turn_id != places[index - 1].turn_id
    ]


_WORST = ("bad", "warn", "call", "words")


def summarise_places(places: Sequence[TimelinePlace], most: int = CELLS) -> list[OverviewCell]:
    """Return the whole session in at most `most` cells, each with the worst kind of its positions."""
    begins = _turn_beginnings(places)
    count = min(len(places), most)
    cells: list[OverviewCell] = []
    for number in range(count):
        start, end = number * len(places) // count, (number + 1) * len(places) // count
        part = places[start:end]
        kind = min((place.worst_kind for place in part), key=_WORST.index)
        worst = next((place for place in part if place.worst_kind == kind), part[0])
        fault = next((call["call_id"] for call in worst.calls if call["fault_layer"] is not None), None)
        turns = bisect_left(begins, end) - bisect_left(begins, start)
        cells.append(OverviewCell(start, end, kind, fault, turns))
    return cells


@dataclass(frozen=True, slots=True)
class ChainAttempt:
    """A call of a retry sequence.

    The fields are the sequence's number in its turn, and the ids of the attempts before and after the call.
    """

    chain: int
    before: str | None
    after: str | None


def index_attempts(places: Iterable[TimelinePlace]) -> dict[str, ChainAttempt]:
    """Return the attempts of all retry sequences with at least two attempts, by call id.

    The sequences of a turn are numbered, including sequences with one attempt.
    """
    numbers: dict[str, int] = {}
    attempts: dict[str, ChainAttempt] = {}
    for members in _group_chains(places, least=1).values():
        turn_id = members[0][1].turn_id
        numbers[turn_id] = numbers.get(turn_id, 0) + 1
        ids = [call["call_id"] for _, _, call in members] if len(members) > 1 else []
        for number, call_id in enumerate(ids):
            before = ids[number - 1] if number else None
            attempts[call_id] = ChainAttempt(numbers[turn_id], before, next(iter(ids[number + 1 :]), None))
    return attempts


def lay_out_threads(places: Sequence[TimelinePlace]) -> dict[int, list[ThreadKnot | None]]:
    """Return for each position index what each column draws there, or None where a column is empty.

    A line in one column connects the attempts of one retry sequence. There are at most LANES columns.
    """
    drawn: dict[int, list[ThreadKnot | None]] = {}
    busy: list[int] = []  # for each column, the last position of its current line
    for chain, members in _group_chains(places).items():
        first, last = members[0][0], members[-1][0]
        lane = next((number for number, until in enumerate(busy) if until < first), len(busy))
        if lane == LANES:
            continue
        busy[lane : lane + 1] = [last]
        at: dict[int, bool] = {}
        for index, _, call in members:
            at[index] = at.get(index, False) or call["fault_layer"] is not None
        for index in range(first, last + 1):
            knots = drawn.setdefault(index, [])
            knots += [None] * (lane + 1 - len(knots))
            ended = members[-1][2]["chain_outcome"]
            knots[lane] = ThreadKnot(chain, ended, index > first, index < last, at.get(index))
    return drawn


def _group_chains(
    places: Iterable[TimelinePlace], *, least: int = 2
) -> dict[str, list[tuple[int, TimelinePlace, Row]]]:
    """Return the retry sequences with at least `least` attempts, by id."""
    chains: dict[str, list[tuple[int, TimelinePlace, Row]]] = {}
    for index, place in enumerate(places):
        for call in place.calls:
            if call["chain_id"] is not None:
                chains.setdefault(call["chain_id"], []).append((index, place, call))
    return {chain: members for chain, members in chains.items() if len(members) >= least}
