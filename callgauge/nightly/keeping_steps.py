"""The steps of a night that let old data go and make the backup."""

from __future__ import annotations

from callgauge.nightly.kept_reports import remove_old_reports
from callgauge.nightly.night_runs import NightRun, StepResult, skip_step
from ingest.store.generations import published_generation

_NOTHING = "nothing has been loaded yet"


def run_retention(run: NightRun) -> StepResult:
    """Remove texts, facts and reports that are older than [retention] says. Raises IngestError."""
    from ingest.maintenance.retention import apply_retention

    settings, store = run.configuration.retention, run.configuration.store
    if settings.text_days is None and settings.fact_days is None:
        return skip_step("the file has no [retention]: nothing goes")
    if published_generation(store) is None:
        return skip_step(_NOTHING)
    report = apply_retention(
        store,
        text_days=settings.text_days,
        fact_days=settings.fact_days,
        on_write=run.on_write,
        patience=run.patience,
    )
    reports = remove_old_reports(store, report.text_before) if report.text_before else 0
    told = {
        "sessions_removed": report.sessions_removed,
        "calls_removed": report.calls_removed,
        "calls_without_text": report.calls_without_text,
        "reports_removed": reports,
    }
    return StepResult("done", told)


def run_backup(run: NightRun) -> StepResult:
    """Back the store up to the place that [backup] names. Raises IngestError."""
    from ingest.backup.make_backup import make_backup

    settings, store = run.configuration.backup, run.configuration.store
    if settings.to is None:
        return skip_step("the file has no [backup]")
    if published_generation(store) is None:
        return skip_step(_NOTHING)
    report = make_backup(store, settings.to, keep=settings.keep, on_write=run.on_write)
    told = {
        "bytes_sent": report.bytes_sent,
        "backups": report.backups,
        "place": report.place,
        "name": report.name,
    }
    return StepResult("done", told | ({"note": "; ".join(report.notes)} if report.notes else {}))
