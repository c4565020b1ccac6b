"""BFCL score files: JSON Lines with the score of a category, then only the entries that failed.

**Files.** `score/<MODEL>/<group>/BFCL_v4_<category>_score.json` (github.com/ShishirPatil/gorilla).

**Fields.** Line 1 is `{accuracy, correct_count, total_count}`. Each further line is one failed entry: `{id,
model_name, test_category, valid: false, error, error_type, prompt.{question, function}, model_result_raw,
model_result_decoded, possible_answer}`.

**Rules.**
- Correct entries are not in the file, only their number. Each correct entry becomes a turn without content
  that is reported as successful. Each failed entry becomes a turn that is reported as failed. The reported
  success rate is therefore `correct_count / total_count`.
- The calls are not read, because the result file contains them, too.
- Only failed entries have a name, so trials of the same task cannot be compared.

**Not in the log.** Anything about calls: load the result files for that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ingest.decoding.fields import read_count, read_object, read_objects, read_text
from ingest.decoding.lines import make_snippet
from ingest.events import Event, LogLine, Rejected, SessionSeen, TurnEnded, TurnStarted
from ingest.formats.provider_messages.chat_messages import join_content
from ingest.log_format import About, Record, Source, Translator
from ingest.sessions.stored_text import json_text

_SCORE = {"accuracy", "correct_count", "total_count"}
_LARGEST = 1_000_000  # maximum number of entries in a category; the largest published category has 1,053

SOURCE = Source(
    name="bfcl_score",
    title="BFCL score files",
    raw_arguments="no: they are in the result files",
    argument_failures="partly: the status of failed turns (error_type)",
    error_flag="no: nothing is run",
    definitions="no: they are in the result files",
    system_prompt="no",
    model="yes: where an entry failed",
    turn_end="yes: the benchmark's verdict on every entry",
    cannot_tell=(
        "Only failed entries are in the file, so no share can be taken over its lines; line 1 is the "
        "denominator and becomes turns without content. Calls are in the result files."
    ),
)


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    return bool(head) and head[0].keys() >= _SCORE and all("valid" in record for record in head[1:])


def translator(about: About) -> Translator:
    return _Score(about.identity)


class _Score:
    """Translates one score file.

    Correct entries are only counted in the file: `_right` is the count and `_where` is its line. Correct
    entries do not name the model, so their events wait for a failed entry that names it, or for the end of
    the file.
    """

    def __init__(self, identity: str) -> None:
        self._identity = identity
        self._right = 0
        self._where = LogLine(1, 0)

    def take(self, record: Record) -> Iterator[Event | Rejected]:
        value = record.value
        if value.keys() >= _SCORE:
            yield from self._take_score(record)
        else:
            model = read_text(value.get("model_name"))
            yield from self._take_right_entries(model)
            yield from self._take_failed(value, model, record.where)

    def finish(self) -> Iterator[Event | Rejected]:
        yield from self._take_right_entries(None)

    def close(self) -> None:
        """Do nothing: no file is open."""

    def _take_score(self, record: Record) -> Iterator[Rejected]:
        count = read_count(record.value.get("correct_count"))
        if count is None or count > _LARGEST:
            reason = f"correct_count is not a number up to {_LARGEST:,}: the right entries cannot be counted"
            yield Rejected(record.where, "wrong_type", reason, make_snippet(record.data))
            return
        self._right, self._where = count, record.where

    def _take_right_entries(self, model: str | None) -> Iterator[Event]:
        count, self._right = self._right, 0
        if not count:
            return
        shared: dict[str, Any] = {"session_id": f"{self._identity}/right", "where": self._where}
        yield SessionSeen(**shared, harness="BFCL", model=model)
        for number in range(1, count + 1):
            yield TurnStarted(**shared, turn=number)
            yield TurnEnded(**shared, turn=number, status="valid", recorded_ok=True)

    def _take_failed(self, value: Mapping[str, Any], model: str | None, where: LogLine) -> Iterator[Event]:
        shared: dict[str, Any] = {"session_id": f"{self._identity}/{value.get('id')}", "where": where}
        yield SessionSeen(**shared, harness="BFCL", model=model, task=read_text(value.get("id")) or None)
        yield TurnStarted(**shared, text=_first_question(read_object(value.get("prompt")).get("question")))
        answer = value.get("model_result_raw", value.get("model_result"))
        yield TurnEnded(
            **shared,
            status=read_text(value.get("error_type"))
            or read_text(read_object(value.get("error")).get("error_type")),
            recorded_ok=False if value.get("valid") is False else None,
            answer=answer if isinstance(answer, str) else None if answer is None else json_text(answer),
        )


def _first_question(turns: Any) -> str | None:
    """Return the content of the last message in the first turn of `[[{role, content}]]`.

    Return None when the message has no text content.
    """
    first = read_objects(turns[0]) if isinstance(turns, list) and turns else []
    return join_content(first[-1].get("content")) if first else None
