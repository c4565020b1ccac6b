"""Packs a string into one URL parameter, and unpacks the parameter.

The parameter is the UTF-8 string, compressed by zlib, in URL-safe base64 without padding.
"""

from __future__ import annotations

import base64
import binascii
import re
import zlib

LONGEST = 8_000
"""The maximum length of one parameter. Proxies reject longer request lines, and chat programs cut longer
links.
"""

_ALPHABET = re.compile(r"[A-Za-z0-9_-]+")


class LinkError(ValueError):
    """Raised when a link contains no valid string, or when a string does not fit into a link. The message is
    one sentence.
    """


def pack_text(text: str) -> str:
    """Return the URL parameter that contains `text`.

    Raises LinkError when the link would be too long, or when `text` has a lone surrogate.
    """
    try:
        whole = text.encode()
    except UnicodeEncodeError:
        raise LinkError(
            "The text contains half of a character (a lone surrogate), which a link cannot contain."
        ) from None
    parameter = base64.urlsafe_b64encode(zlib.compress(whole, 9)).decode().rstrip("=")
    if len(parameter) > LONGEST:
        raise LinkError(
            f"Too long for a link: packed, it has {len(parameter):,} characters; a link carries {LONGEST:,}."
        )
    return parameter


def unpack_text(parameter: str, limit: int) -> str:
    """Return the string in a parameter. It has at most `limit` bytes in UTF-8.

    Raises LinkError when the parameter is damaged or the string is longer.
    """
    if not _ALPHABET.fullmatch(parameter):
        raise LinkError("The link is damaged: it contains invalid characters.")
    unpacker = zlib.decompressobj()
    try:
        data = base64.urlsafe_b64decode(parameter + "=" * (-len(parameter) % 4))
        whole = unpacker.decompress(data, limit + 1)
    except (binascii.Error, ValueError, zlib.error):
        raise LinkError("The link is damaged: what it carries cannot be unpacked.") from None
    if len(whole) > limit:
        raise LinkError(f"The link carries more than {limit:,} bytes of text; it was not unpacked.")
    if not unpacker.eof or unpacker.unused_data:
        raise LinkError("The link is damaged: it was cut, or something was added to it.")
    try:
        return whole.decode()
    except UnicodeDecodeError:
        raise LinkError("The link is damaged: its content is not text.") from None
