"""Reads a label file: people's names for prompts, as JSON `{"<prompt id or hash>": "<name>"}`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import orjson

from ingest.errors import OptionError

SHORTEST_HASH = 6  # characters of a hash that may stand for it; fewer would fit several prompts


def read_labels(path: Path | None) -> Mapping[str, str]:
    """Return the names of prompts by prompt id, or by the first characters of the hash of a prompt's text.

    `path` None gives no names. Raises OptionError when the file is not such a mapping, or a hash is too
    short.
    """
    if path is None:
        return {}
    try:
        labels = orjson.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        what = error.strerror if isinstance(error, OSError) else f"not JSON: {error}"
        raise OptionError(f"no labels can be read from {path}: {what}") from error
    if not isinstance(labels, dict) or not all(isinstance(name, str) for name in labels.values()):
        raise OptionError(f'no labels can be read from {path}: it is not of the form {{"prompt id": "name"}}')
    if short := [key for key in labels if len(key) < SHORTEST_HASH and "@" not in key]:
        raise OptionError(f"{path}: {short[0]!r} is too short; give {SHORTEST_HASH} characters or more")
    return labels
