"""The versions of a prompt or tool, and the difference between the texts of two of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import streamlit as st

from callgauge.dashboard import store_queries, wording
from callgauge.dashboard.components.controls.rate_choice import choose_one
from callgauge.dashboard.texts.text_diff import definition_text, unified_diff


class VersionedText(NamedTuple):
    """A prompt or a tool with versions, of one source or, with `source` None, of all sources.

    `kind` tells a prompt from a tool. All prompts without a name share the name that is empty.
    """

    kind: str
    source: str | None
    name: str

    @property
    def title(self) -> str:
        return self.name or "prompts without a name"


def read_versions(subject: VersionedText) -> list[dict[Any, Any]]:
    """Return the rows of the metric `versions` for a prompt or tool, the newest first."""
    rows: list[dict[Any, Any]] = store_queries.ask("versions", **subject._asdict()).to_dict("records")
    return rows


def draw_difference(subject: VersionedText, rows: Sequence[dict[Any, Any]]) -> None:
    """Draw selectors of two versions, and the difference between the texts of these versions.

    The URL keys `before` and `after` hold the choice.
    """
    by_number = {int(row["number"]): row for row in rows}
    newest = max(by_number)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        before = _choose_version(
            "Before", "before", by_number, newest - 1 if newest - 1 in by_number else newest
        )
        after = _choose_version("After", "after", by_number, newest)
    changes = unified_diff(_read_text(subject, by_number[before]), _read_text(subject, by_number[after]))
    if changes:
        st.code(wording.visible(changes), language="diff", wrap_lines=True)
    else:
        st.caption("These two are the same.")


def _choose_version(label: str, key: str, rows: Mapping[int, Mapping[Any, Any]], empty: int) -> int:
    def name_version(number: str) -> str:
        version = rows[int(number)]["version"]
        return f"Version {number}" + (f" · “{wording.one_line(version, 30)}”" if version else "")

    return int(choose_one(label, key, [str(number) for number in rows], str(empty), name_version))


def _read_text(subject: VersionedText, version: dict[Any, Any]) -> str:
    found = store_queries.ask("version_text", kind=subject.kind, id=version["id"], hash=version["hash"])
    if found.empty:
        return ""
    row = found.iloc[0]
    return definition_text(row.text, row.definition) if subject.kind == "tool" else row.text or ""
