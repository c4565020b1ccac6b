"""Tests the CSV file of public rates, and how the memory stores them."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from callgauge.checked_files.file_problems import CheckedFileError
from callgauge.memory.memory_file import MemoryFile
from callgauge.memory.public_rates import PublicRate, read_public_rate_file, save_public_rates
from callgauge.memory.team_memory import TeamMemory

HEAD = "model,host,date,rate,source\n"
FORMULA = '=HYPERLINK("http://x")'


def read(tmp_path: Path, content: str | bytes) -> list[PublicRate]:
    path = tmp_path / "rates.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_public_rate_file(path)


def refused(tmp_path: Path, content: str | bytes) -> list[str]:
    """Return the message for each problem, without the folder of the file."""
    with pytest.raises(CheckedFileError) as problem:
        read(tmp_path, content)
    return [line.replace(f"{tmp_path}/", "") for line in problem.value.lines()]


def test_a_file_gives_its_rates_without_comments_blanks_and_a_byte_order_mark(tmp_path: Path) -> None:
    text = (
        "\ufeff# copied by hand\r\n\r\ndate, source,model,host,rate,n,measure\r\n"
        '2025-11-15,"list, of May",openai/gpt-5,OpenAI,3.1%,1250,error_rate\r\n'
        "2025-11-15,list,北斗,u\u2028v,0.031,,\r\n"
        f"2025-11-15,list,kimi,h,98.96 %,,schema_accuracy\r\n2025-11-15,'{FORMULA[1:5]},=1+1,h,0\r\n"
    )
    day = date(2025, 11, 15)
    assert read(tmp_path, text) == [
        PublicRate("openai/gpt-5", "OpenAI", day, 0.031, "list, of May", 1250),
        PublicRate("北斗", "u\u2028v", day, 0.031, "list"),
        PublicRate("kimi", "h", day, 0.0104, "list"),
        PublicRate("=1+1", "h", day, 0.0, "'HYPE"),
    ]


@pytest.mark.parametrize(
    ("rate", "share"),
    [
        ("0", 0.0),
        ("1", 1.0),
        ("1.0", 1.0),
        (".5", 0.5),
        ("0.031", 0.031),
        ("0%", 0.0),
        ("100%", 1.0),
        ("3 %", 0.03),
    ],
)
def test_a_rate_is_a_share_or_a_percentage(tmp_path: Path, rate: str, share: float) -> None:
    assert read(tmp_path, f"{HEAD}a,b,2025-11-15,{rate},s\n")[0].rate == share


@pytest.mark.parametrize(
    "rate",
    [
        "120 %",
        "1.2",
        "3.1",
        "3",
        "300",
        "-0.1",
        "-3%",
        "nan",
        "inf",
        "many",
        "1e-2",
        "0x1",
        "٣%",
        "%",
        "3,1%",
        FORMULA,
        "=1+1",
        "True",
    ],
)
def test_other_rates_are_refused_with_what_to_write(tmp_path: Path, rate: str) -> None:
    quoted = '"' + rate.replace('"', '""') + '"'
    (message,) = refused(tmp_path, f"{HEAD}a,b,2025-11-15,{quoted},s\n")
    assert message.startswith("rates.csv:2: rate: ")
    assert message.endswith("a share from 0 to 1 (0.031) or a percentage (3.1%)")
    assert (f"write {rate}%, if you mean percent; or" in message) is (rate in ("1.2", "3.1", "3"))


def test_every_bad_line_is_named_with_its_reason(tmp_path: Path) -> None:
    lines = [
        ",h,2025-11-15,0.1,s",
        "a,,2025-11-15,0.1,",
        "a,h,15.11.2025,0.1,s",
        "a,h,2025-11-31,0.1,s",
        "a,h,2999-01-01,0.1,s",
        "a,h,2025-11-15",
        "a,h,2025-11-15,0.1,s,1,error_rate,more",
        'a,"h,2025-11-15,0.1,s',
        "a,h,2025-11-15,0.1,s,0",
        "a,h,2025-11-15,0.1,s,1.5,accuracy",
        "b,h,2025-11-15,0.1,s",
        "b,h,2025-11-15,0.2,s",
        f"{'x' * 501},h,2025-11-15,0.1,s",
    ]
    messages = refused(tmp_path, "\n".join(["model,host,date,rate,source,n,measure", *lines]))
    assert [message.partition(";")[0].removeprefix("rates.csv:")[:60] for message in messages] == [
        "2: model: is empty",
        "3: host: is empty",
        "3: source: is empty",
        '4: date: "15.11.2025" cannot be used',
        '5: date: "2025-11-31" cannot be used',
        "6: date: 2999-01-01 is in the future",
        "7: source: is empty",
        "7: rate: is empty",
        "8: 8 values for 7 columns",
        "9: not CSV: unexpected end of data",
        '10: n: "0" cannot be used',
        '11: n: "1.5" cannot be used',
        '11: measure: "accuracy" cannot be used',
        "13: same model, host, date and source as line 12",
        f'14: model: "{"x" * 48}',
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "rates.csv: is empty; write the columns model,host,date,rate,source in line 1"),
        (HEAD, "rates.csv: has no rate; write the columns"),
        (b"\n\n# only a comment\n", "rates.csv: has no rate"),
        (
            "a,b,2025-11-15,0.1,s\n",
            "rates.csv:1: lacks columns model, host, date, rate, source; write the columns",
        ),
        ("model,host,date,rate\n", "rates.csv:1: lacks columns source"),
        (b"model,host,date,rate,source,\xff\n", "rates.csv: is not UTF-8 text: byte 0xff in line 1"),
        (
            HEAD.encode() + b"a,b,2025-11-15,0.1,caf\xe9\n",
            "rates.csv: is not UTF-8 text: byte 0xe9 in line 2",
        ),
        ("x" * 200_000, "rates.csv:1: not CSV: field larger than field limit (131072)"),
        (HEAD + "x" * 200_000, "rates.csv:2: not CSV: field larger than field limit (131072)"),
        (b"\x00" * 100, "rates.csv:1: lacks columns"),
        (b"x\n" * (9 << 20), "rates.csv: is larger than 16 MB"),
    ],
)
def test_a_file_that_is_none_is_refused_in_a_sentence(
    tmp_path: Path, content: str | bytes, message: str
) -> None:
    messages = refused(tmp_path, content)
    assert messages[0].startswith(message)
    assert all(len(each) < 300 and each.isprintable() for each in messages)


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    for name, reason in (("absent", "no such file"), (".", "is a directory")):
        with pytest.raises(CheckedFileError, match=reason):
            read_public_rate_file(tmp_path / name)


def test_a_rate_with_the_same_key_is_replaced_and_all_others_stay(tmp_path: Path) -> None:
    file, memory = MemoryFile(tmp_path), TeamMemory(tmp_path)
    old = PublicRate("a", "h", date(2025, 11, 15), 0.1, "s")
    other = PublicRate("a", "h", date(2025, 11, 16), 0.2, "s", 50)
    save_public_rates(file, [old, other])
    new = PublicRate("a", "h", date(2025, 11, 15), 0.3, "s", 7)
    save_public_rates(file, [new])
    assert memory.read().public_rates == [new, other]
