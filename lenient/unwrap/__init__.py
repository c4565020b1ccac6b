"""Finds the value in a text, even if the value is wrapped, broken or encoded.

`extraction` removes one layer after another. `wrappers` removes what surrounds the value, and
`surrounding_text` classifies the text around the value. `key_value_lines` and `yaml_blocks` read text without
braces. `fast_path` repairs simple defects without the scanner.
"""
