"""Dialects: the notations in which models write tool calls as plain text. Each dialect is one function."""
