"""A model's reply, and the positions in the reply where a tool call may begin.

A tool call may not begin in reasoning or quoted examples. `ModelText` also contains the offered tools, and a
budget for reading parts of the reply again.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from lenient.calls.reading.json_in_text import find_json_end, pass_blanks
from lenient.coerce.compiled_tool import compile_tool
from lenient.definitions.json_schema.nodes import Node, normalise_name
from lenient.definitions.tools import ToolCatalog, ToolDefinition
from lenient.regex import compile_regex

_THOUGHT = compile_regex(
    r"<(think|thinking|thought|thoughts|reasoning|scratchpad|seed:think|mm:think)>|\[(THINK)\]|◁(think)▷"
    r"|<\|channel\|>\s*+(analysis)\s*+<\|message\|>|<\|START_(THINKING)\|>"
)
_THOUGHT_END = compile_regex(
    r"</(?:(?:mm:)?think|thinking|thought|reasoning)>(?=\s*+(?:\n|\Z|[<\[{]))|\[/THINK\]|◁/think▷"
)
_CLOSERS = {"THINK": "[/THINK]", "analysis": "<|end|>", "THINKING": "<|END_THINKING|>"}
_FENCE = compile_regex(r"^[ \t]*+(`{3,}|~{3,})[ \t]*+([\w+.\-]*+)[^\n`]*+(?:\n|\Z)", re.MULTILINE)
_END_TOKENS = compile_regex(
    r"(?:\s++|<\|(?:im_end|eot_id|eom_id|end_of_text|endoftext|end|return|call)\|>|</s>|<｜end▁of▁sentence｜>)++\Z"
)
_EXAMPLE = compile_regex(
    r"\b(?:examples?|e\.g\.|for instance|looks? like|like this|you (?:can|could|would|might|should|may)"
    r"|samples?|hypothetical(?:ly)?|illustrat\w+|documentation|docs|beispiel)\b",
    re.IGNORECASE,
)
_FORM = compile_regex(r"\b(?:format|syntax|placeholders?|template)\b", re.IGNORECASE)
_NAMESPACES = ("functions.", "default_api.", "tools.", "tool_code.")
_PLACEHOLDERS = frozenset(
    {"function_name", "tool_name", "function-name", "tool-name", "name", "example_function_name",
     "functionname", "your_function", "your_tool", "example_function", "example_tool", "some_tool", "tool",
     "function", "toolname"}
)  # fmt: skip
_NOT_IN_NAMES = compile_regex(r"[\s${}<>\[\]()…]|\.\.\.")
MAX_TOKENS = 5_000
_BACKTICKS = compile_regex(r"`++")
_BLANK_LINE = compile_regex(r"\n[ \t]*+\n")
_BRACE = compile_regex(r"[{}]")
_LEAD_IN = 240
"""The number of characters before a quotation in which words may announce an example."""


@dataclass(frozen=True, slots=True)
class FencedBlock:
    """A fenced block of Markdown.

    `start:end` is the span of the block, and `body:close` is the span of its content. `language` is the word
    after the opening fence, in lower case. `closed` is False when the closing fence is missing.
    """

    start: int
    body: int
    close: int
    end: int
    language: str
    closed: bool


class ModelText:
    """A model's reply, and the tools that were offered to the model.

    `is_dialect_known` is True when the caller named the dialect of the reply. `left` is the remaining budget
    for reading again; at 0 the search stops, so the time stays linear. `json_end` is the end of the valid
    JSON object or array at the start of the reply, or 0 if there is none.
    """

    def __init__(self, text: str, catalog: ToolCatalog | None, *, is_dialect_known: bool = False) -> None:
        self.text = text
        self.catalog = catalog
        self.is_dialect_known = is_dialect_known
        self.left = 200_000 + 4 * len(text)  # remaining budget for reading text again
        self.thoughts = list(_find_reasoning(text))
        self._thought_starts = [start for start, _ in self.thoughts]
        self.body = self._find_body()
        leads = text[self.body[0] : self.body[0] + 1] in ("{", "[")
        self.json_end = (find_json_end(text, self.body[0]) if leads else None) or 0
        self._fences: list[FencedBlock] | None = None
        self._fence_starts: list[int] = []
        self._code_spans: list[tuple[int, int]] | None = None
        self._spellings = {normalise_name(tool.name) for tool in catalog} if catalog is not None else set()

    # --- the tools ------------------------------------------------------------------------------------

    def find_tool(self, name: str) -> ToolDefinition | None:
        return self.catalog.get(name) if self.catalog is not None else None

    def offers(self, name: str) -> bool:
        """Return True when a tool of this name was offered.

        Differences in case and underscores are ignored.
        """
        return normalise_name(name) in self._spellings

    def may_name(self, name: str, position: int) -> bool:
        """Return True when the name between delimiter tokens at `position` may be the name of a tool.

        An offered name is always allowed, and a placeholder is never allowed. With a catalog, a name in an
        announced example is not allowed.
        """
        if self.offers(name):
            return True
        if name.strip("_").casefold() in _PLACEHOLDERS or _NOT_IN_NAMES.search(name):
            return False
        return self.catalog is None or not (self.is_example(position) or self.is_example(position, _FORM))

    def plain_name(self, name: str) -> str:
        """Return the tool name without a namespace such as `functions.`, unless the full name was offered."""
        if self.find_tool(name) is None:
            for prefix in _NAMESPACES:
                rest = name.removeprefix(prefix)
                if rest not in ("", name) and (self.catalog is None or self.find_tool(rest) is not None):
                    return rest
        return name

    def arguments_node(self, name: str) -> Node | None:
        """Return the compiled node for the arguments of a tool, or None when the tool was not offered."""
        tool = self.find_tool(name)
        return compile_tool(tool).root if tool is not None else None

    # --- places ---------------------------------------------------------------------------------------

    def find_tokens(self, pattern: re.Pattern[str], start: int = 0) -> Iterator[re.Match[str]]:
        """Yield the matches of `pattern` outside of reasoning, inline code and quoted examples.

        Matches after the first `MAX_TOKENS` are ignored, because no reply has so many calls.
        """
        matches = islice(pattern.finditer(self.text, start), MAX_TOKENS + 1)
        return (match for match in matches if not self.is_quoted(match.start()))

    def find_reasoning_end(self, position: int) -> int | None:
        """Return the end of the reasoning block around the offset `position`, or None outside of blocks."""
        index = bisect_right(self._thought_starts, position) - 1
        return self.thoughts[index][1] if index >= 0 and position < self.thoughts[index][1] else None

    def is_quoted(self, position: int) -> bool:
        """Return True when `position` is in reasoning, inline code, or a fence announced as an example.

        Also return True when `position` is inside the valid JSON at the start of the reply.
        """
        if position < self.json_end or self.find_reasoning_end(position) is not None:
            return True
        if self.is_inline_code(position):
            return True
        fence = self.fence_around(position)
        return fence is not None and self.is_example(fence.start)

    def is_inline_code(self, position: int) -> bool:
        """Return True when `position` is in inline code, unless the whole reply is inline code."""
        if self._code_spans is None:
            spans = list(_find_code_spans(self.text, self)) if "`" in self.text else []
            self._code_spans = [] if self._is_all_code(spans) else spans
        index = bisect_right(self._code_spans, (position, len(self.text))) - 1
        return index >= 0 and position < self._code_spans[index][1]

    def _is_all_code(self, spans: list[tuple[int, int]]) -> bool:
        position, stop = self.body
        for start, end in spans:
            if self.text[position:start].strip(" \t\r\n,;"):
                return False
            position = end
        return not self.text[position:stop].strip(" \t\r\n,;.")

    def is_example(self, position: int, words: re.Pattern[str] = _EXAMPLE, *, since: int = 0) -> bool:
        """Return True when the words before `position` announce an example.

        `words` is the pattern of the words that announce an example. Words before the offset `since` do not
        count.
        """
        before = self.text[max(since, position - _LEAD_IN) : position].rstrip()
        paragraph = before[max(before.rfind("\n\n"), before.rfind("```")) + 1 :]
        return words.search(paragraph) is not None

    @property
    def find_fences(self) -> list[FencedBlock]:
        """The fenced blocks of the reply outside of reasoning, in order.

        The last block may lack its closing fence.
        """
        if self._fences is None:
            lines = (
                each for each in _FENCE.finditer(self.text) if self.find_reasoning_end(each.start()) is None
            )
            self._fences = list(_find_fenced_blocks(self.text, lines))
            self._fence_starts = [fence.start for fence in self._fences]
        return self._fences

    def fence_around(self, position: int) -> FencedBlock | None:
        index = bisect_right(self._fence_starts, position) - 1 if self.find_fences else -1
        if index >= 0 and self.find_fences[index].body <= position < self.find_fences[index].close:
            return self.find_fences[index]
        return None

    def _find_body(self) -> tuple[int, int]:
        """Return the span of the reply without outer whitespace, leading reasoning and end tokens."""
        start = 0
        for first, end in self.thoughts:
            if self.text[start:first].strip():
                break
            start = end
        tail = _END_TOKENS.search(self.text, max(start, len(self.text) - 200))
        end = tail.start() if tail is not None else len(self.text)
        return pass_blanks(self.text, start), end

    def is_whole(self, start: int, end: int) -> bool:
        """Return True when only whitespace, leading reasoning and end tokens are outside of the span."""
        return start <= self.body[0] and end >= self.body[1]

    # --- values ---------------------------------------------------------------------------------------

    def find_strict_end(self, start: int) -> int | None:
        """Return the end of the valid JSON object or array at `start`, or None when there is none."""
        return find_json_end(self.text, start)

    def spend_budget(self, steps: int) -> bool:
        """Subtract `steps` from the budget for reading the reply again.

        Return False when the budget is used up.
        """
        self.left -= steps
        return self.left >= 0


def _find_reasoning(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of the reasoning blocks.

    Reasoning that begins the reply and is never closed extends to the end of the reply. A closing token
    without an opening token ends reasoning that began in the prompt.
    """
    first, closing = _THOUGHT.search(text), _THOUGHT_END.search(text)
    if closing is not None and (first is None or closing.start() < first.start()):
        yield 0, closing.end()  # the opening token was in the prompt
    position, absent = 0, set[str]()
    for _ in range(MAX_TOKENS):
        opening = _THOUGHT.search(text, position)
        if opening is None:
            return
        kind = next(group for group in opening.groups() if group)
        closer = _CLOSERS.get(kind) or ("◁/think▷" if opening.group() == "◁think▷" else f"</{kind}>")
        end = -1 if closer in absent else text.find(closer, opening.end())
        if end < 0:
            absent.add(closer)
            if kind == "analysis" or not text[: opening.start()].strip():
                following = text.find("<|start|>", opening.end()) if kind == "analysis" else -1
                yield opening.start(), following if following >= 0 else len(text)
                return
        position = opening.end() if end < 0 else end + len(closer)
        if end >= 0:
            yield opening.start(), position


def _find_code_spans(text: str, reply: ModelText) -> Iterator[tuple[int, int]]:
    """Yield the spans of inline code, including the backticks.

    As in Markdown, a sequence of backticks ends at the next sequence with the same length in the same
    paragraph. Backticks inside a word open no inline code, and three backticks at a line start are a fence.
    Braces in inline code must be balanced.
    """
    runs = [run.span() for run in islice(_BACKTICKS.finditer(text), MAX_TOKENS)]
    following: dict[int, int] = {}  # maps the length of a run of backticks to the index of the next such run
    partners = [-1] * len(runs)
    for index in range(len(runs) - 1, -1, -1):
        length = runs[index][1] - runs[index][0]
        partners[index] = following.get(length, -1)
        following[length] = index
    index = 0
    while index < len(runs):
        (start, body), partner = runs[index], partners[index]
        index += 1
        if partner < 0 or text[start - 1 : start].isalnum() or reply.fence_around(start) is not None:
            continue
        close, end = runs[partner]
        if body - start > 2 and not text[text.rfind("\n", 0, start) + 1 : start].strip():
            continue
        if _BLANK_LINE.search(text, body, close) or not _has_balanced_braces(text, body, close):
            continue
        index = partner + 1
        if not text[end : end + 1].isalnum():
            yield start, end


def _has_balanced_braces(text: str, start: int, end: int) -> bool:
    depth = 0
    for brace in _BRACE.finditer(text, start, end):
        depth += 1 if brace.group() == "{" else -1
        if depth < 0:
            return False
    return depth == 0


def _find_fenced_blocks(text: str, lines: Iterator[re.Match[str]]) -> Iterator[FencedBlock]:
    opening: re.Match[str] | None = None
    for line in lines:
        if opening is None:
            opening = line
        elif line.group(1).startswith(opening.group(1)) and not line.group(2):
            language = opening.group(2).lower()
            yield FencedBlock(opening.start(), opening.end(), line.start(), line.end(), language, True)
            opening = None
    if opening is not None:
        yield FencedBlock(
            opening.start(), opening.end(), len(text), len(text), opening.group(2).lower(), False
        )
