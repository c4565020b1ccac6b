"""The tolerant scanner: reads one JSON value from broken text; every mend is coded and located.

`scanner` goes over the text once, with an explicit stack of `open_brackets`. Its parts share `scan_state`:
`object_members` reads keys and colons, `value_start` values, and `closing_brackets` ends objects and lists.
`simple_members` passes what can be read in one way only, by one pattern each. `strings` finds where a string
ends. `value_spans` finds the places of values in text that is valid JSON.
"""
