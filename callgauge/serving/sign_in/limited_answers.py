"""Limits the bytes that are read of an identity provider's answers. Needs httpx2, so it is imported late."""

from __future__ import annotations

from collections.abc import AsyncIterator

from httpx2 import AsyncByteStream, Response

MOST_BYTES = 256_000
"""Bytes of an answer: some hundred keys, or a token with many groups."""


class AnswerTooLongError(ValueError):
    """Raised when a provider's answer is compressed, or longer than MOST_BYTES."""


async def limit_answer(answer: Response) -> None:
    """Limit the body of an answer. A hook for responses: httpx calls it before it reads the body.

    Raises AnswerTooLongError for a compressed body: a short one could unpack to any size.
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
