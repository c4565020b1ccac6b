"""Values and log text in, text that a terminal can show without obeying it, or JSON, out."""

from __future__ import annotations

import json
import sys
from typing import Any


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str, indent=2)


def say(message: str) -> None:
    """A message for people, beside the results."""
    print(f"callgauge: {printable(message)}", file=sys.stderr)


def printable(text: str) -> str:
    """Log text that a terminal can show without obeying it."""
    return "".join(character if character.isprintable() else ascii(character)[1:-1] for character in text)
