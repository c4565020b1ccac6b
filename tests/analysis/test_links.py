"""Tests that links contain complete strings and cannot do harm."""

from __future__ import annotations

import base64
import zlib

import pytest

from callgauge.analysis.texts.url_texts import LONGEST, LinkError, pack_text, unpack_text

LIMIT = 2_000_000


def parameter(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


@pytest.mark.parametrize("text", ["", "{}", '{"a": "ä\u202e\u0000😀"}', "x" * 1_000_000, "a+b/c=&?#% \n"])
def test_a_text_comes_back_as_it_was(text: str) -> None:
    carried = pack_text(text)
    assert carried.replace("-", "").replace("_", "").isalnum(), "nothing in it needs escaping in a URL"
    assert unpack_text(carried, LIMIT) == text


def test_a_text_too_long_for_a_link_is_a_sentence_with_both_sizes() -> None:
    noise = "".join(f"{number * 7919 % 10_007:x}" for number in range(12_000))
    with pytest.raises(LinkError, match=rf"it has [\d,]+ characters; a link carries {LONGEST:,}\."):
        pack_text(noise)


def test_half_a_character_is_a_sentence() -> None:
    with pytest.raises(LinkError, match="half of a character"):
        pack_text("\ud800")


def test_a_bomb_is_not_unpacked_beyond_the_limit() -> None:
    bomb = parameter(zlib.compress(b"x" * 50_000_000, 9))
    with pytest.raises(LinkError, match="more than 2,000,000 bytes"):
        unpack_text(bomb, LIMIT)
    assert len(unpack_text(parameter(zlib.compress(b"x" * LIMIT)), LIMIT)) == LIMIT


HALF = zlib.compress("\ud800".encode("utf-8", "surrogatepass"))
DAMAGED = ("", "!", "a", "ab cd", "../../etc/passwd", "é", "AAAA", "A" * 1_000_000)
SPOILT = (pack_text("whole")[:-3], pack_text("whole") + "AAAA", parameter(zlib.compress(b"x") + b"more"))
NO_TEXT = (parameter(zlib.compress(b"\xff\xfe")), parameter(HALF))


@pytest.mark.parametrize("damaged", [*DAMAGED, *SPOILT, *NO_TEXT])
def test_a_damaged_link_is_a_sentence(damaged: str) -> None:
    with pytest.raises(LinkError, match="damaged"):
        unpack_text(damaged, LIMIT)
