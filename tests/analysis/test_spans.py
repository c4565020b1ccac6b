"""Tests that carets are placed below the right characters."""

from __future__ import annotations

import unicodedata

import pytest

from callgauge.analysis.texts.marked_text import (
    LIMIT,
    WIDTH,
    TextMark,
    annotate,
    find_named_position,
    locate,
    shown_window,
)


def test_a_caret_stands_under_its_characters() -> None:
    assert annotate('{"a": x}', [TextMark(6, 7, "not_json")]) == '1 │ {"a": x}\n  │       ^ not_json'


def test_wide_characters_take_two_columns() -> None:
    assert annotate("日本x", [TextMark(2, 3, "here")]) == "1 │ 日本x\n  │     ^ here"


def test_combining_characters_take_none() -> None:
    assert annotate("e\u0301x", [TextMark(2, 3, "here")]) == "1 │ e\u0301x\n  │  ^ here"


def test_an_empty_span_is_one_caret_also_at_the_end() -> None:
    assert annotate("ab", [TextMark(2, 2, "cut")]) == "1 │ ab\n  │   ^ cut"


def test_the_mark_stands_under_its_own_line() -> None:
    assert annotate("a\nbc\n", [TextMark(3, 4, "c")]) == "1 │ a\n2 │ bc\n  │  ^ c\n3 │"


def test_a_span_over_several_lines_is_marked_on_its_first() -> None:
    assert annotate("ab\ncd", [TextMark(1, 5, "all")]) == "1 │ ab\n  │  ^… all\n2 │ cd"


def test_long_lines_are_continued_and_keep_their_marks() -> None:
    text = "x" * WIDTH + "y"
    assert annotate(text, [TextMark(WIDTH, WIDTH + 1, "y")]).splitlines()[1:] == ["· │ y", "  │ ^ y"]


def test_invisible_characters_are_shown_and_keep_the_columns() -> None:
    assert annotate("\u202ex", [TextMark(1, 2, "x")]) == "1 │ ⟨U+202E⟩x\n  │         ^ x"


def test_white_space_is_shown_on_demand() -> None:
    assert annotate("a b\tc", spaces=True) == "1 │ a·b→···c"


def test_places_count_lines_columns_and_bytes() -> None:
    at = locate("a\né!", 3)
    assert (at.line, at.column, at.byte) == (2, 2, 4)
    assert str(at) == "2:2"


def test_a_long_text_is_shown_around_its_first_mark() -> None:
    text = "x" * (3 * LIMIT)
    start, end = shown_window(text, [TextMark(2 * LIMIT, 2 * LIMIT + 1, "here")])
    assert start < 2 * LIMIT < end
    assert end - start <= LIMIT


@pytest.mark.parametrize(
    ("message", "at"),
    [
        ("Expecting ',' delimiter: line 1 column 4 (char 3)", 3),
        ("Unexpected token x in JSON at position 5", 5),
        ("Expecting value: line 2 column 2 (char 8)", 8),
        ("invalid character, column 3", 2),
        ("Expecting value: line 1 column 9 (char 8)", None),
        ("Expecting value: line 1 column 100 (char 99)", None),
        ("at position 99", None),
        ("missing required argument path", None),
    ],
)
def test_the_place_that_a_message_names_counts_when_it_lies_in_this_text(
    message: str, at: int | None
) -> None:
    assert find_named_position(message, "012345\n789") == at


def test_a_short_text_is_shown_whole() -> None:
    assert shown_window("abc", [TextMark(1, 2, "b")]) == (0, 3)


@pytest.mark.parametrize("text", ["x" * 300, "検索エンジン" * 40, '{"a": "é\u202e"}' * 20, "\t" * 60])
def test_no_row_is_wider_than_the_width_and_a_short_label(text: str) -> None:
    marks = [TextMark(at, at + 7, str(at)) for at in range(0, len(text), 9)]
    for row in annotate(text, [*marks, TextMark(0, len(text), "all")], width=40).split("\n"):
        columns = sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in row)
        assert columns <= len("1 │ ") + 40 + 4


def test_a_label_without_room_behind_its_carets_is_before_or_below_them() -> None:
    before = annotate("x" * 20, [TextMark(17, 20, "7 code")], width=20)
    assert before.split("\n")[1].endswith("7 code ^^^")
    below = annotate("x" * 20, [TextMark(0, 20, "7 code")], width=20)
    assert [row.removeprefix("  │ ") for row in below.split("\n")[1:]] == ["^" * 20, "7 code"]


def test_rows_far_from_any_mark_are_folded_in_a_low_box() -> None:
    text = "\n".join(f"line {number}" for number in range(1, 21))
    at = text.index("line 12")
    rows = annotate(text, [TextMark(at, at + 4, "1")], most=6).split("\n")
    assert rows[:2] == [" 1 │ line 1", "   ⋮ 9 more lines"]
    assert rows[2:] == ["11 │ line 11", "12 │ line 12", "   │ ^^^^ 1", "13 │ line 13", "   ⋮ 7 more lines"]
    assert annotate(text, [TextMark(at, at + 4, "1")], most=50).count("\n") == 20
    first = annotate(text, [TextMark(0, 4, "1")], most=6).split("\n")
    assert first[1:] == ["   │ ^^^^ 1", " 2 │ line 2", "   ⋮ 18 more lines"]
    assert annotate(text, most=6).count("\n") == 19, "without a mark nothing is folded"
