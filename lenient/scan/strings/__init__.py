"""Reads strings, with or without quotes: finds where each string ends and decodes its text.

The end of a quoted string is chosen by evidence: `string_search` goes from quote to quote,
`string_end_scoring` scores the text after each quote (names that the definition declares count most), and
`string_end` decides. `escapes` decodes the body of the string.
"""
