"""Edits a tool definition by a form: one line for each parameter, written back as JSON."""
