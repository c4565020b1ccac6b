"""Loads logs: decides which files to read, reads them, writes their rows and publishes the store."""
