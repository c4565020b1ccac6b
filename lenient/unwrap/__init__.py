"""Finds the one value in a text, however the value is wrapped, broken or encoded.

`extraction` removes one layer after another: `wrappers` removes the wrapping before and after the value, and
`surrounding_text` classifies the text around it. `key_value_lines` and `yaml_blocks` read text without
braces. `fast_path` repairs plain defects without the scanner.
"""
