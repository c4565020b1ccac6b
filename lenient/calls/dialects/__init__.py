"""Dialects: the notations in which models write calls as text. Each dialect is one function."""
