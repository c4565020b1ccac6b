"""Defines the words by which `./dev house` judges function names. The word lists are next to this module."""

from __future__ import annotations

from pathlib import Path


def read_words(name: str) -> frozenset[str]:
    return frozenset(Path(__file__).with_name(name).read_text(encoding="utf-8").split())


VERBS = read_words("verbs.txt")
"""A name begins with a verb if its first word is in this list.

Words that are mostly nouns in this code (`call`, `rate`, `page`, `step`) are not in this list. A name that
begins with such a noun does not count, even if a verb is meant.
"""
PARTICLES = read_words("particles.txt")
PARTICIPLES = read_words("participles.txt")
"""Irregular participles. Regular participles end in `-ed`."""


def first_word(name: str) -> str:
    return name.strip("_").split("_")[0].lower()


def is_one_word(name: str) -> bool:
    return "_" not in name.strip("_")


def begins_with_verb(name: str) -> bool:
    return first_word(name) in VERBS


def is_riddle(name: str) -> bool:
    """Return True if a name is a single participle or particle, such as `told`, `held`, `but`, `of`."""
    word = name.strip("_").lower()
    if not is_one_word(name) or word in VERBS:
        return False
    return word in PARTICLES or word in PARTICIPLES or (word.endswith("ed") and len(word) > 4)
