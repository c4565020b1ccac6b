"""The page Sessions: a list of matching sessions.

With `?session=` in the URL, the page shows one session as a timeline.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.day_paging import SESSIONS, ListPage, read_page
from callgauge.analysis.measures.slices import make_slices
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.list_filters import (
    draw_pick,
    draw_search_box,
    fold_filters,
)
from callgauge.dashboard.components.controls.paging import (
    Row,
    describe_count,
    draw_pager,
    offer_further_days,
    read_newest,
    show_nothing_found,
)
from callgauge.dashboard.components.table import Cell, Column, draw_table, order_column
from callgauge.dashboard.pages.sessions import URL_KEYS, one_session
from callgauge.dashboard.pages.sessions.session_filters import (
    ORDERS,
    PICKS,
    kept_keys,
    list_link,
    list_runs,
    read_filters,
)
from callgauge.dashboard.shown_page import record_answer

_MODELS = 3


def show() -> None:
    if st.query_params.get("session") is not None:
        one_session.show()
        return
    st.title("Sessions", anchor=False)
    slot = st.container(key="verdict")
    _draw_filters()
    chosen = read_filters()
    listing, pages = read_newest(SESSIONS, "session_page", chosen)
    if listing.rows.empty:
        show_nothing_found(listing, "session", lambda: cards.show_no_matches("sessions"))
        return
    record_answer(answer := _describe_sessions(listing))
    slot.header(answer, anchor=False)
    _draw_list(chosen, listing, pages)


def _draw_filters() -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="sessionfilters"):
        with fold_filters(*(name for name, _, _ in PICKS), "path_run"):
            for name, label, options in PICKS:
                draw_pick(label, name, options, width=280)
            if runs := list_runs():
                draw_pick("Run", "path_run", runs, width=280)
        draw_search_box(
            "Search ids, tasks and what users wrote", "q", "Search ids, tasks, messages", width=260
        )


def _describe_sessions(listing: ListPage) -> str:
    """Return a sentence that counts the matching sessions and their successful turns."""
    count = describe_count(listing, "session")
    if any(st.query_params.get(name) for name in URL_KEYS.narrowing):
        return f"{count} match{'es' if listing.found == 1 else ''}."
    chosen = filters.chosen_filters().parameters()
    rates = {
        slice_.rate.name: slice_.share
        for slice_ in make_slices(store_queries.ask("slices", rates=_RATES, **chosen))
    }
    parts = [
        f"{wording.rate(share.k, share.n)} {words}"
        for name, words in _TURNS.items()
        if (share := rates.get(name)) is not None and share.n
    ]
    return f"{count}. {' and '.join(parts)}." if parts else f"{count}."


_TURNS = {"turn_success": "of their turns succeeded", "retried": "had a retry"}
_RATES = tuple(_TURNS)


def _draw_list(chosen: Mapping[str, Any], listing: ListPage, pages: int) -> None:
    ask = store_queries.keep_asking()
    order = chosen.get("order")
    with cards.draw_card(
        f"Sorted by {ORDERS[order]}" if order else "Newest first",
        "sessions",
        take=cards.Download(
            "sessions",
            lambda: read_page(ask, SESSIONS, chosen, cards.MOST_ROWS).rows.drop(columns="found"),
            "all rows",
        ),
        height=600,
    ):
        rows = [_build_row(row) for row in listing.rows.to_dict("records")]
        draw_table("sessions_list", "Sessions", _make_columns(), rows, opens=True)
        offer_further_days(listing, "session")
        draw_pager("session_page", pages)


def _make_columns() -> list[Column]:
    def sorts(order: str, column: Column) -> Column:
        return order_column(column, order, "descending", _order_link)

    return [
        sorts("time", Column("Start (UTC)", "tight")),
        Column(
            "Session",
            "file",
            "Its task or first message, its id, and its run where the path names one",
        ),
        Column("Models", "name", "The smaller lines are the hosts and the source of the log"),
        sorts("turns", Column("Turns", "number")),
        sorts("calls", Column("Calls", "number")),
        sorts("faults", Column("Failed calls", "number", "Calls that failed at any stage")),
        sorts("retries", Column("Retries", "number")),
        Column("Successful turns", "number", "As the log reports it, else derived"),
        sorts("seconds", Column("Duration", "number", "From the first to the last entry of the log")),
        Column("Tokens", "number", "Input and output, of the turns whose log has them"),
    ]


def _order_link(order: str | None) -> str:
    query = kept_keys("session_page", "order")
    return filters.page_link("sessions", {}, query | ({"order": order} if order else {}))


def _build_row(row: Row) -> list[Cell]:
    start = row["started_at"]
    prompt = row["said"] or ""
    models = [wording.short_name(model, 60) for model in row["models"]]
    more = [f"and {len(models) - _MODELS} more"] if len(models) > _MODELS else []
    missing = row["turns"] - row["tokens_known"]
    return [
        Cell(
            f"{start:%Y-%m-%d}" if start else "no time",
            href=list_link(row, st.query_params.get("session_page") or "1"),
            sub=f"{start:%H:%M:%S}" if start else None,
            values={"": start},
        ),
        Cell(_session_title(row), sub=_session_ids(row), title=wording.visible(prompt)),
        Cell(
            "\n".join(models[:1]) or "–",
            sub="\n".join(
                (
                    *models[1:_MODELS],
                    *more,
                    *_describe_hosts(row["providers"]),
                    wording.one_line(row["title"], 60),
                )
            ),
        ),
        Cell(
            f"{row['turns']:,}",
            sub=wording.plural(row["steps"], "step"),
            values={"": row["turns"], "steps": row["steps"]},
        ),
        Cell(f"{row['calls']:,}"),
        Cell(f"{row['faults']:,}", tone="warn" if row["faults"] else None),
        Cell(f"{row['retries']:,}"),
        _success_cell(row),
        Cell(wording.duration(row["seconds"]), values={"seconds": row["seconds"]}),
        Cell(
            wording.compact(row["tokens"]),
            sub=f"{wording.plural(missing, 'turn')} unknown" if row["tokens_known"] and missing else None,
        ),
    ]


def _describe_hosts(hosts: Sequence[str]) -> list[str]:
    if not hosts or not filters.has_several_hosts():
        return []
    named = [wording.short_name(host, 40) for host in hosts[:_MODELS]]
    more = f" and {len(hosts) - _MODELS} more" if len(hosts) > _MODELS else ""
    return [f"on {', '.join(named)}{more}"]


def _session_title(row: Row) -> str:
    words = wording.one_line(row["task"] or row["said"] or "no message", 90)
    return f"{words} (sub-agent)" if row["parent_session_id"] else words


def _session_ids(row: Row) -> str:
    run = f"run {wording.one_line(row['run'], 60)}" if row["run"] else ""
    return "\n".join(filter(None, (wording.one_line(row["session_id"], 80), run)))


def _success_cell(row: Row) -> Cell:
    measured = row["success_known"]
    unknown = row["turns"] - measured
    if not measured:
        return Cell("–", sub="not measured" if row["turns"] else None)
    return Cell(
        wording.fraction(row["succeeded"], measured), sub=f"{unknown:,} not measured" if unknown else None
    )


show()
