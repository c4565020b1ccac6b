"""Finds the one value in a text, however the value is wrapped, broken or encoded.

`extraction` removes one layer after another; each of the other modules handles one kind of wrapping.
`fast_path` repairs the most common single defects without the scanner.
"""
