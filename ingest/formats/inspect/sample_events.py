"""Selects the events of the agent's own models and tools from the events of an Inspect sample."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ingest.decoding.fields import read_objects

_SCORERS = ("scorer", "scorers")


def agent_events(stated: Any) -> list[dict[str, Any]]:
    """Return the model and tool events that are not a scorer's.

    A scorer's events are known by their span, the enclosing steps or the role `grader`. Pending events are
    left out.
    """
    kept: list[dict[str, Any]] = []
    spans: dict[str, tuple[Any, Any]] = {}
    scoring = 0  # open steps of scorers, in logs without spans
    for event in _flatten_events(stated):
        kind = event.get("event")
        if kind == "span_begin" and isinstance(event.get("id"), str):
            spans[event["id"]] = (event.get("parent_id"), event.get("type"))
        elif kind == "step" and event.get("type") in _SCORERS:
            scoring += 1 if event.get("action") == "begin" else -1
        elif kind in ("model", "tool") and event.get("pending") is not True:
            scores = (
                scoring > 0 or event.get("role") == "grader" or _within_scorer(event.get("span_id"), spans)
            )
            if not scores:
                kept.append(event)
    return kept


def _flatten_events(stated: Any) -> Iterator[dict[str, Any]]:
    """Yield every event, nested ones included.

    Logs older than spans nest the events of a tool or subtask in its event; these come before that event.
    """
    waiting: list[tuple[dict[str, Any], bool]] = [(event, False) for event in read_objects(stated)[::-1]]
    while waiting:
        event, opened = waiting.pop()
        inner = [] if opened else read_objects(event.get("events"))
        if inner:
            waiting.append((event, True))
            waiting.extend((one, False) for one in inner[::-1])
        else:
            yield event


def _within_scorer(span: Any, spans: Mapping[str, tuple[Any, Any]]) -> bool:
    """Return True when the span is a scorer's or lies within one.

    Every span is visited once, even if the log's parent links form a cycle.
    """
    seen = set()
    while isinstance(span, str) and span in spans and span not in seen:
        seen.add(span)
        parent, kind = spans[span]
        if kind in _SCORERS:
            return True
        span = parent
    return False
