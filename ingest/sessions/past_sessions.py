"""The stored sessions of a file's earlier content, which the present content may continue.

After a log rotation, a file contains the end of a session without its beginning. Numbers and ids in the log
connect the end to the beginning. If the log has no numbers and ids, turns and steps are numbered from the
last stored number.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import md5

import msgspec

from ingest.sessions.stored_text import cut_text


class PastTurn(msgspec.Struct, frozen=True, gc=False):
    """A turn in the store.

    `text_hash` is the MD5 of the user's message as stored. `steps` is the number of steps. `ended` is True
    when the log shows that the turn ended or that the model answered.
    """

    number: int
    turn_id: str
    ts: datetime | None
    text_hash: str | None
    steps: int
    ended: bool


class PastSession(msgspec.Struct, frozen=True):
    """The stored turns of one session, ordered by number and time. There is at least one turn.

    `definitions` has the name, description and definition of each tool called so far. All other fields are
    those of the last turn.
    """

    turns: tuple[PastTurn, ...]
    prompt_id: str | None = None
    prompt_hash: str | None = None
    provider: str | None = None
    model: str | None = None
    definitions: tuple[tuple[str, str, str], ...] = ()

    def number_of(self, ts: datetime | None, text: str | None, *, rewritten: bool) -> int:
        """Return the number of the turn that begins with this time and user message.

        If a stored turn has the same time and message, its number is returned. Otherwise the next free number
        is returned. `rewritten` means that the file contains its sessions from their beginning. Then the
        first turn is identified by its message alone.
        """
        hashed, first = hash_text(text), self.turns[0]
        if rewritten and first.text_hash == hashed:
            return first.number
        dated_turns = ((turn.number, turn.ts, turn.text_hash) for turn in self.turns)
        if ts is not None:
            turn_number = next(
                (number for number, at, words in dated_turns if (at, words) == (_to_utc(ts), hashed)), None
            )
        else:
            turn_number = first.number if first.ts is None and first.text_hash == hashed else None
        return turn_number if turn_number is not None else self.turns[-1].number + 1

    def open_turn_at(self, ts: datetime | None, *, at_its_end: bool = False) -> PastTurn | None:
        """Return the stored turn that was open at this time. Return None when that turn had ended.

        The turn is the latest turn that began before `ts`. If no turn began before `ts`, it is the last turn.
        With `at_its_end`, a turn that had ended is also returned.
        """
        began = [turn for turn in self.turns if ts and turn.ts is not None and turn.ts <= _to_utc(ts)]
        turn = began[-1] if began else self.turns[-1]
        return turn if at_its_end or not turn.ended else None

    def find_turn(self, number: int) -> PastTurn | None:
        """Return the stored turn with this number, or None.

        If two turns have the number, return the later turn.
        """
        return next((turn for turn in reversed(self.turns) if turn.number == number), None)


PastSessions = Mapping[str, PastSession]
"""Sessions by their stored id."""


def hash_text(text: str | None) -> str | None:
    """Return the MD5 of a user's message in hexadecimal.

    The message is hashed in the form in which it is stored.
    """
    if text is None:
        return None
    stored = (cut_text(text) or "").encode("utf-8", "backslashreplace")
    return md5(stored, usedforsecurity=False).hexdigest()


def _to_utc(ts: datetime) -> datetime:
    """Return a time in the form of TIMESTAMP columns: UTC without an offset."""
    return ts.astimezone(UTC).replace(tzinfo=None)
