"""Reads one file: recognises the format, translates the records, and continues after an earlier load."""
