"""Defects of the whole input: prose before or after the tool call, an encoding, or a second copy."""

from __future__ import annotations

import json
from collections.abc import Callable

from bench.parser.mutations.draft import Draft, ImpossibleError, Kind

_BEFORE = (
    "Sure, here are the arguments: ",
    "I'll call the tool with the following input:\n\n",
    'Let me check that first. The user\'s "goal" is clear.\n',
    "Thought: I need {one} more look [at this].\nAction Input: ",
)
_AFTER = (
    "\n\nThis will do what you asked for.",
    " Let me know if that's fine!",
    '\nNote: I left out the "optional" part {see docs}.',
    "\nObservation: ",
)


def _around(before: tuple[str, ...] = ("",), after: tuple[str, ...] = ("",)) -> Callable[[Draft], None]:
    def apply(draft: Draft) -> None:
        draft.text = draft.random.choice(before) + draft.text + draft.random.choice(after)

    return apply


def _paired(*pairs: tuple[str, str]) -> Callable[[Draft], None]:
    def apply(draft: Draft) -> None:
        before, after = draft.random.choice(pairs)
        draft.text = before + draft.text + after

    return apply


def _encoded_twice(draft: Draft) -> None:
    draft.text = json.dumps(draft.text, ensure_ascii=False)


def _half_escaped(draft: Draft) -> None:
    draft.text = json.dumps(draft.text, ensure_ascii=False)[1:-1]


def _sent_twice(draft: Draft) -> None:
    draft.text += draft.random.choice(("", "\n", ", ")) + draft.text


def _begun_anew(draft: Draft) -> None:
    ends = draft.places(lambda index, token: token.kind in (Kind.STRING, Kind.OTHER, Kind.COMMA))
    if not ends:
        raise ImpossibleError
    begun = "".join(token.text for token in draft.tokens[: draft.random.choice(ends) + 1])
    draft.text = begun + draft.random.choice(("", "\n", " ")) + draft.text
    draft.doubt()


def _two_different(draft: Draft) -> None:
    other = {
        name: f"{value}?" if isinstance(value, str) else value for name, value in draft.arguments.items()
    }
    if other == draft.arguments:
        raise ImpossibleError
    draft.text += draft.random.choice(("", "\n", ", ")) + json.dumps(other, ensure_ascii=False)
    draft.doubt()
    draft.loose.update(draft.arguments)
    draft.unmarked = False


DEFECTS: dict[str, Callable[[Draft], None]] = {
    "text before": _around(_BEFORE),
    "text after": _around(after=_AFTER),
    "text on both sides": _around(_BEFORE, _AFTER),
    "fence": _paired(("```json\n", "\n```"), ("```\n", "\n```"), ("Here:\n```json\n", "\n```\nDone.")),
    "fence on one line": _paired(("```json ", " ```"), ("```", "```"), ("`", "`")),
    "fence never closed": _around(("```json\n",)),
    "tag": _paired(
        ("<tool_call>", "</tool_call>"), ("<arguments>\n", "\n</arguments>"), ("<|tool_call|>", "")
    ),
    "assignment": _paired(("arguments = ", ""), ("json ", ""), ("const args = ", ";"), ("input: ", "")),
    "call syntax": _paired(("call(", ")"), ("functions.call(", ")"), ("run(", ");")),
    "bold object": _paired(("**", "**")),
    "object in quotes": _paired(('"', '"'), ("'", "'")),
    "encoded twice": _encoded_twice,
    "half escaped": _half_escaped,
    "sent twice": _sent_twice,
    "begun anew": _begun_anew,
    "two different objects": _two_different,
}
