"""Dialects that write each parameter between tags of its own.

Goes in: a reply and the tags of a dialect. Comes out: calls whose raw arguments are built as JSON: a value
is text unless the tool's definition says otherwise. Where a value ends is told by the tag that follows its
closing tag, so that code which holds such tags survives. Reads no values.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from lenient.calls.found import Found
from lenient.calls.objects import is_json
from lenient.calls.parameters import Parameter, Undeclared, built_arguments
from lenient.calls.reply import Reply

_REST = re.compile(
    r"\s*+(?:</?[\w:]*+tool_calls?>|</?[\w:]*+function_calls>|</?｜DSML｜|<｜tool|<\|close\|>|<\||<invoke|\Z)"
)


class Layout(Enum):
    """The line breaks around a value."""

    VERBATIM = "verbatim"  # they belong to it
    LINES = "lines"  # the dialect puts one before and one after it
    GUESSED = "guessed"  # one on both sides is taken for layout, and said


@dataclass(frozen=True, slots=True)
class Tags:
    """The tags of a dialect.

    `pattern` has the groups `call` (the opening tag, with `name`), `parameter` (the opening tag, with `key`
    and perhaps `text`: "true" when the model says that the value is text, "false" when it is JSON),
    `value_end` and `call_end`. `entities` = its reference reader decodes XML entities.
    """

    pattern: re.Pattern[str]
    layout: Layout
    entities: bool
    undeclared: Undeclared = Undeclared.TEXT


def tagged(reply: Reply, tags: Tags) -> Iterator[Found]:
    """The calls of a dialect."""
    marks = list(tags.pattern.finditer(reply.text))
    walk = _Walk(reply, tags, marks)
    index = 0
    while index < len(marks):
        if marks[index].lastgroup == "call" and not reply.quoted(marks[index].start()):
            found, index = walk.call(index)
            yield found
        else:
            index += 1


class _Walk:
    """Goes over the tags of one reply, once but for what the budget allows."""

    def __init__(self, reply: Reply, tags: Tags, marks: list[re.Match[str]]) -> None:
        self.reply = reply
        self.text = reply.text
        self.tags = tags
        self.marks = marks
        self.starts = [mark.start() for mark in marks]

    def call(self, index: int) -> tuple[Found, int]:
        """The call whose opening tag is mark `index`, and the mark to go on with."""
        opening = self.marks[index]
        name = opening["name"].strip()
        tool = self.reply.tool(name)
        declared = {parameter.name for parameter in tool.parameters} if tool is not None else None
        parameters: list[Parameter] = []
        index += 1
        end, complete, closed = len(self.text), False, False
        while index < len(self.marks):
            mark = self.marks[index]
            if mark.lastgroup == "parameter":
                unseen = None if declared is None else declared - {p.name for p in parameters} - {mark["key"]}
                parameter, index = self.parameter(index, unseen)
                parameters.append(parameter)
            elif mark.lastgroup == "value_end":
                index += 1  # a closing tag without its opening one
            else:
                closed, complete = mark.lastgroup == "call_end", True
                end = mark.end() if closed else mark.start()
                index += closed
                break
        if not parameters:
            return self.with_body(name, opening, end, complete), index
        if not complete and parameters[-1].closed and _REST.match(self.text, parameters[-1].end):
            complete = parameters[-1].end < len(self.text.rstrip())
        raw, built = built_arguments(
            parameters, self.reply.root(name), self.tags.undeclared, entities=self.tags.entities,
            cut=not complete,
        )  # fmt: skip
        if not closed and complete:
            end = parameters[-1].end
        return Found(name, raw, opening.start(), end, complete, None, built=built), index

    def with_body(self, name: str, opening: re.Match[str], end: int, complete: bool) -> Found:
        """A call without parameters, or with one JSON object in their place."""
        closing = re.compile(r"<[^<>]*+>\s*+\Z").search(self.text, opening.end(), end) if complete else None
        body = self.text[opening.end() : closing.start() if closing else end]
        trimmed = body.strip()
        if not trimmed.startswith("{"):
            return Found(name, "", opening.start(), end, complete)
        offset = opening.end() + len(body) - len(body.lstrip())
        return Found(name, trimmed, opening.start(), end, complete or is_json(trimmed), offset)

    def parameter(self, index: int, unseen: set[str] | None) -> tuple[Parameter, int]:
        """The parameter whose opening tag is mark `index`, and the mark to go on with."""
        opening = self.marks[index]
        start = opening.end()
        stop, after, closed = self.value_end(index + 1, unseen)
        value = self.text[start:stop]
        cut = stop == len(self.text) and not closed
        value, layout = self.without_layout(value, closed, cut)
        said = opening.groupdict().get("text")
        end = self.marks[after - 1].end() if closed else stop
        is_text = None if said is None else said in ("true", "string")
        return Parameter(opening["key"].strip(), value, is_text, closed, cut, layout, end), after

    def without_layout(self, value: str, closed: bool, cut: bool) -> tuple[str, bool]:
        """The value without the line breaks of the layout; True when that was a guess."""
        layout = self.tags.layout
        if layout is Layout.LINES:
            value = value.removeprefix("\n")
            return (value if cut else value.removesuffix("\n")), False
        if not closed and not cut:
            return value.removesuffix("\n"), False
        if layout is Layout.GUESSED and len(value) > 1 and value[0] == "\n" == value[-1]:
            return value[1:-1], True
        return value, False

    def value_end(self, index: int, unseen: set[str] | None) -> tuple[int, int, bool]:
        """Where a value ends, the mark to go on with, and whether a closing tag ended it.

        A closing tag ends it when another tag of the dialect follows. An opening tag within it is text,
        unless it names a declared parameter that is still to come: then the closing tag is missing. A whole
        call within it is text, when the value is closed after it.
        """
        depth = calls = 0
        closing = nested = cut = -1  # the first place where it may end, if no better one comes
        while index < len(self.marks) and self.reply.spend(1):
            mark, group = self.marks[index], self.marks[index].lastgroup
            if group == "value_end":
                if self.is_structural(index) and not calls:
                    if depth == 0 or self.ends_call(index + 1, strictly=True):
                        return mark.start(), index + 1, True
                    nested = index if nested < 0 and self.ends_call(index + 1) else nested
                if depth == calls == 0 and closing < 0:
                    closing = index
                depth = max(0, depth - 1)
            elif group == "parameter":
                if depth == calls == 0 and closing < 0 and (unseen is None or mark["key"] in unseen):
                    return mark.start(), index, False
                depth += 1
            elif group == "call":
                cut = index if cut < 0 else cut
                calls += 1
            elif calls:
                calls -= 1
            elif depth == 0 and closing < 0 and self.ends_call(index, strictly=True):
                return mark.start(), index, False
            elif depth == 0 and cut < 0:
                cut = index
            index += 1
        for first in (closing, nested, cut):
            if first >= 0:
                return self.marks[first].start(), first + (first != cut), first != cut
        return len(self.text), len(self.marks), False

    def is_structural(self, index: int) -> bool:
        """Does a tag of the dialect, or the end of the whole, follow a closing tag?"""
        end = self.marks[index].end()
        following = self.marks[index + 1].start() if index + 1 < len(self.marks) else -1
        if following >= 0 and not self.text[end:following].strip():
            return self.marks[index + 1].lastgroup != "value_end"
        return _REST.match(self.text, end) is not None

    def ends_call(self, index: int, *, strictly: bool = False) -> bool:
        """Is the mark the closing tag of a call? Then a wrapper's end, another call or the text's end follows;
        unless `strictly`, other text may, on a new line.
        """
        if index >= len(self.marks) or self.marks[index].lastgroup != "call_end":
            return False
        end = self.marks[index].end()
        following = bisect_left(self.starts, end)
        if following < len(self.marks) and not self.text[end : self.starts[following]].strip():
            return self.marks[following].lastgroup == "call"
        line = self.text[end : end + 200].split("\n", 1)[0]
        return _REST.match(self.text, end) is not None or not (strictly or line.strip())


def anthropic_invoke(reply: Reply) -> Iterator[Found]:
    """`<invoke name="…"><parameter name="…">…</parameter></invoke>`, with any prefix (`antml:`, `steptml:`, `atem:`).

    Also MiniMax M2 (in `<minimax:tool_call>`), Step 3 and Muse Glimmer. Source: Anthropic's published system
    prompt ("string and scalar parameters should be specified as is, while lists and objects should use
    JSON"); vLLM `minimax_m2`, `step3`. SGLang decodes XML entities here, and so do agents that read calls
    of other models; a value that holds entities and no bare `<` or `&` is decoded, and that is said.
    """
    yield from tagged(reply, _INVOKE)


_PREFIX = r"(?:[A-Za-z_]{1,20}:)?"
_INVOKE = Tags(
    re.compile(
        rf"(?P<call><{_PREFIX}invoke\s++name\s*+=\s*+[\"']?(?P<name>[^\"'<>]{{1,200}}+)[\"']?\s*+>)"
        rf"|(?P<parameter><{_PREFIX}parameter\s++name\s*+=\s*+[\"']?(?P<key>[^\"'<>]{{1,200}}?)[\"']?"
        rf"(?:\s++string\s*+=\s*+[\"'](?P<text>true|false)[\"'])?\s*+>)"
        rf"|(?P<value_end></{_PREFIX}parameter\s*+>)|(?P<call_end></{_PREFIX}invoke\s*+>)"
    ),
    Layout.GUESSED,
    entities=True,
)


def deepseek_v32(reply: Reply) -> Iterator[Found]:
    """`<｜DSML｜invoke name="…"><｜DSML｜parameter name="…" string="true">…`: DeepSeek V3.2 and V4.

    Source: encoding/ of deepseek-ai/DeepSeek-V3.2; vLLM `deepseek_v32`. `string="true"` marks text, which is
    taken verbatim; anything else is JSON.
    """
    yield from tagged(reply, _DSML)


_DSML = Tags(
    re.compile(
        r"(?P<call><｜DSML｜invoke\s++name\s*+=\s*+\"(?P<name>[^\"<>]{1,200}+)\"\s*+>)"
        r"|(?P<parameter><｜DSML｜parameter\s++name\s*+=\s*+\"(?P<key>[^\"<>]{1,200}+)\""
        r"(?:\s++string\s*+=\s*+\"(?P<text>true|false)\")?\s*+>)"
        r"|(?P<value_end></｜DSML｜parameter>)|(?P<call_end></｜DSML｜invoke>)"
    ),
    Layout.VERBATIM,
    entities=False,
)


def qwen3_coder(reply: Reply) -> Iterator[Found]:
    """`<function=name><parameter=key>value</parameter></function>`, in `<tool_call>` or `<seed:tool_call>`.

    Qwen3-Coder, Seed-OSS, Step 3.5, MiMo; with one JSON object as its body, Llama 3.1's `<function=name>{…}`.
    Source: the chat template and qwen3coder_tool_parser.py of Qwen/Qwen3-Coder: one line break before and
    after a value is layout. SGLang decodes XML entities; see `anthropic_invoke`.
    """
    yield from tagged(reply, _QWEN)


_QWEN = Tags(
    re.compile(
        r"(?P<call><function\s*+=\s*+[\"']?(?P<name>[^\s\"'<>{}]{1,200}+)[\"']?\s*+>)"
        r"|(?P<parameter><parameter\s*+=\s*+[\"']?(?P<key>[^\"'<>\n]{1,200}+)[\"']?\s*+>)"
        r"|(?P<value_end></parameter>)|(?P<call_end></function>)"
    ),
    Layout.LINES,
    entities=True,
)


def glm(reply: Reply) -> Iterator[Found]:
    """`<tool_call>name<arg_key>k</arg_key><arg_value>v</arg_value></tool_call>`: GLM 4.5 to 4.7, LongCat.

    Source: the chat template of zai-org/GLM-4.5; vLLM `glm45`, `glm47`: a value that is not declared as text
    is JSON where it can be; text is verbatim.
    """
    yield from tagged(reply, _GLM)


_GLM = Tags(
    re.compile(
        r"(?P<call><(?:longcat_)?tool_call>\s*+(?P<name>[\w.:/\-]{1,200}+)(?=\s*+(?:<(?:longcat_)?arg_key>|</(?:longcat_)?tool_call>|\n*+\Z)))"
        r"|(?P<parameter><(?:longcat_)?arg_key>(?P<key>[^<>]{1,200}+)</(?:longcat_)?arg_key>\s*+<(?:longcat_)?arg_value>)"
        r"|(?P<value_end></(?:longcat_)?arg_value>)|(?P<call_end></(?:longcat_)?tool_call>)"
    ),
    Layout.VERBATIM,
    entities=False,
    undeclared=Undeclared.JSON,
)


def kimi_k3(reply: Reply) -> Iterator[Found]:
    """`<|open|>call tool="…"<|sep|><|open|>argument key="…" type="string"<|sep|>…<|close|>argument<|sep|>`: Kimi K3.

    Source: SGLang `kimi_k3` (kimik3_format.py): `type="string"` marks text, which is verbatim.
    """
    yield from tagged(reply, _KIMI_K3)


_KIMI_K3 = Tags(
    re.compile(
        r"(?P<call><\|open\|>call tool=\"(?P<name>[^\"<>]{1,200}+)\"[^<>]{0,60}+<\|sep\|>(?:<\|open\|>json[^<>]{0,60}+<\|sep\|>)?)"
        r"|(?P<parameter><\|open\|>argument key=\"(?P<key>[^\"<>]{1,200}+)\"(?:\s++type=\"(?P<text>\w{1,20}+)\")?[^<>]{0,60}+<\|sep\|>)"
        r"|(?P<value_end><\|close\|>argument<\|sep\|>)|(?P<call_end>(?:<\|close\|>json<\|sep\|>)?<\|close\|>call<\|sep\|>)"
    ),
    Layout.VERBATIM,
    entities=False,
)
