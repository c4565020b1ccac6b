"""Writes the report of a run into its folder: `report.json` and `report.md`."""

from __future__ import annotations

import os
from pathlib import Path

import orjson

from callgauge.trials.results.run_folder import RunFolder
from callgauge.trials.verdicts.report import Report, make_report
from callgauge.trials.verdicts.report_text import answer_lines, markdown_report
from callgauge.trials.verdicts.run_record import read_run


def report_run(root: Path) -> Report:
    """Read a run, write its report into its folder and return it. Raises RunFolderError and OSError."""
    report = make_report(read_run(root))
    write_report(root, report)
    return report


def write_report(root: Path, report: Report) -> None:
    """Write both files, each whole or not at all. Raises OSError."""
    folder = RunFolder(root)
    data = {**report.to_data(), "answer": answer_lines(report)}
    _replace(folder.report, orjson.dumps(data, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    _replace(folder.report_text, markdown_report(report).encode())


def _replace(path: Path, content: bytes) -> None:
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(content)
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
        raise
