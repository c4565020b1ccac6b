"""Tolerant scanner: reads one JSON value from broken text; reports each repair with its code and span.

`scanner` reads the text once, from left to right, and keeps the open brackets on a stack. Where brackets or
quotes were in doubt, `repair_search` finds the reading of the whole text that needs the fewest repairs. It
decides where each string ends (`string_choices` lists the places) and where each bracket closes.
`second_pass` carries out the repairs of that reading.

All modules share the state in `scan_state`. `object_members` reads keys and colons, `value_start` reads
scalars and opening brackets, and `simple_members` reads unambiguous members and items with one regular
expression each. `strings` finds where a string ends. `valid_json` reads text that needs no repair, and
`source_text` maps offsets to the raw arguments.
"""
