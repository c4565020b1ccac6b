"""Generates replies with tool calls from a seed: each notation with one mistake or none, and the intended
calls.

The replies are based on the documentation of the notations and on typical errors of models.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bench.written_calls.notations import NOTATIONS, Call, Notation, Values, write_json

TOOLS: tuple[dict[str, Any], ...] = tuple(
    {"name": name, "input_schema": {"type": "object", "properties": fields, "required": required}}
    for name, fields, required in (
        ("write_file",
         {"path": {"type": "string"}, "content": {"type": "string"}, "overwrite": {"type": "boolean"}},
         ["path", "content"]),
        ("run_shell", {"command": {"type": "string"}, "timeout": {"type": "integer"}}, ["command"]),
        ("search_docs",
         {"query": {"type": "string"}, "limit": {"type": "integer"},
          "tags": {"type": "array", "items": {"type": "string"}}}, ["query"]),
        ("update_record",
         {"id": {"type": "integer"}, "fields": {"type": "object"}, "note": {"type": "string"}},
         ["id", "fields"]),
    )
)  # fmt: skip
"""The offered tools in Anthropic's format."""

_SEVERAL = ("several calls", "no end between", "second cut off")
_JSON_SLIPS = ("raw newlines", "trailing comma", "missing brace")
SLIPS = (
    "none", "prose around", "several calls", "no section begin", "no section end", "no call begin",
    "no call end", "foreign end", "cut off", *_JSON_SLIPS, "no end between", "second cut off", "end twice",
    "blanks around", "thought before",
)  # fmt: skip


_ESCAPE = re.compile(r"\\.")
_NO_PAIR = ("</s>", "<|eom_id|>", "```")
"""Delimiters that end any message or fence, so they need no opening delimiter."""


@dataclass(frozen=True, slots=True)
class WrittenText:
    """One reply: its dialect, its mistake (`slip`), the content of its values, and the intended tool calls.

    `cut` is True when the reply ends within the last value. `unopened` is True when the reply has the closing
    delimiter of the tool calls but not the opening delimiter. A parser should report the missing delimiter.
    """

    id: str
    dialect: str
    slip: str
    holds: str
    text: str
    calls: tuple[Call, ...]
    cut: bool = False
    unopened: bool = False


def make_texts(seed: int, rounds: int = 2) -> Iterator[WrittenText]:
    """Yield the replies of every notation with every possible mistake. The values are random."""
    rng = random.Random(seed)
    for notation in NOTATIONS:
        for slip in SLIPS:
            for turn in range(rounds):
                made = _Maker(rng, notation, slip).make(f"{notation.dialect}/{slip}/{turn}")
                if made is not None:
                    yield made


# --- content of the values ----------------------------------------------------------------------------------


def _hold_code(rng: random.Random, _: Notation) -> str:
    name = rng.choice(("total", "größe", "rows", "parse_line"))
    return rng.choice((
        f'def {name}(a, b=None):\n    """Add "a"."""\n    return {{"sum": a + (b or 0), \'n\': [a, b]}}\n',
        f'if (a < b && c > d) {{\n\tprintf("%s\\n", {name}[0]);\n}}',
        f"UPDATE t SET \"{name}\" = 'it''s' WHERE a <> b; -- {{x}}",  # noqa: S608  a value, never run
        f"awk '{{print $1\",\"$2}}' {name}.csv | sed -e 's/\\\"//g' > out.txt && echo \"done: $?\"",
    ))  # fmt: skip


def _hold_tags(rng: random.Random, _: Notation) -> str:
    return rng.choice((
        '<p>Wet <b>paint</b>, see <a href="/x?a=1&b=2">here</a></p>',
        "<config>\n  <parameter>depth</parameter>\n  <value>3</value>\n</config>",
        "Use <parameter=depth> in the template, or </parameter> to end it; <function> is new.",
        '<?xml version="1.0"?>\n<function name="f"><parameter name="x">1</parameter></function>',
        "a </tool_call> here is only text, as is <tool_call> before it",
        "<thinking>no</thinking> and <T extends Base<U>> x = <T>y;",
    ))  # fmt: skip


def _hold_own_tokens(rng: random.Random, notation: Notation) -> str:
    example = Call("run_shell", {"command": "ls"})
    opened, closed = notation.opened(example, 0), notation.closed
    tokens = [each.strip() for each in (opened, closed, *notation.section) if each.strip()]
    if notation.values is Values.TAGS:
        body = notation.body(example, write_json)
        tokens += [body.split("ls")[1].strip(), body.split("ls")[0].strip()]
    token = rng.choice(tokens) if tokens else '{"name": "run_shell"}'
    return rng.choice((
        f"The parser must not stop at {token} in a text.",
        f"assert text.count('{token}') == 1, \"no {token}\"\n",
        f"Calls look so:\n\n{opened}{notation.body(example, write_json)}{closed}\n\nand end there.",
    ))  # fmt: skip


def _hold_fence(rng: random.Random, _: Notation) -> str:
    return rng.choice((
        "# Usage\n\n```bash\npip install x\n```\n\nThen run it.",
        '```json\n{"name": "run_shell", "arguments": {"command": "ls"}}\n```',
        "Inline `code`, and\n~~~\na fence\n~~~\nafter it.",
    ))  # fmt: skip


def _hold_other_scripts(rng: random.Random, _: Notation) -> str:
    return rng.choice((
        "北京今天的天气怎么样？“很好”，谢谢。", "Größe über 5 m², naïve café – «bien»",
        "日本語：「設定」を変更",
        "مرحبا بالعالم، كيف الحال؟", "Привет, мир! 👩‍👩‍👧 ok", "ไม่มีข้อมูล ๑๒๓",
    ))  # fmt: skip


def _hold_json(rng: random.Random, _: Notation) -> str:
    return rng.choice((
        '{"a": [1, 2, {"b": null}], "c": "x, y"}', '[{"name": "x"}, {"name": "y"}]', '"quoted"', "12", "true",
        "null", "{not: json}", "{}",
    ))  # fmt: skip


def _hold_prose(rng: random.Random, _: Notation) -> str:
    return rng.choice((
        "She said \"no\", and left: 'why?' – [sic]", "a=1, b=2) and (c", "Thought: no.\nAction: none",
        "  two blanks before, one tab after\t", "x", "C:\\Users\\new\\table.txt",
        "50% of $HOME, #1 & more; ok",
    ))  # fmt: skip


_HOLDINGS = {
    "code": _hold_code, "tags": _hold_tags, "own tokens": _hold_own_tokens, "fence": _hold_fence,
    "other scripts": _hold_other_scripts, "JSON": _hold_json, "prose": _hold_prose,
}  # fmt: skip


# --- a text -------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Parts:
    """The pieces of a reply: what surrounds the tool calls, and each call's opening, body and closing."""

    begin: str
    openings: list[str]
    bodies: list[str]
    closings: list[str]
    end: str
    unopened: bool = False

    def join(self, separator: str, end: str) -> str:
        calls = map("".join, zip(self.openings, self.bodies, self.closings, strict=True))
        return self.begin + separator.join(calls) + end


class _Maker:
    def __init__(self, rng: random.Random, notation: Notation, slip: str) -> None:
        self.rng = rng
        self.notation = notation
        self.slip = slip
        self.holds = rng.choice(sorted(_HOLDINGS))

    def make(self, name: str) -> WrittenText | None:
        notation, slip = self.notation, self.slip
        if slip in _JSON_SLIPS and notation.values not in (Values.JSON, Values.PLAIN):
            return None
        if slip in _SEVERAL and not notation.several:
            return None
        calls = [self.draw_call(textual=slip in ("cut off", "second cut off", "raw newlines"))]
        if slip in _SEVERAL:
            calls = [*(self.draw_call() for _ in range(self.rng.choice((1, 2)))), *calls]
        parts = self.spoil(self.write(calls), calls)
        if parts is None:
            return None
        if slip in ("cut off", "second cut off"):
            return self.cut(name, calls, parts.join(notation.separator, ""))
        text = parts.join(notation.separator, parts.end)
        if slip == "thought before":
            thought = Call("run_shell", {"command": "ls"})
            text = f"<think>\nFirst {self.write([thought]).join('', '')} and then?\n</think>\n\n{text}"
        if slip == "prose around":
            text = f"I will do that now.\n\n{text}" + self.rng.choice(("", "\n\nLet me know."))
        return WrittenText(
            name, notation.dialect, slip, self.holds, text, tuple(calls), unopened=parts.unopened
        )

    def draw_call(self, *, textual: bool = False) -> Call:
        """Return a tool call with random values of the chosen content.

        `textual` means that the last value is a string.
        """
        text = _HOLDINGS[self.holds](self.rng, self.notation)
        path = self.rng.choice(("notes.md", "src/a b.py", "docs/ä.txt"))
        kinds = ["write_file", "run_shell"] if textual else [str(tool["name"]) for tool in TOOLS]
        kind = self.rng.choice(kinds)
        more = not textual and self.rng.random() < 0.5
        if kind == "write_file":
            return Call(kind, {"path": path, "content": text, **({"overwrite": True} if more else {})})
        if kind == "run_shell":
            return Call(kind, {"command": text, **({"timeout": 30} if more else {})})
        if kind == "search_docs":
            return Call(kind, {"query": text, "limit": 5, "tags": ["a", "b, c"]})
        return Call(kind, {"id": 7, "fields": {"title": "x: y", "n": [1, 2]}, "note": text})

    def write(self, calls: list[Call]) -> _Parts:
        notation = self.notation
        return _Parts(
            notation.section[0],
            [notation.opened(call, index) for index, call in enumerate(calls)],
            [notation.body(call, self.write_arguments) for call in calls],
            [notation.closed for _ in calls],
            notation.section[1],
        )

    def write_arguments(self, arguments: dict[str, Any]) -> str:
        written = write_json(arguments)
        if self.slip == "raw newlines":
            return _ESCAPE.sub(lambda escape: "\n" if escape[0] == "\\n" else escape[0], written)
        if self.slip == "trailing comma":
            return written[:-1] + ",}"
        if self.slip == "missing brace":
            return written[:-1]
        return written

    def spoil(self, parts: _Parts, calls: list[Call]) -> _Parts | None:
        """Return the pieces with a missing or incorrect delimiter, as the mistake requires.

        Return None if the mistake is impossible.
        """
        closer = parts.end.strip("]\n ")
        if self.slip == "no section begin":
            missed = parts.begin.rstrip("[\n ")
            parts.begin = parts.begin.removeprefix(missed)
            parts.unopened = bool(closer) and closer not in _NO_PAIR
            return parts if missed else None
        if self.slip == "no section end":
            parts.end = "]" if "]" in parts.end else ""
            return parts if closer else None
        if self.slip == "no call begin":
            missed = _droppable(parts.openings[0], calls[0].name)
            parts.openings[0] = parts.openings[0].replace(missed, "", 1)
            parts.unopened = parts.closings[0].strip() not in _NO_PAIR
            return parts if missed and parts.closings[0].strip() else None
        if self.slip in ("no end between", "end twice"):
            possible = bool(parts.closings[0].strip())
            parts.closings[0] = "" if self.slip == "no end between" else parts.closings[0] * 2
            return parts if possible else None
        if self.slip == "blanks around":
            parts.bodies = [f"  {body}\n" if body[:1] == "{" else body for body in parts.bodies]
            parts.closings = [f"{closing}\n " for closing in parts.closings]
        if self.slip in ("no call end", "foreign end"):
            other = "" if self.slip == "no call end" else self.notation.foreign
            possible = bool(parts.closings[-1].strip() or other)
            parts.closings[-1] = other or ""
            return parts if possible and other is not None else None
        return parts

    def cut(self, name: str, calls: list[Call], text: str) -> WrittenText | None:
        """Return the reply, cut off within the last value.

        The last value must be a string without escapes before the cut.
        """
        key, value = list(calls[-1].arguments.items())[-1]
        for length in range(len(value) // 2, 2, -1):
            part = value[:length]
            if part[-1].isalnum() and not set("\"'\\\n") & set(part) and text.count(part) == 1:
                last = Call(calls[-1].name, {**calls[-1].arguments, key: part})
                end = text.index(part) + length
                intended = (*calls[:-1], last)
                return WrittenText(
                    name, self.notation.dialect, self.slip, self.holds, text[:end], intended, cut=True
                )
        return None


def _droppable(opening: str, name: str) -> str:
    """Return the opening delimiter of a tool call, or "" if the notation could not be recognised without this
    delimiter.
    """
    first = opening.strip().split("\n")[0]
    if first.startswith("<|start|>"):
        return "<|start|>assistant<|channel|>"
    if name not in first:
        return first
    if first.startswith("]<]"):
        return ""  # the notation has a token before each tag, so without the tag there is no call
    before = first[: first.index(name)].removesuffix("functions.").removesuffix("function<｜tool▁sep｜>")
    return before[: before.rfind(">") + 1] if before.endswith(("=", '"')) else before
