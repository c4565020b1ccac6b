"""Rates over days: when they changed, how much days differ, and which changes persist."""
