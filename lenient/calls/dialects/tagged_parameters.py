"""Dialects that write each parameter between tags of its own.

The raw arguments are built as JSON: a value is text unless the tool's definition says otherwise. A closing
tag ends a value only when a tag of the dialect, or the end of the call, follows; so code that contains such
tags is kept whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum
from itertools import islice

from lenient.calls.reading.extracted_call import FoundCall, missing_opening
from lenient.calls.reading.json_in_text import is_json
from lenient.calls.reading.model_text import MAX_TOKENS, ModelText
from lenient.calls.reading.tagged_value_end import REST, ValueEndSearch
from lenient.calls.reading.written_parameters import UndeclaredType, WrittenParameter, build_arguments


class ValueLayout(Enum):
    """How a dialect treats the line breaks around a value."""

    VERBATIM = "verbatim"  # they belong to it
    LINES = "lines"  # the dialect puts one before and one after it
    GUESSED = "guessed"  # one on both sides is taken for layout, and said


@dataclass(frozen=True, slots=True)
class DialectTags:
    """The tags of one dialect, and how its values are read.

    `pattern` has the groups `call` (the opening tag, with `name`; a group `begin` that matched nothing is a
    missing opening token), `parameter` (the opening tag, with `key`
    and perhaps `text`: "true" when the model says that the value is text, "false" when it is JSON),
    `value_end` and `call_end`. `entities` is True when the dialect's reference reader decodes XML entities.
    `undeclared` is the type of a value whose type neither the definition nor the model declares.
    """

    pattern: re.Pattern[str]
    layout: ValueLayout
    entities: bool
    undeclared: UndeclaredType = UndeclaredType.TEXT


def read_tagged(reply: ModelText, tags: DialectTags) -> Iterator[FoundCall]:
    """Yield the calls of the dialect that `tags` describes."""
    marks = list(islice(tags.pattern.finditer(reply.text), 4 * MAX_TOKENS))
    walk = _TagWalk(reply, tags, marks)
    index = 0
    while index < len(marks):
        if marks[index].lastgroup == "call" and not reply.is_quoted(marks[index].start()):
            found, index = walk.read_call(index)
            yield found
        else:
            index += 1


class _TagWalk:
    """A walk over the tags of one reply, which reads its calls.

    `marks` are the matches of the dialect's pattern. Each mark is read once; the budget of the reply limits
    how often marks are read again.
    """

    def __init__(self, reply: ModelText, tags: DialectTags, marks: list[re.Match[str]]) -> None:
        self.reply = reply
        self.text = reply.text
        self.tags = tags
        self.marks = marks

    def read_call(self, index: int) -> tuple[FoundCall, int]:
        """Return the call whose opening tag is `marks[index]`, and the index of the mark to read next."""
        opening = self.marks[index]
        name = opening["name"].strip()
        tool = self.reply.find_tool(name)
        declared = {parameter.name for parameter in tool.parameters} if tool is not None else None
        parameters: list[WrittenParameter] = []
        index += 1
        end, complete, closed = len(self.text), False, False
        while index < len(self.marks):
            mark = self.marks[index]
            if mark.lastgroup == "parameter":
                unseen = None if declared is None else declared - {p.name for p in parameters} - {mark["key"]}
                parameter, index = self.read_parameter(index, unseen)
                parameters.append(parameter)
            elif mark.lastgroup == "value_end":
                index += 1  # a closing tag without its opening one
            else:
                closed, complete = mark.lastgroup == "call_end", True
                end = mark.end() if closed else mark.start()
                index += closed
                break
        groups = opening.groupdict(default="")
        around = (missing_opening(opening.start()),) if groups.get("begin") == "" else ()
        if not parameters:
            return replace(self.read_body(name, opening, end, complete), around=around), index
        if not complete and parameters[-1].closed and REST.match(self.text, parameters[-1].end):
            complete = parameters[-1].end < len(self.text.rstrip())
        raw, built = build_arguments(
            parameters, self.reply.arguments_node(name), self.tags.undeclared, entities=self.tags.entities,
            cut=not complete,
        )  # fmt: skip
        if not closed and complete:
            end = parameters[-1].end
        found = FoundCall(name, raw, opening.start(), end, complete, None, built=built, around=around)
        return found, index

    def read_body(self, name: str, opening: re.Match[str], end: int, complete: bool) -> FoundCall:
        """Return the call that has no parameters, or has one JSON object in their place."""
        closing = re.compile(r"<[^<>]*+>\s*+\Z").search(self.text, opening.end(), end) if complete else None
        body = self.text[opening.end() : closing.start() if closing else end]
        trimmed = body.strip()
        if not trimmed.startswith("{"):
            return FoundCall(name, "", opening.start(), end, complete)
        offset = opening.end() + len(body) - len(body.lstrip())
        return FoundCall(name, trimmed, opening.start(), end, complete or is_json(trimmed), offset)

    def read_parameter(self, index: int, unseen: set[str] | None) -> tuple[WrittenParameter, int]:
        """Return the parameter that `marks[index]` opens, and the index of the mark to read next."""
        opening = self.marks[index]
        start = opening.end()
        found = ValueEndSearch(self.text, self.marks, unseen).find_after(index + 1, self.reply)
        stop, after, closed, doubtful = found
        value = self.text[start:stop]
        cut = stop == len(self.text) and not closed
        value, layout = self.trim_layout(value, closed, cut)
        said = opening.groupdict().get("text")
        end = self.marks[after - 1].end() if closed else stop
        is_text = None if said is None else said in ("true", "string")
        key = opening["key"].strip()
        return WrittenParameter(key, value, is_text, closed, cut, layout, end, doubtful), after

    def trim_layout(self, value: str, closed: bool, cut: bool) -> tuple[str, bool]:
        """Return the value without the line breaks that are layout, and True when that was a guess.

        `closed` is False when the closing tag is missing; `cut` is True when the text ends within the value.
        """
        layout = self.tags.layout
        if layout is ValueLayout.LINES:
            value = value.removeprefix("\n")
            return (value if cut else value.removesuffix("\n")), False
        if not closed and not cut:
            return value.removesuffix("\n"), False
        if layout is ValueLayout.GUESSED and len(value) > 1 and value[0] == "\n" == value[-1]:
            return value[1:-1], True
        return value, False


def anthropic_invoke(reply: ModelText) -> Iterator[FoundCall]:
    """Yield the calls written as `<invoke name="…"><parameter name="…">…</parameter></invoke>`.

    The tags may have any prefix: Claude (`antml:` or none), MiniMax M2 (in `<minimax:tool_call>`), Step 3
    (`steptml:`), Muse Glimmer (`atem:`). Source: Anthropic's published system prompt ("string and scalar
    parameters should be specified as is, while lists and objects should use JSON"); vLLM `minimax_m2`,
    `step3`. SGLang decodes XML entities here, and so do agents that read calls of other models; a value that
    holds entities and no bare `<` or `&` is decoded, and the decoding is reported.
    """
    yield from read_tagged(reply, _INVOKE)


_PREFIX = r"(?:[A-Za-z_]{1,20}:)?"
_INVOKE = DialectTags(
    re.compile(
        rf"(?P<call><{_PREFIX}invoke\s++name\s*+=\s*+[\"']?(?P<name>[^\"'<>]{{1,200}}+)[\"']?\s*+>)"
        rf"|(?P<parameter><{_PREFIX}parameter\s++name\s*+=\s*+[\"']?(?P<key>[^\"'<>]{{1,200}}?)[\"']?"
        rf"(?:\s++string\s*+=\s*+[\"'](?P<text>true|false)[\"'])?\s*+>)"
        rf"|(?P<value_end></{_PREFIX}parameter\s*+>)|(?P<call_end></{_PREFIX}invoke\s*+>)"
    ),
    ValueLayout.GUESSED,
    entities=True,
)


def deepseek_v32(reply: ModelText) -> Iterator[FoundCall]:
    """Yield the calls of DeepSeek V3.2 and V4.

    The notation is `<｜DSML｜invoke name="…"><｜DSML｜parameter name="…" string="true">…`. `string="true"`
    marks text, which is taken verbatim; any other value is JSON. Source: encoding/ of
    deepseek-ai/DeepSeek-V3.2; vLLM `deepseek_v32`.
    """
    yield from read_tagged(reply, _DSML)


_DSML = DialectTags(
    re.compile(
        r"(?P<call><｜DSML｜invoke\s++name\s*+=\s*+\"(?P<name>[^\"<>]{1,200}+)\"\s*+>)"
        r"|(?P<parameter><｜DSML｜parameter\s++name\s*+=\s*+\"(?P<key>[^\"<>]{1,200}+)\""
        r"(?:\s++string\s*+=\s*+\"(?P<text>true|false)\")?\s*+>)"
        r"|(?P<value_end></｜DSML｜parameter>)|(?P<call_end></｜DSML｜invoke>)"
    ),
    ValueLayout.VERBATIM,
    entities=False,
)


def qwen3_coder(reply: ModelText) -> Iterator[FoundCall]:
    """Yield the calls written as `<function=name><parameter=key>value</parameter></function>`.

    Qwen3-Coder, Seed-OSS, Step 3.5 and MiMo write this, in `<tool_call>` or `<seed:tool_call>`; Llama 3.1
    writes one JSON object as the body, `<function=name>{…}`. Source: the chat template and
    qwen3coder_tool_parser.py of Qwen/Qwen3-Coder: one line break before and after a value is layout. SGLang
    decodes XML entities; see `anthropic_invoke`. Where the name is an attribute, `<function name="…">`, it
    must have been offered: documents hold such tags, too.
    """
    for found in read_tagged(reply, _QWEN):
        if not _NAMED_FUNCTION.match(reply.text, found.start) or reply.offers(found.name):
            yield found


_NAMED_FUNCTION = re.compile(r"<function\s++name")


_QWEN = DialectTags(
    re.compile(
        r"(?P<call><function(?:\s++name)?\s*+=\s*+[\"']?(?P<name>[^\s\"'<>{}]{1,200}+)[\"']?\s*+>)"
        r"|(?P<parameter><parameter(?:\s++name)?\s*+=\s*+[\"']?(?P<key>[^\"'<>\n]{1,200}+)[\"']?\s*+>)"
        r"|(?P<value_end></parameter>)|(?P<call_end></function>)"
    ),
    ValueLayout.LINES,
    entities=True,
)


def glm(reply: ModelText) -> Iterator[FoundCall]:
    """Yield the calls of GLM 4.5 to 4.7 and LongCat.

    The notation is `<tool_call>name<arg_key>k</arg_key><arg_value>v</arg_value></tool_call>`. Source: the
    chat template of zai-org/GLM-4.5; vLLM `glm45`, `glm47`: a value that is not declared as text is read as
    JSON where it is valid JSON; text is verbatim.
    """
    yield from read_tagged(reply, _GLM)


_LONGCAT = r"(?:longcat_)?"
_GLM = DialectTags(
    re.compile(
        rf"(?P<call>(?:(?P<begin><{_LONGCAT}tool_call>\s*+)|^(?=[\w.:/\-]{{1,200}}+\s*+<{_LONGCAT}arg_key>))"
        rf"(?P<name>[\w.:/\-]{{1,200}}+)"
        rf"(?=\s*+(?:<{_LONGCAT}arg_key>|</{_LONGCAT}tool_call>|\n++\Z)))"
        rf"|(?P<parameter><{_LONGCAT}arg_key>(?P<key>[^<>]{{1,200}}+)</{_LONGCAT}arg_key>\s*+<{_LONGCAT}arg_value>)"
        rf"|(?P<value_end></{_LONGCAT}arg_value>)|(?P<call_end></{_LONGCAT}tool_call>)",
        re.MULTILINE,
    ),
    ValueLayout.VERBATIM,
    entities=False,
    undeclared=UndeclaredType.JSON,
)


def kimi_k3(reply: ModelText) -> Iterator[FoundCall]:
    """Yield the calls in XTML, the notation of Kimi K3.

    The notation is `<|open|>call tool="…"<|sep|><|open|>argument key="…" type="string"<|sep|>…`. Source:
    SGLang `kimi_k3` (kimik3_format.py): `type="string"` marks text, which is verbatim.
    """
    yield from read_tagged(reply, _KIMI_K3)


_ATTRIBUTES = r"[^<>]{0,60}+<\|sep\|>"
_KIMI_K3 = DialectTags(
    re.compile(
        rf"(?P<call>(?P<begin><\|open\|>)?call tool=\"(?P<name>[^\"<>]{{1,200}}+)\"{_ATTRIBUTES}"
        rf"(?:<\|open\|>json{_ATTRIBUTES})?)"
        rf"|(?P<parameter><\|open\|>argument key=\"(?P<key>[^\"<>]{{1,200}}+)\""
        rf"(?:\s++type=\"(?P<text>\w{{1,20}}+)\")?{_ATTRIBUTES})"
        r"|(?P<value_end><\|close\|>argument<\|sep\|>)"
        r"|(?P<call_end>(?:<\|close\|>json<\|sep\|>)?<\|close\|>call<\|sep\|>)"
    ),
    ValueLayout.VERBATIM,
    entities=False,
)
