"""Translators of the spans of a file into events for sessions, turns, steps and calls."""
