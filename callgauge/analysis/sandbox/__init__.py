"""Runs a person's SQL in a separate process that can be killed, and returns a limited number of rows."""
