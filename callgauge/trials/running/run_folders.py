"""Finds the folder in which a plan's run goes on, or names a new one."""

from __future__ import annotations

import re
import secrets
from pathlib import Path

from callgauge.trials.planning.plan import Plan
from callgauge.trials.results.run_folder import RunFolder
from callgauge.trials.running.run_files import FolderError, RunError
from callgauge.trials.running.run_lock import read_lock

_LONGEST = 40  # characters of a plan's name in that of a folder


def make_place(out: Path) -> None:
    """Make the folder in which runs lie. Raises RunError where there can be none."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(
            f"{out} cannot be the folder of runs: {error.strerror or error}; name another place with --out"
        ) from None


def find_folder(plan: Plan, out: Path, *, is_new: bool = False) -> Path:
    """Return the folder of a plan's run: `out` itself where it is one, else the newest within it.

    Where there is none, and with `is_new`, a new name within `out`. Raises FolderError.
    """
    if not is_new and RunFolder(out).lock.exists():
        return out
    if not is_new and (known := _find_known(plan, out)):
        return known
    slug = re.sub(r"[^a-z0-9]+", "-", plan.name.lower())[:_LONGEST].strip("-") or "trial"
    return out / f"{slug}.{secrets.token_hex(4)}"


def _find_known(plan: Plan, out: Path) -> Path | None:
    found: list[tuple[str, Path]] = []
    for lock_file in out.glob("*/lock.json"):
        try:
            lock = read_lock(RunFolder(lock_file.parent))
        except FolderError:
            continue
        if lock is not None and lock.get("name") == plan.name:
            found.append((str(lock.get("created_at")), lock_file.parent))
    return max(found)[1] if found else None
