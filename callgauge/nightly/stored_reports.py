"""Lists and removes reports in the store's folder. Reports quote logs, so retention applies to them."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from callgauge.configuration.places import REPORTS
from ingest.errors import StoreError

_KINDS = (".html", ".json")


def list_report_nights(store: Path) -> list[date]:
    """Return the days of the nightly runs that have a report in the store, the oldest first."""
    return sorted(_find_files(store))


def remove_old_reports(store: Path, before: date, *, dry_run: bool = False) -> int:
    """Remove the reports about days before `before`. Return the number of nightly runs whose reports were
    removed.

    If `dry_run` is True, only count the nightly runs. Raises StoreError when a file cannot be removed.
    """
    # A report covers the days before its nightly run.
    old = {night: files for night, files in _find_files(store).items() if night <= before}
    for file in (file for files in old.values() if not dry_run for file in files):
        try:
            file.unlink(missing_ok=True)
        except OSError as problem:
            raise StoreError(
                f"{file} is older than the retention limit and cannot be deleted: {problem.strerror}"
            ) from None
    return len(old)


def _find_files(store: Path) -> dict[date, list[Path]]:
    files: dict[date, list[Path]] = {}
    for file in (store / REPORTS).glob("*-*-*.*"):
        try:
            night = date.fromisoformat(file.stem)
        except ValueError:
            continue
        if file.suffix in _KINDS and file.stem == night.isoformat():
            files.setdefault(night, []).append(file)
    return files
