"""Reads strings with or without quotes: finds the end of each string and decodes the string.

The end of a quoted string is chosen by evidence. `string_end` goes from quote to quote, and
`string_end_scoring` scores the text after each quote. Declared names are the strongest evidence. `escapes`
decodes the body of the string.
"""
