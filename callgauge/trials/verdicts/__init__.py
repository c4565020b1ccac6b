"""Judges the results of a run: interim analyses, verdicts, the report and the gate."""
