"""Draws new errors, the list of error signatures, or one signature with its tools and models."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from typing import Any

import streamlit as st

from callgauge.analysis import testsets, wording
from callgauge.analysis.day_paging import CALLS, read_page
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.links import draw_link
from callgauge.dashboard.components.controls.paging import draw_pager
from callgauge.dashboard.components.controls.url_widgets import draw_fold, reset_page_number
from callgauge.dashboard.components.memory.note_list import draw_notes
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.dashboard.components.testset_export import draw_testset_export
from callgauge.dashboard.page_files import page_file
from callgauge.dashboard.pages.errors.signature_status import (
    KEY,
    KnownErrors,
    choose_status,
    draw_status,
    status_cell,
)
from callgauge.stats.day_spread import LEAST_DAYS

Row = Mapping[Hashable, Any]
PER_PAGE = 200
_SHOWN = 10  # rows of a page before "Show all"
_NAMED = 2  # tools and models that are listed in a cell


@dataclass(frozen=True, slots=True)
class RecentErrors:
    """The errors to show first, as rows of the metric `signatures`.

    `day` is the newest chosen day with calls, or None if no earlier day has calls. `on_day` holds errors
    first seen on that day. `earlier` holds errors first seen in the six days before and frequent since then.
    `returned` holds errors that returned after a fix. `returned_count` counts the returned errors in the
    whole store.
    """

    day: date | None
    on_day: Sequence[Row]
    earlier: Sequence[Row]
    returned: Sequence[Row]
    returned_count: int

    @property
    def rows(self) -> list[Row]:
        by_id = {row["signature_id"]: row for row in (*self.returned, *self.on_day, *self.earlier)}
        return list(by_id.values())

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(row["signature_id"] for row in self.rows)


def read_recent(known_errors: KnownErrors, chosen: Mapping[str, Any]) -> RecentErrors:
    """Return the new and returned errors."""
    rows = _ask(**chosen, **known_errors.narrow("all"))
    returned = [row for row in rows if row["signature_id"] in known_errors.returned]
    days = rows[0]["days"] if rows else None
    newest = date.fromisoformat(days[-1]) if days else None
    oldest = store_queries.ask("extent").iloc[0].first_day
    if newest is None or not oldest < newest:
        return RecentErrors(None, (), (), returned, len(known_errors.returned))
    fresh = store_queries.ask(
        "new_errors",
        newest=newest,
        least_days=LEAST_DAYS,
        **{name: value for name, value in chosen.items() if name not in ("from_day", "to_day")},
    )
    on_day = [row for row in rows if row["new"]]
    earlier = {str(signature) for signature in fresh.signature_id} - {row["signature_id"] for row in on_day}
    return RecentErrors(
        newest,
        on_day,
        _ask(**chosen, among=tuple(sorted(earlier))) if earlier else (),
        returned,
        len(known_errors.returned),
    )


def _ask(*, limit: int = PER_PAGE, offset: int = 0, **parameters: Any) -> Sequence[Row]:
    return store_queries.ask("signatures", **parameters, limit=limit, offset=offset).to_dict("records")


def show_recent(recent: RecentErrors, known_errors: KnownErrors) -> None:
    """Draw a card with new and returned errors. Draws nothing if there are no such errors."""
    if not recent.rows:
        return
    back = {row["signature_id"] for row in recent.returned}
    with cards.draw_card(
        "New errors and errors that are back" if recent.returned else "New errors",
        "signatures",
        "new_errors",
    ):
        _draw_rows("new_signatures", "New errors", recent.rows, known_errors, back=back)


def show(known_errors: KnownErrors, chosen: Mapping[str, Any], recent: RecentErrors) -> None:
    """Draw the error signatures that `show_recent` does not draw, optionally of one triage status."""
    every = store_queries.ask_later("signatures", **chosen, limit=cards.MOST_ROWS, offset=0)
    wrong = sum(
        row["calls"]
        for row in store_queries.ask("fault_layers", **chosen).to_dict("records")
        if row["layer"] in wording.STAGES
    )
    with cards.draw_card(
        "All other errors" if recent.rows else "Errors by signature",
        "signatures",
        beside=lambda: _draw_export("errors", chosen, wrong) if wrong else None,
        take=cards.Download("signatures", lambda: every().drop(columns=["days", "found"]), "all rows"),
        height=400,
    ):
        status = _choose_status(known_errors)
        narrowed = known_errors.narrow(status)
        if status == "all" and recent.rows:
            narrowed = {"without": recent.ids}
        rows = _read_page({**chosen, **narrowed})
        if not rows:
            st.caption(_describe_none(status, recent))
            return
        total = rows[0]["found"]
        days = rows[0]["days"] or []
        drawn = f" Bars: the {len(days)} newest days with calls." if days else ""
        st.caption(
            f"{wording.plural(total, 'signature')}: the text of the error without what differs each time."
            f"{drawn}"
        )
        # If there are several pages, sorting one page would not show the worst error of all.
        _draw_rows("signatures", "Errors by signature", rows, known_errors, ordered=total <= PER_PAGE)
        draw_pager("signature_page", -(-total // PER_PAGE))


def _choose_status(known_errors: KnownErrors) -> str:
    if not known_errors.states:
        return "all"
    fold = draw_fold("Filter this list", "narrow", opens=KEY in st.query_params)
    if fold is None:
        return "all"
    with fold:
        return choose_status(known_errors)


def _describe_none(status: str, recent: RecentErrors) -> str:
    if status != "all":
        return "No error has this triage status here."
    return "No other errors." if recent.rows else "No failed calls here."


def _read_page(parameters: Mapping[str, Any]) -> Sequence[Row]:
    """Return the signatures of the page in the URL, most frequent first."""
    reset_page_number("signature_page", parameters)
    text = st.query_params.get("signature_page")
    page = int(text) if text and text.isdecimal() and int(text) > 0 else 1
    rows = _ask(**parameters, offset=PER_PAGE * (page - 1))
    return rows if rows or page == 1 else _ask(**parameters)


def _draw_rows(
    key: str,
    caption: str,
    rows: Sequence[Row],
    known_errors: KnownErrors,
    *,
    ordered: bool = True,
    back: Set[str] = frozenset(),
) -> None:
    """Draw a table of signatures. Signatures in `back` are marked as returned after a fix."""
    built = [_build_row(row, ordered=ordered, is_back=row["signature_id"] in back) for row in rows]
    heads = list(_HEADS)
    if known_errors.states:
        heads.insert(1, _STATUS)
        cells = (status_cell(known_errors, row["signature_id"]) for row in rows)
        built = [[each[0], cell, *each[1:]] for each, cell in zip(built, cells, strict=True)]
    draw_table(key, caption, heads, built, shown=_SHOWN)


def _draw_export(key: str, chosen: Mapping[str, Any], total: int, signature: str | None = None) -> None:
    wanted = {**chosen, "fault": "any", "signature": signature}
    read = partial(read_page, store_queries.keep_asking(), CALLS, wanted)

    def listed_ids() -> list[str]:
        ids: list[str] = read(testsets.MOST).rows.call_id.tolist()
        return ids

    draw_testset_export(key, listed_ids, total, is_for_trials=True)


_HEADS = (
    Column("Signature", "file", width="34%"),
    Column("Stage", "tight"),
    Column("Calls", "number"),
    Column("Sessions", "number", "A session counts once for each day, model, prompt and tool"),
    Column("By day", "tight"),
    Column("First and last seen", "tight", "First: in the whole store, whatever the filters are"),
    Column("Tools", "short"),
    Column("Models", "short"),
    Column("Newest", "tight"),
)
_STATUS = Column("Triage status", "tight")


def _build_row(row: Row, *, ordered: bool, is_back: bool = False) -> list[Cell]:
    by_day = _describe_bars(row["days"] or (), row["by_day"] or ())
    cells = [
        Cell(
            wording.one_line(row["text"] or "–", 120),
            href=filters.page_link("errors", {}, {"signature": row["signature_id"]}),
            sub="back after a fix" if is_back else "new on the newest day" if row["new"] else None,
            order=row["text"],
        ),
        Cell(wording.failure_stage(row["fault_layer"]), tone="warn" if row["new"] or is_back else None),
        Cell(f"{row['calls']:,}", href=_calls_link(row["signature_id"]), order=row["calls"]),
        Cell(f"{row['sessions']:,}", order=row["sessions"]),
        Cell(
            "",
            bars=bar_shares(row["by_day"] or ()),
            title=by_day,
            values={"": (by_day or "").replace("\n", "; ")},
        ),
        Cell(
            _format_day(row["first_day"]),
            sub=_format_day(row["last_day"]) if row["last_day"] != row["first_day"] else None,
            order=_format_day(row["first_day"]),
        ),
        _names_cell(row["tools"]),
        _names_cell(row["models"]),
        _example_cell(row["example"]),
    ]
    return cells if ordered else [replace(cell, order=None) for cell in cells]


def bar_shares(counts: Sequence[int]) -> tuple[float, ...]:
    """Return each count divided by the largest count, or zeros when all counts are zero."""
    most = max(counts, default=0)
    return tuple(count / most if most else 0.0 for count in counts)


def _describe_bars(days: Sequence[str], counts: Sequence[int]) -> str | None:
    return "\n".join(f"{day}: {count:,}" for day, count in zip(days, counts, strict=False) if count) or None


def _format_day(day: Any) -> str:
    return f"{day}" if day else "no date"


def _names_cell(names: Sequence[str]) -> Cell:
    first, *others = [wording.one_line(name, 40) for name in names[:_NAMED]] or ["–"]
    more = f" + {len(names) - _NAMED:,}" if len(names) > _NAMED else ""
    listed = "\n".join(wording.one_line(name, 80) for name in names[:40])
    below = f"{', '.join(others)}{more}" or None
    return Cell(first, sub=below, title=listed, order=len(names), values={"": ", ".join(names)})


def _example_cell(call: str) -> Cell:
    return Cell("open", href=filters.page_link("calls", {}, {"call": call}), values={"call_id": call})


def _calls_link(signature: str) -> str:
    return filters.page_link("calls", {}, {"signature": signature})


def show_one(signature: str) -> None:
    """Draw one signature: its whole text, its first and last day, and its tools and models."""
    draw_link("all_errors", "← All errors", filters.page_link("errors", {}, {}))
    st.title("Error signature", anchor=False)
    chosen = filters.chosen_filters().parameters()
    rows = store_queries.ask("signatures", signature=signature, **chosen, limit=1, offset=0).to_dict(
        "records"
    )
    if not rows:
        cards.show_no_matches("calls of this signature")
        return
    row = rows[0]
    with cards.draw_card(
        f"{wording.failure_stage(row['fault_layer'])} · {wording.plural(row['calls'], 'call')}",
        "signatures",
        beside=lambda: _draw_export("signature", chosen, row["calls"], signature),
    ):
        st.code(wording.visible(row["text"] or "–"), language=None, wrap_lines=True)
        first, last = _format_day(row["first_day"]), _format_day(row["last_day"])
        sightings = f"First seen {first}, last {last} in this selection."
        new = " New: never seen before that day." if row["new"] else ""
        st.caption(f"{sightings}{new} Id: {signature[:12]}")
        draw_status(signature)
        draw_notes("signature", signature)
        with st.container(horizontal=True, gap="medium"):
            st.page_link(
                page_file("calls"),
                label=wording.link_label(f"See {wording.plural(row['calls'], 'call')}"),
                query_params={"signature": signature},
                width="content",
            )
            st.page_link(
                page_file("calls"),
                label=wording.link_label("Open the newest"),
                query_params={"call": row["example"]},
                width="content",
            )
    _draw_where(signature, chosen)


def _draw_where(signature: str, chosen: Mapping[str, Any]) -> None:
    with cards.draw_card(
        "Where this error occurs",
        "signature_use",
        take=cards.Download(
            "signature", store_queries.ask_later("signature_use", signature=signature, **chosen)
        ),
    ):
        rows = store_queries.ask("signature_use", signature=signature, **chosen).to_dict("records")
        heads = [
            Column("Tool", "name"), Column("Model", "name"), Column("Calls", "number"),
            Column("Sessions", "number"),
            Column("First seen", "tight"), Column("Last seen", "tight"), Column("Newest", "tight"),
        ]  # fmt: skip
        draw_table(
            "signature_use",
            "Where this error occurs",
            heads,
            [_build_use_row(signature, row) for row in rows],
        )


def _build_use_row(signature: str, row: Row) -> list[Cell]:
    tool, model = wording.one_line(row["tool"], 60), wording.one_line(row["model"], 60)
    narrowed = {"tool": row["tool"], "model": row["model"]}
    return [
        Cell(tool, href=filters.page_link("tools", {}, {"tool_open": row["tool"]}), order=tool),
        Cell(model, order=model),
        Cell(
            f"{row['calls']:,}",
            href=filters.page_link("calls", narrowed, {"signature": signature}),
            order=row["calls"],
        ),
        Cell(f"{row['sessions']:,}", order=row["sessions"]),
        Cell(_format_day(row["first_day"]), order=_format_day(row["first_day"])),
        Cell(_format_day(row["last_day"]), order=_format_day(row["last_day"])),
        _example_cell(row["example"]),
    ]
