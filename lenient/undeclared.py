"""A located value without a definition → the value as sent, but for the texts true, false and null.

Knows no stage but its own.
"""

from __future__ import annotations

from typing import Any

from lenient.conform import REJECTED, Conformer
from lenient.diagnostics import Diagnostic, Path
from lenient.json_values import compact
from lenient.located import Located

NO_DEFINITION = (Diagnostic("tool_definition_missing"),)
_PROMOTIONS: dict[str, tuple[str, bool | None]] = {
    "true": ("string_literal_converted_to_boolean", True),
    "false": ("string_literal_converted_to_boolean", False),
    "null": ("string_literal_converted_to_null", None),
}


def read_undeclared(located: Located, run: Conformer) -> dict[str, Any]:
    """The value as sent, but for the texts true, false and null (the rule of the first session logs).

    Iterative: without a definition a value may be as deep as the decoder lets through. A parameter that
    holds a number which JSON cannot carry is left out.
    """
    run.findings.extend(NO_DEFINITION)
    root: dict[str, Any] = {}
    refused: set[str | int] = set()
    waiting: list[tuple[Located, Any, Path, str | int | None]] = [(located, root, None, None)]
    while waiting:
        container, target, path, top = waiting.pop()
        below: list[tuple[Located, Any, Path, str | int | None]] = []
        for step in container.value if isinstance(container.value, dict) else range(len(container.value)):
            child, place = container.child(step), (path, step)
            value = _promoted(child, run, place)
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


def _promoted(located: Located, run: Conformer, path: Path) -> Any:
    value = located.value
    if isinstance(value, str) and value in _PROMOTIONS:
        code, became = _PROMOTIONS[value]
        run.report(code, located, path, became=compact(became))
        return became
    if isinstance(value, float):
        return run.anything(located, path)
    return value
