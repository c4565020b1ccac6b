"""Limits how many bytes of an identity provider's response are read. Import this module only for OpenID
Connect, because importing it loads httpx2.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

from httpx2 import AsyncByteStream, Response

MOST_BYTES = 256_000
"""The maximum size of an answer in bytes: room for some hundred keys, or for a token with many groups."""


class AnswerTooLongError(ValueError):
    """Raised when a provider's response is compressed, or longer than MOST_BYTES."""


async def limit_answer(answer: Response) -> None:
    """Limit the size of a response body. This is a response hook for httpx, called before the body is read.

    Raises AnswerTooLongError for a compressed body, because a short compressed body could unpack to any size.
    """
    if answer.headers.get("content-encoding", "identity") != "identity":
        raise AnswerTooLongError("the answer is compressed")
    if isinstance(answer.stream, AsyncByteStream):
        answer.stream = _LimitedStream(answer.stream)


class _LimitedStream(AsyncByteStream):
    def __init__(self, stream: AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = MOST_BYTES
        async for chunk in self._stream:
            left -= len(chunk)
            if left < 0:
                raise AnswerTooLongError(f"the answer has more than {MOST_BYTES:,} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
