"""The commands that delete data or back it up: forget, retain, backup, restore, verify."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Annotated

import typer
from msgspec.structs import asdict

from callgauge.cli import render
from callgauge.cli.maintenance_commands import Json, Wait, WaitAtMost, lock_patience
from callgauge.cli.options.store_option import OptionalStore, Store
from callgauge.cli.render.exit_codes import ExitCode

_DryRun = Annotated[bool, typer.Option("--dry-run", help="Show how much would be deleted; change nothing.")]
_Backup = Annotated[
    str | None, typer.Option("--backup", metavar="NAME", help="The backup to use. [default: the newest]")
]
_From = Annotated[str, typer.Argument(metavar="FROM", help="The place of the backups: a folder, or s3://…")]


def forget(
    store: Store,
    session: Annotated[
        list[str] | None, typer.Option("--session", metavar="ID", help="This session. Repeatable.")
    ] = None,
    before: Annotated[
        str | None,
        typer.Option(
            "--before",
            metavar="DAY",
            help="Every session whose last activity was before this day (UTC): 2026-09-01, 90d, 12 weeks.",
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
    """Delete sessions from a store for good. Later loads do not restore the sessions. Logs are not touched.

    Also deletes the team's notes on these sessions, and their IDs in the access log. Exits with 1 if no
    session matches.
    """
    from callgauge.nightly.stored_reports import list_report_nights
    from ingest.backup.make_backup import read_record
    from ingest.maintenance import forget as forgetting
    from ingest.time_ranges import read_day

    try:
        day = read_day(before) if before else None
    except ValueError as problem:
        render.fail(f"--before {problem}", ExitCode.WRONG_USE)
    whose = forgetting.SessionChoice(sessions=session or (), before=day, user=user)
    traces = _Traces(store, dry_run)
    report = forgetting.forget(
        store,
        whose,
        dry_run=dry_run,
        on_leaving=traces.remove,
        patience=lock_patience(wait, wait_at_most),
    )
    traces.remove_ids_again()
    backups = read_record(store) if report.sessions else {}
    if as_json:
        print(render.to_json(asdict(report) | {"notes": traces.notes, "backups_before": backups}))
    else:
        nights = len(list_report_nights(store)) if report.sessions else 0
        print(render.forget_text(report, store, notes=traces.notes, backups=backups, nights=nights))
    raise typer.Exit(0 if report.sessions else 1)


class _Traces:
    """What remains of deleted sessions outside the store's tables: notes, and ids in the access log.

    `notes` is the number of deleted notes.
    """

    def __init__(self, store: Path, dry_run: bool) -> None:
        self.notes = 0
        self._store = store
        self._dry_run = dry_run
        self._ids: set[str] = set()

    def remove(self, sessions: Collection[str], calls: Collection[str]) -> None:
        """Remove notes and ids of these sessions and calls. In a dry run, only count the notes. Raises
        StoreError.
        """
        from callgauge.memory.memory_file import MemoryProblemError
        from callgauge.memory.notes import remove_notes
        from ingest.errors import StoreError

        try:
            self.notes = remove_notes(self._store, sessions, calls, dry_run=self._dry_run)
        except MemoryProblemError as problem:
            raise StoreError(str(problem).rstrip(".")) from problem
        self._ids.update(sessions, calls)
        self.remove_ids_again()

    def remove_ids_again(self) -> None:
        """Remove ids that were written into the access log during the deletion. Raises StoreError."""
        from callgauge.serving.access_log import remove_ids
        from ingest.errors import StoreError

        try:
            if not self._dry_run:
                remove_ids(self._store, self._ids)
        except OSError as problem:
            raise StoreError(
                f"the access log in {self._store} cannot be rewritten: {problem.strerror or problem}. Free "
                "some space or change its permissions, and run this again"
            ) from problem


def retain(
    store: Store,
    text_days: Annotated[
        int | None,
        typer.Option(
            "--text-days", metavar="N", min=1, help="Delete content N days after a session's last activity."
        ),
    ] = None,
    fact_days: Annotated[
        int | None,
        typer.Option(
            "--fact-days", metavar="N", min=1, help="Delete calls, turns and sessions after N such days."
        ),
    ] = None,
    dry_run: _DryRun = False,
    wait: Wait = False,
    wait_at_most: WaitAtMost = None,
    as_json: Json = False,
) -> None:
    """Apply retention: delete old content and old calls. Daily sums stay.

    Also deletes stored reports about the days of deleted data. Exits with 0 even if nothing is old enough.
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
        backups = read_record(store)
        print(render.retention_text(report, store, backups, reports=reports, dry_run=dry_run))


def backup(
    store: Store,
    to: Annotated[
        str, typer.Argument(metavar="TO", help="A folder, or an address such as s3://bucket/backups.")
    ],
    keep: Annotated[int, typer.Option("--keep", metavar="N", min=1, help="How many backups to keep.")] = 7,
    with_keys: Annotated[
        bool,
        typer.Option(
            "--with-keys",
            help="Also back up the keys of placeholders and sign-ins. Protect the place of the backup.",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Back up a store, even while it is served or loaded. Sends only data that the backup lacks.

    The backup contains the tables, decisions and notes, and all other files of the store except keys.
    """
    from ingest.backup.make_backup import make_backup

    report = make_backup(store, to, keep=keep, with_keys=with_keys)
    print(render.to_json(report) if as_json else render.backup_text(report))


def restore(
    source: _From,
    store: Store,
    backup: _Backup = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace the store's current content.")] = False,
    wait: Wait = False,
    wait_at_most: WaitAtMost = None,
    as_json: Json = False,
) -> None:
    """Restore a backup into an empty store. The whole backup is checked before anything is replaced."""
    from ingest.backup.restore import restore as put_back

    report = put_back(
        source, store, backup=backup, replace=replace, patience=lock_patience(wait, wait_at_most)
    )
    print(render.to_json(report) if as_json else render.restore_text(report, store))


def verify(
    source: Annotated[
        str | None, typer.Argument(metavar="FROM", help="Check a backup in this place: a folder, or s3://…")
    ] = None,
    store: OptionalStore = None,
    backup: _Backup = None,
    as_json: Json = False,
) -> None:
    """Check that a store or a backup is complete and unchanged.

    The check compares bytes, tables, counts, decisions and notes. Exits with 1 if there is a difference.
    """
    from ingest.backup.verify import verify_backup, verify_store
    from ingest.errors import OptionError

    if source is not None and store is None:
        report = verify_backup(source, backup=backup)
    elif store is not None and source is None and backup is None:
        report = verify_store(store)
    else:
        raise OptionError("name what to check: --store DIR, or the place of a backup")
    print(render.to_json(report) if as_json else render.verify_text(report))
