"""Trials: plans, runs, verdicts."""
