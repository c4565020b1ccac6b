"""What the results say: looks at stated errors, verdicts, the report, the gate."""
