"""Removes old data from a store: first message content, later calls, turns and sessions. Daily sums stay.

The age of a session counts from its last event. Removed data is also deleted from older store files. No load
restores removed data.
"""

from __future__ import annotations

import time
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from ingest.errors import OptionError
from ingest.load_report import RetentionReport
from ingest.maintenance.transaction import change_copy, lock_published
from ingest.pipeline.publish import standing_tables
from ingest.store.generation_file import GenerationBuilder
from ingest.store.generations import OnWrite, Patience, do_not_wait, ignore_write
from ingest.store.reader import is_outdated
from ingest.store.retention import (
    EVERYBODY,
    StoreLimits,
    find_old,
    is_anything_old,
    read_newest_day,
    remove_found,
    stored_limits,
)
from ingest.store.settling.settle import sum_days


def apply_retention(
    store_dir: Path,
    *,
    text_days: int | None = None,
    fact_days: int | None = None,
    today: date | None = None,
    dry_run: bool = False,
    on_write: OnWrite = ignore_write,
    patience: Patience = do_not_wait,
) -> RetentionReport:
    """Remove the content of sessions after `text_days` days without an event, and their rows after
    `fact_days`.

    If a number of days is None, the data is kept. With `dry_run`, only count the data to remove. Days count
    back from `today`, by default the present day (UTC). Raises InputError, StoreError, StoreBusy or
    StoreVersionError. After an error, nothing is removed.
    """
    started = time.monotonic()
    wanted = _limits_of(text_days, fact_days, today or datetime.now(UTC).date())
    generation = None
    with lock_published(store_dir, on_write, patience) as (folder, current), change_copy(folder) as building:
        if is_outdated(current):
            _count_anew(building)
        stored = stored_limits(building)
        limits = _join_limits(wanted, stored)
        counts = find_old(building, limits, EVERYBODY)
        if dry_run or not is_anything_old(counts):
            building.abandon()
            folder.discard()
        else:
            limits = _limit_to_data(limits, stored, read_newest_day(building))
            remove_found(building, limits)
            building.rewrite()
            generation = folder.publish(alone=True)
    return RetentionReport(
        **counts,
        text_before=limits.text_before,
        facts_before=limits.facts_before,
        generation=generation,
        seconds=time.monotonic() - started,
    )


def _count_anew(building: GenerationBuilder) -> None:
    """Recompute the sums of a store from an older Callgauge.

    Call this before rows are removed, because the sums are computed from the rows.
    """
    with building.open_transaction("touched days") as con:
        con.execute("CREATE TEMP TABLE touched_days (day DATE)")
    building.replace_tables(standing_tables(building.schemas))
    sum_days(building)


def _limits_of(text_days: int | None, fact_days: int | None, today: date) -> StoreLimits:
    if text_days is None and fact_days is None:
        raise OptionError("nothing to delete: use --text-days or --fact-days")
    for days in (text_days, fact_days):
        if days is not None and days < 1:
            raise OptionError(f"{days} days is too short; keep data for at least 1 day")
    if text_days is not None and fact_days is not None and text_days > fact_days:
        raise OptionError(
            f"content would be kept for {text_days:,} days, but its calls only for {fact_days:,}: "
            f"use --text-days {fact_days} or less"
        )
    text_before, facts_before = (
        None if days is None else today - timedelta(days=min(days, (today - date.min).days))
        for days in (text_days, fact_days)
    )
    if facts_before is not None and (text_before is None or text_before < facts_before):
        text_before = facts_before  # texts are removed together with their calls
    return StoreLimits(text_before, facts_before)


def _join_limits(wanted: StoreLimits, stored: StoreLimits) -> StoreLimits:
    """Return the limits that apply from now on.

    `facts_before` never moves to an earlier day, because the rows of earlier days are gone.
    """
    facts = max(filter(None, (wanted.facts_before, stored.facts_before)), default=None)
    text = wanted.text_before or stored.text_before
    return StoreLimits(max(filter(None, (text, facts)), default=None), facts)


def _limit_to_data(limits: StoreLimits, stored: StoreLimits, newest: date | None) -> StoreLimits:
    """Return the limits, with `facts_before` at most on the day after the newest event.

    If the machine's clock is a year ahead, a later `facts_before` would make loads drop new sessions for
    months.
    """
    if limits.facts_before is None:
        return limits
    days = [stored.facts_before, None if newest is None else min(limits.facts_before, newest + timedelta(1))]
    return StoreLimits(limits.text_before, max(filter(None, days), default=None))
