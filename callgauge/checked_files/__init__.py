"""Reads files that people write (plans, tasks, configuration): typed fields, line numbers, JSON Schemas."""
