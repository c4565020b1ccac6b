"""Turns the bytes of a log into records: lines, JSON or YAML documents, and event streams."""
