"""Tests timelines of sessions."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from callgauge.dashboard.pages.sessions.timelines import (
    LANES,
    AskedPlace,
    ThreadKnot,
    TimelinePlace,
    choose_window,
    find_jumps,
    find_place,
    index_attempts,
    lay_out_threads,
    list_places,
    summarise_places,
)


def a_row(turn: int, step: int, call: str | None = None, **fields: Any) -> dict[str, Any]:
    fixed = {"turn_id": f"t{turn}", "turn": turn, "step": step, "call_id": call}
    return fixed | {"fault_layer": None, "chain_id": None, "chain_outcome": None} | fields


def turns(*numbers: int) -> list[dict[str, Any]]:
    return [{"turn_id": f"t{number}", "turn": number} for number in numbers]


def steps(count: int, faults: tuple[int, ...] = (), turn: int = 1) -> list[TimelinePlace]:
    """Return a turn with this number of steps. Each step has one call, which has the name of the step."""
    layer = {True: "syntax", False: None}
    rows = [a_row(turn, step, str(step), fault_layer=layer[step in faults]) for step in range(count)]
    return list_places(turns(turn), rows)


def test_every_turn_has_a_place_and_every_step_one() -> None:
    outline = [a_row(2, 0), a_row(2, 0, "a"), a_row(2, 3, "b"), a_row(2, 3, "c")]
    places = list_places(turns(1, 2), outline)
    assert [(place.turn, place.step, len(place.calls)) for place in places] == [
        (1, None, 0),
        (2, 0, 1),
        (2, 3, 2),
    ]


def test_a_call_whose_turn_is_not_in_the_store_is_shown_all_the_same() -> None:
    places = list_places(turns(2), [a_row(1, 0, "a"), a_row(2, 0, "b")])
    assert [place.turn for place in places] == [1, 2]


def test_two_turns_of_one_number_stay_apart() -> None:
    same = [{"turn_id": "x", "turn": 1}, {"turn_id": "y", "turn": 1}]
    places = list_places(same, [a_row(1, 0, "a", turn_id="x"), a_row(1, 0, "b", turn_id="y")])
    assert [place.turn_id for place in places] == ["x", "y"]


@pytest.mark.parametrize(
    ("layers", "kind"),
    [((None,), "call"), (("execution", None), "warn"), (("refused", "schema"), "bad"), ((), "words")],
)
def test_a_place_is_as_bad_as_its_worst_call(layers: tuple[str | None, ...], kind: str) -> None:
    rows = [a_row(1, 0, str(number), fault_layer=layer) for number, layer in enumerate(layers)]
    assert list_places(turns(1), [a_row(1, 0), *rows])[0].worst_kind == kind


@pytest.mark.parametrize(
    ("asked", "at"),
    [
        (AskedPlace(call="3"), 3),
        (AskedPlace(call="none"), None),
        (AskedPlace(turn=1), 0),
        (AskedPlace(turn=1, step=4), 4),
        (AskedPlace(turn=1, step=99), 9),
        (AskedPlace(turn=7), None),
        (AskedPlace(call="3", turn=1, step=9), 3),
        (AskedPlace(), None),
    ],
)
def test_a_link_leads_to_its_place(asked: AskedPlace, at: int | None) -> None:
    assert find_place(steps(10), asked) == at


@pytest.mark.parametrize(
    ("asked", "start", "end"),
    [
        (AskedPlace(), 0, 10),
        (AskedPlace(call="2500"), 2496, 2506),
        (AskedPlace(turn=1, step=4999), 4990, 5000),
        (AskedPlace(turn=1), 0, 10),
        (AskedPlace(start=100), 100, 110),
        (AskedPlace(start=9999), 4990, 5000),
        (AskedPlace(call="gone", start=100), 100, 110),
    ],
)
def test_of_five_thousand_steps_a_window_is_drawn(asked: AskedPlace, start: int, end: int) -> None:
    shown = choose_window(steps(5000), asked)
    assert (shown.start, shown.end) == (start, end)


def test_a_turn_begins_at_the_top_of_its_window() -> None:
    places = list_places(
        turns(1, 2), [a_row(turn, step, f"{turn}.{step}") for turn in (1, 2) for step in range(50)]
    )
    assert choose_window(places, AskedPlace(turn=2)).start == 50


def test_from_a_call_one_goes_to_the_faults_on_both_sides_and_not_to_itself() -> None:
    places = steps(100, faults=(10, 50, 90))
    from_fault = find_jumps(places, choose_window(places, AskedPlace(call="50")), "50")
    assert (from_fault.fault_before, from_fault.fault_after) == ("10", "90")
    from_good = find_jumps(places, choose_window(places, AskedPlace(call="60")), "60")
    assert (from_good.fault_before, from_good.fault_after) == ("50", "90")


def test_from_the_beginning_one_goes_to_the_first_fault_also_when_it_is_the_first_call() -> None:
    places = steps(9, faults=(0, 8))
    jumps = find_jumps(places, choose_window(places, AskedPlace()), None)
    assert (jumps.fault_before, jumps.fault_after, jumps.faults) == (None, "0", 2)
    assert find_jumps(places, choose_window(places, AskedPlace(call="8")), "8").fault_after is None


def test_faults_of_one_step_are_gone_through_one_by_one() -> None:
    rows = [a_row(1, 0, name, fault_layer="schema") for name in "abc"]
    places = list_places(turns(1), rows)
    jumps = find_jumps(places, choose_window(places, AskedPlace(call="b")), "b")
    assert (jumps.fault_before, jumps.fault_after) == ("a", "c")


def test_turns_are_gone_through_from_the_inside_of_one() -> None:
    places = list_places(
        turns(1, 2, 3), [a_row(turn, step, f"{turn}{step}") for turn in (1, 2, 3) for step in (0, 1)]
    )
    jumps = find_jumps(places, choose_window(places, AskedPlace(turn=2, step=1)), None)
    assert (jumps.turn_before, jumps.turn_after) == (0, 4)
    last = find_jumps(places, choose_window(places, AskedPlace(turn=3)), None)
    assert (last.turn_before, last.turn_after) == (2, None)


def test_one_fault_in_five_thousand_steps_lights_up_its_cell_and_is_its_door() -> None:
    cells = summarise_places(steps(5000, faults=(4321,)), most=240)
    assert len(cells) == 240
    assert [cell.fault for cell in cells if cell.kind == "bad"] == ["4321"]
    assert (cells[0].start, cells[-1].end) == (0, 5000)
    assert all(cell.end == other.start for cell, other in pairwise(cells))


def test_a_short_session_has_a_cell_for_each_place_and_knows_where_turns_begin() -> None:
    places = list_places(turns(1, 2), [a_row(1, 0, "a"), a_row(1, 1, "b"), a_row(2, 0, "c")])
    assert [cell.turns for cell in summarise_places(places)] == [1, 0, 1]
    assert summarise_places([]) == []


def chained(*attempts_of: tuple[int, str, bool]) -> list[TimelinePlace]:
    """Return one call for each triple (step, retry sequence, is faulty). A call's name is its index."""
    rows = [
        a_row(
            1,
            step,
            str(number),
            chain_id=chain,
            chain_outcome="recovered",
            fault_layer="schema" if bad else None,
        )
        for number, (step, chain, bad) in enumerate(attempts_of)
    ]
    return list_places(turns(1), sorted(rows, key=lambda row: int(row["step"])))


def test_a_thread_runs_from_the_first_attempt_to_the_last_past_what_is_between() -> None:
    chained_calls = chained((0, "x", True), (1, "", False), (2, "x", False))
    threads = lay_out_threads([*chained_calls])
    assert threads[0] == [ThreadKnot("x", "recovered", above=False, below=True, fault=True)]
    assert threads[1][0] == ThreadKnot("x", "recovered", above=True, below=True, fault=None)
    assert threads[2] == [ThreadKnot("x", "recovered", above=True, below=False, fault=False)]


def test_threads_that_cross_have_lanes_of_their_own_and_a_free_lane_is_used_again() -> None:
    chained_calls = chained(
        (0, "x", True), (1, "y", True), (2, "x", False), (3, "y", False), (4, "z", True), (5, "z", False)
    )
    threads = lay_out_threads(chained_calls)
    assert [knot and knot.chain for knot in threads[1]] == ["x", "y"]
    assert [knot and knot.chain for knot in threads[3]] == [None, "y"]
    assert [knot and knot.chain for knot in threads[4]] == ["z"]


def test_a_fault_that_was_not_tried_again_has_no_thread() -> None:
    threads = chained((0, "x", True))
    assert not lay_out_threads(threads)
    assert not index_attempts(threads)


def test_no_more_threads_are_drawn_than_there_are_lanes() -> None:
    threads = chained(*((step, str(chain), step == 0) for chain in range(LANES + 3) for step in (0, 1)))
    assert {len(knots) for knots in lay_out_threads(threads).values()} == {LANES}


def test_attempts_know_the_one_before_and_the_one_after() -> None:
    attempts = index_attempts(
        chained((0, "x", True), (1, "y", True), (2, "x", True), (3, "y", False), (4, "x", False))
    )
    assert (attempts["2"].chain, attempts["2"].before, attempts["2"].after) == (1, "0", "4")
    assert (attempts["1"].chain, attempts["1"].before, attempts["1"].after) == (2, None, "3")


def test_chains_are_numbered_within_their_turn_as_the_page_of_a_call_numbers_them() -> None:
    attempts = index_attempts(chained((0, "alone", True), (1, "y", True), (2, "y", False)))
    assert {call: attempt.chain for call, attempt in attempts.items()} == {"1": 2, "2": 2}
