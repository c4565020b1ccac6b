"""Tests that numbers are formatted correctly, and that log content is always escaped."""

from __future__ import annotations

import re
import time
from datetime import datetime, timedelta

import pandas as pd
import pytest

from callgauge.analysis import wording
from callgauge.analysis.export import to_csv


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0%"),
        (0.00001, "<0.01%"),
        (0.00123, "0.12%"),
        (0.00917, "0.92%"),
        (0.00012, "0.01%"),
        (0.0325, "3.2%"),
        (0.5, "50.0%"),
        (0.9996, ">99.9%"),
        (1.0, "100%"),
    ],
)
def test_a_share_prints_with_three_significant_digits_and_two_decimals_at_most(
    share: float, text: str
) -> None:
    assert wording.percent(share) == text


@pytest.mark.parametrize(
    ("k", "n", "text"), [(1, 3, "33%"), (1, 44, "2.3%"), (98, 99, "99%"), (33, 100, "33.0%"), (3, 3, "100%")]
)
def test_a_rate_is_no_more_exact_than_its_count(k: int, n: int, text: str) -> None:
    assert wording.rate(k, n) == text


@pytest.mark.parametrize(("text", "shown"), [("'", "“'”"), (" ", "“·”"), ("", "nothing"), (None, "nothing")])
def test_a_lone_quote_or_blank_that_was_found_stays_visible(text: str | None, shown: str) -> None:
    assert wording.quote(text, 100) == shown


def test_numbers_of_things_are_written_as_english_does() -> None:
    phrases = [
        wording.plural(n, noun) for n, noun in ((1, "model"), (1_200, "model"), (3, "strategy"), (2, "day"))
    ]
    assert phrases == ["1 model", "1,200 models", "3 strategies", "2 days"]


def test_nothing_observed_prints_as_a_dash() -> None:
    assert wording.rate(0, 0) == "–"


@pytest.mark.parametrize(
    ("n", "text"), [(None, "–"), (999, "999 B"), (1400, "1.4 kB"), (2_500_000_000, "2.5 GB")]
)
def test_sizes_print_with_a_unit(n: int | None, text: str) -> None:
    assert wording.size(n) == text


def test_a_load_is_stale_when_a_night_passed_by() -> None:
    loaded = datetime(2026, 11, 20, 3)  # noqa: DTZ001 - the store's times are naive UTC
    assert wording.age(loaded, loaded + timedelta(hours=30)) == ""
    assert wording.age(loaded, loaded + timedelta(hours=40)) == " · 1 day old"
    assert wording.age(loaded, loaded + timedelta(days=3)) == " · 3 days old"
    assert wording.age(None, loaded) == ""


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@sum", "\tx", "\rx"])
def test_a_csv_cell_is_never_a_formula(text: str) -> None:
    assert wording.in_sheet(text) == f"'{text}"


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", " =", "\u200b=", "\uff1d"])
@pytest.mark.parametrize("separator", [";", "\t", "\n", "\r", "\r\n", ";;", "\n\t"])
def test_no_part_of_a_cell_begins_a_formula_where_another_sign_separates(separator: str, sign: str) -> None:
    shown = wording.in_sheet(f"x{separator}{sign}cmd|' /C calc'!A1;y")
    assert shown == f"x{separator}'{sign}cmd|' /C calc'!A1;y"


def test_a_long_cell_of_separators_takes_time_in_proportion_to_its_length() -> None:
    for text in ("x" + "\n" * 200_000, "x;" + " " * 200_000, "x" + "; " * 100_000):
        assert wording.in_sheet(text) == text


def test_other_csv_cells_stay_as_they_are() -> None:
    assert wording.in_sheet("a; b\n1-2\tc=d") == "a; b\n1-2\tc=d"
    assert wording.in_sheet('{"a": 1}') == '{"a": 1}'


def test_markdown_in_a_name_is_escaped() -> None:
    assert wording.in_markdown("**b** :red[x] [l](u) `c`") == r"\*\*b\*\* \:red\[x\] \[l\]\(u\) \`c\`"


@pytest.mark.parametrize("text", ["http://a.example/p", "HTTPS://a.example", "www.a.example", "me@a.example"])
def test_an_address_in_a_name_becomes_no_link(text: str) -> None:
    escaped = wording.in_markdown(text).replace("\\", "")
    assert escaped.replace("\u2060", "") == text
    assert not re.search(r"https?://|www\.|@a", escaped, re.IGNORECASE)


def test_a_version_behind_a_name_is_no_address() -> None:
    assert wording.in_markdown("support@3") == r"support\@3"


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\t", "\r", "\n", " =", "\u200b=", "\ufeff+", "\uff1d"])
def test_no_cell_of_a_sheet_begins_a_formula(sign: str) -> None:
    assert wording.in_sheet(f"{sign}1") == f"'{sign}1"


def test_html_in_a_name_is_escaped_for_figures() -> None:
    assert wording.in_figure('<b>&"x"</b>') == '&lt;b&gt;&amp;"x"&lt;/b&gt;'


def test_direction_marks_and_controls_become_visible() -> None:
    assert wording.visible("a\u202eb\x00c\ud800") == "a⟨U+202E⟩b⟨U+0000⟩c⟨U+D800⟩"


def test_white_space_is_shown_on_demand() -> None:
    assert wording.visible("a b\tc\n", spaces=True) == "a·b→c↵\n"


def test_a_cell_holds_one_line_of_bounded_length() -> None:
    assert wording.one_line("a\n  b\u202e" + "c" * 100, 8) == "a b⟨U+202E⟩ccc…"


def test_an_exported_file_holds_no_formula_in_cells_or_header() -> None:
    rows = pd.DataFrame([{"tool": "=cmd()", "n": -1, "@x": None}], dtype=object)
    assert to_csv(rows) == b"tool,n,'@x\n'=cmd(),-1,\n"


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0"), (7, "7"), (99, "99"), (101, "110"), (1_234, "1,300"), (90_001, "91,000")]
)
def test_an_estimate_prints_with_two_digits(number: int, text: str) -> None:
    assert wording.round_up(number) == text


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("مساعد@2", "\u2068مساعد\u2069\\@2"),
        ("עוזר@12 and עוזר@13", "\u2068עוזר\u2069\\@12 and \u2068עוזר\u2069\\@13"),
        ("لديّ 3 كتب", "\u2068لديّ 3 كتب\u2069"),
        ("heron@2", "heron\\@2"),
    ],
)
def test_a_version_stays_behind_a_name_that_reads_from_right_to_left(name: str, shown: str) -> None:
    assert wording.in_markdown(name) == shown
    assert wording.in_sheet(name) == wording.one_line(name, 60) == name, "what is copied has no marks"


def test_isolating_takes_time_in_proportion_to_the_text() -> None:
    began = time.perf_counter()
    wording.isolate(("ا" + " " * 999 + "a") * 1000 + "ا" + " " * 1_000_000)
    assert time.perf_counter() - began < 5


def test_a_long_name_keeps_its_version() -> None:
    first, second = (
        wording.short_name(f"a prompt {'of many words ' * 9}@{version}", 40) for version in (12, 13)
    )
    assert (len(first), first[:8], first[-3:], second[-3:]) == (40, "a prompt", "@12", "@13")
    assert wording.short_name("short\nname", 40) == "short name"
    assert "⟨U+202E⟩" in wording.short_name("a\u202e" + "b" * 90, 40)
