"""Draws the filters of the call list and reads their values from the URL."""

from __future__ import annotations

import re
from typing import Any

import streamlit as st

from callgauge.analysis import wording
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components.controls.list_filters import (
    ATTEMPTS,
    CHAINS,
    TURNS,
    draw_pick,
    draw_search_box,
    fold_filters,
    read_order,
    read_pick,
)
from callgauge.dashboard.page_files import page_file
from callgauge.dashboard.pages.calls import URL_KEYS
from callgauge.dashboard.url_keys import read_dropped, write_to_url

OUTCOMES = {
    "": "All outcomes",
    "clean": "Clean",
    "mended": "Needed repair",
    "coerced": "Coerced",
    "repaired": "Repaired",
    "failed": "Failed",
    "strict": "Strict failures",
    "truncated": "Cut off",
    "unmeasured": "Not measured",
}
FAULTS = {
    "": "All failure stages",
    "any": "Any failure",
    "none": "No failure seen",
    "unknown": "Not measured",
    "unseen": "No failure seen, or not measured",
    "arguments": "Parse errors",
    "emission": "Missing call",
    "syntax": "Syntax",
    "schema": "Schema",
    "schema_error": "Schema errors, by the parser",
    "tool_rejected": "Rejected by the tool",
    "execution": "Execution",
    "refused": "Denied",
}
ORDERS = ("time", "tool", "outcome", "fault", "result", "took", "model", "attempt")
_FIRST_RETRIES = {
    "changed": "changed arguments",
    "changed_worked": "changed arguments, and worked",
    "identical": "identical arguments",
    "identical_worked": "identical arguments, and worked",
    "unknown": "arguments not kept, so not compared",
}
_MOST = 10  # maximum number of attempts; the daily sums count ten and more attempts as ten
_ATTEMPTS = re.compile(r"(\d{1,2})(-?)")
_PICKS = (
    ("outcome", "Outcome", OUTCOMES),
    ("fault", "Failure stage", FAULTS),
    ("turns", "Turns", TURNS),
    ("chain", "Retry sequence", CHAINS),
    ("attempt", "Attempt", ATTEMPTS),
)
_WIDTH = 280


def draw_filters() -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="callfilters"):
        with fold_filters(*(name for name, _, _ in _PICKS), "code"):
            for name, label, options in _PICKS:
                draw_pick(label, name, options, width=_WIDTH)
            draw_pick("Diagnostic", "code", _code_options(), width=_WIDTH)
        draw_search_box("Search the raw arguments", "q", "Search raw arguments", width=240)
    if signature := st.query_params.get("signature"):
        _draw_signature(signature)
    for key, words in (("attempts", _describe_attempts()), ("first_retry", _describe_first_retry())):
        if words:
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.caption(words, width="content")
                _draw_removal(key, "All lengths" if key == "attempts" else "All first retries")


def read_filters() -> dict[str, Any]:
    """Return the parameters of the metric `calls` from the filter bar and the URL."""
    first, last = _read_attempts()
    picks: dict[str, Any] = {name: read_pick(name, options) for name, _, options in _PICKS} | {
        "code": read_pick("code", _code_options()),
        "search": st.query_params.get("q") or None,
        "signature": st.query_params.get("signature") or None,
        "attempts_from": first,
        "attempts_to": last,
        "first_retry": read_pick("first_retry", _FIRST_RETRIES),
    }
    return filters.chosen_filters().parameters() | picks | read_order(ORDERS)


def is_narrowed() -> bool:
    """Return True when the filters of the page Calls narrow the list."""
    return any(st.query_params.get(name) for name in URL_KEYS.narrowing)


def kept_keys(*left_out: str) -> dict[str, str]:
    """Return the URL keys of the list: filters, order, page number and chosen row."""
    return read_dropped(URL_KEYS, *left_out)


def _code_options() -> dict[str, str]:
    codes = store_queries.ask("findings").code.tolist()
    return {"": "All diagnostics"} | {code: code for code in codes}


def _read_attempts() -> tuple[int | None, int | None]:
    """Return the smallest and the largest length of a retry sequence.

    `3-` in the URL means 3 attempts or more.
    """
    match = _ATTEMPTS.fullmatch(st.query_params.get("attempts") or "")
    if not match or not 1 <= int(match[1]) <= _MOST:
        return None, None
    number = int(match[1])
    return number, None if match[2] or number == _MOST else number


def _describe_attempts() -> str | None:
    first, last = _read_attempts()
    if first is None:
        return None
    return f"Retry sequences of {wording.plural(first, 'attempt')}{' or more' if last is None else ''}."


def _describe_first_retry() -> str | None:
    kind = read_pick("first_retry", _FIRST_RETRIES)
    return f"Retry sequences whose first retry had {_FIRST_RETRIES[kind]}." if kind else None


def _draw_signature(signature: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.page_link(
            page_file("errors"),
            label=wording.link_label(f"Calls of the error signature {wording.in_markdown(signature, 20)}"),
            query_params={"signature": signature},
            width="content",
        )
        _draw_removal("signature", "All calls")


def _draw_removal(key: str, label: str) -> None:
    st.button(label, on_click=write_to_url, args=(key, None), key=f"no_{key}", type="tertiary")
