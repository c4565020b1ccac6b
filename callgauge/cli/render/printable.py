"""Makes values and log text printable: JSON, or text that cannot give a terminal orders."""

from __future__ import annotations

import json
import sys
from typing import Any


def to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str, indent=2)


def print_message(message: str) -> None:
    """A message for people, beside the results."""
    print(f"callgauge: {escape_for_terminal(message)}", file=sys.stderr)


def escape_for_terminal(text: str) -> str:
    """Log text that a terminal can show without obeying it."""
    return "".join(character if character.isprintable() else ascii(character)[1:-1] for character in text)
