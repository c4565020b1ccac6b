"""The scripts that settle a load and sign its faults, in order, each with the query that says whether it is
needed.

To plan a statement takes one to five milliseconds even if no row is concerned, and most loads are small.
"""

from __future__ import annotations

COPIES = ("copied_calls", "copied_turns", "copied_sessions")  # what settle.sql found

_LATE = "SELECT EXISTS (FROM late_results) OR EXISTS (FROM turn_parts)"
SETTLING: tuple[tuple[str, str | None], ...] = (
    ("replaced.sql", "SELECT EXISTS (FROM replaced) OR EXISTS (FROM copies)"),
    ("take_back.sql", _LATE),
    ("settle.sql", None),
    ("copies.sql", f"SELECT {' OR '.join(f'EXISTS (FROM {name})' for name in COPIES)}"),
    ("late.sql", _LATE),
)
"""Script → a query for whether it is needed; None = always."""

SIGNED = "SELECT EXISTS (FROM tool_calls WHERE fault_layer IS NOT NULL OR signature_id IS NOT NULL)"
"""Whether signatures.sql has anything to do."""
