"""Questions with the calls that answer them: JSON Lines of function-calling data and of predictions on it.

**Where it comes from.** xLAM's function-calling data and the sets made after it; here FLock-io's Agent
Function Calling Benchmark, data and results of a baseline.

**Shape.** `{query, tools, answers: [{name, arguments}]}`: the answers are labels; lists may be JSON as text.
`{query, gold_tools, predict_tools}`: what a model predicted beside what was expected. `arguments` is an
object. Each line is a session of one turn without an end.

**Traps.**
- Some sets keep an answer key instead of calls: each argument is the list of values that would be accepted
  (`{"base": [10], "unit": ["units", ""]}`). Nobody made such a call. The first line with arguments tells; it
  is refused, and nothing is read from its file.
- `gold_tools` is what was expected. The file does not say whether a prediction was counted as right.

**Cannot tell.** The model (at best the file's name says it); the argument text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ingest.events import Event, Rejected, SessionSeen, StepMade, Strategy, ToolsOffered, TurnStarted
from ingest.fields import table, text
from ingest.formats import About, Source, Translator
from ingest.lines import snippet_of
from ingest.records import Record
from ingest.shapes.chat import call_made
from ingest.shapes.trials import listed

SOURCE = Source(
    name="query_answers",
    title="Questions and their calls",
    raw_arguments="no: only decoded objects",
    argument_failures="partly: schema failures, where the tools are in the file",
    error_flag="no: nothing is run",
    definitions="partly: data has them, predictions do not",
    system_prompt="no",
    model="no",
    turn_end="no",
    cannot_tell=(
        "Whether calls are labels or a model's is only told by the field they stand in. An answer that did "
        "not parse has left no trace."
    ),
)

_LISTS = ("array", "list", "tuple")
_KEY = (
    "an answer key: each argument is the list of values that would be accepted, so nobody made these calls; "
    "nothing is read from this file"
)


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return bool(head) and all(
        "query" in record and ({"answers", "tools"} <= record.keys() or "predict_tools" in record)
        for record in head
    )


def translator(about: About) -> Translator:
    return _Lines(about.identity)


class _Lines:
    """`_is_key`: whether the file is an answer key, as the first line that has arguments tells."""

    def __init__(self, identity: str) -> None:
        self._identity = identity
        self._count = 0
        self._is_key: bool | None = None

    def take(self, record: Record) -> Iterator[Event | Rejected]:
        value = record.value
        session_id = f"{self._identity}/{self._count}"
        self._count += 1
        calls = listed(value.get("predict_tools", value.get("answers")))
        definitions = tuple(listed(value.get("tools")))
        if self._is_key is None and any(table(call.get("arguments")) for call in calls):
            self._is_key = _is_answer_key(calls, definitions)
            if self._is_key:
                yield Rejected(record.where, "wrong_type", _KEY, snippet_of(record.data))
        if self._is_key:
            return
        shared: dict[str, Any] = {"session_id": session_id, "where": record.where}
        yield SessionSeen(**shared)
        if definitions:
            yield ToolsOffered(**shared, definitions=definitions)
        yield TurnStarted(**shared, text=text(value.get("query")))
        strategy = Strategy.TOOL_USE if calls else None
        yield StepMade(**shared, strategy=strategy)
        for call in calls:
            yield call_made(call, shared, strategy=strategy)

    def finish(self) -> Iterator[Event | Rejected]:
        yield from ()

    def close(self) -> None:
        """Nothing is kept outside of memory."""


def _is_answer_key(calls: Sequence[Mapping[str, Any]], definitions: Sequence[Mapping[str, Any]]) -> bool:
    """True when every argument is a list, and one of them is declared as something else."""
    declared = {
        name: table(table(function.get("parameters")).get("properties"))
        for definition in definitions
        if isinstance(name := (function := table(definition.get("function")) or definition).get("name"), str)
    }
    arguments = [
        (value, table(declared.get(str(call.get("name")), {}).get(name)).get("type"))
        for call in calls
        for name, value in table(call.get("arguments")).items()
    ]
    return all(isinstance(value, list) for value, _ in arguments) and any(
        isinstance(kind, str) and kind not in _LISTS for _, kind in arguments
    )
