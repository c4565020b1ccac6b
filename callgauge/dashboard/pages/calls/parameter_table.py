"""Builds one row for each parameter of a call: the declared type, the sent value, the resulting value."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from callgauge.analysis.reparsed_call import read_member_texts
from lenient import Cardinality, Diagnostic, ToolCallRequest, ToolDefinition, ToolParameter

_FIRST = re.compile(r'\$(?:\.([^.\[]+)|\["((?:[^"\\]|\\.)*)"\])')
_RANKS = {"error": 0, "warning": 1, "note": 2}
_CARDINALITIES = {
    Cardinality.LIST: "list of {}",
    Cardinality.MAP: "map of {}",
    Cardinality.OPTIONAL: "{} or null",
}
_ENUM = 12  # values of an enum that are listed


@dataclass(frozen=True, slots=True)
class ParameterRow:
    """One parameter of a call: the sent value, the resulting value and the diagnostics.

    `kind` is the declared type. `kind` and `required` are None for an undeclared parameter. `sent` is the
    value as in the raw arguments, or as repaired JSON. `became` is the value as JSON after parsing. `sent`
    and `became` are None when there is no value. `sent_as` is the name that the model used, if that is not
    `name`.
    """

    name: str
    kind: str | None
    required: bool | None
    description: str
    sent: str | None
    sent_as: str | None
    became: str | None
    has_changed: bool
    findings: tuple[Diagnostic, ...]

    @property
    def severity(self) -> str | None:
        """The worst severity of the diagnostics, or None when there are no diagnostics."""
        return min((str(finding.severity) for finding in self.findings), key=_RANKS.__getitem__, default=None)

    @property
    def is_mended_only(self) -> bool:
        """True when a lossy repair produced `sent` and type conversion left the value unchanged."""
        return self.is_lossy and self.became is not None and not self.has_changed

    @property
    def is_lossy(self) -> bool:
        """True when a repair of the raw arguments may have lost or invented part of this value."""
        return any(finding.lossy for finding in self.findings)

    def describe_required(self, tool: ToolDefinition | None) -> str:
        """Return in words whether the definition requires the parameter."""
        if tool is None:
            return "no definition"
        return {True: "required", False: "optional", None: "not declared"}[self.required]


def list_parameters(request: ToolCallRequest, tool: ToolDefinition | None) -> list[ParameterRow]:
    """Return one row for each declared parameter in the order of the definition, then for each undeclared
    parameter.
    """
    sent, texts = _sent_object(request), read_member_texts(request)
    became: Mapping[str, Any] = request.arguments or {}
    by_name: dict[str, list[Diagnostic]] = {}
    for diagnostic in request.diagnostics:
        if (name := first_name(diagnostic.path)) is not None:
            by_name.setdefault(name, []).append(diagnostic)
    declared = {parameter.name: parameter for parameter in tool.parameters} if tool else {}
    renamed = {name: old for name, several in by_name.items() if (old := _old_name(several)) is not None}
    others = [name for name in (*sent, *by_name) if name not in declared and name not in renamed.values()]
    return [
        _make_row(name, declared.get(name), sent, texts, renamed.get(name), became, by_name.get(name, ()))
        for name in dict.fromkeys((*declared, *others))
    ]


def first_name(path: str) -> str | None:
    """Return the top-level parameter in a JSON path, or None for the path `$`.

    For `$.filters[2].name`, return `filters`.
    """
    match = _FIRST.match(path)
    if match is None:
        return None
    return match[1] if match[1] is not None else re.sub(r"\\(.)", r"\1", match[2])


def _old_name(diagnostics: Iterable[Diagnostic]) -> str | None:
    return next(
        (diagnostic.found for diagnostic in diagnostics if diagnostic.code == "parameter_name_normalised"),
        None,
    )


def _make_row(
    name: str,
    declared: ToolParameter | None,
    sent: Mapping[str, Any],
    texts: Mapping[str, str],
    old: str | None,
    became: Mapping[str, Any],
    diagnostics: Iterable[Diagnostic],
) -> ParameterRow:
    key = name if old is None or old not in sent else old
    before = _to_json(sent[key]) if key in sent else None
    after = _to_json(became[name]) if name in became else None
    return ParameterRow(
        name=name,
        kind=_kind_name(declared) if declared else None,
        required=declared.required if declared else None,
        description=declared.description if declared else "",
        sent=texts.get(key, before) if key in sent else None,
        sent_as=old if key == old and old != name else None,
        became=after,
        has_changed=before != after,
        findings=tuple(diagnostics),
    )


def _kind_name(declared: ToolParameter) -> str:
    kind = declared.kind.value.replace("_", " ")
    if declared.enum is not None:
        allowed = declared.enum.allowed
        more = f" | … {len(allowed) - _ENUM} more" if len(allowed) > _ENUM else ""
        kind = " | ".join(map(_to_json, allowed[:_ENUM])) + more
    return _CARDINALITIES.get(declared.cardinality, "{}").format(kind)


def _to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _sent_object(request: ToolCallRequest) -> Mapping[str, Any]:
    """Return the object that the model sent: decoded and repaired, but before type coercion."""
    for stage, _, before, after in reversed(request.trace):
        arguments = before if stage == "coerce" else after
        value = arguments if isinstance(arguments, dict) else _decode(arguments)
        if isinstance(value, dict):
            return value
    value = _decode(request.raw_arguments) if not request.trace else None
    return value if isinstance(value, dict) else request.arguments or {}


def _decode(text: Any) -> Any:
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return None
