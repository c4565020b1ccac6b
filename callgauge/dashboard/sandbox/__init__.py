"""Runs a person's SQL in a process of its own that may be killed, and returns bounded rows."""
