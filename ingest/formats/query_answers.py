"""Function-calling data sets: JSON Lines of questions with the calls that answer them, or of predictions.

**Files.** xLAM's function-calling data and data sets with the same format. These notes are based on the data
and results of FLock-io's Agent Function Calling Benchmark.

**Fields.** `{query, tools, answers: [{name, arguments}]}`: the answers are labels. `{query, gold_tools,
predict_tools}`: a model's predictions and the expected answers. Lists may be JSON text. `arguments` is an
object. Each line is a session of one turn without an end. Its task is the query.

**Rules.**
- Some data sets contain an answer key instead of calls: each argument is the list of accepted values
  (`{"base": [10], "unit": ["units", ""]}`), in some data sets only if several values are accepted. Nobody
  made such calls. If a tenth of the first lines has a list where the tool declares a single value, the file
  is rejected.
- `gold_tools` is the expected answer. The file does not state whether a prediction counted as correct.

**Not in the log.** The model (at most in the file's name) and the model's own argument text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ingest.decoding.fields import read_object, read_text
from ingest.decoding.lines import make_snippet
from ingest.events import Event, Rejected, SessionSeen, StepMade, Strategy, ToolsOffered, TurnStarted
from ingest.formats.conversations.session_per_record import RecordIds
from ingest.formats.conversations.task_names import question_task
from ingest.formats.conversations.trial_messages import read_list
from ingest.formats.provider_messages.chat_messages import make_call
from ingest.log_format import About, Record, Source, Translator

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
        "Only the field shows whether calls are labels or a model's. An answer that could not be "
        "parsed leaves no trace."
    ),
)

_SINGLE = ("string", "str", "integer", "int", "number", "float", "boolean", "bool")
_KEY = (
    "an answer key: an argument is the list of values that would be accepted, so nobody made these calls; "
    "nothing is read from this file"
)
_MAX_CHECKED = (
    50  # maximum number of lines that are checked before deciding whether the file is an answer key
)
_MAX_CHECKED_BYTES = (
    4_000_000  # maximum bytes that are checked before deciding whether the file is an answer key
)
_SHARE = 10  # The file is an answer key if one in ten lines (or more) has a list of accepted values.


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return bool(head) and all(
        "query" in record and ({"answers", "tools"} <= record.keys() or "predict_tools" in record)
        for record in head
    )


def translator(about: About) -> Translator:
    return _AnswerLines(about.identity)


class _AnswerLines:
    """Translator of one file of query answers.

    `_first_records` contains the first records until it is clear whether the file is an answer key, and is
    None afterwards. An answer key lists accepted values instead of tool calls.
    """

    def __init__(self, identity: str) -> None:
        self._ids = RecordIds(identity)
        self._first_records: list[Record] | None = []
        self._is_key = False

    def take(self, record: Record) -> Iterator[Event | Rejected]:
        if self._is_key:
            return
        if self._first_records is None or "predict_tools" in record.value:
            yield from self._take_line(record)
            return
        self._first_records.append(record)
        if (
            len(self._first_records) >= _MAX_CHECKED
            or sum(len(first.data) for first in self._first_records) > _MAX_CHECKED_BYTES
        ):
            yield from self._decide()

    def finish(self) -> Iterator[Event | Rejected]:
        yield from self._decide()

    def close(self) -> None:
        """Do nothing: no file is open."""

    def _decide(self) -> Iterator[Event | Rejected]:
        waiting, self._first_records = self._first_records or [], None
        signs = [record for record in waiting if _is_answer_key(record.value)]
        self._is_key = bool(signs) and len(signs) * _SHARE >= len(waiting)
        if self._is_key:
            yield Rejected(signs[0].where, "wrong_type", _KEY, make_snippet(signs[0].data))
            return
        for record in waiting:
            yield from self._take_line(record)

    def _take_line(self, record: Record) -> Iterator[Event]:
        value = record.value
        calls, definitions = _read_calls(value), tuple(read_list(value.get("tools")))
        shared: dict[str, Any] = {"session_id": self._ids.make(record), "where": record.where}
        yield SessionSeen(**shared, task=question_task(value.get("query")))
        if definitions:
            yield ToolsOffered(**shared, definitions=definitions)
        yield TurnStarted(**shared, text=read_text(value.get("query")))
        strategy = Strategy.TOOL_USE if calls else None
        yield StepMade(**shared, strategy=strategy)
        for call in calls:
            yield make_call(call, shared, strategy=strategy)


def _read_calls(value: Mapping[str, Any]) -> list[dict[str, Any]]:
    return read_list(value.get("predict_tools", value.get("answers")))


def _is_answer_key(value: Mapping[str, Any]) -> bool:
    """Return True when an argument is a list but the tool declares a single string, number or boolean."""
    declared = {
        name: read_object(read_object(function.get("parameters")).get("properties"))
        for definition in read_list(value.get("tools"))
        if isinstance(
            name := (function := read_object(definition.get("function")) or definition).get("name"), str
        )
    }
    return any(
        isinstance(sent, list) and _is_single(read_object(declared.get(str(call.get("name")))).get(name))
        for call in _read_calls(value)
        for name, sent in read_object(call.get("arguments")).items()
    )


def _is_single(schema: Any) -> bool:
    return read_text(read_object(schema).get("type")) in _SINGLE
