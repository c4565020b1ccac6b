"""Finds the reading of a text that needs the fewest mends of brackets, commas and colons.

`tokens` splits a text whose strings are certain into its signs; `reading_search` compares the readings of
these signs. The names that the definition declares decide where a member belongs.
"""
