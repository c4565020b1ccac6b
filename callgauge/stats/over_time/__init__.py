"""Rates of days: where they changed, how much days differ, and which changes last."""
