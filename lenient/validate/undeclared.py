"""Reads arguments without a definition as they were sent, except for the texts true, false and null."""

from __future__ import annotations

from typing import Any

from lenient.definitions.json_schema.json_values import to_json_text
from lenient.diagnostics import Diagnostic, Path
from lenient.scan.located_value import LocatedValue
from lenient.validate.validator import REJECTED, Validator

NO_DEFINITION = (Diagnostic("tool_definition_missing"),)
_PROMOTIONS: dict[str, tuple[str, bool | None]] = {
    "true": ("string_literal_converted_to_boolean", True),
    "false": ("string_literal_converted_to_boolean", False),
    "null": ("string_literal_converted_to_null", None),
}


def read_undeclared(located: LocatedValue, validator: Validator) -> dict[str, Any]:
    """Return the arguments as sent, with the texts true, false and null converted to JSON values.

    A parameter that holds a number which JSON cannot carry is left out. The function is iterative, because a
    value without a definition may be as deep as the decoder allows.
    """
    validator.findings.extend(NO_DEFINITION)
    root: dict[str, Any] = {}
    refused: set[str | int] = set()
    waiting: list[tuple[LocatedValue, Any, Path, str | int | None]] = [(located, root, None, None)]
    while waiting:
        container, target, path, top = waiting.pop()
        below: list[tuple[LocatedValue, Any, Path, str | int | None]] = []
        for step in container.value if isinstance(container.value, dict) else range(len(container.value)):
            child, place = container.child(step), (path, step)
            value = _promote(child, validator, place)
            if value is REJECTED:
                refused.add(step if top is None else top)
            if isinstance(value, (dict, list)):
                value = {} if isinstance(value, dict) else []
                below.append((child, value, place, step if top is None else top))
            if isinstance(target, dict):
                target[step] = value
            else:
                target.append(value)
        waiting.extend(reversed(below))
    return {name: value for name, value in root.items() if name not in refused}


def _promote(located: LocatedValue, validator: Validator, path: Path) -> Any:
    value = located.value
    if isinstance(value, str) and value in _PROMOTIONS:
        code, became = _PROMOTIONS[value]
        validator.report(code, located, path, became=to_json_text(became))
        return became
    if isinstance(value, float):
        return validator.accept_any(located, path)
    return value
