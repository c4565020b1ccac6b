"""Edits a tool definition in a form with one line for each parameter, and writes the definition as JSON."""
