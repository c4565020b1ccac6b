"""Sentences for people: why a text could not be read, by the detail of `json_parse_error`."""

from __future__ import annotations

from collections.abc import Mapping

REASONS: Mapping[str, str] = {
    "no_object_found": "No object was found: not within fences, tags, narration or string encoding, "
    "and not as lines of key=value or YAML.",
    "unexpected_character": "No mend is known for what stands at the marked place.",
    "no_value": "A name stands without a value.",
    "truncated": "The text ends before there is any value.",
    "ellipsis": "An ellipsis stands for something that was never sent.",
    "arithmetic": "A sum stands where a value is due; nothing is calculated.",
    "expression": "An expression or a call stands where a value is due; nothing is run.",
    "placeholder": "A placeholder was never filled in.",
    "source_code": "The text is a program, not arguments.",
    "log_line": "The text is a line of a log, not arguments.",
    "not_text": "The bytes are not UTF-8 text.",
    "number_too_long": "A number has more digits than any reader takes.",
    "string_encoded_too_deep": "The text was encoded as a string more than ten times over.",
    "too_many_findings": "The text needs more mends than any real call.",
}

FORBIDDEN_HINT = "The definition forbids it: additionalProperties is false."
"""Hint of `unknown_parameter` where the definition allows no further fields; the value is still kept."""
