"""Reads the plan and the tasks of a trial run, and estimates the run's size and cost."""
