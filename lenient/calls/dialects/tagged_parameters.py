"""Dialects that write each parameter between an opening and a closing tag.

The raw arguments are built as JSON. A value is a string unless the tool's definition declares another type. A
closing tag ends a value only when another tag of the dialect or the end of the tool call follows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import islice
from typing import NamedTuple

from lenient.calls.reading.child_elements import TAG_TOKEN, ElementReader, begins_with_elements
from lenient.calls.reading.extracted_call import FoundCall, missing_opening
from lenient.calls.reading.json_in_text import is_json
from lenient.calls.reading.model_text import MAX_TOKENS, ModelText
from lenient.calls.reading.written_parameters import UndeclaredType, WrittenParameter, build_arguments
from lenient.definitions.json_schema.nodes import Node
from lenient.diagnostics import Diagnostic, shorten
from lenient.regex import compile_regex


class _ValueLayout(Enum):
    """Which line breaks at the start and end of a value a dialect removes."""

    VERBATIM = "verbatim"  # the line breaks belong to the value
    LINES = "lines"  # the dialect adds one line break before and one after the value
    GUESSED = "guessed"  # one line break on each side is removed as layout and reported


@dataclass(frozen=True, slots=True)
class DialectTags:
    """The tags of one dialect, and how the dialect's values are read.

    `pattern` has four main groups: `call` (the opening tag of a tool call), `parameter` (the opening tag of a
    parameter), `value_end` and `call_end`. `call` contains the group `name`. If an optional group `begin`
    matched nothing, the opening token is missing. `parameter` contains the group `key`. An optional group
    `text` in `parameter` is "true" when the model declares the value as a string, and "false" when the model
    declares it as JSON.

    `entities` is True when the reference parser of the dialect decodes XML entities. `undeclared` is the type
    of a value whose type neither the definition nor the model declares.
    """

    pattern: re.Pattern[str]
    layout: _ValueLayout
    entities: bool
    undeclared: UndeclaredType = UndeclaredType.TEXT


def _read_tagged(reply: ModelText, tags: DialectTags) -> Iterator[FoundCall]:
    marks = list(islice(tags.pattern.finditer(reply.text), 4 * MAX_TOKENS))
    walk = _TagWalk(reply, tags, marks)
    index = 0
    while index < len(marks):
        if marks[index].lastgroup == "call" and not reply.is_quoted(marks[index].start()):
            call, index = walk.read_call(index)
            if call is not None:
                yield call
        else:
            index += 1


class _TagWalk:
    """Goes through the tags of one reply and reads the tool calls.

    `marks` are the matches of the dialect's pattern. A budget limits how much of the reply is read again.
    """

    def __init__(self, reply: ModelText, tags: DialectTags, marks: list[re.Match[str]]) -> None:
        self.reply = reply
        self.text = reply.text
        self.tags = tags
        self.marks = marks

    def read_call(self, index: int) -> tuple[FoundCall | None, int]:
        """Return the tool call whose opening tag is `marks[index]`, and the index of the tag to read next.

        Return None as the tool call when only prose follows the tag.
        """
        opening = self.marks[index]
        name = opening["name"].strip()
        tool = self.reply.find_tool(name)
        declared = {parameter.name for parameter in tool.parameters} if tool is not None else None
        index += 1
        root = self.reply.arguments_node(name)
        if begins_with_elements(self.text, opening.end(), root) and not self.is_mark(index, opening.end()):
            return self.read_elements(name, opening, index, root)
        parameters: list[WrittenParameter] = []
        end, complete, closed = len(self.text), False, False
        while index < len(self.marks):
            mark = self.marks[index]
            if mark.lastgroup == "parameter":
                unseen = None if declared is None else declared - {p.name for p in parameters} - {mark["key"]}
                parameter, index = self.read_parameter(index, unseen)
                parameters.append(parameter)
            elif mark.lastgroup == "value_end":
                index += 1  # this closing tag has no opening tag
            else:
                closed, complete = mark.lastgroup == "call_end", True
                end = mark.end() if closed else mark.start()
                index += closed
                break
        groups = opening.groupdict(default="")
        around = (missing_opening(opening.start()),) if groups.get("begin") == "" else ()
        if not parameters:
            body = self.read_body(name, opening, end, complete)
            return (replace(body, around=around) if body is not None else None), index
        if not complete and parameters[-1].closed and _REST.match(self.text, parameters[-1].end):
            complete = parameters[-1].end < len(self.text.rstrip())
        raw, built = build_arguments(
            parameters, root, self.tags.undeclared, entities=self.tags.entities,
            cut=not complete,
        )  # fmt: skip
        if not closed and complete:
            end = parameters[-1].end
        call = FoundCall(name, raw, opening.start(), end, complete, None, built=built, around=around)
        return call, index

    def is_mark(self, index: int, position: int) -> bool:
        return index < len(self.marks) and not self.text[position : self.marks[index].start()].strip()

    def read_elements(
        self, name: str, opening: re.Match[str], index: int, root: Node | None
    ) -> tuple[FoundCall, int]:
        """Return a tool call whose parameter names are tag names, and the index of the tag to read next."""
        reader = ElementReader(self.reply, opening.end(), self.tags.undeclared)
        parameters = reader.read_parameters(opening.end(), root)
        end, closed = reader.end, not parameters or parameters[-1].closed
        complete = closed and end < len(self.text.rstrip())
        while index < len(self.marks) and self.marks[index].start() < end:
            index += 1
        ends = (
            at for at in range(index, len(self.marks)) if self.marks[at].lastgroup in ("call", "call_end")
        )
        following = next(ends, -1)
        if following >= 0 and self.marks[following].lastgroup == "call_end":
            mark, index = self.marks[following], following + 1
            if self.text[end : mark.start()].strip():
                reader.dropped = (end, mark.start())
            end, complete = mark.end(), True
        raw, built = build_arguments(
            parameters, root, self.tags.undeclared, entities=self.tags.entities, cut=not complete
        )
        if reader.dropped is not None:
            dropped = shorten(self.text[slice(*reader.dropped)].strip())
            built = (Diagnostic("stray_text_dropped", "$", 0, len(raw), dropped), *built)
        if not reader.marked:
            built = (Diagnostic("key_value_lines", "$", 0, len(raw)), *built)
        return FoundCall(name, raw, opening.start(), end, complete, None, built=built), index

    def read_body(self, name: str, opening: re.Match[str], end: int, complete: bool) -> FoundCall | None:
        """Return the tool call whose body contains all arguments together, usually as JSON.

        Return None when the closing tag is missing and the body is prose.
        """
        closing = _LAST_TAG.search(self.text, opening.end(), end) if complete else None
        body = self.text[opening.end() : closing.start() if closing else end]
        trimmed = body.strip()
        if not trimmed:
            return FoundCall(name, "", opening.start(), end, complete)
        if not complete and trimmed[0] not in "{[<\"'`":
            return None
        offset = opening.end() + len(body) - len(body.lstrip())
        return FoundCall(name, trimmed, opening.start(), end, complete or is_json(trimmed), offset)

    def read_parameter(self, index: int, unseen: set[str] | None) -> tuple[WrittenParameter, int]:
        """Return the parameter that the tag `marks[index]` opens, and the index of the tag to read next."""
        opening = self.marks[index]
        start = opening.end()
        value_end = _ValueEndSearch(self.text, self.marks, unseen).find_after(index + 1, self.reply)
        stop, after, closed, doubtful = value_end
        value = self.text[start:stop]
        cut = stop == len(self.text) and not closed
        value, layout = self.trim_layout(value, closed, cut)
        mark = opening.groupdict().get("text")
        end = self.marks[after - 1].end() if closed else stop
        is_text = None if mark is None else mark in ("true", "string")
        key = opening["key"].strip()
        return WrittenParameter(key, value, is_text, closed, cut, layout, end, doubtful), after

    def trim_layout(self, value: str, closed: bool, cut: bool) -> tuple[str, bool]:
        """Return the value without the line breaks that are layout, and True when the removal was a guess.

        `closed` is False when the closing tag is missing. `cut` is True when the reply ends within the value.
        """
        layout = self.tags.layout
        if layout is _ValueLayout.LINES:
            value = value.removeprefix("\n")
            return (value if cut else value.removesuffix("\n")), False
        if not closed and not cut:
            return value.removesuffix("\n"), False
        if layout is _ValueLayout.GUESSED and len(value) > 1 and value[0] == "\n" == value[-1]:
            return value[1:-1], True
        return value, False


def anthropic_invoke(reply: ModelText) -> Iterator[FoundCall]:
    """Yield the calls written as `<invoke name="…"><parameter name="…">…</parameter></invoke>`.

    The tags may have any prefix. Claude writes `antml:` or no prefix. MiniMax M2 writes no prefix, and
    surrounds the calls with `<minimax:tool_call>`. Step 3 writes `steptml:`, and Muse Glimmer writes `atem:`.
    MiniMax M3 writes `]<]minimax[>[` before each tag and uses parameter names as tag names; see
    `lenient.calls.reading.child_elements`.

    Sources: Anthropic's published system prompt ("string and scalar parameters should be specified as is,
    while lists and objects should use JSON"); vLLM's parsers `minimax_m2` and `step3`. SGLang and some agents
    decode XML entities in this notation. A value with entities is decoded and reported, unless the value also
    contains a plain `<` or `&`.
    """
    yield from _read_tagged(reply, _INVOKE)


_PREFIX = r"(?:[A-Za-z_]{1,20}:)?"
_TOKEN = rf"(?:{TAG_TOKEN})?"
_INVOKE = DialectTags(
    compile_regex(
        rf"(?P<call>{_TOKEN}<{_PREFIX}invoke\s++name\s*+=\s*+[\"']?(?P<name>[^\"'<>]{{1,200}}+)[\"']?\s*+>)"
        rf"|(?P<parameter>{_TOKEN}<{_PREFIX}parameter\s++name\s*+=\s*+[\"']?(?P<key>[^\"'<>]{{1,200}}?)[\"']?"
        rf"(?:\s++string\s*+=\s*+[\"'](?P<text>true|false)[\"'])?\s*+>)"
        rf"|(?P<value_end>{_TOKEN}</{_PREFIX}parameter\s*+>)|(?P<call_end>{_TOKEN}</{_PREFIX}invoke\s*+>)"
    ),
    _ValueLayout.GUESSED,
    entities=True,
)


def deepseek_v32(reply: ModelText) -> Iterator[FoundCall]:
    """Yield the calls of DeepSeek V3.2 and V4.

    The notation is `<｜DSML｜invoke name="…"><｜DSML｜parameter name="…" string="true">…`. A parameter with
    `string="true"` is a string and stays unchanged. Every other parameter is JSON. Sources: encoding/ of
    deepseek-ai/DeepSeek-V3.2; vLLM's parser `deepseek_v32`.
    """
    yield from _read_tagged(reply, _DSML)


_DSML = DialectTags(
    compile_regex(
        r"(?P<call><｜DSML｜invoke\s++name\s*+=\s*+\"(?P<name>[^\"<>]{1,200}+)\"\s*+>)"
        r"|(?P<parameter><｜DSML｜parameter\s++name\s*+=\s*+\"(?P<key>[^\"<>]{1,200}+)\""
        r"(?:\s++string\s*+=\s*+\"(?P<text>true|false)\")?\s*+>)"
        r"|(?P<value_end></｜DSML｜parameter>)|(?P<call_end></｜DSML｜invoke>)"
    ),
    _ValueLayout.VERBATIM,
    entities=False,
)


def qwen3_coder(reply: ModelText) -> Iterator[FoundCall]:
    """Yield the calls written as `<function=name><parameter=key>value</parameter></function>`.

    Qwen3-Coder, Seed-OSS, Step 3.5 and MiMo surround the calls with `<tool_call>` or `<seed:tool_call>`.
    Llama 3.1 writes one JSON object as the body: `<function=name>{…}`. Sources: the chat template and
    qwen3coder_tool_parser.py of Qwen/Qwen3-Coder, where one line break before and one after a value is
    layout. SGLang decodes XML entities; see `anthropic_invoke`.

    A call with the tag `<function name="…">` counts only if the tool was offered, because documents contain
    such tags, too.
    """
    for call in _read_tagged(reply, _QWEN):
        if not _NAMED_FUNCTION.match(reply.text, call.start) or reply.offers(call.name):
            yield call


_NAMED_FUNCTION = compile_regex(r"<function\s++name")


_QWEN = DialectTags(
    compile_regex(
        r"(?P<call><function(?:\s++name)?\s*+=\s*+[\"']?(?P<name>[^\s\"'<>{}]{1,200}+)[\"']?\s*+>)"
        r"|(?P<parameter><parameter(?:\s++name)?\s*+=\s*+[\"']?(?P<key>[^\"'<>\n]{1,200}+)[\"']?\s*+>)"
        r"|(?P<value_end></parameter>)|(?P<call_end></function>)"
    ),
    _ValueLayout.LINES,
    entities=True,
)


def glm(reply: ModelText) -> Iterator[FoundCall]:
    """Yield the calls of GLM 4.5 to 4.7 and LongCat.

    The notation is `<tool_call>name<arg_key>k</arg_key><arg_value>v</arg_value></tool_call>`. A value that is
    declared as a string stays unchanged. Any other valid JSON is read as JSON. Sources: the chat template of
    zai-org/GLM-4.5; vLLM's parsers `glm45` and `glm47`.
    """
    yield from _read_tagged(reply, _GLM)


_LONGCAT = r"(?:longcat_)?"
_GLM = DialectTags(
    compile_regex(
        rf"(?P<call>(?:(?P<begin><{_LONGCAT}tool_call>\s*+)|^(?=[\w.:/\-]{{1,200}}+\s*+<{_LONGCAT}arg_key>))"
        rf"(?P<name>[\w.:/\-]{{1,200}}+)"
        rf"(?=\s*+(?:<{_LONGCAT}arg_key>|</{_LONGCAT}tool_call>|\n++\Z)))"
        rf"|(?P<parameter><{_LONGCAT}arg_key>(?P<key>[^<>]{{1,200}}+)</{_LONGCAT}arg_key>\s*+<{_LONGCAT}arg_value>)"
        rf"|(?P<value_end></{_LONGCAT}arg_value>)|(?P<call_end></{_LONGCAT}tool_call>)",
        re.MULTILINE,
    ),
    _ValueLayout.VERBATIM,
    entities=False,
    undeclared=UndeclaredType.JSON,
)


def kimi_k3(reply: ModelText) -> Iterator[FoundCall]:
    """Yield the calls of Kimi K3, written in the notation XTML.

    The notation is `<|open|>call tool="…"<|sep|><|open|>argument key="…" type="string"<|sep|>…`. An argument
    with `type="string"` is a string and stays unchanged. Source: SGLang's parser `kimi_k3`
    (kimik3_format.py).
    """
    yield from _read_tagged(reply, _KIMI_K3)


_ATTRIBUTES = r"[^<>]{0,60}+<\|sep\|>"
_KIMI_K3 = DialectTags(
    compile_regex(
        rf"(?P<call>(?P<begin><\|open\|>)?call tool=\"(?P<name>[^\"<>]{{1,200}}+)\"{_ATTRIBUTES}"
        rf"(?:<\|open\|>json{_ATTRIBUTES})?)"
        rf"|(?P<parameter><\|open\|>argument key=\"(?P<key>[^\"<>]{{1,200}}+)\""
        rf"(?:\s++type=\"(?P<text>\w{{1,20}}+)\")?{_ATTRIBUTES})"
        r"|(?P<value_end><\|close\|>argument<\|sep\|>)"
        r"|(?P<call_end>(?:<\|close\|>json<\|sep\|>)?<\|close\|>call<\|sep\|>)"
    ),
    _ValueLayout.VERBATIM,
    entities=False,
)


_LAST_TAG = compile_regex(rf"{_TOKEN}<[^<>]*+>\s*+\Z")


# --- where a value ends --------------------------------------------------------------------------------

_REST = compile_regex(
    rf"\s*+(?:{TAG_TOKEN})?(?:</?(?:\w{{1,40}}+:)?(?:tool_calls?|function_calls)>|</?｜DSML｜|<｜tool|<\||<invoke|\Z)"
)
"""What may follow the last tag of a tool call: the wrapper tags of all dialects, or nothing."""


class _ValueEnd(NamedTuple):
    """The end of a value, the index of the tag to read next, and whether a closing tag ended the value.

    `doubtful` is True when the value could also end later.
    """

    stop: int
    after: int
    closed: bool
    doubtful: bool = False


class _ValueEndSearch:
    """A search for the end of one value.

    `marks` are the matches of the dialect's pattern in the reply. `unseen` are the declared parameters that
    have not appeared yet, or None when the definition is unknown.
    """

    def __init__(self, text: str, marks: Sequence[re.Match[str]], unseen: set[str] | None) -> None:
        self.text = text
        self.marks = marks
        self.unseen = unseen
        self.depth = self.calls = 0  # numbers of opening tags of parameters and of calls inside the value
        # index of the first closing tag that may end the value, used if no tag certainly ends the value
        self.closing = -1
        # index of the first closing tag that may end the value, if opening tags in the value are only text
        self.nested = -1
        self.cut = -1  # index of the tag before which the value may have been cut off

    def find_after(self, index: int, reply: ModelText) -> _ValueEnd:
        step = {
            "value_end": self.ends_at_value_end,
            "parameter": self.ends_at_parameter,
            "call": self.ends_at_call,
            "call_end": self.ends_at_call_end,
        }
        while index < len(self.marks) and reply.spend_budget(20):
            end = step[str(self.marks[index].lastgroup)](index)
            if end is not None:
                return end
            index += 1
        for closing in (self.closing, self.nested):
            if closing >= 0:
                doubtful = self.closes_again(closing)
                return _ValueEnd(self.marks[closing].start(), closing + 1, True, doubtful)
        if self.cut >= 0:
            is_end = self.marks[self.cut].lastgroup == "call" or self.ends_call(self.cut)
            return _ValueEnd(self.marks[self.cut].start(), self.cut, False, not is_end)
        return _ValueEnd(len(self.text), len(self.marks), False)

    def ends_at_value_end(self, index: int) -> _ValueEnd | None:
        if not self.calls and self.is_structural(index):
            if self.depth == 0 or self.ends_call(index + 1, strictly=True):
                return _ValueEnd(self.marks[index].start(), index + 1, True)
            if self.nested < 0 and self.ends_call(index + 1):
                self.nested = index
        if self.depth == self.calls == 0 and self.closing < 0:
            self.closing = index
        self.depth = max(0, self.depth - 1)
        return None

    def ends_at_parameter(self, index: int) -> _ValueEnd | None:
        mark = self.marks[index]
        is_placed = self.is_placed(index)
        is_next = is_placed if self.unseen is None else mark["key"] in self.unseen
        if is_next and self.depth == self.calls == 0 and self.closing < 0:
            return _ValueEnd(mark.start(), index, False)
        self.depth += is_placed
        return None

    def ends_at_call(self, index: int) -> _ValueEnd | None:
        after_token = self.text[self.marks[index].start() - 1] == ">"
        if not (self.is_placed(index) or after_token) or not self.begins_body(index):
            return None
        self.cut = index if self.cut < 0 else self.cut
        self.calls += 1
        return None

    def ends_at_call_end(self, index: int) -> _ValueEnd | None:
        if self.calls:
            self.calls -= 1
        elif self.depth == 0:
            if self.closing < 0 and self.is_placed(index) and self.ends_call(index, strictly=True):
                return _ValueEnd(self.marks[index].start(), index, False)
            self.cut = index if self.cut < 0 else self.cut
        return None

    def closes_again(self, index: int) -> bool:
        kinds = (mark.lastgroup for mark in self.marks[index + 1 : index + 100])
        return next((kind == "value_end" for kind in kinds if kind != "call_end"), False)

    def is_placed(self, index: int) -> bool:
        start, before = self.marks[index].start(), self.marks[index - 1].end() if index else 0
        line = self.text.rfind("\n", before, start) + 1
        return not self.text[max(line, before) : start].strip()

    def begins_body(self, index: int) -> bool:
        """Return True when a tag, a JSON object or the reply's end follows the opening tag `marks[index]`."""
        end = self.marks[index].end()
        following = self.marks[index + 1].start() if index + 1 < len(self.marks) else len(self.text)
        rest = self.text[end : min(following, end + 400)].strip()
        return not rest or rest.startswith("{")

    def is_structural(self, index: int) -> bool:
        """Return True when another tag of the dialect, or the reply's end, follows the tag `marks[index]`.

        A closing tag of a tool call counts only when it ends the tool call.
        """
        end = self.marks[index].end()
        following = self.marks[index + 1].start() if index + 1 < len(self.marks) else -1
        if following >= 0 and not self.text[end:following].strip():
            next_kind = self.marks[index + 1].lastgroup
            return self.ends_call(index + 1) if next_kind == "call_end" else next_kind != "value_end"
        return _REST.match(self.text, end) is not None

    def ends_call(self, index: int, *, strictly: bool = False) -> bool:
        """Return True when `marks[index]` is the closing tag of the tool call.

        Another tool call, the end of the surrounding element or the end of the reply must follow. If
        `strictly` is False, prose may follow on a new line.
        """
        if index >= len(self.marks) or self.marks[index].lastgroup != "call_end":
            return False
        end = self.marks[index].end()
        if index + 1 < len(self.marks) and not self.text[end : self.marks[index + 1].start()].strip():
            return self.marks[index + 1].lastgroup in ("call", "call_end")
        line = self.text[end : end + 200].split("\n", 1)[0]
        return _REST.match(self.text, end) is not None or not (strictly or line.strip())
