"""The result of a search for edits that fix a tool definition: the edits, their evidence and their effect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any


class EditKind(StrEnum):
    """The kinds of edit, in the order in which an answer lists them."""

    TYPE = "accept_type"
    ENUM = "add_enum_value"
    UNIT = "name_unit"
    EXAMPLE = "type_example"
    DROP = "drop_parameter"
    SHORTEN = "shorten"

    @property
    def is_conditional(self) -> bool:
        """True if the edit accepts no other value, so that models must change what they send."""
        return self in (EditKind.UNIT, EditKind.EXAMPLE)


@dataclass(frozen=True, slots=True)
class DefinitionChange:
    """A change of one value in a tool definition.

    `path` starts with "description" or "schema". `before` and `after` hold one value, or are empty if there
    is no value. If the parent is a list and `before` is empty, the value is appended.
    """

    path: tuple[str | int, ...]
    before: tuple[Any, ...]
    after: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class EditEffect:
    """The effect of an edited definition on a tool's calls, from a replay.

    `repaired` is the number of calls that needed repair, and `failed` is the number of calls that failed.
    With the edits, `repaired_fixed` and `failed_fixed` of these calls would be clean. `conditional` of these
    calls would be clean only if models then send what the definition asks for. `would_fail` is the number of
    other calls that would fail. `every` is n if only every n-th session was replayed.
    """

    repaired: int
    repaired_fixed: int
    failed: int
    failed_fixed: int
    conditional: int
    would_fail: int
    every: int = 1

    @property
    def fixed(self) -> int:
        return self.repaired_fixed + self.failed_fixed


@dataclass(frozen=True, slots=True)
class ModelCount:
    """The number of calls of one model with an error, of `n` calls that send the parameter."""

    model: str
    calls: int
    n: int


@dataclass(frozen=True, slots=True)
class DefinitionFix:
    """A proposed edit and its evidence.

    `parameter` is empty for an edit of the whole definition. `words` holds the types, the value, the unit or
    the example that the edit adds, or the reasons of removals. `calls` of `n` checked calls are affected
    (for a dropped parameter: 0). `low` and `high` are the 95 % interval of this share. `usual` is the share
    of the same error at similar parameters of the same models, or None if there is none to compare with.
    `fixed` is the number of affected calls that would be clean with all edits. `tokens` is the number of
    tokens that the edit saves in each step; it may be negative.
    """

    kind: EditKind
    parameter: str
    changes: tuple[DefinitionChange, ...]
    words: tuple[str, ...] = ()
    calls: int = 0
    n: int = 0
    low: float = 0.0
    high: float = 1.0
    usual: float | None = None
    by_model: tuple[ModelCount, ...] = ()
    fixed: int = 0
    tokens: int = 0

    @property
    def key(self) -> str:
        """The name of the edit in a URL and in a request. It is unique within a tool."""
        last = self.words[0] if self.kind is EditKind.ENUM else ""
        return ":".join(filter(None, (self.kind.value, self.parameter, last)))


@dataclass(frozen=True, slots=True)
class FixQuestion:
    """A search for edits of a tool. `keep` limits the edits to those with these keys, if it is not None."""

    tool: str
    keep: tuple[str, ...] | None = None


class LeftOut(StrEnum):
    """The reasons why an edit that many calls suggest is not proposed."""

    ONE_MODEL = "one model"
    WOULD_FAIL = "would fail"
    NOTHING_FIXED = "nothing fixed"


@dataclass(frozen=True, slots=True)
class RejectedFix:
    """An edit that is not proposed, and the reason. `model` is the only model that makes the error."""

    fix: DefinitionFix
    reason: LeftOut
    model: str = ""


class Missing(StrEnum):
    """The reasons why nothing can be said about a tool's definition."""

    CALLS = "calls"
    DEFINITION = "definition"
    UNREADABLE = "unreadable"
    TEXTS = "texts"
    SERVERS = "servers"
    DATA = "data"


@dataclass(frozen=True, slots=True)
class ToolFixes:
    """The proposed edits of a tool's newest definition.

    `schema` and `description` are the newest definition. `source` is the log format of the definition, and
    `mcp_server` is the server of the tool, or "". `checked` is the number of calls that were checked against
    the current definition, in `sessions` sessions. `older` is the number of calls with an older definition.
    `effect` is the effect of all edits in `fixes` together. `missing` says why edits of parameters are
    missing. `servers` lists the MCP servers that have a tool of this name.
    """

    tool: str
    description: str = ""
    schema: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""
    mcp_server: str = ""
    calls: int = 0
    checked: int = 0
    sessions: int = 0
    older: int = 0
    fixes: tuple[DefinitionFix, ...] = ()
    rejected: tuple[RejectedFix, ...] = ()
    effect: EditEffect | None = None
    tokens: int = 0
    missing: Missing | None = None
    servers: tuple[str, ...] = ()

    @property
    def definition(self) -> dict[str, Any]:
        """The definition as the target of `DefinitionChange.path`."""
        return {"description": self.description, "schema": self.schema}

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> ToolFixes:
        """Return the result that `to_json` wrote."""
        effect, missing = document["effect"], document["missing"]
        return cls(
            **{
                **document,
                "fixes": tuple(map(_read_fix, document["fixes"])),
                "rejected": tuple(
                    RejectedFix(_read_fix(each["fix"]), LeftOut(each["reason"]), each["model"])
                    for each in document["rejected"]
                ),
                "effect": EditEffect(**effect) if effect else None,
                "missing": Missing(missing) if missing else None,
                "servers": tuple(document["servers"]),
            }
        )


def _read_fix(document: Mapping[str, Any]) -> DefinitionFix:
    changes = (
        DefinitionChange(tuple(each["path"]), tuple(each["before"]), tuple(each["after"]))
        for each in document["changes"]
    )
    return DefinitionFix(
        **{
            **document,
            "kind": EditKind(document["kind"]),
            "changes": tuple(changes),
            "words": tuple(document["words"]),
            "by_model": tuple(ModelCount(**each) for each in document["by_model"]),
        }
    )


def list_changes(fixes: Sequence[DefinitionFix]) -> list[DefinitionChange]:
    return [change for fix in fixes for change in fix.changes]
