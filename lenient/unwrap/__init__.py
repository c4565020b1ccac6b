"""Finds the value in the raw arguments, even if the value is wrapped, broken or encoded.

`extraction` removes one layer after another. `wrappers` removes what surrounds the value, and
`surrounding_text` classifies it. `key_value_lines` and `yaml_blocks` read values without braces. `fast_path`
repairs simple defects without the scanner.
"""
