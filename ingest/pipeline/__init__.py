"""Loads logs: plans which files to read, reads them, writes their rows, publishes the store."""
