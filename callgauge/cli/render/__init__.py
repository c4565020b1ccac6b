"""Format results for a terminal, or as JSON.

The names of this package are for commands of all kinds and import no parser and no store.
"""

from __future__ import annotations

from callgauge.cli.render.loads import (
    load_report,
    load_trouble,
    outlook_text,
    rejects_lines,
    show_progress,
    survey_lines,
)
from callgauge.cli.render.maintenance import (
    backup_text,
    forget_text,
    model_lines,
    restore_text,
    retention_text,
    verify_text,
)
from callgauge.cli.render.models import ProbeRow, ReplyPrinter, print_probes
from callgauge.cli.render.terminal import (
    catch_interrupts,
    describe_days,
    escape_for_terminal,
    fail,
    fail_in_lines,
    make_patience,
    print_message,
    print_mistakes,
    show_status,
    to_json,
)

__all__ = [
    "ProbeRow",
    "ReplyPrinter",
    "backup_text",
    "catch_interrupts",
    "describe_days",
    "escape_for_terminal",
    "fail",
    "fail_in_lines",
    "forget_text",
    "load_report",
    "load_trouble",
    "make_patience",
    "model_lines",
    "outlook_text",
    "print_message",
    "print_mistakes",
    "print_probes",
    "rejects_lines",
    "restore_text",
    "retention_text",
    "show_progress",
    "show_status",
    "survey_lines",
    "to_json",
    "verify_text",
]
