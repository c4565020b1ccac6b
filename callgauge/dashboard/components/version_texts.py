"""Shows the versions of a prompt or tool, and how the texts of two versions differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.texts.text_diff import definition_text, unified_diff
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components.controls.rate_choice import choose_one


class VersionedText(NamedTuple):
    """A prompt or tool with versions. If `source` is None, the versions come from all sources.

    `kind` is prompt or tool. All unnamed prompts share the empty name.
    """

    kind: str
    source: str | None
    name: str

    @property
    def title(self) -> str:
        return self.name or "prompts without a name"


def read_versions(subject: VersionedText) -> list[dict[Any, Any]]:
    """Return the versions of a prompt or tool, newest first, from the metric `versions`."""
    rows: list[dict[Any, Any]] = store_queries.ask("versions", **subject._asdict()).to_dict("records")
    return rows


def draw_difference(
    subject: VersionedText, rows: Sequence[dict[Any, Any]], pair: tuple[str, str] | None = None
) -> None:
    """Draw selectors for two versions, and how the texts of the versions differ.

    The URL keys `before` and `after` keep the choice. `pair` holds the ids that are chosen at first, by
    default the newest version and the version before it.
    """
    by_number = {int(row["number"]): row for row in rows}
    newest = max(by_number)
    usual = newest - 1 if newest - 1 in by_number else newest, newest
    last = {by_number[number]["id"]: number for number in sorted(by_number)}
    if pair and pair[0] in last and pair[1] in last:
        usual = last[pair[1]], last[pair[0]]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        before = _choose_version("Before", "before", subject, by_number, usual[0])
        after = _choose_version("After", "after", subject, by_number, usual[1])
    changes = unified_diff(_read_text(subject, by_number[before]), _read_text(subject, by_number[after]))
    if changes:
        st.code(wording.visible(changes), language="diff", wrap_lines=True)
    else:
        st.caption("These two are the same.")


def _choose_version(
    label: str, key: str, subject: VersionedText, rows: Mapping[int, Mapping[Any, Any]], empty: int
) -> int:
    names = name_texts(subject, rows)
    return int(choose_one(label, key, list(names), str(empty), lambda number: names.get(number, number)))


def name_texts(subject: VersionedText, rows: Mapping[int, Mapping[Any, Any]]) -> dict[str, str]:
    """Return a name such as triage@4 for each prompt text, by number.

    If a prompt has several texts, the name ends with the first characters of the text's hash.
    """
    if subject.kind != "prompt":
        return {str(number): f"Version {number}" for number in rows}
    ids = Counter(row["id"] for row in rows.values())
    labels = {number: filters.short_label("prompt", row["id"]) for number, row in rows.items()}
    return {
        str(number): f"{labels[number]} · text {row['hash'][:8]}" if ids[row["id"]] > 1 else labels[number]
        for number, row in rows.items()
    }


def _read_text(subject: VersionedText, version: dict[Any, Any]) -> str:
    rows = store_queries.ask("version_text", kind=subject.kind, id=version["id"], hash=version["hash"])
    if rows.empty:
        return ""
    row = rows.iloc[0]
    return definition_text(row.text, row.definition) if subject.kind == "tool" else row.text or ""
