"""The part of the Data page on what changed: prompts and tools with several texts, two of them compared."""

from __future__ import annotations

from typing import Any, NamedTuple

import streamlit as st

from dashboard import filters, wording
from dashboard.diffs import definition_text, unified
from dashboard.pages import answers, cards
from dashboard.pages.paging import Row, paged, pager
from dashboard.pages.sheet import Cell, Column, sheet
from dashboard.pages.urlstate import url_widget


class Subject(NamedTuple):
    """A prompt or a tool of one source. Prompts without a name share the empty one."""

    kind: str
    source: str
    name: str

    @property
    def title(self) -> str:
        return self.name or "prompts without a name"


def show() -> None:
    rows, pages = paged("changed", "changes", 10)
    if not rows:
        return
    with cards.card(
        "Prompts and tools that changed",
        "changed",
        "versions",
        caption="Each text is kept. Open one to see its versions, and what changed between two.",
    ):
        columns = [
            Column("Name", "name"), Column("Kind", "tight"), Column("Source", "tight"),
            Column("Versions", "number"), Column("Newest since", "tight"), Column("Turns or calls", "number"),
        ]  # fmt: skip
        sheet("changed", "Prompts and tools that changed", columns, [_row(row) for row in rows])
        pager("changes", pages)
        if subject := _chosen():
            _versions(subject)


def _row(row: Row) -> list[Cell]:
    subject = Subject(row["kind"], row["source"], row["name"])
    return [
        Cell(
            wording.one_line(subject.title, 80), href=filters.link("data", {}, {"changed": ":".join(subject)})
        ),
        Cell(row["kind"]),
        Cell(row["title"] or "–"),
        Cell(f"{row['versions']:,}"),
        Cell(wording.utc(row["changed"])),
        Cell(f"{row['uses']:,}"),
    ]


def _chosen() -> Subject | None:
    """What the URL names; the name may hold colons of its own."""
    parts = (st.query_params.get("changed") or "").split(":", 2)
    return Subject(*parts) if len(parts) == 3 else None


def _versions(subject: Subject) -> None:
    asked = subject._asdict()
    rows: list[dict[Any, Any]] = answers.ask("versions", **asked).to_dict("records")
    if not rows:
        st.caption("The store knows no versions of it.")
        return
    st.subheader(wording.in_markdown(subject.title), anchor=False)
    columns = [
        Column("Version", "tight"), Column("In force", "tight"), Column("Hash", "tight"),
        Column("Turns" if subject.kind == "prompt" else "Calls", "number"),
    ]  # fmt: skip
    sheet("versions", f"Versions of {subject.title}", columns, [_version_row(row) for row in rows])
    if len(rows) > 1:
        _difference(subject, rows)


def _version_row(row: Row) -> list[Cell]:
    days = f"{row['first_day']} – {row['last_day']}" if row["first_day"] else "unknown days"
    return [
        Cell(
            f"{row['number']:,}",
            sub=row["version"] and f"“{wording.one_line(row['version'], 30)}” in the log",
        ),
        Cell(days),
        Cell((row["hash"] or "–")[:12], mono=True),
        Cell(f"{row['uses']:,}"),
    ]


def _difference(subject: Subject, rows: list[dict[Any, Any]]) -> None:
    by_number = {int(row["number"]): row for row in rows}
    newest = max(by_number)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        before = _pick("Before", "before", list(by_number), newest - 1 if newest - 1 in by_number else newest)
        after = _pick("After", "after", list(by_number), newest)
    changes = unified(_text(subject, by_number[before]), _text(subject, by_number[after]))
    if changes:
        st.code(wording.visible(changes), language="diff", wrap_lines=True)
    else:
        st.caption("These two are the same.")


def _pick(label: str, key: str, numbers: list[int], empty: int) -> int:
    def parse(text: str) -> int:
        if int(text) not in numbers:
            raise ValueError(text)
        return int(text)

    def draw(name: str) -> int:
        return int(
            st.selectbox(label, numbers, key=name, format_func=lambda number: f"Version {number}", width=160)
        )

    return url_widget(draw, key, empty, parse)


def _text(subject: Subject, version: dict[Any, Any]) -> str:
    found = answers.ask("version_text", kind=subject.kind, id=version["id"], hash=version["hash"])
    if found.empty:
        return ""
    row = found.iloc[0]
    return definition_text(row.text, row.definition) if subject.kind == "tool" else row.text or ""
