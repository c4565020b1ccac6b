"""Defects of brackets. All repairs of one bracket are tried, to find the possible meanings.

Often only one repair gives valid JSON, so the answer is known. If several repairs do so, the repair whose
result fits the tool's definition is right. If several results fit, the answer is unknown.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any

from bench.parser.mutations.draft import Draft, ImpossibleError, Kind, Token
from bench.parser.scoring import same

_PAIRS = {"{": "}", "[": "]"}


def _read(tokens: Sequence[Token | str]) -> Any:
    try:
        value = json.loads("".join(token if isinstance(token, str) else token.text for token in tokens))
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def closed_at_end(tokens: Sequence[Token]) -> Any:
    """Return the object if only closing brackets at the end are missing, else None."""
    open_: list[str] = []
    for token in tokens:
        if token.text in _PAIRS:
            open_.append(_PAIRS[token.text])
        elif token.text in _PAIRS.values() and (not open_ or open_.pop() != token.text):
            return None
    return _read([*tokens, *reversed(open_)])


def readings(tokens: list[Token]) -> list[Any]:
    """Return the different objects that the fewest bracket repairs give.

    Repairs of one bracket are tried first. If none of them gives valid JSON, two brackets are removed.
    """
    values: list[Any] = []
    for tries in (_single_mends(tokens), _two_removed(tokens)):
        for mended in tries:
            value = _read(mended)
            if value is not None and not any(same(value, other) for other in values):
                values.append(value)
        if values:
            break
    return values


def _brackets(tokens: list[Token]) -> list[int]:
    return [index for index, token in enumerate(tokens) if token.text in ("{", "[", "}", "]")]


def _single_mends(tokens: list[Token]) -> Iterator[list[Token | str]]:
    for index in range(len(tokens) + 1):
        for bracket in "{}[]":
            yield [*tokens[:index], bracket, *tokens[index:]]
    for index in _brackets(tokens):
        yield [*tokens[:index], *tokens[index + 1 :]]
        for bracket in "{}[]":
            yield [*tokens[:index], bracket, *tokens[index + 1 :]]


def _two_removed(tokens: list[Token]) -> Iterator[list[Token | str]]:
    for first, second in combinations(_brackets(tokens), 2):
        yield [*tokens[:first], *tokens[first + 1 : second], *tokens[second + 1 :]]


def _judged(defect: Callable[[Draft], None]) -> Callable[[Draft], None]:

    def apply(draft: Draft) -> None:
        defect(draft)
        draft.readings = readings(draft.tokens)
        draft.closed_at_end = closed_at_end(draft.tokens)

    return apply


def _closers(draft: Draft, *, last: bool = True) -> list[int]:
    closers = draft.places(lambda _, token: token.kind is Kind.CLOSE)
    return closers if last else closers[:-1]


def _pick(draft: Draft, places: list[int]) -> int:
    if not places:
        raise ImpossibleError
    return draft.random.choice(places)


def _extra_closer(draft: Draft) -> None:
    at = _pick(draft, _closers(draft))
    draft.insert(at + 1, draft.random.choice((draft.tokens[at].text, draft.tokens[at].text, "}", "]")))


def _two_extra_closers(draft: Draft) -> None:
    at = _pick(draft, _closers(draft))
    draft.insert(at + 1, draft.tokens[at].text)
    if draft.random.random() < 0.5:
        at = _pick(draft, _closers(draft))
    draft.insert(at + 1, draft.tokens[at].text)


def _wrong_closer(draft: Draft) -> None:
    at = _pick(draft, _closers(draft))
    draft.change(at, "]" if draft.tokens[at].text == "}" else "}")


def _missing_closers_at_end(draft: Draft) -> None:
    end = len(draft.tokens)
    run = 0
    while draft.tokens[end - run - 1].kind in (Kind.CLOSE, Kind.SPACE):
        run += 1
    del draft.tokens[end - draft.random.randint(1, run) :]


def _missing_closer_inside(draft: Draft) -> None:
    at = _pick(draft, _closers(draft, last=False))
    del draft.tokens[at]


def _missing_first_brace(draft: Draft) -> None:
    del draft.tokens[0]


def _missing_opener_inside(draft: Draft) -> None:
    del draft.tokens[draft.pick(lambda index, token: index > 0 and token.kind is Kind.OPEN)]


def _extra_opener(draft: Draft) -> None:
    at = draft.pick_kind(Kind.OPEN)
    draft.insert(at, draft.tokens[at].text)


def _doubled_braces(draft: Draft) -> None:
    for index in draft.places(lambda _, token: token.text in ("{", "}")):
        token = draft.tokens[index]
        draft.tokens[index] = Token(token.kind, token.text * 2, None, token.member, token.inside)


def _cut_off(draft: Draft) -> None:
    """Cut the arguments anywhere. If only closing brackets are missing, the closed object is right, too."""
    at = draft.random.randrange(2, len(draft.tokens) - 1)
    last = draft.tokens[at]
    del draft.tokens[at:]
    rest = last.text[: draft.random.randint(0, len(last.text))]
    draft.tokens.append(Token(Kind.DEFECT, rest, member=last.member))
    if last.kind is not Kind.OTHER:
        draft.closed_at_end = closed_at_end(draft.tokens)
    draft.doubt(last.member)


DEFECTS: dict[str, Callable[[Draft], None]] = {
    "extra closer": _judged(_extra_closer),
    "two extra closers": _judged(_two_extra_closers),
    "wrong closer": _judged(_wrong_closer),
    "missing closers at the end": _missing_closers_at_end,
    "missing closer inside": _judged(_missing_closer_inside),
    "missing first brace": _judged(_missing_first_brace),
    "missing opener inside": _judged(_missing_opener_inside),
    "extra opener": _judged(_extra_opener),
    "doubled braces": _doubled_braces,
    "cut off": _cut_off,
}
