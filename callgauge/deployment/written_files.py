"""Writes service files into a folder; what a person has changed stays."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from callgauge.deployment.installation import DeploymentError


def write_files(files: Mapping[str, str], folder: Path, *, force: bool) -> list[Path]:
    """Write the files, each whole or not at all, and return those that were not there in the same words.

    Without `force` nothing is written when one of them differs. Raises DeploymentError.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        new = [name for name, text in files.items() if not _holds(folder / name, text)]
        differing = [str(folder / name) for name in new if os.path.lexists(folder / name)]
        if differing and not force:
            raise DeploymentError(
                f"{', '.join(differing)}: there already, with other content; nothing was written. Look at "
                "it, and say --force to replace it"
            )
        for name in new:
            beside = folder / f".{name}.{os.getpid()}"
            try:
                beside.write_text(files[name], encoding="utf-8")
                beside.replace(folder / name)
            finally:
                beside.unlink(missing_ok=True)
    except OSError as error:
        raise DeploymentError(
            f"{folder} cannot be written: {error.strerror}; check its permissions and the free space"
        ) from None
    return [folder / name for name in new]


def _holds(path: Path, text: str) -> bool:
    return path.is_file() and path.read_bytes() == text.encode()
