"""One value of a decoded log record in, the value in the type asked for or None out; knows no format.

Optional fields of another type are treated as absent: a line is never lost over them.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

_KINDS: tuple[tuple[type, str], ...] = (
    (bool, "boolean"), (int, "number"), (float, "number"), (str, "string"), (list, "array"), (dict, "object"),
)  # fmt: skip


def kind_of(value: Any) -> str:
    """JSON's own word for a decoded value."""
    return next((kind for known, kind in _KINDS if isinstance(value, known)), "null")


def text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def whole(value: Any) -> int | None:
    """A count or number from 0; JSON's true is not 1."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < 1e15 else None


def table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def tables(value: Any) -> list[dict[str, Any]]:
    """The objects of an array; its other items are passed over."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def epoch_ms(value: Any) -> datetime | None:
    """Milliseconds since 1970 as an aware UTC time."""
    milliseconds = number(value)
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC) if milliseconds is not None else None
    except (ValueError, OverflowError, OSError):
        return None


def moment(value: Any) -> datetime | None:
    """ISO 8601 text as an aware UTC time; text without an offset is read as UTC."""
    if not isinstance(value, str):
        return None
    try:
        read = datetime.fromisoformat(value)
        return read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
