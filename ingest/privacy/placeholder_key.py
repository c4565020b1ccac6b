"""Reads or makes the secret key of a store's placeholders, a file in the store's folder.

Without the key, a reader of the tables cannot test which value a placeholder stands for. When the key is
lost, the next load makes another key and reads every file again.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from ingest.errors import explain_os_errors

KEY = "redaction.key"
_BYTES = 32


def read_or_make_key(store_dir: Path, *, keep: bool = True) -> bytes:
    """Return the key of a store whose lock is held; make a key when there is none.

    With `keep` False a new key is not written. Raises StoreError when the folder cannot be read or written.
    """
    path = store_dir / KEY
    with explain_os_errors(store_dir):
        try:
            key = bytes.fromhex(path.read_text("ascii").strip())
        except (FileNotFoundError, ValueError):
            key = b""
        if len(key) != _BYTES:
            key = secrets.token_bytes(_BYTES)
            if keep:
                _write_private_file(path, key.hex())
    return key


def _write_private_file(path: Path, text: str) -> None:
    """Write a file atomically; only its owner can read it."""
    new = path.with_name(f"{path.name}.new")
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(text)
        file.flush()
        os.fsync(handle)
    new.replace(path)
