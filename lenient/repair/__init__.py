"""Broken text → one JSON value, every mend coded and located; or the reason why there is none."""

from lenient.repair.bare import UnreadableError
from lenient.repair.scanner import Scan, scan

__all__ = ["Scan", "UnreadableError", "scan"]
