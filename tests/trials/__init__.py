"""Tests of trials: plans, runs, verdicts."""
