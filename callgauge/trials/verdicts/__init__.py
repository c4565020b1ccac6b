"""Judges the results of a trial run: interim analyses, verdicts, the report and the gate."""
