"""A store's folder in, the secret key of its placeholders out: made once, beside its tables.

Who has the tables without the key cannot try out which address a placeholder stands for. Without it the next
load makes another key, and reads every file again.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from ingest.errors import explaining

KEY = "redaction.key"
_BYTES = 32


def key_of(store_dir: Path, *, keep: bool = True) -> bytes:
    """The key of a store whose lock is held, made when there is none; `keep` False writes nothing.

    Raises StoreError.
    """
    path = store_dir / KEY
    with explaining(store_dir):
        try:
            key = bytes.fromhex(path.read_text("ascii").strip())
        except (FileNotFoundError, ValueError):
            key = b""
        if len(key) != _BYTES:
            key = secrets.token_bytes(_BYTES)
            if keep:
                _write(path, key.hex())
    return key


def _write(path: Path, text: str) -> None:
    """Whole or not at all, and for nobody else to read."""
    new = path.with_name(f"{path.name}.new")
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(text)
        file.flush()
        os.fsync(handle)
    new.replace(path)
