"""Runs the trials of a plan within its budget, and continues unfinished trial runs."""
