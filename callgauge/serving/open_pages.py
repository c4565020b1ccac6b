"""Checks the messages between an open page and Streamlit, and whether the user still has access."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from starlette.types import Message, Receive, Send
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from callgauge.serving.identity import User

_MEDIA = re.compile(r"/media/([0-9a-zA-Z]+\.[0-9a-zA-Z]+)")
# These fields of Streamlit's messages contain the address of a file. LinkButton.url contains other text.
_OFFERS = frozenset({"url", "image", "icon_image", "favicon"})
_FOLDER = str(Path(__file__).resolve().parents[1]).encode()
_LONGEST_FIRST = 1_000_000  # bytes; the message that starts a script run has a few thousand
_NOT_BINARY, _POLICY, _TOO_MUCH = 1003, 1008, 1009  # websocket close codes


class SentMedia:
    """Remembers which files were offered to which user. Only this user may download the file.

    If a user's role changes, files that were offered before can no longer be downloaded.
    """

    def __init__(self, most: int = 20_000) -> None:
        self._most = most
        self._sent: OrderedDict[tuple[User, str], None] = OrderedDict()

    def note(self, user: User, name: str) -> None:
        self._sent[user, name] = None
        self._sent.move_to_end((user, name))
        if len(self._sent) > self._most:
            self._sent.popitem(last=False)

    def was_sent(self, user: User, name: str) -> bool:
        return (user, name) in self._sent


class OpenPage:
    """Checks and forwards the messages between a websocket and Streamlit.

    `is_admitted` is called before each message, and returns whether the user still has access. `may_send`
    returns whether the page may send a message of a given size. `note_media` is called with the name of each
    file that a message offers to the page.
    """

    def __init__(
        self,
        receive: Receive,
        send: Send,
        *,
        is_admitted: Callable[[], bool],
        may_send: Callable[[int], bool],
        note_media: Callable[[str], None],
    ) -> None:
        self._receive = receive
        self._send = send
        self._is_admitted = is_admitted
        self._may_send = may_send
        self._note_media = note_media
        self._is_closed = False

    async def receive(self) -> Message:
        """Return the page's next message. Return a disconnect message if the page may not send the message.

        Text frames are rejected, because Streamlit fails on them; its own pages send binary frames.
        """
        message = await self._receive()
        if message["type"] != "websocket.receive" or self._is_closed:
            return message
        if not self._is_admitted():
            return await self._close(_POLICY)
        if message.get("bytes") is None:
            return await self._close(_NOT_BINARY)
        if not self._may_send(len(message["bytes"])):
            return await self._close(_TOO_MUCH)
        return message

    async def send(self, message: Message) -> None:
        """Forward a message to the page if the user still has access."""
        if self._is_closed:
            return
        data = message.get("bytes") if message["type"] == "websocket.send" else None
        if data:
            if not self._is_admitted():
                await self._close(_POLICY)
                return
            for name in find_media(data):
                self._note_media(name)
            message = {**message, "bytes": leave_folder_out(data)}
        elif message["type"] == "websocket.close":
            self._is_closed = True
        await self._send(message)

    async def _close(self, code: int) -> Message:
        if not self._is_closed:
            self._is_closed = True
            await self._send({"type": "websocket.close", "code": code})
        return {"type": "websocket.disconnect", "code": code}


def find_media(data: bytes) -> Iterator[str]:
    """Yield the names of the files that one of Streamlit's messages offers.

    Fields that do not offer files are ignored. Such a field may contain the address of another user's file.
    """
    if b"/media/" not in data:
        return
    waiting: list[Any] = [ForwardMsg.FromString(data)]
    while waiting:
        part = waiting.pop()
        for field, value in part.ListFields():
            several = value if isinstance(value, Sequence) and not isinstance(value, str | bytes) else [value]
            if field.message_type is not None:
                waiting += [item for item in several if hasattr(item, "ListFields")]
            elif field.name in _OFFERS and part.DESCRIPTOR.name != "LinkButton":
                yield from (address[1] for item in several if (address := _MEDIA.fullmatch(str(item))))


def leave_folder_out(data: bytes) -> bytes:
    """Return a message of Streamlit without the file path of Callgauge's installation folder."""
    if len(data) > _LONGEST_FIRST or _FOLDER not in data:
        return data
    message = ForwardMsg()
    message.ParseFromString(data)
    if message.WhichOneof("type") != "new_session":
        return data
    message.new_session.main_script_path = Path(message.new_session.main_script_path).name
    return bytes(message.SerializeToString())
