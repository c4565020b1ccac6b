"""Tolerant scanner: reads one JSON value from broken text; reports each repair with its code and span.

`scanner` reads the text once, from left to right, and keeps the open brackets on a stack (`open_brackets`).
Where brackets or quotes were in doubt, `second_reading` asks `structure` for the reading of the whole text
that needs the fewest mends, and takes it when it is better. The modules of the scanner share the state in
`scan_state`: `object_members` reads keys and colons, `value_start` reads scalars and opening brackets,
`closing_brackets` closes objects and arrays. `simple_members` reads unambiguous members and items with one
regular expression each. `strings` finds where a string ends. `value_spans` finds the span of each value in
text that is valid JSON.
"""
