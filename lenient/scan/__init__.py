"""Tolerant scanner: reads one JSON value from broken JSON and reports each repair with its code and span.

`scanner` reads once, from left to right, and keeps the open brackets on a stack. If brackets or quotes were
in doubt, `repair_search` finds the interpretation that needs the fewest repairs. It decides where each string
ends (`string_choices` lists the candidates) and where each bracket closes. `second_pass` carries out the
repairs.

All modules share the state in `scan_state`. `object_members` reads keys and colons, `value_start` reads
scalars and opening brackets, and `simple_members` reads unambiguous members and items with one regular
expression each. `strings` finds the end of a string. `valid_json` reads JSON that needs no repair, and
`source_text` maps offsets to the raw arguments.
"""
