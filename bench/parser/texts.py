"""The inputs of the speed measurement: three tool calls, each as valid JSON and with each defect.

A seed makes the inputs reproducible. A defect affects the whole input, as when a model writes another
notation, and not a single position. A few inputs have a second defect or the defect in two positions, so that
the fastest code fails.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from bench.parser.readings import Tool

EXACT = (
    "fence", "prose around", "raw newlines", "raw newlines in two strings", "missing closers",
    "string-encoded",
)  # fmt: skip
"""Defects that leave the inner JSON valid. Such defects are cheap to repair."""
GENERAL = (
    "raw newlines and a comma", "unescaped quotes", "single quotes", "Python literals",
    "single quotes and literals", "missing commas", "trailing commas", "unquoted keys", "comments",
)  # fmt: skip
"""Defects for which a parser must examine every token."""


_ABSENT: Any = object()


@dataclass(frozen=True, slots=True)
class Fault:
    """One value in valid JSON: the value that the model sent (`sent`) and the intended value (`meant`).

    `schema` is the declaration of the value, or None for an undeclared value.
    """

    schema: dict[str, Any] | None
    sent: Any
    meant: Any
    required: bool = False


_Schema = dict[str, Any]
_TEXT: _Schema = {"type": "string"}
_WHOLE: _Schema = {"type": "integer"}
_YES_NO: _Schema = {"type": "boolean"}
_LIST: _Schema = {"type": "array", "items": _TEXT}
_PERSON: _Schema = {"type": "object", "properties": {"name": _TEXT, "born": _WHOLE}}
FAULTS: dict[str, Fault] = {
    "text for an integer": Fault(_WHOLE, "42", 42),
    "3.0 for an integer": Fault(_WHOLE, 3.0, 3),
    "text for a boolean": Fault(_YES_NO, "true", True),
    "integer for text": Fault(_TEXT, 42, "42"),
    "one value for a list": Fault(_LIST, "bug", ["bug"]),
    "text that holds a list": Fault(_LIST, '["bug", "new"]', ["bug", "new"]),
    "text that holds an object": Fault(
        _PERSON, '{"name": "Byron", "born": 1815}', {"name": "Byron", "born": 1815}
    ),
    "text for an integer in a list": Fault(
        {"type": "array", "items": _PERSON}, [{"name": "Byron", "born": "1815"}],
        [{"name": "Byron", "born": 1815}],
    ),
    "timestamp": Fault(
        {"type": "string", "format": "date-time"}, "2026-12-01T09:00:00Z", "2026-12-01T09:00:00Z"
    ),
    "listed value in another case": Fault({"type": "string", "enum": ["open", "closed"]}, "Open", "open"),
    "value out of bounds": Fault({"type": "integer", "maximum": 5}, 42, _ABSENT),
    "null for an optional parameter": Fault(_WHOLE, None, _ABSENT),
    "unknown name": Fault(None, 42, 42),
    "missing name": Fault(_WHOLE, _ABSENT, _ABSENT, required=True),
}  # fmt: skip
"""Faults of one value of a tool call in valid JSON."""


@dataclass(frozen=True, slots=True)
class Call:
    """One timed tool call: its title in the table, its tool and its arguments."""

    name: str
    tool: Tool
    arguments: dict[str, Any]

    @property
    def valid(self) -> str:
        return json.dumps(self.arguments, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class _Style:
    """The notation of a value. The defaults are JSON."""

    quote: str = '"'
    literals: tuple[str, str, str] = ("null", "true", "false")
    comma: str = ","
    before_closer: str = ""
    quoted_keys: bool = True
    after_member: str = ""


def _written(value: Any, style: _Style) -> str:
    if value is None or isinstance(value, bool):
        return style.literals[0 if value is None else 1 if value else 2]
    if isinstance(value, str):
        return _quoted(value, style.quote)
    if isinstance(value, list):
        inner = f"{style.comma} ".join(_written(item, style) for item in value)
        return f"[{inner}{style.before_closer}]"
    if isinstance(value, dict):
        members = [
            f"{_quoted(name, style.quote) if style.quoted_keys else name}: {_written(inner, style)}"
            for name, inner in value.items()
        ]
        joint = f"{style.comma}{style.after_member} "
        return f"{{{joint.join(members)}{style.before_closer}}}"
    return json.dumps(value)


def _quoted(text: str, quote: str) -> str:
    plain = json.dumps(text, ensure_ascii=False)
    if quote == '"':
        return plain
    return "'" + plain[1:-1].replace('\\"', '"').replace("'", "\\'") + "'"


def _styled(**changes: Any) -> Callable[[Call], str]:
    style = replace(_Style(), **changes)
    return lambda call: _written(call.arguments, style)


def _two_lines(call: Call) -> Call:
    lines = {name: "see above\nand below" for name, value in call.arguments.items() if value is None}
    return replace(call, arguments=call.arguments | lines)


_ESCAPE, _RAW = re.compile(r"\\."), {"\\n": "\n"}


def _raw_newlines(call: Call) -> str:
    return _ESCAPE.sub(lambda escape: _RAW.get(escape[0], escape[0]), call.valid)


CHANGED: dict[str, Callable[[Call], Call]] = {"raw newlines in two strings": _two_lines}
"""Defects that need other values in the tool call."""
_PYTHON = ("None", "True", "False")
DEFECTS: dict[str, Callable[[Call], str]] = {
    "valid": lambda call: call.valid,
    "fence": lambda call: f"```json\n{call.valid}\n```",
    "prose around": lambda call: f"I will make the call now.\n\n{call.valid}\n\nThat should do it.",
    "raw newlines": _raw_newlines,
    "raw newlines in two strings": _raw_newlines,
    "missing closers": lambda call: call.valid.rstrip("]}"),
    "string-encoded": lambda call: json.dumps(call.valid, ensure_ascii=False),
    "raw newlines and a comma": lambda call: f"{_raw_newlines(call)[:-1]},}}",
    "unescaped quotes": lambda call: call.valid.replace('\\"', '"'),
    "single quotes": _styled(quote="'"),
    "Python literals": _styled(literals=_PYTHON),
    "single quotes and literals": _styled(quote="'", literals=_PYTHON),
    "missing commas": _styled(comma=""),
    "trailing commas": _styled(before_closer=","),
    "unquoted keys": _styled(quoted_keys=False),
    "comments": _styled(after_member=" // as asked\n"),
}  # fmt: skip


# --- the three calls ------------------------------------------------------------------------------------


def calls(seed: int = 0) -> tuple[Call, ...]:
    """Return the three tool calls. Another seed gives other values of the same kinds and similar lengths."""
    chosen = random.Random(seed)
    return (_search(chosen), _write_file(chosen), _insert_rows(chosen))


def samples(seed: int = 0) -> Iterator[tuple[str, Call, str]]:
    """Yield each defect or fault with its tool call and its input.

    Defects that are impossible in a tool call are left out.
    """
    for call in calls(seed):
        seen: set[str] = set()
        for defect, write in DEFECTS.items():
            changed = CHANGED[defect](call) if defect in CHANGED else call
            raw = write(changed)
            if raw not in seen:
                seen.add(raw)
                yield defect, changed, raw
        for name, fault in FAULTS.items():
            yield name, _with_value(call, fault, fault.meant), _with_value(call, fault, fault.sent).valid


def _with_value(call: Call, fault: Fault, value: Any) -> Call:
    """Return the tool call after the parameter of a fault is added.

    The parameter also gets a value, unless the fault is an absent value.
    """
    declared, required = dict(call.tool.schema["properties"]), list(call.tool.schema["required"])
    if fault.schema is not None:
        declared["priority"] = fault.schema
    if fault.required:
        required.append("priority")
    members = list(call.arguments.items())
    if value is not _ABSENT:
        members.insert(len(members) // 2, ("priority", value))
    schema = {**call.tool.schema, "properties": declared, "required": required}
    return replace(call, tool=Tool(call.tool.name, schema), arguments=dict(members))


def _tool(name: str, required: list[str], **properties: Any) -> Tool:
    return Tool(name, {"type": "object", "properties": properties, "required": required})


_WORDS = ("target", "shared", "parent", "remote", "backup", "export", "hidden", "second")
"""Words of equal length, so that the inputs of all seeds have the same length."""


def _search(chosen: random.Random) -> Call:
    tool = _tool(
        "search_issues", ["query"], query=_TEXT, limit=_WHOLE, threshold={"type": "number"},
        include_closed=_YES_NO, labels=_LIST,
        cursor={"type": ["string", "null"]},
    )  # fmt: skip
    first, second = chosen.sample(_WORDS, 2)
    query = (
        f"exporter hangs when the {first} folder is on a network share\nand the file is larger than 2 GB, "
    )
    arguments = {
        "query": f"{query}see also the two reports in the {second} channel of last week",
        "limit": chosen.randrange(10, 100), "threshold": chosen.choice([0.25, 0.75]),
        "include_closed": chosen.random() < 0.5,
        "labels": ["bug", "needs-triage", chosen.choice(_WORDS)], "cursor": None,
    }  # fmt: skip
    return Call("300 B", tool, arguments)


_CODE = '''def {name}(records: list[dict[str, str]], path: str = "{name}.csv") -> int:
    """Write the {name} records to `path`; returns how many there were."""
    count = 0
    with open(path, "w", encoding="utf-8") as target:
        for record in records:  # the caller's order is kept
            if not record.get("id"):
                raise ValueError(f"no id: {{record!r}}, {name}")
            target.write("\\t".join([record["id"], record.get("title", "?")]) + "\\n")
            count += 1
    print(f"wrote {{count}} of {name} to {{path}}")
    return count


'''


def _write_file(chosen: random.Random) -> Call:
    tool = _tool("write_file", ["path", "content"], path=_TEXT, content=_TEXT, overwrite=_YES_NO, mode=_WHOLE)
    names = [f"export_{chosen.choice(_WORDS)}_{index}" for index in range(10, 50)]
    content = "".join(_CODE.format(name=name) for name in names)[:19_500]
    arguments = {"path": "src/exports.py", "content": content, "overwrite": True, "mode": 420}
    return Call("20 KB, code", tool, arguments)


def _insert_rows(chosen: random.Random) -> Call:
    row = {
        "type": "object",
        "properties": {
            "id": _WHOLE, "customer": _TEXT, "total": {"type": "number"}, "paid": _YES_NO,
            "note": {"type": ["string", "null"]}, "tags": _LIST,
        },
        "required": ["id", "customer"],
    }  # fmt: skip
    tool = _tool("insert_rows", ["table", "rows"], table=_TEXT, rows={"type": "array", "items": row})
    rows = [
        {
            "id": 10_000 + index,
            "customer": chosen.choice(["Ada Byron", "José Núñez", "O'Neill & Sons", "Lindqvist AB"]),
            "total": round(chosen.uniform(5, 900), 2),
            "paid": chosen.random() < 0.5,
            "note": chosen.choice([None, "call before delivery\nring twice", "gift"]),
            "tags": chosen.sample(["new", "export", "fragile", "priority"], 2),
        }
        for index in range(150)
    ]  # fmt: skip
    return Call("20 KB, rows", tool, {"table": "orders", "rows": rows})
