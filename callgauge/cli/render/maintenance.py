"""Format the reports of retention, deletion, backups, restores and checks, and the list of model names."""

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

_PUBLISHED = "removed for good; published {} in {}, no older one is left"
_TRIAL = "nothing was removed: this was a trial"
_SOURCES = {"path": "from the path", "given": "from --model"}


def forget_text(
    report: ForgetReport, store: Path, *, notes: int, backups: Mapping[str, Sequence[str]], nights: int
) -> str:
    """Return what was forgotten; `notes` of people were on it, `backups` by place were made before.

    `nights`: of how many nights a report lies in the store.
    """
    if not report.sessions:
        return f"{store} has no such session; nothing was removed"
    what = (
        f"{_count(report.sessions, 'session')} with {_count(report.turns, 'turn')} and "
        f"{_count(report.calls, 'tool call')}"
    )
    lines = [f"{what}, from {_count(report.files, 'file')}"]
    if notes:
        lines.append(f"{_count(notes, 'note')} on them")
    if report.runs:
        lines.append(f"{_count(report.runs, 'run')} of trials, of which no session is left")
    if report.elsewhere:
        lines.append(f"{report.elsewhere:,} of these calls stand in other sessions, too, which stay")
    if report.undated:
        lines.append(f"{report.undated:,} sessions stay because no time is known of them")
    lines.append(_TRIAL if report.generation is None else _PUBLISHED.format(report.generation, store))
    if nights:
        told = f"the reports of {_count(nights, 'night')} in {store / 'reports'} may quote its errors"
        lines.append(f"{told}: remove those that do")
    return "\n".join([*lines, *_backup_lines(backups, store)])


def _backup_lines(backups: Mapping[str, Sequence[str]], store: Path) -> list[str]:
    return [
        f"{_count(len(names), 'backup')} in {place} may still hold it: "
        f"`callgauge backup --store {store} {place} --keep 1` makes a new one and removes the older"
        for place, names in backups.items()
        if names
    ]


def retention_text(
    report: RetentionReport, store: Path, backups: Mapping[str, Sequence[str]], *, reports: int
) -> str:
    """Return what a retention run removed, `reports` of nights with it; `backups` were made before."""
    lines = []
    if report.facts_before is not None:
        lines.append(
            f"{_count(report.sessions_removed, 'session')} last heard before {report.facts_before} with "
            f"{_count(report.turns_removed, 'turn')} and {_count(report.calls_removed, 'tool call')}; "
            "their daily sums stay"
        )
    if report.text_before is not None:
        lines.append(
            f"the texts of {_count(report.sessions_without_text, 'session')} last heard before "
            f"{report.text_before} with {_count(report.calls_without_text, 'tool call')}; "
            "what was judged of them stays"
        )
    if reports:
        lines.append(f"the reports of {_count(reports, 'night')} before {report.text_before}")
    if report.quotes_removed:
        lines.append(f"the quotes of {report.quotes_removed:,} lines that could not be read")
    if report.undated and report.facts_before is not None:
        lines.append(f"{report.undated:,} sessions keep their calls because a part of them has no time")
    if report.generation is not None:
        lines += [_PUBLISHED.format(report.generation, store), *_backup_lines(backups, store)]
    elif report.is_anything_old:
        lines.append(_TRIAL)
    else:
        lines.append("nothing else is that old" if reports else "nothing is that old; nothing was removed")
    return "\n".join(lines)


def backup_text(report: BackupReport) -> str:
    what = f"{report.name} in {report.place}"
    size, sent = _megabytes(report.bytes), _megabytes(report.bytes_sent)
    lines = [
        f"nothing has changed since the backup {what}"
        if report.unchanged
        else f"backed up as {what}: {report.generation} and {report.files - 1:,} other files, {size}, "
        f"of which {sent} were sent, in {report.seconds:,.1f} s"
    ]
    if report.removed:
        lines.append(f"removed {_count(len(report.removed), 'older backup')}")
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


def _moment(told: str) -> str:
    return f"{datetime.fromisoformat(told):%Y-%m-%d %H:%M} UTC"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"


def model_lines(report: ModelNamesReport) -> Iterator[str]:
    """Yield a line for each model, and a line for each of its names in the logs if it has several."""
    if not report.names:
        yield "no log of the store names a model; --model and --from-path of `callgauge ingest` do"
    for model, names in groupby(report.names, key=lambda name: name.model):
        several = list(names)
        calls = sum(name.calls for name in several)
        origin = _describe_origin(several[0]) if len(several) == 1 else ""
        yield escape_for_terminal(f"{model}: {calls:,} model call{'' if calls == 1 else 's'}{origin}")
        if len(several) > 1:
            for name in several:
                yield escape_for_terminal(f"  {name.model_name}: {name.calls:,}{_describe_origin(name)}")
    yield "aliases are on" if report.aliases_enabled else "aliases are off: names count as the logs have them"


def _describe_origin(name: ModelName) -> str:
    """Return the source of a name and the alias rule that applies; empty for a name from the log."""
    why = [_SOURCES[name.source]] if name.source in _SOURCES else []
    if name.rule:
        named = f"in the logs {name.model_name}, " if name.model_name != name.model else ""
        why.append(f"{named}by {name.rule}")
    return f" ({', '.join(why)})" if why else ""
