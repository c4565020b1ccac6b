"""Computes the expected daily sums of a store in plain Python, row by row."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, time
from hashlib import md5
from pathlib import Path
from typing import Any

import duckdb

from ingest.store.generations import published_generation

Row = dict[str, Any]
Counted = tuple[bool, bool, bool]  # whether a call or turn counts in `total`, in `n`, and in `k`

WHO = ("day", "source", "provider", "model", "prompt_id", "trial_run", "arm")
REFUSED = ("syntax", "schema")
MENDED = ("coerced", "repaired")
FAILED = (*MENDED, "failed")
CUT_OFF = re.compile(r"(^|; )(truncated_|unclosed_string|missing_closer|json_parse_error:[^;]*(end|cut))")
VERDICTS = ("recorded_ok", "derived_ok")
LARGEST = 4, 16  # exponents: arguments are grouped by length, from 2^4 to 2^16


class Facts:
    """The rows of a store, without rows that do not count."""

    def __init__(self, store: Path) -> None:
        generation = published_generation(store)
        assert generation is not None
        with duckdb.connect(str(generation), read_only=True) as con:
            self.tables = {name: _rows(con, name) for (name,) in con.execute("SHOW TABLES").fetchall()}
        counting = ("sessions", "turns", "tool_calls")
        self.sessions, self.turns, self.calls = (
            [row for row in self.tables[name] if not row["duplicate"]] for name in counting
        )
        self.turn_of = {turn["turn_id"]: turn for turn in self.turns}
        versions = {
            (session["source"], session["session_id"]): session["harness_version"]
            for session in self.sessions
        }
        for row in (*self.turns, *self.calls):
            row["harness_version"] = versions.get((row["source"], row["session_id"]))


def _rows(con: duckdb.DuckDBPyConnection, table: str) -> list[Row]:
    relation = con.table(table)
    return [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]


def grouped(rows: Iterable[Row], columns: Sequence[str]) -> dict[tuple[Any, ...], list[Row]]:
    groups: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        groups[tuple(row[name] for name in columns)].append(row)
    return groups


def sorted_rows(rows: Sequence[Row], columns: Sequence[str]) -> list[str]:
    return sorted(json.dumps([_plain(row[name]) for name in columns]) for row in rows)


def _plain(value: Any) -> Any:
    if isinstance(value, int | float):
        return round(float(value), 6)
    return None if value is None else str(value)


def group_of(source: str | None, session_id: str | None) -> int:
    """Return the group of a session, computed from the first 32 bits of an MD5, big endian."""
    hashed = md5(f"{source or ''}\0{session_id or ''}".encode(), usedforsecurity=False)
    return int.from_bytes(hashed.digest()[:4], "big") % 50


def by_group(source: str | None, counts: Mapping[str, tuple[int, int]]) -> Row:
    """Return the columns from which an interval is computed. `counts` has (k, n) of each session. Sessions
    with n = 0 are ignored.
    """
    observed = {session_id: counted for session_id, counted in counts.items() if counted[1]}
    groups: dict[int, tuple[int, int]] = {}
    for session_id, (k, n) in observed.items():
        group = group_of(source, session_id)
        before = groups.get(group, (0, 0))
        groups[group] = (before[0] + k, before[1] + n)
    return {
        "k": sum(k for k, _ in observed.values()), "n": sum(n for _, n in observed.values()),
        "sessions": len(observed),
        "group_ids": sorted(groups),
        "group_k": [groups[group][0] for group in sorted(groups)],
        "group_n": [groups[group][1] for group in sorted(groups)],
    }  # fmt: skip


# --- rates ---------------------------------------------------------------------------------------


def is_syntax_measured(call: Row) -> bool:
    return call["syntax_seen"] not in (None, "none") or call["fault_layer"] == "syntax"


def is_parse_error(call: Row) -> bool:
    """Return whether a call's syntax or schema failed. The schema counts only if both were measured."""
    measured = is_syntax_measured(call) and call["schema_seen"] == "full"
    return call["fault_layer"] == "syntax" or (measured and call["fault_layer"] == "schema")


def of_call(call: Row) -> dict[str, Counted]:
    layer, outcome = call["fault_layer"], call["outcome"]
    syntax, schema = is_syntax_measured(call), call["schema_seen"] == "full"
    text = call["syntax_seen"] == "full"
    read = text and schema
    answered = call["result_status"] in ("ok", "error")
    offered, raw = bool(call["tools_offered"]), call["args_source"] == "raw"
    messages = "; ".join(filter(None, (call["parse_error"], call["parse_warning"])))
    codes = {part.split(":")[0] for part in (call["parse_error"] or "").split("; ")}
    first = call["attempt"] == 1
    return {
        "parse_error": (True, syntax, is_parse_error(call)),
        "syntax_error": (True, syntax, layer == "syntax"),
        "schema_error": (True, schema, schema and layer == "schema"),
        "defined": (True, text or schema, syntax and schema),
        "strict_failure": (True, read, read and outcome in FAILED),
        "salvaged": (outcome in FAILED, read and outcome in FAILED, read and outcome in MENDED),
        "mended": (True, read, read and outcome in MENDED),
        "coerced": (True, schema, schema and outcome == "coerced"),
        "repaired": (True, text, text and outcome == "repaired"),
        "unknown_tool": (True, offered, offered and "unknown_tool" in codes),
        "emission": (True, True, layer == "emission"),
        "truncated": (True, raw, raw and bool(CUT_OFF.search(messages))),
        "tool_rejected": (True, answered or layer == "tool_rejected", layer == "tool_rejected"),
        "execution": (True, answered, answered and layer == "execution"),
        "refused": (True, answered or layer == "refused", layer == "refused"),
        "recovered": (
            first,
            first and call["chain_outcome"] is not None,
            first and call["chain_outcome"] == "recovered",
        ),
    }


def of_turn(turn: Row) -> dict[str, Counted]:
    recorded, derived = turn["recorded_ok"], turn["derived_ok"]
    both = recorded is not None and derived is not None
    success = derived if recorded is None else recorded
    return {
        "retried": (True, (turn["calls"] or 0) > 0, (turn["retries"] or 0) > 0),
        "turn_success": (True, recorded is not None or derived is not None, success is True),
        "recorded_ok": (True, recorded is not None, recorded is True),
        "derived_ok": (True, derived is not None, derived is True),
        "disagree": (True, both, both and recorded != derived),
    }


def rates(facts: Facts) -> Iterator[Row]:
    tools = ("strategy", "tool", "mcp_server", "definition_id")
    who = (*WHO, "harness_version")
    nothing = dict.fromkeys(tools)
    called = grouped(facts.calls, ("turn_id",))
    entries: list[tuple[Row, Callable[[Row], dict[str, Counted]], Row]] = []
    for call in facts.calls:
        entries.append((call, of_call, {**nothing, "strategy": call["strategy"], "cut": "all"}))
        entries.append((call, of_call, {**{name: call[name] for name in tools}, "cut": "tool"}))
    for turn in facts.turns:
        entries.append((turn, of_turn, {**nothing, "cut": "all"}))
        of_tools = grouped(called.get((turn["turn_id"],), ()), tools)
        entries += [
            (turn, of_turn, {**dict(zip(tools, made, strict=True)), "cut": "tool"}) for made in of_tools
        ]
    cells: dict[tuple[Any, ...], dict[str, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0, 0, 0]))
    for row, rule, where in entries:
        for rate, counted in rule(row).items():
            key = (*(row[name] for name in who), *(where[name] for name in tools), where["cut"], rate)
            sums = cells[key][row["session_id"]]
            for at, is_counted in enumerate(counted):
                sums[at] += is_counted
    for key, sessions in cells.items():
        if total := sum(counts[0] for counts in sessions.values()):
            named = dict(zip((*who, *tools, "cut", "rate"), key, strict=True))
            counts = {session_id: (k, n) for session_id, (_, n, k) in sessions.items()}
            yield {**named, "total": total, **by_group(named["source"], counts)}


# --- chains, steps, parameters, traits -----------------------------------------------------------


def chains(facts: Facts) -> Iterator[Row]:
    by_chain = grouped((call for call in facts.calls if (call["attempt"] or 0) > 1), ("chain_id",))
    paid: set[str] = set()
    for again in grouped((call for row in by_chain.values() for call in row), ("turn_id", "step")).values():
        paid.add(min(again, key=lambda call: (call["ordinal"], call["call_id"]))["call_id"])
    cells: dict[tuple[Any, ...], Counter[str]] = defaultdict(Counter)
    names = (*WHO, "tool", "mcp_server", "fault_layer", "ended", "attempts", "session_group")
    for call in facts.calls:
        if call["attempt"] != 1 or call["chain_id"] != call["call_id"]:
            continue
        again = by_chain.get((call["call_id"],), [])
        ended, attempts = call["chain_outcome"] or "open", min(1 + len(again), 10)
        group = group_of(call["source"], call["session_id"])
        cell = cells[
            (*(call[name] for name in (*WHO, "tool", "mcp_server", "fault_layer")), ended, attempts, group)
        ]
        cell.update(chains=1, retries=len(again), steps=sum(retry["call_id"] in paid for retry in again))
        cell.update(identical=sum(retry["retry_kind"] == "identical" for retry in again))
        for retry in again:
            if retry["attempt"] == 2 and retry["retry_kind"] is not None:
                first = f"first_{retry['retry_kind']}"
                cell.update({first: 1, f"{first}_worked": retry["fault_layer"] is None})
        if again and all(None not in (retry["input_tokens"], retry["output_tokens"]) for retry in again):
            own = [retry for retry in again if retry["call_id"] in paid]
            tokens = sum(retry["input_tokens"] + retry["output_tokens"] for retry in own)
            cell.update(tokens=tokens, tokens_known=1)
        for retry in again:
            if retry["call_id"] in paid and None not in (retry["input_tokens"], retry["output_tokens"]):
                cell.update(token_parts(retry), counted_steps=1)
        timed = [retry for retry in again if (retry["model_latency_ms"], retry["latency_ms"]) != (None, None)]
        if timed:
            model = sum(
                microseconds(retry["model_latency_ms"]) for retry in timed if retry["call_id"] in paid
            )
            cell.update(us=model + sum(microseconds(retry["latency_ms"]) for retry in timed), ms_known=1)
    kinds = [f"first_{kind}{worked}" for kind in ("identical", "changed") for worked in ("", "_worked")]
    counted = ("chains", "retries", "identical", *kinds, "steps", "tokens", "tokens_known", "us", "ms_known")
    counted += COUNTED
    for key, cell in cells.items():
        yield {**dict(zip(names, key, strict=True)), **{name: cell[name] for name in counted}}


def microseconds(milliseconds: float | None) -> int:
    return round((milliseconds or 0) * 1000)


COUNTED = ("counted_steps", "counted_input", "counted_cached", "counted_cache_write", "counted_output")


def token_parts(call: Row) -> dict[str, int]:
    cached, written = call["cached_tokens"] or 0, call["cache_write_tokens"] or 0
    return {
        "counted_input": call["input_tokens"] - cached - written, "counted_cached": cached,
        "counted_cache_write": written, "counted_output": call["output_tokens"],
    }  # fmt: skip


def tokens(facts: Facts) -> Iterator[Row]:
    cells: dict[tuple[Any, ...], Counter[str]] = defaultdict(Counter)
    for turn in facts.turns:
        steps = turn["steps"] or 0
        whole = turn["counted_steps"] is not None and steps > 0 and turn["counted_steps"] >= steps
        group = group_of(turn["source"], turn["session_id"])
        cell = cells[(*(turn[name] for name in WHO), group, whole, *(turn[name] for name in VERDICTS))]
        cell.update(turns=1, steps=steps, **{name: turn[name] or 0 for name in COUNTED})
    for key, cell in cells.items():
        named = dict(zip((*WHO, "session_group", "whole", *VERDICTS), key, strict=True))
        yield {**named, **{name: cell[name] for name in ("turns", "steps", *COUNTED)}}


def parallel(facts: Facts) -> Iterator[Row]:
    shown = {turn["turn_id"] for turn in facts.turns if turn["results_expected"]}
    going_on = {
        turn["turn_id"]
        for turn in facts.turns
        if turn["derived_reason"] == "not_ended" and turn["derived_ok"] is None
    }
    last: dict[str, int] = {}
    for call in facts.calls:
        last[call["turn_id"]] = max(call["step"], last.get(call["turn_id"], 0))
    cells: dict[tuple[Any, ...], Counter[str]] = defaultdict(Counter)
    steps = grouped((call for call in facts.calls if call["turn_id"] in shown), (*WHO, "turn_id", "step"))
    for (*who, turn_id, step), calls in steps.items():
        if len(calls) < 2 or (turn_id in going_on and step == last[turn_id]):
            continue
        bad = sum(call["fault_layer"] in ("emission", *REFUSED) for call in calls)
        lost = sum(
            call["fault_layer"] in (None, "refused") and call["result_status"] in ("missing", "denied")
            for call in calls
        )
        cell = cells[(*who, group_of(calls[0]["source"], calls[0]["session_id"]))]
        cell.update(steps=1, calls=len(calls), lost=lost)
        if bad:
            cell.update(bad_steps=1, bad=bad, others=len(calls) - bad, others_lost=lost)
    for key, cell in cells.items():
        counted = ("steps", "calls", "lost", "bad_steps", "bad", "others", "others_lost")
        yield {
            **dict(zip((*WHO, "session_group"), key, strict=True)),
            **{name: cell[name] for name in counted},
        }


def parameters(facts: Facts) -> Iterator[Row]:
    counting = {(call["call_id"], call["file_id"]): call for call in facts.calls}
    cells: dict[tuple[Any, ...], dict[str, Row]] = defaultdict(dict)
    shared = (*WHO, "tool", "mcp_server", "definition_id")
    for finding in facts.tables["diagnostics"]:
        call = counting.get((finding["call_id"], finding["file_id"]))
        if call is not None:
            path = re.sub(r"\[\d+\]", "[]", finding["path"] or "$").removeprefix("$").removeprefix(".")
            key = (*(call[name] for name in shared), path, finding["code"], finding["severity"])
            cells[key][call["call_id"]] = call
    for key, calls in cells.items():
        newest = max(calls.values(), key=lambda call: (called_at(call), call["call_id"]))
        named = dict(zip((*shared, "parameter", "code", "severity"), key, strict=True))
        groups = Counter(group_of(call["source"], call["session_id"]) for call in calls.values())
        yield {
            **named, "calls": len(calls),
            "example": newest["call_id"], "example_ts": called_at(newest),
            "group_ids": sorted(groups), "group_calls": [groups[group] for group in sorted(groups)],
        }  # fmt: skip


def called_at(call: Row) -> datetime:
    return call["ts"] or datetime.combine(call["day"] or date.min, time())


def classes(call: Row, turn: Mapping[str, Any]) -> dict[str, int | None]:
    text, depth, number, offered = (
        call["raw_arguments"], call["arguments_depth"], call["turn"], turn.get("offered_tools"),
    )  # fmt: skip
    length = len(text.encode()) if text is not None else None
    wide = (0, 0.01, 0.1, 0.5)
    low, high = LARGEST
    return {
        "length": None if length is None else max(low, min(high, max(length, 1).bit_length() - 1)),
        "depth": None if depth is None else min(depth, 6),
        "non_ascii": None
        if length is None
        else sum(length > len(text) * (1 + share) + 1e-9 for share in wide),
        "turn": None if number is None else sum(number > most for most in (1, 2, 3, 5, 10, 20)) + 1,
        "offered": None if offered is None else sum(offered > most for most in (1, 5, 10, 20, 50)),
    }


def traits(facts: Facts) -> Iterator[Row]:
    cells: dict[tuple[Any, ...], dict[str, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0, 0]))
    for call in filter(is_syntax_measured, facts.calls):
        for trait, value in classes(call, facts.turn_of.get(call["turn_id"], {})).items():
            if value is not None:
                key = (*(call[name] for name in (*WHO, "tool", "mcp_server")), trait, value)
                sums = cells[key][call["session_id"]]
                sums[0] += is_parse_error(call)
                sums[1] += 1
    for key, sessions in cells.items():
        named = dict(zip((*WHO, "tool", "mcp_server", "trait", "class"), key, strict=True))
        counts = {session_id: (k, n) for session_id, (k, n) in sessions.items()}
        yield {**named, **by_group(named["source"], counts)}


def add(first: int | None, other: int | None) -> int | None:
    return None if first is None or other is None else first + other


def add_all(values: Sequence[Any]) -> Any:
    return None if None in values else sum(values)


def trials(facts: Facts) -> Iterator[Row]:
    sessions_by_id = {(session["source"], session["session_id"]): session for session in facts.sessions}
    calls = grouped(facts.calls, ("source", "session_id"))
    for (source, session_id), unordered in grouped(facts.turns, ("source", "session_id")).items():
        turns = sorted(unordered, key=lambda turn: turn["turn"])
        first = {
            name: next((turn[name] for turn in turns if turn[name] is not None), None)
            for name in ("provider", "model", "prompt_id", "trial_run", "arm", "user_text")
        }
        session = sessions_by_id.get((source, session_id), {})
        question, task = first.pop("user_text"), session.get("task")
        a_task = task is not None or 40 <= len(question or "") <= 2_000
        if not a_task or source == "bfcl_score":
            continue
        verdicts = {name: [turn[name] for turn in turns if turn[name] is not None] for name in VERDICTS}
        made = calls.get((source, session_id), [])
        judged = [call for call in made if is_syntax_measured(call)]
        mended = [of_call(call)["mended"] for call in made]
        tokens = [add(turn["input_tokens"], turn["output_tokens"]) for turn in turns]
        costs = [turn["cost"] for turn in turns]
        hashed = md5((question or "").encode(), usedforsecurity=False).hexdigest()[:16]
        yield first | {
            "day": min((turn["day"] for turn in turns if turn["day"] is not None), default=None),
            "source": source, "session_id": session_id,
            "task": hashed if task is None else f"{source}:{task}",
            "task_origin": "first message" if task is None else "log",
            "task_text": (task or question or "")[:120],
            "turns": len(turns), "calls": sum(turn["calls"] for turn in turns),
            "parse_k": sum(is_parse_error(call) for call in judged), "parse_n": len(judged),
            "mended_k": sum(k for _, _, k in mended), "mended_n": sum(n for _, n, _ in mended),
            "misses": sum(call["simulated"] == "miss" for call in made),
            "tokens": add_all(tokens), "cost": add_all(costs),
            "repeat_no": session.get("repeat_no"),
            **{name: all(values) if values else None for name, values in verdicts.items()},
        }  # fmt: skip


ROLLUPS: Mapping[str, Callable[[Facts], Iterator[Row]]] = {
    "daily_rates": rates,
    "daily_tokens": tokens,
    "daily_chains": chains,
    "daily_parallel": parallel,
    "daily_parameters": parameters,
    "daily_traits": traits,
    "task_trials": trials,
}
