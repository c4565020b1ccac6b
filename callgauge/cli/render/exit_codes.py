"""The exit codes of all commands. `callgauge --help` and docs/reference/commands.md print their meanings."""

from enum import IntEnum


class ExitCode(IntEnum):
    DONE = 0
    FAILED = 1
    WRONG_USE = 2
    UNREADABLE = 3
    STEP_FAILED = 4
    WORSE = 5
    NOT_ENOUGH_DATA = 6
    INTERRUPTED = 130


MEANINGS = {
    ExitCode.DONE: "done; for a gate: not worse",
    ExitCode.FAILED: "nothing could be read or done",
    ExitCode.WRONG_USE: "wrong use of the command, or a mistake in a file",
    ExitCode.UNREADABLE: "done, but new lines or files are unreadable",
    ExitCode.STEP_FAILED: "nightly: a source or a later step failed",
    ExitCode.WORSE: "gate: worse",
    ExitCode.NOT_ENOUGH_DATA: "gate: not enough data",
    ExitCode.INTERRUPTED: "stopped by Ctrl-C or SIGTERM",
}
"""The meaning of each code as one line of a help text."""
DETAILS = {
    ExitCode.FAILED: "Also: the check found something (lint, parse, verify), or the store cannot be queried.",
    ExitCode.UNREADABLE: "With `ingest --strict` any unreadable line or file in the store, new or old. For "
    "`trial run`: stopped early; the same command continues the run.",
    ExitCode.NOT_ENOUGH_DATA: "The message says how much more is needed.",
}
"""More meanings of a code, for the reference page."""
