"""Converts decoded values to the declared types, and checks the values against the definition."""
