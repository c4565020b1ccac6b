"""The state of one session while a file is read: the latest facts and the open turns."""

from __future__ import annotations

import pickle
from datetime import datetime

import msgspec

from ingest.events import LogLine, SessionSeen
from ingest.sessions.open_sessions import OpenSessions
from ingest.sessions.turns import CallContext, OpenTurn

_ENCODE = msgspec.msgpack.Encoder().encode
# the first byte of a pickle; the MessagePack data of a session never begins with this byte
_PICKLE = pickle.PROTO
_FACTS = (
    "harness", "harness_version", "parent_session_id", "user", "task", "run", "trial_run", "arm", "repeat_no",
    "capabilities", "sampling", "project", "branch", "sub_agent", "environment", "provider", "model",
)  # fmt: skip


class SessionState(msgspec.Struct):
    """The state of a session while its events are read.

    `context` has the model, prompt and tool definitions for the next call.
    """

    session_id: str
    where: LogLine
    forgotten: bool = False  # True when the session is deleted, so none of its events are stored
    is_listed: bool = True  # False when this is a trial run, not a session
    facts: dict[str, str] = {}
    started: datetime | None = None
    ended: datetime | None = None
    prompt_hash: str | None = None
    context: CallContext = CallContext()
    open_turns: list[OpenTurn] = []
    last_turn: int = 0
    saw_result: bool = False
    turns: int = 0
    steps: int = 0
    calls: int = 0
    faults: int = 0

    def learn(self, event: SessionSeen) -> None:
        """Update the facts from `event`. A value of None replaces nothing."""
        self.facts.update({name: value for name in _FACTS if (value := getattr(event, name)) is not None})
        self.put_in_force(provider=self.facts.get("provider"), model=self.facts.get("model"))

    def put_in_force(self, **changed: str | int | None) -> None:
        self.context = msgspec.structs.replace(self.context, **changed)

    @property
    def weight(self) -> int:
        """The approximate number of characters in the open turns."""
        return sum(turn.characters for turn in self.open_turns)


_DECODE = msgspec.msgpack.Decoder(SessionState).decode


class OpenSessionStates(OpenSessions[SessionState]):
    """The open sessions of a file, packed as MessagePack when they are not in memory."""

    def pack(self, session: SessionState) -> bytes:
        """Return the session as bytes. The bytes are MessagePack, or a pickle if MessagePack fails.

        MessagePack cannot encode lone surrogates or integers of more than 64 bits.
        """
        try:
            return _ENCODE(session)
        except (UnicodeEncodeError, OverflowError):
            return super().pack(session)

    def unpack(self, state: bytes) -> SessionState:
        """Return the session from the bytes that `pack` returned."""
        return super().unpack(state) if state.startswith(_PICKLE) else _DECODE(state)
