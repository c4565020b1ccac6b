"""Decisions and notes of a team about a store: acknowledgements, goals, baselines, prices."""
