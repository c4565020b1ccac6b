"""The sessions of a file's earlier contents, which its present content may continue.

After a log rotation, sessions continue in a file without their beginning. The log's own numbers and ids
connect the two. Without them, turns and steps are numbered from the last one in the store.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import md5

import msgspec

from ingest.sessions.stored_text import cut_text


class PastTurn(msgspec.Struct, frozen=True, gc=False):
    """A turn in the store. `text_hash` is the MD5 of the stored text of its user; `steps` is a count.

    `ended`: the log shows its end or an answer of the model.
    """

    number: int
    turn_id: str
    ts: datetime | None
    text_hash: str | None
    steps: int
    ended: bool


class PastSession(msgspec.Struct, frozen=True):
    """The turns of a session in the store, at least one, in ascending order of their numbers and times.

    The other fields applied to the last turn. `definitions` are the name, description and definition of each
    tool that was called so far.
    """

    turns: tuple[PastTurn, ...]
    prompt_id: str | None = None
    prompt_hash: str | None = None
    provider: str | None = None
    model: str | None = None
    definitions: tuple[tuple[str, str, str], ...] = ()

    def number_of(self, ts: datetime | None, text: str | None, *, rewritten: bool) -> int:
        """Return the number of the turn that begins with this time and text.

        It is the number of the stored turn with this beginning, else the next free number. With `rewritten`,
        the file contains all its sessions from their beginning, perhaps with other times.
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
        """Return the turn that was open at this time; None when it had ended.

        That is the latest turn that began before, or the last one. `at_its_end`: a turn whose end only the
        model's answer shows counts, too.
        """
        began = [turn for turn in self.turns if ts and turn.ts is not None and turn.ts <= _to_utc(ts)]
        turn = began[-1] if began else self.turns[-1]
        return turn if at_its_end or not turn.ended else None

    def find_turn(self, number: int) -> PastTurn | None:
        """Return the turn with this number; the last one when the log restarted its numbering."""
        return next((turn for turn in reversed(self.turns) if turn.number == number), None)


PastSessions = Mapping[str, PastSession]
"""Sessions by their stored id."""


def hash_text(text: str | None) -> str | None:
    """Return the MD5 of a user's text as it is stored, in hexadecimal."""
    if text is None:
        return None
    stored = (cut_text(text) or "").encode("utf-8", "backslashreplace")
    return md5(stored, usedforsecurity=False).hexdigest()


def _to_utc(ts: datetime) -> datetime:
    """Return a time as TIMESTAMP columns store it: UTC without an offset."""
    return ts.astimezone(UTC).replace(tzinfo=None)
