"""The rollups: each `.sql` beside this file makes one anew from the facts, for the days in `touched_days`.

A rollup adds up over days, and over everything else that it has a column for. A day can be NULL: calls
without a time. `touched_days` (day) is a temporary table of the caller's.
"""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).parent


def rollup_scripts() -> list[str]:
    """The text of every script, by name; none needs what another one writes."""
    return [path.read_text("utf-8") for path in sorted(_HERE.glob("*.sql"))]
