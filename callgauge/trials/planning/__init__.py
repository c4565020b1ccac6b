"""Reads the plan and the tasks of a trial run, and estimates the size and the cost of the run."""
