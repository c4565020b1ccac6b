"""Reads tool definitions from provider formats or Python functions, and writes provider formats."""
