"""Unwrapping: finds the one value in a text, however it is wrapped, broken or encoded.

`extraction` goes layer by layer; the others know one kind of wrapping each. `fast_path` mends the most
common single defects without the scanner.
"""
