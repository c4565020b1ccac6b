"""Words for sources that have stopped giving data."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from callgauge.dashboard import wording


def describe_silence(silent: Sequence[Mapping[Hashable, Any]], one: str = "", several: str = "") -> str:
    """Return which sources are silent: Goose silent for 2 days. Empty when none is. Contains stored text.

    `silent`: rows of the metric `silent_sources`, the longest silence first. `one` and `several`: the verb.
    """
    if not silent:
        return ""
    longest = wording.plural(silent[0]["silent_days"], "day")
    if len(silent) == 1:
        words = (wording.one_line(silent[0]["title"], 40), one, f"silent for {longest}")
    else:
        words = (wording.plural(len(silent), "source"), several, f"silent, one for {longest}")
    return " ".join(filter(None, words))
