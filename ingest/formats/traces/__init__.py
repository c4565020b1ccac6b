"""Translators of the spans of a file into events of sessions, turns, steps and calls."""
