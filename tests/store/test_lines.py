"""Tests that `ingest.decoding.lines` splits bytes into numbered lines."""

from __future__ import annotations

import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.decoding.lines import Line, cut_snippet, decode_object, read_blocks, read_lines
from ingest.events import LogLine, Rejected


def lines_of(data: bytes, max_line: int = 1000) -> list[Line | Rejected]:
    return list(read_lines(io.BytesIO(data), max_line))


def decoded(data: bytes) -> dict[str, Any] | Rejected:
    (line,) = lines_of(data)
    return decode_object(line) if isinstance(line, Line) else line


def refusal(data: bytes) -> str:
    value = decoded(data)
    assert isinstance(value, Rejected), value
    return value.code


def test_each_line_knows_its_number_and_the_offset_of_its_first_byte() -> None:
    assert lines_of(b"ab\n\ncd\r\nef") == [
        Line(LogLine(1, 0), b"ab"),
        Line(LogLine(3, 4), b"cd"),
        Line(LogLine(4, 8), b"ef", whole=False),
    ]


def test_blank_lines_are_passed_over_but_counted() -> None:
    assert [line.where.line for line in lines_of(b"\n \t\r\nx\n\n")] == [3]


def test_a_byte_order_mark_is_no_part_of_the_first_line() -> None:
    assert decoded(b'\xef\xbb\xbf{"a": 1}\n') == {"a": 1}


def test_a_byte_order_mark_alone_is_a_blank_line() -> None:
    assert lines_of(b"\xef\xbb\xbf\n") == []


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
def test_a_line_over_the_limit_is_one_reject_and_the_next_line_is_read(end: bytes) -> None:
    first = b"x" * 5000
    lines = lines_of(first + end + (b'{"a": 1}' if end else b""))
    assert isinstance(lines[0], Rejected)
    assert (lines[0].code, lines[0].where) == ("line_too_long", LogLine(1, 0))
    assert "5,000 bytes" in lines[0].reason or "5,001 bytes" in lines[0].reason
    assert len(cut_snippet(lines[0].snippet)) == 200
    assert lines[1:] == ([Line(LogLine(2, 5000 + len(end)), b'{"a": 1}', whole=False)] if end else [])


@pytest.mark.parametrize("size", [7, 16, 64, 1000])
def test_every_line_after_a_too_long_one_knows_its_offset(size: int) -> None:
    data = b"x" * 100 + b"\n{}\n" + b"y" * 40 + b"\n[]\n\n" + b"z" * 31 + b"\n1"
    places = [line.where for line in read_lines(io.BytesIO(data), 30, size)]
    assert places == [
        LogLine(1, 0),
        LogLine(2, 101),
        LogLine(3, 104),
        LogLine(4, 145),
        LogLine(6, 149),
        LogLine(7, 181),
    ]


@pytest.mark.parametrize("end", [b"", b"\n", b"\n\n", b"\n \t\r\n", b"\n\n  "])
@pytest.mark.parametrize("size", [1, 3, 1000])
def test_blank_lines_at_the_end_of_a_file_are_none(end: bytes, size: int) -> None:
    lines = list(read_lines(io.BytesIO(b"{}" + end), size=size))
    assert lines == [Line(LogLine(1, 0), b"{}", whole=end != b"")]


def test_a_byte_order_mark_is_removed_from_the_first_line_only() -> None:
    long = b"x" * 1001 + b"\n"
    lines = lines_of(b"\xef\xbb\xbf{}\n" + long + b"\xef\xbb\xbf{}\n")
    assert [line.data for line in lines if isinstance(line, Line)] == [b"{}", b"\xef\xbb\xbf{}"]


@pytest.mark.parametrize("size", [10, 500, 1000, 5000])
@pytest.mark.parametrize("length", [999, 1000])
def test_a_line_up_to_the_limit_is_read(length: int, size: int) -> None:
    lines = list(read_lines(io.BytesIO(b"x" * length + b"\n"), 1000, size))
    assert lines == [Line(LogLine(1, 0), b"x" * length)]


def test_a_line_one_byte_over_the_limit_is_not() -> None:
    (rejected,) = lines_of(b"x" * 1001 + b"\n")
    assert isinstance(rejected, Rejected)


class Endless(io.RawIOBase):
    """A stream of `size` bytes without a line break, which are never all in memory."""

    def __init__(self, size: int) -> None:
        self._left = size
        self.largest_request = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self.largest_request = max(self.largest_request, len(buffer))
        count = min(len(buffer), self._left)
        buffer[:count] = b"x" * count
        self._left -= count
        return count


def test_a_line_of_a_gigabyte_is_never_held() -> None:
    raw = Endless(1_000_000_000)
    (rejected,) = read_lines(io.BufferedReader(raw, 1_000_000), max_line=4_000_000)
    assert isinstance(rejected, Rejected)
    assert "1,000,000,000 bytes" in rejected.reason
    assert raw.largest_request <= 1_000_000


def test_what_orjson_refuses_but_the_standard_library_takes_is_taken() -> None:
    assert decoded(b'{"a": "\\ud800"}\n') == {"a": "\ud800"}
    assert str(decoded(b'{"a": NaN}\n')) == "{'a': nan}"


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"not json\n", "not_json"),
        (b'{"a": 1,}\n', "not_json"),
        (b'{"a": "\xff"}\n', "not_utf8"),
        (b'{"a": "\xed\xa0\x80"}\n', "not_utf8"),
        (b"\0\0\0\0\n", "not_json"),
        (b'{"a": "\0"}\n', "not_json"),
        ('{"a": 1}'.encode("utf-16-le") + b"\n", "not_json"),
        (b"[" * 100_000 + b"]" * 100_000 + b"\n", "not_json"),
        (b"1" * 10_000 + b"\n", "not_json"),
        (b"[1]\n", "not_an_object"),
        (b"null\n", "not_an_object"),
        (b'{"a": 1', "torn_line"),
        (b'{"a": "\xe2\x82', "torn_line"),
    ],
    ids=repr,
)
def test_what_is_no_object_is_rejected_with_its_reason(data: bytes, code: str) -> None:
    value = list(read_lines(io.BytesIO(data), 1_000_000))
    assert isinstance(value[0], Line)
    rejected = decode_object(value[0])
    assert isinstance(rejected, Rejected)
    assert rejected.code == code
    assert len(cut_snippet(rejected.snippet)) <= 200


def test_a_refusal_says_where_in_the_line_the_text_breaks() -> None:
    not_json, not_utf8 = decoded(b'{"a": 1,}\n'), decoded(b'{"a": "\xff"}\n')
    assert isinstance(not_json, Rejected)
    assert isinstance(not_utf8, Rejected)
    assert not_json.reason.endswith("at character 8 of the line")
    assert not_utf8.reason.endswith("at byte 8 of the line")


def test_a_snippet_has_two_hundred_characters_of_any_script() -> None:
    rejected = decoded("茶".encode() * 300 + b"\n")
    assert isinstance(rejected, Rejected)
    assert cut_snippet(rejected.snippet) == "茶" * 200


def test_a_last_line_without_a_line_break_counts_when_it_is_whole() -> None:
    assert decoded(b'{"a": 1}') == {"a": 1}


def test_a_snippet_shows_what_is_not_utf8_as_escapes() -> None:
    value = decoded(b'{"a": "\xff"}\n')
    assert isinstance(value, Rejected)
    assert value.snippet == '{"a": "\\xff"}'


@given(
    pieces=st.lists(
        st.sampled_from([b"\n", b"\r\n", b"ab", b"x" * 30, b"\xff", b" ", "ä€".encode()]), max_size=40
    ),
    max_line=st.integers(min_value=1, max_value=50),
    size=st.integers(min_value=1, max_value=60),
)
def test_how_much_is_read_at_once_makes_no_difference(pieces: list[bytes], max_line: int, size: int) -> None:
    data = b"".join(pieces)
    correct, lines = {}, data.split(b"\n")
    for block in read_blocks(io.BytesIO(data), max_line, size):
        if isinstance(block, Rejected):
            correct[block.where.line] = f"{len(lines[block.where.line - 1]):,} bytes" in block.reason
            continue
        assert block.is_utf8() == _decodes(b"".join(block.lines))
        offset = block.offset
        for number, line in enumerate(block.lines, block.line):
            assert data[offset : offset + len(line)] == line
            assert line.removesuffix(b"\n") == lines[number - 1]
            assert len(lines[number - 1]) <= max_line
            correct[number] = True
            offset += len(line)
    assert list(correct) == list(range(1, len(lines) + (lines[-1] != b"")))
    assert all(correct.values())


def _decodes(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


@given(data=st.binary(max_size=300), max_line=st.integers(min_value=1, max_value=50))
def test_no_bytes_raise_and_offsets_point_at_line_starts(data: bytes, max_line: int) -> None:
    for line in lines_of(data, max_line):
        offset = line.where.offset
        assert offset == 0 or data[offset - 1 : offset] == b"\n"
        assert data[:offset].count(b"\n") == line.where.line - 1
        if isinstance(line, Line):
            decode_object(line)
