"""Reads one file: recognise its format, translate it, hand its rows over, resume where it grew."""
