"""Triage status of error signatures: known, being fixed, or fixed (version and day)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal, get_args

from callgauge.memory.memory_file import MemoryFile, cut_name, cut_text, make_insert, write_day, write_now

State = Literal["known", "being fixed", "fixed"]
STATES: tuple[State, ...] = get_args(State)
SELECT_STATES = "SELECT signature, state, fixed_in, fixed_day, note, by, at FROM signature_states"


@dataclass(frozen=True, slots=True)
class SignatureState:
    """The triage status of an error signature. A signature without a status is new.

    `fixed_in` is the version with the fix, or empty. `fixed_day` is the day of the fix. If the error occurs
    on a later day, the error counts as returned.
    """

    signature: str
    state: State
    fixed_in: str
    fixed_day: date | None
    note: str
    by: str
    at: datetime


def read_state(row: Sequence[Any]) -> SignatureState:
    signature, state, fixed_in, day, note, by, at = row
    when = date.fromisoformat(day) if day else None
    return SignatureState(signature, state, fixed_in, when, note, by, datetime.fromisoformat(at))


def set_state(
    file: MemoryFile,
    signature: str,
    state: State,
    *,
    fixed_in: str = "",
    fixed_day: date | None = None,
    note: str = "",
    by: str = "",
) -> None:
    """Save the triage status of a signature. The previous status is replaced.

    Raises ValueError if the status is a fix and the day is missing.
    """
    is_fixed = state == "fixed"
    if is_fixed and fixed_day is None:
        raise ValueError("a fixed error has the day of its fix")
    row = {
        "signature": signature,
        "state": state,
        "fixed_in": cut_name(fixed_in.strip()) if is_fixed else "",
        "fixed_day": write_day(fixed_day) if is_fixed else None,
        "note": cut_text(note.strip()),
        "by": cut_name(by),
        "at": write_now(),
    }
    file.write(make_insert("signature_states", row, replaces=True))


def clear_state(file: MemoryFile, signature: str) -> None:
    """Remove the triage status. The signature is then new again."""
    file.write(("DELETE FROM signature_states WHERE signature = ?", [(signature,)]))
