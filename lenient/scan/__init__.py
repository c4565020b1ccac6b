"""Tolerant scanner: reads one JSON value from broken text and reports each repair with its code and span.

`scanner` reads the text once, from left to right, and keeps the open brackets on a stack. If brackets or
quotes were in doubt, `repair_search` finds the interpretation of the whole text that needs the fewest
repairs. The interpretation decides where each string ends (`string_choices` lists the candidates) and where
each bracket closes. `second_pass` carries out the repairs.

All modules share the state in `scan_state`. `object_members` reads keys and colons, `value_start` reads
scalars and opening brackets, and `simple_members` reads unambiguous members and items with one regular
expression each. `strings` finds the end of a string. `valid_json` reads text that needs no repair, and
`source_text` maps offsets to the raw arguments.
"""
