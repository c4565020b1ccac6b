"""The last step of a night: makes the morning report, and sends it."""

from __future__ import annotations

from callgauge.nightly.night_runs import NightRun, StepResult, skip_step
from ingest.store.generations import published_generation


def run_report(run: NightRun) -> StepResult:
    """Make the night's report and send it to each channel that has not got it; fails when one did not."""
    from callgauge.report.content.morning_report import ReportError  # imports pandas
    from callgauge.report.nightly_report import send_nightly_report

    if published_generation(run.configuration.store) is None:
        return skip_step("nothing has been loaded yet")
    try:
        report = send_nightly_report(run.configuration, run.night)
    except ReportError as problem:
        return StepResult("failed", {"problem": str(problem)})
    return StepResult("failed" if report.problem else "done", report.to_told())
