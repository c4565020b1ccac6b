"""Builds the data of one turn for the timeline: plain values with invisible characters made visible."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from callgauge.analysis import wording
from callgauge.dashboard import store_queries
from callgauge.dashboard.components.call_descriptions import REASONS, TEXT_IS
from callgauge.dashboard.components.controls.links import call_link, session_link
from callgauge.dashboard.components.finding_list import outcome_tone
from callgauge.dashboard.pages.sessions.timelines import (
    AskedPlace,
    ChainAttempt,
    ThreadKnot,
    TimelinePlace,
    TimelineWindow,
)
from callgauge.dashboard.viewer import sees_texts

Row = Mapping[Hashable, Any]
Item = dict[str, Any]

_NOT_SHOWN = "This store is served without content."
_PROMPT = 20_000  # characters of a system prompt
_TEXT = 1_000  # characters of raw arguments and of a result, the same limit as in the metric step_calls
_ENDED = {"recovered": ("recovered", "good"), "abandoned": ("given up", "bad")}
_LAYERS = {"execution": "warn", "refused": "warn"}


@dataclass(slots=True)
class ShownSession:
    """The session that the page shows. `kept` holds the URL parameters that links in the session repeat."""

    session_id: str
    source: str
    kept: dict[str, Any]

    def metric_parameters(self) -> dict[str, Any]:
        """Return the query parameters that restrict a metric to this session."""
        return {"session": self.session_id, "source": self.source}

    def keep(self, name: str, value: str | None) -> None:
        self.kept[name] = value

    def link(self, **place: Any) -> str:
        return session_link(self.session_id, **{**self.kept, **place})

    def link_to_place(self, place: TimelinePlace) -> str:
        return self.link(turn=place.turn, step=place.step)


@dataclass(frozen=True, slots=True)
class TimelineDrawing:
    """The data that all turns in one window share."""

    session: ShownSession
    asked: AskedPlace
    shown: TimelineWindow
    attempts: Mapping[str, ChainAttempt]
    threads: Mapping[int, Sequence[ThreadKnot | None]]
    texts: Mapping[str, Row]
    words: Mapping[tuple[str, int], Row]
    calls: Mapping[tuple[str, int], Sequence[Row]]

    @property
    def lit_turn(self) -> int | None:
        """The number of the turn to highlight.

        The number is None when the link opens a step, a call, or no position.
        """
        whole = self.asked.call is None and self.asked.step is None and self.shown.at is not None
        return self.asked.turn if whole else None


def turn_item(
    drawing: TimelineDrawing,
    places: Sequence[TimelinePlace],
    indexes: Sequence[int],
    turns: Mapping[str, Row],
) -> Item:
    """Return the data of one turn for the timeline component.

    `indexes` holds the indexes in `places` of the turn's drawn positions.
    """
    first, last = indexes[0], indexes[-1]
    place = places[first]
    row = turns.get(place.turn_id)
    begins = first == 0 or places[first - 1].turn_id != place.turn_id
    ends = last + 1 == len(places) or places[last + 1].turn_id != place.turn_id
    texts = drawing.texts.get(place.turn_id, {})
    before = turns.get(places[first - 1].turn_id) if first else None
    return {
        "title": f"Turn {place.turn}" + ("" if begins else ", continued"),
        "href": drawing.session.link(turn=place.turn),
        "lit": drawing.lit_turn == place.turn,
        "tags": _list_verdicts(row) if row else [],
        "facts": _turn_facts(row) if row else "",
        "prompt": _make_prompt_item(row, before) if row and begins else None,
        "user": wording.visible(texts["user_text"]) if begins and texts.get("user_text") else None,
        "answer": wording.visible(texts["answer_text"]) if ends and texts.get("answer_text") else None,
        "steps": [
            _make_step_item(drawing, places[index], index)
            for index in indexes
            if places[index].step is not None
        ],
    }  # fmt: skip


def _list_verdicts(row: Row) -> list[list[str]]:
    words = {True: ("successful", "good"), False: ("unsuccessful", "bad"), None: ("success unknown", "calm")}
    recorded, derived = words[row["recorded_ok"]], words[row["derived_ok"]]
    status = f": {wording.one_line(row['recorded_status'], 60)}" if row["recorded_status"] else ""
    reason = REASONS.get(row["derived_reason"], row["derived_reason"] or "not known")
    tags = [
        [f"Reported: {recorded[0]}", recorded[1], f"As the log reports it{status}"],
        [f"Derived: {derived[0]}", derived[1], f"Derived from the turn's calls: {reason}"],
    ]
    if None not in (row["recorded_ok"], row["derived_ok"]) and row["recorded_ok"] != row["derived_ok"]:
        tags.append(["they disagree", "warn", reason])
    return tags


def _turn_facts(row: Row) -> str:
    whole, model = row["latency_ms"], row["model_latency_ms"]
    times = [
        wording.duration(whole / 1000) if whole is not None else None,
        f"model {wording.duration(model / 1000)}" if model is not None else None,
    ]
    parts = [
        wording.one_line(row["model"] or "unknown model", 60),
        f"{row['ts']:%Y-%m-%d %H:%M:%S}" if row["ts"] else None,
        wording.plural(row["steps"], "step"),
        wording.plural(row["calls"], "call"),
        wording.plural(row["faults"], "failure") if row["faults"] else None,
        _format_tokens(row),
        ", ".join(time for time in times if time),
        None if row["derived_ok"] is not False else REASONS.get(row["derived_reason"]),
    ]  # fmt: skip
    return " · ".join(part for part in parts if part)


def _format_tokens(row: Row) -> str | None:
    """Return the token counts of a step or turn as text. Return None if both counts are unknown."""
    if row["input_tokens"] is None and row["output_tokens"] is None:
        return None
    return f"{wording.compact(row['input_tokens'])} in, {wording.compact(row['output_tokens'])} out"


def _make_prompt_item(row: Row, before: Row | None) -> Item | None:
    """Return an item with the system prompt, or None if the previous turn has the same prompt."""
    key = (row["prompt_id"], row["prompt_hash"])
    if row["prompt_id"] is None or (before and key == (before["prompt_id"], before["prompt_hash"])):
        return None
    rows = store_queries.ask("version_text", kind="prompt", id=key[0], hash=key[1])
    text = "" if rows.empty else rows.iloc[0].text or ""
    title = "System prompt" if before is None else "Another system prompt"
    if not text and not sees_texts():
        return {"title": title, "text": "", "note": _NOT_SHOWN}
    return {
        "title": f"{title} · {len(text):,} characters",
        "text": wording.visible(text[:_PROMPT]),
        "note": f"The first {_PROMPT:,} characters. The page Prompts has the whole text."
        if len(text) > _PROMPT
        else None,
    }


def _make_step_item(drawing: TimelineDrawing, place: TimelinePlace, index: int) -> Item:
    key = (place.turn_id, place.step or 0)
    text_row, calls, target = drawing.words.get(key), drawing.calls.get(key, ()), drawing.asked
    hidden = len(place.calls) - len(calls)
    return {
        "title": f"Step {place.step}",
        "href": drawing.session.link_to_place(place),
        "lit": target.call is None and target.step is not None and drawing.shown.at == index,
        "facts": _step_facts(text_row, calls),
        "text": wording.visible(text_row["text"]) if text_row and text_row["text"] else None,
        "knots": [knot and _knot_data(knot) for knot in drawing.threads.get(index, ())],
        "calls": [_make_call_item(drawing, row) for row in calls],
        "note": f"{hidden:,} more calls of this step are not drawn." if hidden > 0 else None,
    }


def _step_facts(text_row: Row | None, calls: Sequence[Row]) -> str:
    """Return the time, tokens and model latency of a step as text, taken from the step's first call."""
    row = calls[0] if calls else text_row or {}
    model_time = row.get("model_latency_ms")
    parts = [
        f"{row['ts']:%H:%M:%S}" if row.get("ts") else None,
        _format_tokens(row) if calls else None,
        f"model {wording.duration(model_time / 1000)}" if model_time is not None else None,
        f"{len(calls)} parallel calls" if len(calls) > 1 else None,
    ]
    return " · ".join(part for part in parts if part)


def _knot_data(knot: ThreadKnot) -> list[Any]:
    words, tone = _ENDED.get(knot.ended or "", ("still open", "calm"))
    return [tone, knot.above, knot.below, knot.fault, f"A retry sequence, {words}"]


def _make_call_item(drawing: TimelineDrawing, row: Row) -> Item:
    whole = row["length"] or 0
    is_text = TEXT_IS.get(row["args_source"], row["args_source"] or "unknown")
    source_note = "" if row["args_source"] == "raw" else f" The text is {is_text}."
    layer = row["fault_layer"]
    bad = _LAYERS.get(layer, "bad") if layer else None
    # An unmeasured call has not failed. So the reason why the call is unmeasured is only in the tooltip, and
    # not in a line below the call.
    why = row["finding"] if row["outcome"] == "unmeasured" and not layer else None
    tooltip = f"The outcome of the arguments.{source_note}" + (
        f" {wording.one_line(why, 300)}" if why else ""
    )
    tags: list[list[str | None]] = []
    if row["outcome"]:
        tags.append([wording.outcome(row["outcome"]), outcome_tone(row["outcome"], layer) or "calm", tooltip])
    if layer:
        tags.append([wording.failure_stage(layer), bad, "The stage at which the call failed first"])
    notes = [
        f"The first {_TEXT:,} of {whole:,} characters. The page of the call has the whole text."
        if whole > _TEXT
        else None,
        source_note.strip() if row["args_source"] in ("truncated", "missing", "redacted") else None,
    ]
    latency = row["latency_ms"]
    return {
        "tool": wording.one_line(row["tool"] or "unknown tool", 80),
        "href": call_link(row["call_id"]),
        "place": drawing.session.link(call=row["call_id"]),
        "lit": drawing.asked.call == row["call_id"],
        "bad": bad,
        "tags": tags,
        "chain": _make_chain_item(drawing, row),
        "finding": None
        if why
        else wording.one_line(row["finding"] or (layer and row["harness_message"]) or "", 300) or None,
        "raw": wording.visible(row["raw"]) if row["raw"] else None,
        "note": " ".join(note for note in notes if note) or None,
        "result": _make_result_item(row),
        "facts": f"ran {wording.duration(latency / 1000)}" if latency is not None else None,
    }  # fmt: skip


def _make_result_item(row: Row) -> Item:
    size = f" · {wording.size(row['result_bytes'])}" if row["result_bytes"] is not None else ""
    text = row["result"] or ""
    cut = f"The first {_TEXT:,} characters." if len(text) >= _TEXT else None
    return {
        "title": f"Result {wording.result_status(row['result_status'])}{size}",
        "text": wording.visible(text),
        "note": (f"The first {_TEXT:,} characters." if cut else None)
        if text
        else ("The store has no text of it." if sees_texts() else _NOT_SHOWN),
    }


def _make_chain_item(drawing: TimelineDrawing, row: Row) -> Item | None:
    attempt = drawing.attempts.get(row["call_id"])
    if attempt is None:
        return None
    kind = f", {row['retry_kind']} arguments" if row["retry_kind"] else ""
    words, tone = _ENDED.get(row["chain_outcome"] or "", ("still open", "calm"))
    return {
        "text": f"Retry sequence {attempt.chain}, attempt {row['attempt']}{kind} · {words}",
        "tone": tone,
        "before": attempt.before and drawing.session.link(call=attempt.before),
        "after": attempt.after and drawing.session.link(call=attempt.after),
    }
