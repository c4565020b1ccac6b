"""Tolerant scanner: reads one JSON value from broken text; reports each repair with its code and span.

`scanner` reads the text once, from left to right, and keeps the open brackets on a stack. `second_pass` reads
it again where brackets or quotes were in doubt: `tokens` splits the text, and `repair_search` searches the
reading that needs the fewest repairs. All modules share the state in `scan_state`. `object_members` reads
keys and colons, `value_start` reads scalars and opening brackets, and `simple_members` reads unambiguous
members and items with one regular expression each. `strings` finds where a string ends. `valid_json` reads
text that needs no repair, and `source_text` maps offsets to the raw arguments.
"""
