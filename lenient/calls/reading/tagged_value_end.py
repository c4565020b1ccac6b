"""Finds where the value of a parameter between tags ends, by the tags that follow.

A closing tag ends a value when another tag of the dialect, or the end of the text, follows; a closing tag
inside code is followed by more code. An opening tag in the middle of a line is text, unless it names a
declared parameter that has not appeared yet. The budget of the reply limits how often a tag is examined.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from lenient.calls.reading.model_text import ModelText

REST = re.compile(
    r"\s*+(?:</?(?:\w{1,40}+:)?(?:tool_calls?|function_calls)>|</?｜DSML｜|<｜tool|<\||<invoke|\Z)"
)
"""What may stand after the last tag of a call: the wrappers of all dialects, or nothing."""


class ValueEnd(NamedTuple):
    """Where a value ends, the index of the mark to go on with, and whether a closing tag ended the value.

    `doubtful` is True when a later end would do as well.
    """

    stop: int
    after: int
    closed: bool
    doubtful: bool = False


class ValueEndSearch:
    """A search for the end of one value.

    `marks` are the matches of `lenient.calls.dialects.tagged_parameters.DialectTags.pattern` in the text.
    `unseen` are the declared parameters that have not appeared yet, None when the definition is unknown.
    """

    def __init__(self, text: str, marks: Sequence[re.Match[str]], unseen: set[str] | None) -> None:
        self.text = text
        self.marks = marks
        self.unseen = unseen
        self.depth = self.calls = 0  # opening tags of parameters and calls within the value
        self.closing = -1  # the first closing tag that may end it, if none is certain to
        self.nested = -1  # the same, were the opening tags before it mere text
        self.cut = -1  # the first mark before which it may have been cut off

    def find_after(self, index: int, reply: ModelText) -> ValueEnd:
        """Return the end of the value, for which `marks[index]` is the first candidate."""
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
                return ValueEnd(self.marks[closing].start(), closing + 1, True, doubtful)
        if self.cut >= 0:
            is_end = self.marks[self.cut].lastgroup == "call" or self.ends_call(self.cut)
            return ValueEnd(self.marks[self.cut].start(), self.cut, False, not is_end)
        return ValueEnd(len(self.text), len(self.marks), False)

    def ends_at_value_end(self, index: int) -> ValueEnd | None:
        if not self.calls and self.is_structural(index):
            if self.depth == 0 or self.ends_call(index + 1, strictly=True):
                return ValueEnd(self.marks[index].start(), index + 1, True)
            if self.nested < 0 and self.ends_call(index + 1):
                self.nested = index
        if self.depth == self.calls == 0 and self.closing < 0:
            self.closing = index
        self.depth = max(0, self.depth - 1)
        return None

    def ends_at_parameter(self, index: int) -> ValueEnd | None:
        mark = self.marks[index]
        is_placed = self.is_placed(index)
        is_next = is_placed if self.unseen is None else mark["key"] in self.unseen
        if is_next and self.depth == self.calls == 0 and self.closing < 0:
            return ValueEnd(mark.start(), index, False)
        self.depth += is_placed
        return None

    def ends_at_call(self, index: int) -> ValueEnd | None:
        after_token = self.text[self.marks[index].start() - 1] == ">"
        if not (self.is_placed(index) or after_token) or not self.begins_body(index):
            return None
        self.cut = index if self.cut < 0 else self.cut
        self.calls += 1
        return None

    def ends_at_call_end(self, index: int) -> ValueEnd | None:
        if self.calls:
            self.calls -= 1
        elif self.depth == 0:
            if self.closing < 0 and self.is_placed(index) and self.ends_call(index, strictly=True):
                return ValueEnd(self.marks[index].start(), index, False)
            self.cut = index if self.cut < 0 else self.cut
        return None

    def closes_again(self, index: int) -> bool:
        """Return True when a closing tag comes after that at `index`, with no opening tag between them."""
        kinds = (mark.lastgroup for mark in self.marks[index + 1 : index + 100])
        return next((kind == "value_end" for kind in kinds if kind != "call_end"), False)

    def is_placed(self, index: int) -> bool:
        """Return True when the tag `marks[index]` begins a line, or follows another tag of the dialect."""
        start, before = self.marks[index].start(), self.marks[index - 1].end() if index else 0
        line = self.text.rfind("\n", before, start) + 1
        return not self.text[max(line, before) : start].strip()

    def begins_body(self, index: int) -> bool:
        """Return True when a tag, a JSON object or the text's end follows the opening tag `marks[index]`."""
        end = self.marks[index].end()
        following = self.marks[index + 1].start() if index + 1 < len(self.marks) else len(self.text)
        rest = self.text[end : min(following, end + 400)].strip()
        return not rest or rest.startswith("{")

    def is_structural(self, index: int) -> bool:
        """Return True when another tag of the dialect, or the text's end, follows the tag `marks[index]`.

        The closing tag of a call counts when it ends the call.
        """
        end = self.marks[index].end()
        following = self.marks[index + 1].start() if index + 1 < len(self.marks) else -1
        if following >= 0 and not self.text[end:following].strip():
            next_kind = self.marks[index + 1].lastgroup
            return self.ends_call(index + 1) if next_kind == "call_end" else next_kind != "value_end"
        return REST.match(self.text, end) is not None

    def ends_call(self, index: int, *, strictly: bool = False) -> bool:
        """Return True when `marks[index]` is the closing tag of the call.

        The end of a wrapper, another call or the end of the text must follow the tag; unless `strictly`,
        other text may follow on a new line.
        """
        if index >= len(self.marks) or self.marks[index].lastgroup != "call_end":
            return False
        end = self.marks[index].end()
        if index + 1 < len(self.marks) and not self.text[end : self.marks[index + 1].start()].strip():
            return self.marks[index + 1].lastgroup in ("call", "call_end")
        line = self.text[end : end + 200].split("\n", 1)[0]
        return REST.match(self.text, end) is not None or not (strictly or line.strip())
