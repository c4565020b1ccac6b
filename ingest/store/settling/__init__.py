"""Completes a load: marks copies, joins late results and split turns, updates the daily sums."""
