"""Defects of commas, colons, literals, comments and whole members."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from bench.parser.mutations.draft import Draft, ImpossibleError, Kind, Token


def _missing_comma(draft: Draft) -> None:
    at = draft.pick_kind(Kind.COMMA)
    sides = [draft.tokens[draft.find_neighbour(at, step)].kind for step in (-1, 1)]
    glued = draft.tokens[at + 1].kind is not Kind.SPACE and Kind.OTHER in sides
    draft.change(at, " " if glued else "")


def _trailing_comma(draft: Draft) -> None:
    at = draft.pick(lambda index, token: token.kind is Kind.CLOSE and _holds_something(draft, index))
    draft.insert(draft.find_neighbour(at, -1) + 1, ",")


def _holds_something(draft: Draft, closer: int) -> bool:
    return draft.tokens[draft.find_neighbour(closer, -1)].kind not in (Kind.OPEN, Kind.DEFECT)


def _doubled_comma(draft: Draft) -> None:
    draft.change(draft.pick_kind(Kind.COMMA), ",,")


def _leading_comma(draft: Draft) -> None:
    at = draft.pick(
        lambda index, token: (
            token.kind is Kind.OPEN and draft.tokens[draft.find_neighbour(index, 1)].kind is not Kind.CLOSE
        )
    )
    draft.insert(at + 1, ", ")


def _other_sign(kind: Kind, *signs: str) -> Callable[[Draft], None]:
    def apply(draft: Draft) -> None:
        draft.change(draft.pick_kind(kind), draft.random.choice(signs))

    return apply


def _full_width(draft: Draft) -> None:
    signs = {Kind.COMMA: "，", Kind.COLON: "："}
    for index in draft.places(lambda _, token: token.kind in signs):
        draft.change(index, signs[draft.tokens[index].kind])


def _missing_colon(draft: Draft) -> None:
    at = draft.pick_kind(Kind.COLON)
    draft.change(at, "" if draft.tokens[at + 1].kind is Kind.SPACE else " ")


def _python_literals(draft: Draft) -> None:
    words = {True: "True", False: "False", None: "None"}
    places = draft.places(lambda _, token: token.text in ("true", "false", "null"))
    if not places:
        raise ImpossibleError
    for index in places:
        draft.change(index, words[draft.tokens[index].value])


def _odd_number(draft: Draft) -> None:
    at = draft.pick(lambda _, token: token.kind is Kind.OTHER and token.text[0].isdigit())
    text = draft.tokens[at].text
    forms = ["+" + text]
    forms += ["0" + text] * text.isdigit() + [text[1:]] * text.startswith("0.")
    draft.change(at, draft.random.choice(forms))


def _comment(draft: Draft) -> None:
    at = draft.pick_kind(Kind.COMMA, Kind.OPEN)
    words = draft.random.choice(("the rest is optional", "as asked", "see above, it's fine", 'was "old"'))
    draft.insert(at + 1, draft.random.choice((f" // {words}\n", f" /* {words} */ ", f" # {words}\n")))


def _odd_blank(draft: Draft) -> None:
    draft.change(draft.pick_kind(Kind.SPACE), draft.random.choice(("\u00a0", "\u3000", "\u200b ")))


# --- whole members ---------------------------------------------------------------------------------------


def _top_level(draft: Draft) -> list[int]:
    commas = draft.places(lambda _, token: token.kind is Kind.COMMA)
    return [index for index in commas if _depth(draft.tokens[:index]) == 1]


def _depth(tokens: list[Token]) -> int:
    return sum(token.kind is Kind.OPEN for token in tokens) - sum(
        token.kind is Kind.CLOSE for token in tokens
    )


def _choose(draft: Draft, places: list[Any]) -> Any:
    if not places:
        raise ImpossibleError
    return draft.random.choice(places)


def _write_again(draft: Draft, name: str, value: Any) -> None:
    again = f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}, "
    draft.insert(draft.random.choice([1, *(at + 1 for at in _top_level(draft))]), again)


def _repeated_member(draft: Draft) -> None:
    name, value = draft.random.choice(list(draft.arguments.items()))
    _write_again(draft, name, value)


def _contradicting_member(draft: Draft) -> None:
    texts = [name for name, value in draft.arguments.items() if isinstance(value, str)]
    name = _choose(draft, texts)
    _write_again(draft, name, draft.arguments[name] + " (2)")
    draft.doubt(name)
    draft.unmarked = False


def _ended_early(between: str) -> Callable[[Draft], None]:
    """End the object at a comma.

    Only the definition shows that the remaining members belong to the object.
    """

    def apply(draft: Draft) -> None:
        draft.change(_choose(draft, _top_level(draft)), between)
        draft.certain = False

    return apply


def _split_in_two(draft: Draft) -> None:
    """Split a tool call into two objects, each with some of the parameters. The result may mean one tool call
    or two.
    """
    draft.change(_choose(draft, _top_level(draft)), "}, {")
    draft.doubt()


def _bold_key(draft: Draft) -> None:
    at = draft.pick_kind(Kind.KEY)
    draft.change(at, f"**{draft.tokens[at].text}**")


DEFECTS: dict[str, Callable[[Draft], None]] = {
    "missing comma": _missing_comma,
    "trailing comma": _trailing_comma,
    "doubled comma": _doubled_comma,
    "leading comma": _leading_comma,
    "semicolon for a comma": _other_sign(Kind.COMMA, ";"),
    "missing colon": _missing_colon,
    "equals sign for a colon": _other_sign(Kind.COLON, "=", " ="),
    "arrow for a colon": _other_sign(Kind.COLON, " =>"),
    "doubled colon": _other_sign(Kind.COLON, "::"),
    "full-width punctuation": _full_width,
    "Python literals": _python_literals,
    "odd number": _odd_number,
    "comment": _comment,
    "odd blank": _odd_blank,
    "member repeated": _repeated_member,
    "member contradicted": _contradicting_member,
    "object split in two": _split_in_two,
    "object ended early": _ended_early("} "),
    "object ended at a line": _ended_early("}\n"),
    "bold key": _bold_key,
}
