"""The commands that remove data, and those that keep it: forget, retain, backup, restore, verify."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict
from datetime import datetime
from typing import Annotated

import typer

from callgauge.cli import render
from callgauge.cli.maintenance_commands import Json, Wait, WaitAtMost, lock_patience
from callgauge.cli.options.store_option import OptionalStore, Store

_DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say how much it would be.")]
_Backup = Annotated[
    str | None, typer.Option("--backup", metavar="NAME", help="This backup; the newest without it.")
]
_From = Annotated[str, typer.Argument(metavar="FROM", help="Where backups lie: a folder, or s3://…")]


def forget(
    store: Store,
    session: Annotated[
        list[str] | None, typer.Option("--session", metavar="ID", help="This session; may be repeated.")
    ] = None,
    before: Annotated[
        datetime | None,
        typer.Option(
            "--before",
            metavar="DATE",
            formats=["%Y-%m-%d"],
            help="Every session without a sign of life since that day (UTC).",
        ),
    ] = None,
    user: Annotated[
        str | None,
        typer.Option("--user", metavar="NAME", help="Every session of this user."),
    ] = None,
    dry_run: _DryRun = False,
    wait: Wait = False,
    wait_at_most: WaitAtMost = None,
    as_json: Json = False,
) -> None:
    """Remove sessions from a store for good; no later load brings them back. The logs are not touched.

    The team's notes on them go, too. Exits with 1 when there is no such session.
    """
    from callgauge.memory.memory_file import MemoryProblemError
    from callgauge.memory.notes import remove_notes
    from callgauge.nightly.stored_reports import list_report_nights
    from ingest.backup.make_backup import read_record
    from ingest.errors import StoreError
    from ingest.maintenance import forget as forgetting

    whose = forgetting.SessionChoice(
        sessions=session or (), before=before.date() if before else None, user=user
    )
    notes = 0

    def remove_their_notes(sessions: Collection[str], calls: Collection[str]) -> None:
        nonlocal notes
        try:
            notes = remove_notes(store, sessions, calls, dry_run=dry_run)
        except MemoryProblemError as problem:
            raise StoreError(str(problem).rstrip(".")) from problem

    report = forgetting.forget(
        store,
        whose,
        dry_run=dry_run,
        on_leaving=remove_their_notes,
        patience=lock_patience(wait, wait_at_most),
    )
    backups = read_record(store) if report.sessions else {}
    if as_json:
        print(render.to_json(asdict(report) | {"notes": notes, "backups_before": backups}))
    else:
        nights = len(list_report_nights(store)) if report.sessions else 0
        print(render.forget_text(report, store, notes=notes, backups=backups, nights=nights))
    raise typer.Exit(0 if report.sessions else 1)


def retain(
    store: Store,
    text_days: Annotated[
        int | None,
        typer.Option("--text-days", metavar="N", min=1, help="Texts go after N days without a sign of life."),
    ] = None,
    fact_days: Annotated[
        int | None,
        typer.Option(
            "--fact-days", metavar="N", min=1, help="Calls, turns and sessions go after N such days."
        ),
    ] = None,
    dry_run: _DryRun = False,
    wait: Wait = False,
    wait_at_most: WaitAtMost = None,
    as_json: Json = False,
) -> None:
    """Remove old texts and old facts from a store; daily sums stay, and no later load brings anything back.

    The reports in the store that tell of such days go with the texts.
    Exits with 0 also when nothing is that old.
    """
    from callgauge.nightly.stored_reports import remove_old_reports
    from ingest.backup.make_backup import read_record
    from ingest.maintenance.retention import apply_retention

    report = apply_retention(
        store,
        text_days=text_days,
        fact_days=fact_days,
        dry_run=dry_run,
        patience=lock_patience(wait, wait_at_most),
    )
    before = report.text_before
    reports = remove_old_reports(store, before, dry_run=dry_run) if before else 0
    if as_json:
        print(render.to_json(asdict(report) | {"reports_removed": reports}))
    else:
        print(render.retention_text(report, store, read_record(store), reports=reports))


def backup(
    store: Store,
    to: Annotated[
        str, typer.Argument(metavar="TO", help="A folder, or an address such as s3://bucket/backups.")
    ],
    keep: Annotated[int, typer.Option("--keep", metavar="N", min=1, help="How many backups stay.")] = 7,
    with_keys: Annotated[
        bool,
        typer.Option(
            "--with-keys", help="Also the keys of placeholders and sign-ins: guard that place well."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Back a store up while it is served and loaded into; only what the place lacks is sent.

    With it go the team's memory and all other files beside the tables, but for keys.
    """
    from ingest.backup.make_backup import make_backup

    report = make_backup(store, to, keep=keep, with_keys=with_keys)
    print(render.to_json(asdict(report)) if as_json else render.backup_text(report))


def restore(
    source: _From,
    store: Store,
    backup: _Backup = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Put it in the place of what the store holds.")
    ] = False,
    wait: Wait = False,
    wait_at_most: WaitAtMost = None,
    as_json: Json = False,
) -> None:
    """Put a backup back into an empty store; all of it is checked before anything takes its place."""
    from ingest.backup.restore import restore as put_back

    report = put_back(
        source, store, backup=backup, replace=replace, patience=lock_patience(wait, wait_at_most)
    )
    print(render.to_json(asdict(report)) if as_json else render.restore_text(report, store))


def verify(
    source: Annotated[
        str | None, typer.Argument(metavar="FROM", help="Check a backup here instead: a folder, or s3://…")
    ] = None,
    store: OptionalStore = None,
    backup: _Backup = None,
    as_json: Json = False,
) -> None:
    """Check that a store, or a backup, is whole: its bytes, its tables, their counts, the team's memory.

    Exits with 1 when it is not.
    """
    from ingest.backup.verify import verify_backup, verify_store
    from ingest.errors import OptionError

    if source is not None and store is None:
        report = verify_backup(source, backup=backup)
    elif store is not None and source is None and backup is None:
        report = verify_store(store)
    else:
        raise OptionError("say what to check: --store DIR, or the place of a backup")
    print(render.to_json(asdict(report)) if as_json else render.verify_text(report))
