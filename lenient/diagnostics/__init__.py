"""Diagnostics of the parser as data. The property `message` returns English sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from lenient.diagnostics.codes import CODES, Severity, Stage
from lenient.regex import compile_regex

MAX_DEPTH = 128
"""The maximum nesting depth of a value. No tool needs more, and orjson writes at most 254 levels."""
MAX_FOUND = 100
MAX_FINDINGS = 10_000
_MAX_PATH = 1_000
_MAX_KEY = 100
_SPELLED = frozenset({"enum_out_of_range", "json_parse_error", "unknown_tool"})
"""Errors whose detail has no parameter name, for compatibility with existing logs."""
_NAMED = frozenset({"missing_required", "null_not_allowed"})
"""Errors whose detail is only the parameter name."""
_ODD_NAME, _ESCAPED = compile_regex(r'\["((?:[^"\\]|\\.)*+)"\]'), compile_regex(r"\\(.)")
_ITEM = compile_regex(r'("(?:[^"\\]|\\.)*+")|\[\d+\]')

Path = tuple["Path", str | int] | None
"""The position of a value in the arguments, with the innermost key or index last.

`((None, "filters"), 2)` is `$.filters[2]`, and None is the root.
"""


class TooManyFindingsError(Exception):
    """Raised for arguments that need more than `MAX_FINDINGS` repairs. `parse_arguments` catches it."""


class Diagnostic(NamedTuple):  # creating a frozen dataclass takes five times as long
    """One diagnostic of the parser. `code` is a key of `CODES`.

    `path` is the position of the value: `$` for the root, or for example `$.filters[2].name`. `start`/`end`
    is a half-open span of characters in the raw arguments, or None when the span is unknown. `found` is the
    original excerpt and `became` is the excerpt after the repair. Both have at most 100 characters.
    """

    code: str
    path: str = "$"
    start: int | None = None
    end: int | None = None
    found: str | None = None
    became: str | None = None
    detail: str | None = None
    hint: str | None = None

    @property
    def stage(self) -> Stage:
        return CODES[self.code].stage

    @property
    def severity(self) -> Severity:
        return CODES[self.code].severity

    @property
    def lossy(self) -> bool:
        return CODES[self.code].lossy

    @property
    def text(self) -> str:
        """The diagnostic as `code:detail`, or as `code` when there is no detail.

        The detail of an error begins with the name of the parameter, as `name_parameter` returns it.
        """
        detail = self.detail
        if self.path != "$" and self.severity is Severity.ERROR and self.code not in _SPELLED:
            name = name_parameter(self.path)
            detail = name if detail is None or self.code in _NAMED else f"{name} {detail}"
        return self.code if detail is None else f"{self.code}:{detail}"

    @property
    def message(self) -> str:
        """One or two English sentences that explain the diagnostic."""
        parts = [f"{self.path}: {CODES[self.code].summary}"]
        if self.detail is not None:
            reason = REASONS.get(self.detail) if self.code == "json_parse_error" else None
            parts.append(reason or f"({self.detail})")
        if self.found is not None:
            parts.append(
                f"Found {self.found!r}" + ("." if self.became is None else f", read as {self.became!r}.")
            )
        elif self.became is not None:
            parts.append(f"Read as {self.became!r}.")
        if self.hint is not None:
            parts.append(self.hint)
        return " ".join(parts)


class Findings:
    """Diagnostics in the order they were added. The number of diagnostics is at most `MAX_FINDINGS`."""

    __slots__ = ("items",)

    def __init__(self, items: list[Diagnostic] | None = None) -> None:
        self.items = [] if items is None else items

    def add(self, diagnostic: Diagnostic) -> None:
        """Append one diagnostic.

        Raises TooManyFindingsError beyond `MAX_FINDINGS`; `lenient.arguments.parse` turns the error into a
        diagnostic.
        """
        if len(self.items) >= MAX_FINDINGS:
            raise TooManyFindingsError
        self.items.append(diagnostic)

    def extend(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Append several diagnostics. Raises TooManyFindingsError beyond `MAX_FINDINGS`."""
        self.items.extend(diagnostics)
        if len(self.items) > MAX_FINDINGS:
            raise TooManyFindingsError


def shorten(text: str, limit: int = MAX_FOUND) -> str:
    """Return a string cut to `limit` characters. A string that was cut ends with an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def render_path(path: Path) -> str:
    """Return the position of a value in the arguments as `$.filters[2]["odd key"]`.

    Each key has at most 100 characters, and the result has at most 1,000 characters.
    """
    if path is not None and path[0] is None:
        return join_path("$", path[1])
    steps: list[str] = []
    while path is not None:
        path, step = path
        steps.append(_render_step(step))
    return shorten("$" + "".join(reversed(steps)), _MAX_PATH)


def name_parameter(path: str) -> str:
    """Return the parameter name for the position of a value: `limit`, or `filters[*].name` for any list item.

    Item numbers are left out, so that the same error has the same name in every tool call.
    """
    below = path.removeprefix("$").removeprefix(".")
    odd = _ODD_NAME.fullmatch(below)
    if odd is not None:
        return shorten(_ESCAPED.sub(r"\1", odd[1]), _MAX_KEY)
    return shorten(_ITEM.sub(lambda match: match[1] or "[*]", below), _MAX_KEY)


def join_path(path: str, step: str | int) -> str:
    """Append one key or index to the result of `render_path`."""
    if isinstance(step, str) and step.isidentifier() and len(step) <= _MAX_KEY:
        joined = f"{path}.{step}"
    else:
        joined = path + _render_step(step)
    return joined if len(joined) <= _MAX_PATH else shorten(joined, _MAX_PATH)


def _render_step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    if step.isidentifier():
        return "." + shorten(step, _MAX_KEY)
    return '["' + shorten(step, _MAX_KEY).replace("\\", "\\\\").replace('"', '\\"') + '"]'


def join_diagnostics(diagnostics: Iterable[Diagnostic]) -> str | None:
    """Join diagnostics with `; `. Return None when there are no diagnostics."""
    return "; ".join(diagnostic.text for diagnostic in diagnostics) or None


# --- unreadable text -----------------------------------------------------------------------------------

REASONS: Mapping[str, str] = {
    "no_object_found": "No object was found: not within fences, tags, narration or string encoding, "
    "and not as lines of key=value or YAML.",
    "unexpected_character": "The text at the marked place cannot be repaired.",
    "no_value": "A name has no value.",
    "truncated": "The text ends before there is any value.",
    "ellipsis": "An ellipsis replaces something that was never sent.",
    "arithmetic": "There is a sum instead of a value; nothing is calculated.",
    "expression": "There is an expression or a call instead of a value; nothing is run.",
    "placeholder": "A placeholder was never filled in.",
    "source_code": "The text is a program, not arguments.",
    "log_line": "The text is a line of a log, not arguments.",
    "not_text": "The bytes are not UTF-8 text.",
    "number_too_long": "A number has more digits than any parser accepts.",
    "string_encoded_too_deep": "The text was encoded as a string more than ten times over.",
    "too_many_findings": "The text needs more repairs than any real call.",
}

FORBIDDEN_HINT = "The definition forbids it: additionalProperties is false."
"""The hint of `unknown_parameter` if the definition forbids undeclared fields. The value is not removed."""


class UnreadableError(Exception):
    """Raised for arguments that cannot be repaired without inventing content.

    `position` is the offset of the unreadable characters. `reason` is the detail of the diagnostic
    `json_parse_error`.
    """

    def __init__(self, reason: str, position: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.position = position
