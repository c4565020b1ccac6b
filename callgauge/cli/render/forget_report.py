"""Formats the report on sessions that were removed from a store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ingest.load_report import ForgetReport


def forget_text(report: ForgetReport, store: Path) -> str:
    if not report.sessions:
        return f"{store} has no such session; nothing was removed"
    what = f"{report.sessions:,} sessions with {report.turns:,} turns and {report.calls:,} tool calls"
    lines = [f"{what}, from {report.files:,} files"]
    if report.elsewhere:
        lines.append(f"{report.elsewhere:,} of these calls stand in other sessions, too, which stay")
    if report.undated:
        lines.append(f"{report.undated:,} sessions stay because no time is known of them")
    if report.generation is None:
        lines.append("nothing was removed: this was a trial")
    else:
        lines.append(f"removed for good; published {report.generation} in {store}, no older one is left")
    return "\n".join(lines)
