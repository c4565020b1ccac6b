"""Tests a team's price file."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from callgauge.memory.records import ModelPrice
from callgauge.prices import PriceFileError, read_price_file

HEAD = "model,from_day,input,output,cached_input,cache_write,currency"


def read(tmp_path: Path, text: str, name: str = "prices.csv") -> list[ModelPrice]:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return read_price_file(path)


def refused(tmp_path: Path, text: str, name: str = "prices.csv") -> str:
    with pytest.raises(PriceFileError) as problem:
        read(tmp_path, text, name)
    return str(problem.value)


def test_a_csv_file_gives_its_prices_without_comments_blanks_and_a_byte_order_mark(tmp_path: Path) -> None:
    text = f'\ufeff# ours\n\n{HEAD}\n北斗, 2026-11-01 ,2.50,10,0.25,,EUR\n"a, b",2026-11-01,0,0,,,EUR\n'
    assert read(tmp_path, text) == [
        ModelPrice("北斗", date(2026, 11, 1), 2.5, 10.0, 0.25, None, "EUR"),
        ModelPrice("a, b", date(2026, 11, 1), 0.0, 0.0, None, None, "EUR"),
    ]


def test_a_json_file_gives_the_same(tmp_path: Path) -> None:
    entry = {"model": "owl", "from_day": "2026-11-01", "input": 2.5, "output": "10", "cache_write": None}
    assert read(tmp_path, json.dumps([entry]), "prices.json") == [
        ModelPrice("owl", date(2026, 11, 1), 2.5, 10.0)
    ]


def test_every_bad_line_is_named_with_what_to_write(tmp_path: Path) -> None:
    lines = [
        "a,2026-13-01,1,2,,,USD",
        ",2026-11-01,-1,2,,,USD",
        "b,2026-11-01,1,,x,,dollars",
        "c,2026-11-01,1,2,,,",
    ]
    messages = refused(tmp_path, "\n".join([HEAD, *lines])).splitlines()
    places = [line.split("prices.csv, ")[1].split(" is ")[0] for line in messages[:-1]]
    assert places == [
        "line 2: from_day", "line 3: model", "line 3: input", "line 4: output", "line 4: cached_input",
        "line 4: currency",
    ]  # fmt: skip
    assert all(": write " in line for line in messages[:-1])
    assert messages[-1] == "No price was loaded: correct the file and load it again"


def test_several_currencies_and_two_prices_of_a_day_are_refused(tmp_path: Path) -> None:
    message = refused(
        tmp_path, f"{HEAD}\na,2026-11-01,1,2,,,USD\nb,2026-11-01,1,2,,,EUR\na,2026-11-01,3,4,,,USD\n"
    )
    assert "line 3: EUR after USD, which are never added up" in message
    assert "line 4: 'a' has two prices from 2026-11-01 on: keep one" in message


@pytest.mark.parametrize(
    "number", ["nan", "inf", "1e3", "2026-W01-1", "1_000", "1,5", "-1", "0x10", "١", "True", "99999999999"]
)
def test_only_plain_decimal_numbers_are_prices(tmp_path: Path, number: str) -> None:
    assert "input is" in refused(tmp_path, f'model,from_day,input,output\na,2026-11-01,"{number}",1\n')


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-1", "true", "1e99", "[1]"])
def test_json_holds_only_plain_numbers_too(tmp_path: Path, number: str) -> None:
    entry = f'[{{"model": "a", "from_day": "2026-11-01", "input": {number}, "output": 1}}]'
    assert "entry 1: input is" in refused(tmp_path, entry, "prices.json")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "has no price"),
        (HEAD, "has no price"),
        ("model,from_day,input\na,2026-11-01,1", "line 1: lacks columns output"),
        (f"{HEAD},price\n", "has unknown columns price"),
        (f"{HEAD},model\n", "repeats columns model"),
        (f"{HEAD}\na,2026-11-01,1,2,,,USD,more", "line 2: 8 values for 7 columns"),
        ('[{"model": 1}', "is not JSON"),
        ('{"model": "a"}', "is not a list"),
        ('["a"]', "entry 1: not an object"),
        ('[{"model": "a", "from_day": "2026-11-01", "input": 1, "output": 1, "x": 1}]', "unknown fields 'x'"),
        ("[" * 100_000, "is not JSON"),
    ],
)
def test_a_file_that_is_none_is_refused_in_a_sentence(tmp_path: Path, text: str, why: str) -> None:
    assert why in refused(tmp_path, text)


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    for name, why in (("binary", "it is not UTF-8 text"), ("absent", "No such file"), (".", "directory")):
        with pytest.raises(PriceFileError, match=why):
            read_price_file(tmp_path / name)


def test_log_text_in_a_message_is_short_and_on_one_line(tmp_path: Path) -> None:
    message = refused(
        tmp_path,
        json.dumps([{"model": "x\n\x1b[31m" * 200, "from_day": "2026-11-01", "input": 1, "output": 1}]),
    )
    assert "\x1b" not in message
    assert max(map(len, message.splitlines())) < 300
