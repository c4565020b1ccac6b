"""Errors of the files of a trial, each with all mistakes of a file at once."""

from __future__ import annotations

from callgauge.checked_files.file_problems import CheckedFileError


class PlanError(CheckedFileError):
    """Raised when a plan, or a file that it names, has mistakes."""


class TaskError(CheckedFileError):
    """Raised when a file of tasks has mistakes."""
