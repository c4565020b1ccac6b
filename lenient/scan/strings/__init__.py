"""Reads strings with or without quotes: finds the end of each string and decodes the string.

`string_end` goes from quote to quote, and `string_end_scoring` scores how well each quote can be the end.
Declared names are the strongest evidence. `escapes` decodes the body of the string.
"""
