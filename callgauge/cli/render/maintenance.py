"""Format the reports of retention, deletion, backup, restore and verification, and the model names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from callgauge.cli.render.terminal import escape_for_terminal

if TYPE_CHECKING:
    from ingest.load_report import (
        BackupReport,
        ForgetReport,
        ModelName,
        ModelNamesReport,
        RestoreReport,
        RetentionReport,
        VerifyReport,
    )

_PUBLISHED = "deleted for good; published {} in {} and deleted all older generations"
_TRIAL = "nothing was deleted (dry run)"
_SOURCES = {"path": "from the path", "given": "from --model"}


def forget_text(
    report: ForgetReport, store: Path, *, notes: int, backups: Mapping[str, Sequence[str]], nights: int
) -> str:
    """Return a text about deleted sessions.

    `notes` is the number of deleted notes. `backups` maps each backup location to its older backups. `nights`
    is the number of nightly reports in the store.
    """
    if not report.sessions:
        return f"no session in {store} matches; nothing was deleted"
    what = (
        f"{_count(report.sessions, 'session')} with {_count(report.turns, 'turn')} and "
        f"{_count(report.calls, 'tool call')}"
    )
    lines = [f"{what}, from {_count(report.files, 'file')}"]
    if notes:
        lines.append(f"{_count(notes, 'note')} on them")
    if report.runs:
        lines.append(f"{_count(report.runs, 'trial run')} without any session left")
    if report.elsewhere:
        lines.append(f"{report.elsewhere:,} of these calls are also in other sessions, which stay")
    if report.undated:
        lines.append(f"{report.undated:,} sessions stay because their time is not known")
    lines.append(_TRIAL if report.generation is None else _PUBLISHED.format(report.generation, store))
    if nights:
        where = f"{_count(nights, 'nightly report')} in {store / 'reports'}"
        lines.append(f"{where} may quote the deleted errors; delete the reports that do")
    return "\n".join([*lines, *_backup_lines(backups, store)])


def _backup_lines(backups: Mapping[str, Sequence[str]], store: Path) -> list[str]:
    return [
        f"{_count(len(names), 'backup')} in {place} may still contain the data; to replace them, run "
        f"`callgauge backup --store {store} {place} --keep 1`"
        for place, names in backups.items()
        if names
    ]


def retention_text(
    report: RetentionReport,
    store: Path,
    backups: Mapping[str, Sequence[str]],
    *,
    reports: int,
    dry_run: bool,
) -> str:
    """Return a text about the data that retention deleted.

    `reports` is the number of deleted nightly reports. `backups` maps each backup location to its older
    backups.
    """
    lines = []
    if report.facts_before is not None:
        lines.append(
            f"{_count(report.sessions_removed, 'session')} last active before {report.facts_before} with "
            f"{_count(report.turns_removed, 'turn')} and {_count(report.calls_removed, 'tool call')}; "
            "their daily sums stay"
            if report.sessions_removed
            else f"no sessions to delete (last active before {report.facts_before})"
        )
    if report.text_before is not None:
        lines.append(
            f"the content of {_count(report.sessions_without_text, 'session')} last active before "
            f"{report.text_before} with {_count(report.calls_without_text, 'tool call')}; "
            "their outcomes and diagnostics stay"
            if report.sessions_without_text
            else f"no content to delete (of sessions last active before {report.text_before})"
        )
    if reports:
        lines.append(f"{_count(reports, 'nightly report')} from before {report.text_before}")
    if report.quotes_removed:
        lines.append(f"the quotes of {report.quotes_removed:,} unreadable lines")
    if report.undated and report.facts_before is not None:
        lines.append(f"{report.undated:,} sessions keep their calls because part of them has no time")
    if report.generation is not None:
        lines += [_PUBLISHED.format(report.generation, store), *_backup_lines(backups, store)]
    elif dry_run:
        lines.append(_TRIAL)
    else:
        lines.append("nothing else was deleted" if reports else "nothing was deleted")
    return "\n".join(lines)


def backup_text(report: BackupReport) -> str:
    what = f"{report.name} in {report.place}"
    size, sent = _megabytes(report.bytes), _megabytes(report.bytes_sent)
    lines = [
        f"nothing has changed since the backup {what}"
        if report.unchanged
        else f"backed up as {what}: {report.generation} and {report.files - 1:,} other files, {size} "
        f"({sent} sent), in {report.seconds:,.1f} s"
    ]
    if report.removed:
        lines.append(f"deleted {_count(len(report.removed), 'older backup')}")
    return "\n".join([*lines, *report.notes, f"backups there: {report.backups:,}"])


def restore_text(report: RestoreReport, store: Path) -> str:
    return (
        f"restored {report.name} from {report.place}, made {_moment(report.made_at)}: "
        f"{report.calls:,} tool calls, {report.files:,} files, {_megabytes(report.bytes)}\n"
        f"published {report.generation} in {store}"
    )


def verify_text(report: VerifyReport) -> str:
    rows = report.rows
    return (
        f"{report.of} is in order: {report.generation} and {report.files - 1:,} other files, "
        f"{_megabytes(report.bytes)}; {rows.get('sessions', 0):,} sessions, {rows.get('turns', 0):,} turns, "
        f"{rows.get('tool_calls', 0):,} tool calls"
    )


def _moment(time: str) -> str:
    return f"{datetime.fromisoformat(time):%Y-%m-%d %H:%M} UTC"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"


def model_lines(report: ModelNamesReport) -> Iterator[str]:
    """Yield a line for each model. A model with several names in the logs also gets a line for each name."""
    if not report.names:
        yield "no log in the store names a model; name it with --model or --from-path of `callgauge ingest`"
    for model, names in groupby(report.names, key=lambda name: name.model):
        several = list(names)
        calls = sum(name.calls for name in several)
        origin = _describe_origin(several[0]) if len(several) == 1 else ""
        yield escape_for_terminal(f"{model}: {calls:,} model call{'' if calls == 1 else 's'}{origin}")
        if len(several) > 1:
            for name in several:
                yield escape_for_terminal(f"  {name.model_name}: {name.calls:,}{_describe_origin(name)}")
    yield (
        "aliases are on"
        if report.aliases_enabled
        else "aliases are off: every name in the logs counts as a model"
    )


def _describe_origin(name: ModelName) -> str:
    """Return where a model's name comes from, and the alias rule that applied. Return "" for a name from the
    log.
    """
    why = [_SOURCES[name.source]] if name.source in _SOURCES else []
    if name.rule:
        named = f"in the logs {name.model_name}, " if name.model_name != name.model else ""
        why.append(f"{named}by {name.rule}")
    return f" ({', '.join(why)})" if why else ""
