"""Sentences on whether several rates name the same best slice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from callgauge.analysis.measures.comparisons import RankedTable
from callgauge.analysis.measures.verdicts import list_names


def describe_agreement(first: RankedTable, others: Sequence[RankedTable], names: Mapping[str, str]) -> str:
    """Return whether the other rates name the best slices that `first` names; empty where none can tell.

    `names`: the label of each slice. A rate agrees when its tie group at the top shares a slice with that of
    `first`; a rate that ranks fewer than two slices tells nothing.
    """
    best = {one.name for one in first.best}
    telling = [table for table in others if len(table.judged) > 1 and table.best]
    if not best or len(first.judged) < 2 or not telling:
        return ""
    agreeing = [table for table in telling if best & {one.name for one in table.best}]
    parts = []
    if agreeing:
        titles = list_names([table.reference.rate.title for table in agreeing])
        common = best.intersection(*({one.name for one in table.best} for table in agreeing))
        verb = "agrees" if len(agreeing) == 1 else "agree"
        on = [names.get(one.name, one.name) for one in first.best if one.name in common]
        parts.append(f"{titles} {verb}{f' on {list_names(on)}' if on and common != best else ''}.")
    for table in telling:
        if table not in agreeing:
            other = list_names([names.get(one.name, one.name) for one in table.best])
            parts.append(f"{table.reference.rate.title} names {other} instead.")
    return " ".join(parts)
