"""Inspect logs (inspect_ai): the header and the samples of one evaluation.

**Files.** `logs/<time>_<task>_<id>.eval`, a zip archive with `header.json` and one file per sample in
`samples/`; or `.json`, one document with `samples` (https://inspect.aisi.org.uk/eval-logs.html). These notes
are based on files written by inspect_ai 0.3.41 to 0.3.135.

**Fields.** Header: `eval.{task, model, eval_id, packages}`, `plan`, `results`. Sample: `id`, `epoch`, `uuid`,
`messages`, `events[]`, `scores`, `output`, `error`, `limit`, `attachments`.

**Sessions.** Each sample of each epoch is a session. The session's id is the sample's `uuid`, because the log
of a retry repeats samples. The task is `<task>/<id>`, the same in all epochs.

**What is read.** The `model` and `tool` events are read in order. They include sub-agents and messages that a
compaction removed from `messages`. A model event that begins with another system or user text is another
conversation: a sub-session of the sample. Events of scorers (their spans or steps, role `grader`) are
skipped. Logs without model events are read from `messages`. A turn begins with a user message of the dataset
or an operator (`source`), but not with a message by which an agent loop asks the model to continue.

**Rules.**
- `parse_error` and tool errors of type `parsing` have several causes, which the text distinguishes: arguments
  that are not JSON ("Error parsing the following tool call arguments"), arguments that do not fit the
  definition ("Found 1 validation errors", "2 validation errors for …", a missing parameter) and unknown tools
  ("Tool x not found"). Any other parsing error comes from the tool.
- The model's own text is only in `call.response` of the event, in the provider's format, and in the text of a
  parse error. That text is stripped and, above 16 KB, cut in the middle.
- Long texts are stored once in `attachments`; `attachment://<hash>` (formerly `tc://`) refers to them. The
  inputs of model events are ranges (`input_refs`) of `message_pool` or `events_data.messages`.
- The scores judge the sample: C, 1 and true mean success; I, N, 0 and false mean failure. P and other numbers
  are not a verdict. The verdict counts only if all scorers agree, and is stored with the last turn.

**Not in the log.** Silent repairs of arguments; the raw text if the provider's response was not logged
(`--no-log-model-api`) or contains objects.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ingest.decoding.fields import read_object, read_objects, read_text
from ingest.decoding.lines import make_snippet
from ingest.events import Event, Rejected
from ingest.formats.inspect.samples import EvaluationRun, translate_sample
from ingest.log_format import About, Record, Source, Translator

SOURCE = Source(
    name="inspect",
    title="Inspect logs",
    raw_arguments="partly: in logged provider responses and in the text of parse errors",
    argument_failures="yes: parse errors; the stage is derived from the text; silent repairs cannot be seen",
    error_flag="yes: the error's type; the stage is derived from it and from the text",
    definitions="yes",
    system_prompt="yes",
    model="yes: per call",
    turn_end="yes: the scores, on the last turn of a sample, where they agree",
    cannot_tell="Arguments that Inspect repaired silently; partial credit is not success.",
)


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    first = head[0] if head else {}
    evaluation = first.get("eval")
    # The first record of an archive without `header.json` is the header of its journal.
    begun = "status" in first or "plan" in first
    return isinstance(evaluation, dict) and {"task", "model"} <= evaluation.keys() and begun


def translator(about: About) -> Translator:
    return _EvaluationLog(about.identity)


class _EvaluationLog:
    """Translator of one file.

    The values in the file's header apply to every sample.
    """

    def __init__(self, identity: str) -> None:
        self._run = EvaluationRun(identity)

    def take(self, record: Record) -> Iterator[Event | Rejected]:
        value = record.value
        if isinstance(value.get("eval"), dict):
            self._run = _read_run(value["eval"], self._run.identity)
            for sample in read_objects(value.get("samples")):
                yield from translate_sample(sample, self._run, record)
        elif "epoch" in value:
            yield from translate_sample(value, self._run, record)
        else:
            reason = "this object is neither the header of the log nor a sample"
            yield Rejected(record.where, "missing_field", reason, make_snippet(record.data))

    def finish(self) -> Iterator[Event | Rejected]:
        yield from ()

    def close(self) -> None:
        """Do nothing: no file is open."""


def _read_run(evaluation: dict[str, Any], identity: str) -> EvaluationRun:
    return EvaluationRun(
        read_text(evaluation.get("eval_id")) or read_text(evaluation.get("run_id")) or identity,
        model=read_text(evaluation.get("model")),
        version=read_text(read_object(evaluation.get("packages")).get("inspect_ai")),
        task=read_text(evaluation.get("task")),
    )
