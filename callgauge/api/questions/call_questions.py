"""Questions about tool calls, sessions and errors. Lists are returned in pages by a cursor."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from typing import Any

from callgauge.analysis import wording
from callgauge.analysis.day_paging import CALLS, SESSIONS, DayList, read_page
from callgauge.api.questions.answers import Answer, Row, first_row, list_rows
from callgauge.api.questions.parameters import Parameter
from callgauge.api.questions.problems import ProblemError
from callgauge.api.questions.slice_filters import FILTERS, choose_filters
from callgauge.api.questions.store_access import StoreAccess

OUTCOMES = ("clean", "mended", "coerced", "repaired", "failed", "strict", "truncated", "unmeasured")
FAULTS = (
    "any", "none", "unknown", "unseen", "arguments", "emission", "syntax", "schema", "tool_rejected",
    "execution", "refused",
)  # fmt: skip
_TURNS = (
    "retried", "disagree", "not_ok", "succeeded", "not_succeeded", "recorded_ok", "recorded_not_ok",
    "derived_ok", "derived_not_ok",
)  # fmt: skip
_CHAINS = ("any", "recovered", "abandoned", "open", "none")
_ATTEMPTS = ("first", "retry", "identical", "changed", "unknown")
_MOST_ROWS = 200
_MOST_TURNS = 100
_CURSOR = Parameter(
    "cursor", "text", "Cursor of the next page: `next_cursor` of the previous answer.", longest=200
)
_LIMIT = Parameter("limit", "integer", "Rows per page.", default=40, low=1, high=_MOST_ROWS)
_REVERSED = Parameter("reversed", "flag", "Reverse the order.")
_OF_CHAINS = (
    Parameter(
        "turns",
        "text",
        "Only calls of turns with this result; _ok: reported by the log, else derived.",
        _TURNS,
    ),
    Parameter(
        "chain",
        "text",
        "Only calls of retry sequences with this end; none: not in a retry sequence.",
        _CHAINS,
    ),
    Parameter("attempt", "text", "Only this kind of attempt of a retry sequence.", _ATTEMPTS),
)
CALL_CHOICES = (
    Parameter(
        "outcome",
        "text",
        "The outcome; `mended`: repaired or coerced; `strict`: invalid for a strict parser.",
        OUTCOMES,
    ),
    Parameter(
        "fault",
        "text",
        "The stage at which the call failed first; arguments: syntax or schema; any: every stage.",
        FAULTS,
    ),
    Parameter("code", "text", "Only calls with this diagnostic code, such as missing_required."),
    Parameter("signature", "text", "Only calls with this error signature (an ID)."),
    *_OF_CHAINS,
    Parameter("search", "text", "A part of the raw arguments, ignoring case.", longest=500),
)
"""The filters that apply only to calls."""
CALLS_ASKED = (
    *FILTERS,
    *CALL_CHOICES,
    Parameter(
        "order",
        "text",
        "Default: the newest first.",
        ("time", "tool", "outcome", "fault", "result", "took", "model", "attempt"),
    ),
    _REVERSED,
    _LIMIT,
    _CURSOR,
)
SESSIONS_ASKED = (
    *FILTERS,
    *_OF_CHAINS,
    Parameter("path_run", "text", "Only sessions of this run, as the path of their file names it."),
    Parameter("search", "text", "A part of an id, a task or what a user wrote, in any case.", longest=500),
    Parameter(
        "order",
        "text",
        "Default: the newest first.",
        ("time", "turns", "steps", "calls", "faults", "retries", "seconds"),
    ),
    _REVERSED,
    _LIMIT,
    _CURSOR,
)
CALL_ASKED = (Parameter("call", "text", "The id of a call.", is_required=True, is_in_path=True, longest=200),)
SESSION_ASKED = (
    Parameter("session", "text", "The id of a session.", is_required=True, is_in_path=True, longest=500),
    Parameter("source", "text", "The source, where several have a session of this id."),
    Parameter("first_turn", "integer", "The first turn to give.", default=0, low=0, high=2**31),
    Parameter("limit", "integer", "Turns to give.", default=20, low=1, high=_MOST_TURNS),
)
SIGNATURES_ASKED = (
    *FILTERS,
    Parameter("signature", "text", "Only this one, by its id; then also the tools and models it hit."),
    _LIMIT,
    _CURSOR,
)


def ask_calls(store: StoreAccess, parameters: Mapping[str, Any]) -> Answer:
    """Return a page of matching tool calls, sorted by a column. By default the newest calls come first."""
    chosen = {parameter.name: parameters[parameter.name] for parameter in CALL_CHOICES}
    return _read_list(store, CALLS, parameters, chosen, "call")


def ask_sessions(store: StoreAccess, parameters: Mapping[str, Any]) -> Answer:
    """Return a page of matching sessions, sorted by a column. By default the newest sessions come first."""
    narrowed = {name: parameters[name] for name in ("turns", "chain", "attempt", "search")}
    return _read_list(store, SESSIONS, parameters, narrowed | {"run": parameters["path_run"]}, "session")


def _read_list(
    store: StoreAccess, listed: DayList, parameters: Mapping[str, Any], narrowed: Mapping[str, Any], noun: str
) -> Answer:
    chosen = choose_filters(store.reader.ask, parameters)
    offset, limit = _read_cursor(parameters["cursor"], store), parameters["limit"]
    narrowing = {**chosen.parameters, **narrowed}
    if parameters["order"]:
        # Newest first is the default order, as on the pages.
        if parameters["order"] != "time" or parameters["reversed"]:
            narrowing |= {"order": parameters["order"], "reversed": parameters["reversed"]}
    elif parameters["reversed"]:
        narrowing |= {"order": "time", "reversed": True}
    # Counting has no own time limit, because the question has one.
    listing = read_page(store.reader.ask, listed, narrowing, limit, offset, clock=lambda: 0.0)
    rows = list_rows(listing.rows, "found", "preview_from")
    for row in rows:
        if row.get("prompt_id"):
            row["prompt"] = chosen.label("prompt", row["prompt_id"])
    after = offset + len(rows)
    has_more = bool(rows) and (after < listing.found or not listing.is_complete)
    number = f"{'' if listing.is_complete else 'at least '}{wording.plural(listing.found, noun)}"
    facts = {
        "found": listing.found,
        "found_is_complete": listing.is_complete,
        "days": chosen.describe_days(),
        "next_cursor": _write_cursor(after, store) if has_more else None,
    }
    shown = f"; these are {offset + 1} to {after}" if rows and has_more else ""
    return Answer(facts, rows, f"{number[0].upper()}{number[1:]} found{shown}.", has_log_text=bool(rows))


def _write_cursor(offset: int, store: StoreAccess) -> str:
    cursor = json.dumps([store.generation, offset]).encode()
    return base64.urlsafe_b64encode(cursor).decode().rstrip("=")


def _read_cursor(text: str | None, store: StoreAccess) -> int:
    """Return the offset of a cursor.

    Rejects the cursor if a new store file was published since, because the next page would skip or repeat
    rows.
    """
    if not text:
        return 0
    try:
        fields = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        generation, offset = str(fields[0]), int(fields[1])
    except (binascii.Error, ValueError, TypeError, IndexError, KeyError, RecursionError):
        raise ProblemError(400, "Invalid cursor; use `next_cursor` of the previous answer.") from None
    if generation != store.generation:
        raise ProblemError(409, "The store was loaded again since that page; start without a cursor.")
    if not 0 <= offset < 2**40:
        raise ProblemError(400, "Invalid cursor; use `next_cursor` of the previous answer.")
    return offset


def ask_call(store: StoreAccess, parameters: Mapping[str, Any]) -> Answer:
    """Return one tool call: raw arguments, outcome, diagnostics with positions, and neighbouring calls."""
    ask = store.reader.ask
    call = first_row(ask("call", call=parameters["call"]))
    if call is None:
        raise ProblemError(404, "The store has no call with this id; see the list of calls.")
    findings = list_rows(ask("call_findings", call=call["call_id"], file=call["file_id"]))
    place = {"call": call["call_id"], "session": call["session_id"], "source": call["source"]}
    neighbours = first_row(ask("call_neighbours", **place))
    attempts: Sequence[Row] = ()
    if call["chain_id"]:
        attempts = list_rows(ask("chain_calls", chain=call["chain_id"], turn=call["turn_id"]))
    for name in ("arguments", "rejected", "definition"):
        call[name] = _read_json(call[name])
    codes = wording.list_words([row["code"] for row in findings[:5]]) if findings else "none"
    layer = f", at fault: {call['fault_layer']}" if call["fault_layer"] else ""
    summary = f"{call['tool'] or 'unknown tool'} by {call['model'] or 'unknown'}: {call['outcome']}{layer}."
    facts = {"call": call, "findings": findings, "neighbours": neighbours, "attempts": attempts}
    return Answer(facts, text=f"{summary} Findings: {codes}.", has_log_text=True)


def ask_session(store: StoreAccess, parameters: Mapping[str, Any]) -> Answer:
    """Return one session: its properties, its turns with their messages, and its tool calls in order."""
    ask, name = store.reader.ask, parameters["session"]
    sessions = list_rows(ask("session", session=name))
    if parameters["source"]:
        sessions = [row for row in sessions if row["source"] == parameters["source"]]
    if not sessions:
        raise ProblemError(404, "The store has no session with this id; see the list of sessions.")
    session = sessions[0]
    place = {"session": name, "source": session["source"]}
    every = list_rows(ask("session_turns", **place))
    turns = [row for row in every if (row["turn"] or 0) >= parameters["first_turn"]][: parameters["limit"]]
    numbers = [row["turn"] or 0 for row in turns]
    words: dict[str, Row] = {}
    if numbers:
        texts_frame = ask("turn_texts", **place, first_turn=min(numbers), last_turn=max(numbers))
        words = {row["turn_id"]: row for row in list_rows(texts_frame)}
    calls: dict[str, list[Row]] = {}
    for row in list_rows(ask("session_outline", **place)):
        if row["call_id"] is not None:
            calls.setdefault(row["turn_id"], []).append(row)
    for row in turns:
        row |= {"user_text": None, "answer_text": None, **words.get(row["turn_id"], {})}
        row["tool_calls"] = calls.get(row["turn_id"], [])
    after = every.index(turns[-1]) + 1 if turns else len(every)
    facts = {
        "session": session,
        "sources": [row["source"] for row in sessions],
        "turns": turns,
        "turns_in_all": len(every),
        "next_turn": every[after]["turn"] if after < len(every) else None,
    }
    summary = (
        f"{wording.plural(len(every), 'turn')}, {wording.plural(sum(map(len, calls.values())), 'call')}."
    )
    return Answer(facts, text=summary, has_log_text=True)


def ask_signatures(store: StoreAccess, parameters: Mapping[str, Any]) -> Answer:
    """Return error signatures: new signatures first, then by frequency.

    A signature is an error message without its variable parts.
    """
    ask = store.reader.ask
    chosen = choose_filters(ask, parameters)
    offset, limit = _read_cursor(parameters["cursor"], store), parameters["limit"]
    narrowed = {**chosen.parameters, "signature": parameters["signature"]}
    frame = ask("signatures", **narrowed, limit=limit, offset=offset)
    rows = list_rows(frame, "found")
    total = int(frame.found.iloc[0]) if len(frame) else 0
    after = offset + len(rows)
    facts: dict[str, Any] = {
        "found": total,
        "days": chosen.describe_days(),
        "next_cursor": _write_cursor(after, store) if after < total else None,
    }
    if parameters["signature"]:
        facts["where"] = list_rows(ask("signature_use", **narrowed))
    new = sum(bool(row["new"]) for row in rows)
    summary = f"{wording.plural(total, 'error signature')}, {new} of those here new."
    return Answer(facts, rows, summary, has_log_text=bool(rows))


def _read_json(text: Any) -> Any:
    """Return the parsed value of stored JSON. Return the string itself if the value is nested too deeply."""
    try:
        return json.loads(text) if isinstance(text, str) else text
    except (ValueError, RecursionError):
        return text
