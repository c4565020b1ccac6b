"""Traces as events: from the spans of a file to sessions, turns, steps and calls."""
