"""Replies with calls in them, made with a seed: each notation, with one slip or none, and the calls meant.

Written from what the notations' makers document and from how models fail; knows no reader.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.bench.written_calls.notations import NOTATIONS, Call, Notation, Values, write_json

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
"""What the model was offered, in Anthropic's shape."""

SLIPS = (
    "none", "prose around", "several calls", "no section begin", "no section end", "no call begin",
    "no call end", "foreign end", "cut off", "raw newlines", "trailing comma", "missing brace",
)  # fmt: skip


_ESCAPE = re.compile(r"\\.")
_NO_PAIR = ("</s>", "<|eom_id|>", "```")
"""Tokens that end a message or a fence, whatever stands in it: their opening tokens are not missed."""


@dataclass(frozen=True, slots=True)
class WrittenText:
    """One reply: its dialect, its one slip, what its values hold, and the calls that were meant.

    `cut` is True when the text ends within the last value. `unopened` is True when a token that opens the
    calls is missing while the one that closes them stands there: a reader should say so.
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
    """Yield the texts of every notation with every slip that it can have; what their values hold is drawn."""
    rng = random.Random(seed)
    for notation in NOTATIONS:
        for slip in SLIPS:
            for turn in range(rounds):
                made = _Maker(rng, notation, slip).make(f"{notation.dialect}/{slip}/{turn}")
                if made is not None:
                    yield made


# --- what the values hold -----------------------------------------------------------------------------------


def _hold_code(rng: random.Random, _: Notation) -> str:
    name = rng.choice(("total", "größe", "rows", "parse_line"))
    return rng.choice((
        f'def {name}(a, b=None):\n    """Add "a" to b."""\n    return {{"sum": a + (b or 0), \'n\': [a, b]}}\n',
        f"if (a < b && c > d) {{\n\tprintf(\"%s\\n\", {name}[0]);\n}}",
        f"SELECT \"{name}\", 'it''s' FROM t WHERE a <> b; -- {{x}}",
        f"awk '{{print $1\",\"$2}}' {name}.csv | sed -e 's/\\\"//g' > out.txt && echo \"done: $?\"",
    ))  # fmt: skip


def _hold_tags(rng: random.Random, _: Notation) -> str:
    return rng.choice((
        "<p>Wet <b>paint</b>, see <a href=\"/x?a=1&b=2\">here</a></p>",
        "<config>\n  <parameter>depth</parameter>\n  <value>3</value>\n</config>",
        "Use <parameter=depth> in the template, or </parameter> to end it; <function> is new.",
        "<?xml version=\"1.0\"?>\n<function name=\"f\"><parameter name=\"x\">1</parameter></function>",
        "a </tool_call> here is only text, as is <tool_call> before it",
        "<thinking>no</thinking> and <T extends Base<U>> x = <T>y;",
    ))  # fmt: skip


def _hold_own_tokens(rng: random.Random, notation: Notation) -> str:
    """A text about the notation itself: its tokens, or a whole example of a call."""
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
        "```json\n{\"name\": \"run_shell\", \"arguments\": {\"command\": \"ls\"}}\n```",
        "Inline `code`, and\n~~~\na fence\n~~~\nafter it.",
    ))  # fmt: skip


def _hold_other_scripts(rng: random.Random, _: Notation) -> str:
    return rng.choice((
        "北京今天的天气怎么样？“很好”，谢谢。", "Größe über 5 m², naïve café – «bien»", "日本語：「設定」を変更する",
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
        "  two blanks before, one tab after\t", "x", "C:\\Users\\new\\table.txt", "50% of $HOME, #1 & more; ok",
    ))  # fmt: skip


_HOLDINGS = {
    "code": _hold_code, "tags": _hold_tags, "own tokens": _hold_own_tokens, "fence": _hold_fence,
    "other scripts": _hold_other_scripts, "JSON": _hold_json, "prose": _hold_prose,
}  # fmt: skip


# --- a text ---------------------------------------------------------------------------------------------------


class _Maker:
    """Makes one text of a notation, with one slip."""

    def __init__(self, rng: random.Random, notation: Notation, slip: str) -> None:
        self.rng = rng
        self.notation = notation
        self.slip = slip
        self.holds = rng.choice(sorted(_HOLDINGS))

    def make(self, name: str) -> WrittenText | None:
        """Return the text, None when the notation cannot have the slip."""
        notation, slip = self.notation, self.slip
        is_json = notation.values in (Values.JSON, Values.PLAIN)
        if slip in ("raw newlines", "trailing comma", "missing brace") and not is_json:
            return None
        if slip == "several calls" and not notation.several:
            return None
        if slip == "several calls":
            calls = [self.draw_call() for _ in range(self.rng.choice((2, 3)))]
        else:
            calls = [self.draw_call(textual=slip in ("cut off", "raw newlines"))]
        return self.write(name, calls)

    def draw_call(self, *, textual: bool = False) -> Call:
        """Return a call whose texts hold what this text is about; `textual`: a long text comes last."""
        text = _HOLDINGS[self.holds](self.rng, self.notation)
        path = self.rng.choice(("notes.md", "src/a b.py", "/tmp/ä.txt"))
        kinds = ["write_file", "run_shell"] if textual else [str(tool["name"]) for tool in TOOLS]
        kind = self.rng.choice(kinds)
        if kind == "write_file":
            more = {} if textual or self.rng.random() < 0.5 else {"overwrite": True}
            return Call(kind, {"path": path, "content": text, **more})
        if kind == "run_shell":
            more = {} if textual or self.rng.random() < 0.5 else {"timeout": 30}
            return Call(kind, {**more, "command": text} if textual else {"command": text, **more})
        if kind == "search_docs":
            return Call(kind, {"query": text, "limit": 5, "tags": ["a", "b, c"]})
        return Call(kind, {"id": 7, "fields": {"title": "x: y", "n": [1, 2]}, "note": text})

    def write(self, name: str, calls: list[Call]) -> WrittenText | None:
        notation, slip = self.notation, self.slip
        begin, end = notation.section
        unopened = False
        opened, closed = notation.opened, notation.closed
        first, last = opened(calls[0], 0), closed
        if slip == "no section begin":
            token, closer = begin.rstrip("[\n "), end.strip("]\n ")
            if not token:
                return None
            begin, unopened = begin.removeprefix(token), bool(closer) and closer not in _NO_PAIR
        elif slip == "no section end":
            if not end.strip("]\n "):
                return None
            end = "]" if "]" in end else ""
        elif slip == "no call begin":
            if not first.strip() or not closed.strip():
                return None
            token = _droppable(first, calls[0].name)
            if not token:
                return None
            first, unopened = first.replace(token, "", 1), closed.strip() not in _NO_PAIR
        elif slip == "no call end":
            if not closed.strip():
                return None
            last = ""
        elif slip == "foreign end":
            if notation.foreign is None:
                return None
            last = notation.foreign
        bodies = [notation.body(call, self.write_arguments) for call in calls]
        if slip == "missing brace":
            place = bodies[-1].rfind("}")
            bodies[-1] = bodies[-1][:place] + bodies[-1][place + 1 :]
        openings = [first, *(opened(call, index) for index, call in enumerate(calls[1:], 1))]
        closings = [*(closed for _ in calls[1:]), last]
        text = begin + notation.separator.join(map("".join, zip(openings, bodies, closings, strict=True)))
        if slip == "cut off":
            return self.cut(name, calls, text)
        text += end
        if slip == "prose around":
            text = f"I will do that now.\n\n{text}" + self.rng.choice(("", "\n\nLet me know."))
        return WrittenText(
            name, notation.dialect, slip, self.holds, text, tuple(calls), unopened=unopened
        )  # fmt: skip

    def write_arguments(self, arguments: dict[str, Any]) -> str:
        written = write_json(arguments)
        if self.slip == "raw newlines":
            return _ESCAPE.sub(lambda escape: "\n" if escape[0] == "\\n" else escape[0], written)
        if self.slip == "trailing comma":
            return written[:-1] + ",}"
        return written

    def cut(self, name: str, calls: list[Call], text: str) -> WrittenText | None:
        """Return the text cut off within the last value, which must be a text that holds no escapes there."""
        key, value = list(calls[-1].arguments.items())[-1]
        for kept in range(len(value) // 2, 2, -1):
            part = value[:kept]
            if part.isalnum() or part[-1].isalnum() and '"' not in part and "\\" not in part and "\n" not in part:
                place = text.rfind(part)
                if place > 0 and "'" not in part and text.count(part) == 1:
                    last = Call(calls[-1].name, {**calls[-1].arguments, key: part})
                    return WrittenText(
                        name, self.notation.dialect, self.slip, self.holds, text[: place + kept],
                        (*calls[:-1], last), cut=True,
                    )  # fmt: skip
        return None


def _droppable(opening: str, name: str) -> str:
    """Return the first token of a call's opening, "" when nothing of the notation would be left."""
    token = opening.strip().split("\n")[0]
    if name in token:
        token = token[: token.index(name)].removesuffix("functions.").removesuffix("function<｜tool▁sep｜>")
        token = token[: token.rfind(">") + 1] if token.endswith("=") or token.endswith('"') else token
        if "commentary" in token:
            token = "<|start|>assistant<|channel|>"
    return token
