"""Strings, with or without quotes: where they end, and what text they mean.

A string in quotes ends where the evidence says: `string_search` goes from quote to quote,
`string_end_scoring` grades what comes after each (names that the definition declares count most), and
`string_end` decides. `escapes` decodes what the string holds.
"""
