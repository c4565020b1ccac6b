"""Reads strings, with or without quotes: finds where each string ends and decodes its text.

The end of a quoted string is chosen by evidence: `string_end` goes from quote to quote, and
`string_end_scoring` scores the text after each quote. Names that the definition declares count most.
`escapes` decodes the body of the string.
"""
